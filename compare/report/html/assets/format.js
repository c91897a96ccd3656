// format.js: numbers and shapes as people read them.

/** figure writes a number with so many digits. */
export function figure(v, digits = 4) {
  if (Number.isNaN(v)) return 'NaN';
  if (!Number.isFinite(v)) return v > 0 ? 'Inf' : '-Inf';
  if (v === 0) return '0';
  const size = Math.abs(v);
  if (size >= 1e7 || size < 1e-4) return v.toExponential(digits - 1).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return String(Number(v.toPrecision(size >= 1e4 ? 7 : digits)));
}

/** cosineText keeps enough nines to tell a cosine from 1. */
export function cosineText(v) {
  if (Number.isNaN(v)) return 'NaN';
  const text = v.toFixed(6);
  return v < 1 && text === '1.000000' ? '1-' + figure(1 - v, 2) : text;
}

export function count(n) { return String(n).replace(/\B(?=(\d{3})+$)/g, '\u2009'); }

export function shapeText(dims) { return dims ? dims.length ? '(' + dims.join(', ') + ')' : '()' : ''; }

/** place turns a flat index into coordinates. */
export function coordinates(index, dims) {
  const out = [];
  for (let k = dims.length - 1; k >= 0; k--) {
    out.unshift(index % dims[k]);
    index = Math.floor(index / dims[k]);
  }
  return '[' + out.join(', ') + ']';
}
