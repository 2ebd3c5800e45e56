// Numbers as people read and type them.

// A number with some significant digits as Python's "g" writes it, with a true minus.
function number(x, digits = 6) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x < 0 ? "−inf" : "inf";
  const sign = x < 0 ? "−" : "";
  const written = places => Math.abs(x).toExponential(places).replace(".", "").split("e");
  let [mantissa, exponent] = written(digits - 1);
  // JavaScript rounds a tie up, Python to the even digit.  100 digits tell a tie from its neighbours.
  const exact = written(digits)[0].endsWith("5") ? written(99) : [""];
  if (/^50*$/.test(exact[0].slice(digits)) && exact[0][digits - 1] % 2 === 0)
    [mantissa, exponent] = [exact[0].slice(0, digits), exact[1]];
  exponent = Number(exponent);
  const point = (text, at) => (text.slice(0, at) + "." + text.slice(at)).replace(/\.?0*$/, "");
  if (exponent >= digits || exponent < -4) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${point(mantissa, 1)}e${exponent < 0 ? "−" : "+"}${size}`;
  }
  return sign + (exponent < 0 ? point("0".repeat(-exponent) + mantissa, 1) : point(mantissa, exponent + 1));
}

// A decimal comma as a point, but where it may as well part thousands, as in 1,234.
const pointed = text => text.replace(/^([-+−]?\d+),(\d+)$/, (all, whole, part) => part.length === 3 && Number(whole) ? all : `${whole}.${part}`);

// The number that a person means, be it 1/3, 0,5 or -2*pi; else null.
function parse(text) {
  const next = /\s*([*/]?)\s*([+-]?)(?:((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|(pi|inf|nan))\s*/y;
  const plain = pointed(text.trim()).replaceAll("−", "-").replaceAll("×", "*").toLowerCase();
  let found = null;
  while (next.lastIndex < plain.length) {
    const match = next.exec(plain);
    if (!match || !match[1] !== (found === null)) return null;
    const size = match[3] ? Number(match[3]) : {pi: Math.PI, inf: Infinity, nan: NaN}[match[4]];
    const value = match[2] === "-" ? -size : size;
    found = found === null ? value : match[1] === "*" ? found * value : found / value;
  }
  return found;
}
