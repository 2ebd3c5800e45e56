// What a grad is multiplied by and added to, and how a contribution is told; over tensors see tensors.js.

const times = (x, y) => x * y, plus = (x, y) => x + y, inBrief = number, inTable = number;
