// Where a kink or a jump lies between two points: there a row that has any finds what stays apart, however near its
// sides come.

const CUTS = 10, STAYS = .7;
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
  // More than what is rounded.
  if (!(apart > 1e-9 * (Math.abs(left) + Math.abs(right)) && apart < Infinity)) return;
  for (let n = 0; n < CUTS; n++) {
    // Not in the middle, where a kink would often lie itself.
    const middle = low + .45 * (far - low), between = found(middle)[at];
    if (Math.abs(between - left) > Math.abs(right - between)) [far, right] = [middle, between];
    else [low, left] = [middle, between];
    // What is smooth loses about half its way each time.
    const now = Math.abs(right - left) / apart;
    if (!(now >= STAYS && now <= 1 / STAYS)) return;
  }
  return (low + far) / 2;
}).find(known);
