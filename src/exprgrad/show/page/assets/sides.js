// What lies to the left and to the right of an input's number: sweeps ever nearer to it, which have to settle.

const FAR = 2 ** -20, NEAR = 2 ** -27;

// By side {slope, limit, missing}: the output's derivative and limit there, null where they do not settle; `missing`
// where the output is nan.
function sides(page, data, id) {
  const unit = Math.abs(data[id]) || 1, start = data[page.output];
  return [-1, 1].map(way => {
    const seen = [FAR, FAR / 2, NEAR, NEAR / 2].map(far => {
      const given = new Map(page.inputs.map(([, at]) => [at, data[at]])).set(id, data[id] + way * unit * far);
      const moved = forward(page, given);
      return {y: moved[page.output], slope: simulate(page, localDerivatives(page, moved), ORDERS.right(page)).got[id]};
    });
    if (seen.some(({y}) => Number.isNaN(y))) return {missing: true, slope: null, limit: null};
    const [far, , near] = seen, ahead = (key, at) => 2 * seen[at + 1][key] - seen[at][key];
    const agree = (one, other, scale) => Math.abs(one - other) <= 1e-6 * scale;
    // What is continuous comes nearer by the same factor; what jumps stays away.
    const moves = Math.abs(near.y - start), joins = moves <= Math.abs(far.y - start) / 16 || moves <= 1e-12 * Math.abs(start);
    const [one, slope] = [ahead("slope", 0), ahead("slope", 2)], [before, limit] = [ahead("y", 0), ahead("y", 2)];
    // A slope of 0 shows by how much nearer to it the sweeps come.
    const change = Math.abs(far.slope - near.slope), isZero = Math.abs(slope) <= change / 1e6;
    const isSure = agree(one, slope, Math.max(Math.abs(one), Math.abs(slope))) || isZero && Math.abs(one) <= change / 1e3;
    return {
      missing: false,
      slope: !isSure || !joins ? null : isZero ? 0 : slope,
      limit: joins ? start : agree(before, limit, Math.max(Math.abs(before), Math.abs(limit))) ? limit : null,
    };
  });
}

// What both sides say of the sweep's number, in words; `slope` is the derivative if there is one.
function sidesText(page, data, id, got) {
  const found = sides(page, data, id), [left, right] = found, say = x => number(x + 0, page.digits), name = page.nodes[id].short;
  const tell = key => found.map((side, at) => ["left", "right"][at] + " " + (side.missing ? "undefined" : side[key] === null ? "not known" : say(side[key]))).join(", ");
  const jumps = found.filter(({limit}) => limit !== null && limit !== data[page.output]);
  if (jumps.length) {
    return {text: `jump along ${name}: the value is ${say(data[page.output])}; its limits: ${tell("limit")}`, verdict: "⚠ at a jump"};
  }
  const told = tell("slope"), both = left.slope !== null && right.slope !== null;
  const near = (one, other) => Math.abs(one - other) <= 2e-6 * Math.max(Math.abs(one), Math.abs(other));
  if (both && near(left.slope, right.slope)) {
    const slope = right.slope, isRight = near(got, slope) || say(got) === say(slope);
    return isRight ? {text: "", verdict: null}
      : {text: `the derivative along ${name} is ${say(slope)} from both sides; the sweep's ${say(got)} is wrong`, verdict: `⚠ the sweep's; the derivative is ${say(slope)}`};
  }
  return {text: `${both ? "kink" : "undecided"} along ${name}: ${told}; the sweep has ${say(got)}`, verdict: both ? `⚠ a kink: ${told}` : "✓ the sweep's"};
}
