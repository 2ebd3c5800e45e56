// Where a kink or a jump lies between two points: there a row that has any finds what stays apart, however near its
// sides come.

const HALVINGS = 8, STAYS = .7;
const bent = NODES.filter(({row}) => OPS[row]?.special).map(({id}) => id);
const bentEdges = EDGES.flatMap(({user}, at) => bent.includes(user) ? [at] : []);

// What those rows find at a point: data and local derivatives.
app.bend = given => {
  const data = forward(PAGE, given), locals = localDerivatives(PAGE, data);
  return [...bent.map(id => data[id]), ...bentEdges.map(at => locals[at])];
};
// The part of the way from one point to another at which one lies, or undefined; `found` tells what app.bend finds after a part.
app.crossing = (one, other, found) => one.map((start, at) => {
  let [low, far, left, right] = [0, 1, start, other[at]];
  const apart = Math.abs(right - left);
  if (!(apart > 0 && apart < Infinity)) return;
  for (let n = 0; n < HALVINGS; n++) {
    const middle = (low + far) / 2, between = found(middle)[at];
    if (Math.abs(between - left) > Math.abs(right - between)) [far, right] = [middle, between];
    else [low, left] = [middle, between];
    // What is smooth halves its way with each halving.
    if (!(Math.abs(right - left) >= STAYS * apart)) return;
  }
  return (low + far) / 2;
}).find(known);
