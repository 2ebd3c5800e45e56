// What a grad is multiplied by and added to, and an input's value as it is written; over tensors see tensors.js.

const times = (grad, local) => grad * local, plus = (grad, value) => grad + value, valueOf = words => parse(words), inBrief = number;
