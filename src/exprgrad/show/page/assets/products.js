// The factors of a grad and its sum, and the words for a contribution; over tensors see tensors.js.

const times = (x, y) => x * y, plus = (x, y) => x + y, inBrief = number, inTable = number;
