// marks.js: how states look: a colour that the colour-blind tell apart (after Okabe and Ito), and a shape and a sign beside it.

export const order = ['bad', 'inherited', 'suspect', 'damaged', 'good', 'uncompared'];
export const signs = {bad: '✖', inherited: '▼', suspect: '◆', damaged: '■', good: '●', uncompared: '○', inconclusive: '?'};

/** colour is the colour of a state in the light or dark that the reader's system asks for. */
export function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
  return colours.get(name);
}
const colours = new Map();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => colours.clear());

/** draw draws the shape of a state with its centre at x, y. */
export function draw(g, name, x, y, r) {
  g.beginPath();
  switch (name) {
    case 'bad':
      g.lineWidth = Math.max(1.5, r * 0.5);
      g.strokeStyle = colour(name);
      g.moveTo(x - r, y - r); g.lineTo(x + r, y + r);
      g.moveTo(x + r, y - r); g.lineTo(x - r, y + r);
      g.stroke();
      return;
    case 'inherited':
      g.moveTo(x - r, y - r * 0.8); g.lineTo(x + r, y - r * 0.8); g.lineTo(x, y + r); g.closePath();
      break;
    case 'suspect':
      g.moveTo(x, y - r * 1.2); g.lineTo(x + r * 1.2, y); g.lineTo(x, y + r * 1.2); g.lineTo(x - r * 1.2, y); g.closePath();
      break;
    case 'damaged':
      g.rect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6);
      break;
    case 'uncompared':
      g.arc(x, y, r * 0.8, 0, 7);
      g.lineWidth = 1;
      g.strokeStyle = colour(name);
      g.stroke();
      return;
    default:
      g.arc(x, y, r * 0.75, 0, 7);
  }
  g.fillStyle = colour(name);
  g.fill();
}

/** ring marks a root. */
export function ring(g, x, y, r) {
  g.beginPath();
  g.arc(x, y, r, 0, 7);
  g.lineWidth = 2;
  g.strokeStyle = colour('ink');
  g.stroke();
}

/** fit gives a canvas the pixels of the screen and returns its context, scaled, with its size. */
export function fit(canvas) {
  const scale = devicePixelRatio || 1;
  const {clientWidth: w, clientHeight: h} = canvas;
  if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
    canvas.width = Math.round(w * scale);
    canvas.height = Math.round(h * scale);
  }
  const g = canvas.getContext('2d');
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, w, h);
  return {g, w, h};
}
