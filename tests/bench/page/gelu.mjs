// GELU in double precision, x Phi(x), and its slope Phi(x) + x Phi'(x).

/** The error function: its series (Abramowitz and Stegun, 1964, 7.1.6), to the last bit of a sum. */
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); ++n) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

const normal = (x) => 0.5 * (1 + erf(x / Math.SQRT2));

export const gelu = (x) => x * normal(x);

export const geluSlope = (x) => normal(x) + (x * Math.exp(-0.5 * x * x)) / Math.sqrt(2 * Math.PI);
