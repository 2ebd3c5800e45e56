// Tensors.  One is its numbers, row by row, with their shape; what a node does to them is either an operation on each,
// or a program over all of them.  A Jacobian has by number of the user its entries, {by operand's number: slope}.

const tensor = (numbers, shape) => shape.length ? Object.assign(numbers, {shape}) : numbers[0];
const isTensor = x => Boolean(x?.shape), numbersOf = x => isTensor(x) ? x : [x], entry = (x, at) => isTensor(x) ? x[at] : x;
const sizeOf = shape => shape.reduce((one, other) => one * other, 1);
const shapeText = shape => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
for (const page of typeof CALLS === "undefined" ? [PAGE] : CALLS.sheets)
  for (const node of page.nodes) if (node.shape && node.data) node.data = tensor(node.data.map(real), node.shape);

const times = (grad, local) => {
  if (!local.slopes) return grad * local;
  const sums = Array(local.width).fill(0);
  numbersOf(grad).forEach((g, at) => { for (const [to, slope] of local.slopes[at]) sums[to] += g * slope; });
  return tensor(sums, local.shape);
};
const plus = (one, other) => isTensor(one) || isTensor(other)
  ? tensor(Array.from(isTensor(one) ? one : other, (_, at) => entry(one, at) + entry(other, at)), (one.shape ?? other.shape))
  : one + other;
const parseNumber = parse;
parse = (words, {shape} = {}) => {
  if (!shape) return parseNumber(words);
  const numbers = words.split(",").map(parseNumber);
  return numbers.includes(null) || numbers.length !== sizeOf(shape) ? null : tensor(numbers, shape);
};
// The numbers that the page was made for say where a tensor's numbers stop being finite.
const blame = () => [];
// A slope alone where both ends are numbers.
const jacobian = (entries, x, shape) => shape.length || isTensor(x)
  ? {slopes: entries, width: numbersOf(x).length, shape: x.shape ?? []} : entries[0][0]?.[1] ?? 0;

// The numbers of a program: its operands', and what follows from them.
function worked({nodes, rows}, operands) {
  const data = operands.flatMap(numbersOf);
  for (const node of nodes)
    data.push(Array.isArray(node) ? OPS[rows[node[0]]].value(...node.slice(1).map(id => data[id])) : real(node));
  return data;
}
// What one of a program's numbers owes to each other one: a reverse sweep.
function owed({nodes, rows, gates, count}, data, output) {
  const grads = [];
  grads[output] = 1;
  for (let id = output; id >= count; id--) {
    const node = nodes[id - count];
    if (grads[id] === undefined || !Array.isArray(node)) continue;
    const [row, ...operands] = node, locals = OPS[rows[row]].partials(...operands.map(at => data[at]), data[id]);
    operands.forEach((at, place) => {
      if (locals[place] === 0 && gates[row].includes(place)) return;
      grads[at] = (grads[at] ?? 0) + grads[id] * locals[place];
    });
  }
  return grads;
}

for (const [key, made] of Object.entries(TENSORS)) {
  const {row, shape, gates, outputs} = made, all = Array.from({length: sizeOf(shape)}, (_, at) => at);
  OPS[key] = row ? {
    value: (...operands) => tensor(all.map(at => OPS[row].value(...operands.map(x => entry(x, at)))), shape),
    partials: (...seen) => {
      const locals = all.map(at => OPS[row].partials(...seen.map(x => entry(x, at))));
      return seen.slice(0, -1).map((x, place) => jacobian(all.map(at => {
        const local = locals[at][place];
        return local === 0 && gates[0].includes(place) ? [] : [[isTensor(x) ? at : 0, local]];
      }), x, shape));
    },
  } : {
    value: (...operands) => {
      const data = worked(made, operands);
      return tensor(outputs.map(id => data[id]), shape);
    },
    partials: (...seen) => {
      const operands = seen.slice(0, -1), data = worked(made, operands), owing = outputs.map(id => owed(made, data, id));
      let from = 0;
      return operands.map(x => {
        const to = from + numbersOf(x).length, start = from;
        from = to;
        return jacobian(owing.map(grads => grads.slice(start, to).flatMap((slope, at) => slope === undefined ? [] : [[at, slope]])), x, shape);
      });
    },
  };
}

// A small tensor whole, else its shape.
const WHOLE = 6, numeral = number;
const nested = (texts, shape) => {
  let rows = texts;
  for (const length of shape.toReversed())
    rows = Array.from({length: rows.length / length}, (_, at) => `[${rows.slice(at * length, (at + 1) * length).join(", ")}]`);
  return rows[0];
};
const inFull = (x, digits) => isTensor(x) ? nested(Array.from(x, one => numeral(one, digits)), x.shape) : numeral(x, digits);
number = (x, digits) => x?.slopes ? "J" : isTensor(x) && x.length > WHOLE ? shapeText(x.shape) : inFull(x, digits);

// In tables, larger ones too.
const inTable = (x, digits) => isTensor(x) && x.length > 36 ? shapeText(x.shape) : inFull(x, digits);
const inBrief = (x, digits) => isTensor(x) ? shapeText(x.shape) : numeral(x, digits);

// Which numbers of the operands, as [position, number], a number depends on by a slope: the Jacobian's own row, and what
// the slopes themselves are made of.
function factors({row, rows, nodes, reads, count, outputs}, operands, at, from = null) {
  const found = new Set, starts = [];
  operands.reduce((start, x) => { starts.push(start); return start + numbersOf(x).length; }, 0);
  const placed = id => { const position = starts.findLastIndex(start => start <= id); return `${position} ${id - starts[position]}`; };
  const note = (position, places) => { for (const other of reads[position[0]][position[1]]) found.add(places(other)); };
  if (row) {
    note([0, from[0]], other => `${other} ${isTensor(operands[other]) ? at : 0}`);
    return found;
  }
  // What the operand's number reaches, on the way to the output.
  const reached = new Set([starts[from[0]] + from[1]]), needed = new Set([outputs[at]]);
  nodes.forEach((node, place) => { if (Array.isArray(node) && node.slice(1).some(id => reached.has(id))) reached.add(count + place); });
  for (let id = outputs[at]; id >= count; id--)
    if (needed.has(id) && Array.isArray(nodes[id - count])) {
      const [kind, ...own] = nodes[id - count];
      own.forEach((operand, place) => {
        needed.add(operand);
        if (reached.has(operand) && reached.has(id)) for (const other of reads[kind][place]) if (own[other] < count) found.add(placed(own[other]));
      });
    }
  return found;
}
