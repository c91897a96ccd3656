// svg.js: pictures as SVG: what draws on a canvas draws here, too, and what comes out is saved.

/** Pen has of a canvas's context what the pictures of the page use, and writes elements of SVG. */
class Pen {
  out = [];
  way = [];
  dash = [];
  depth = 0;
  lineWidth = 1;
  strokeStyle = '#000';
  fillStyle = '#000';
  font = '';
  textAlign = 'start';
  globalAlpha = 1;
  ruler = document.createElement('canvas').getContext('2d');

  translate(x, y) { this.group(`translate(${n(x)} ${n(y)})`); }
  scale(x, y) { this.group(`scale(${n(x)} ${n(y)})`); }
  group(transform) { this.out.push(`<g transform="${transform}">`); this.depth++; }
  save() {} // clips alone are kept and given back, and a sheet ends where it ends
  restore() {}
  clip() {}
  beginPath() { this.way = []; }
  moveTo(x, y) { this.way.push(`M${n(x)} ${n(y)}`); }
  lineTo(x, y) { this.way.push(`L${n(x)} ${n(y)}`); }
  closePath() { this.way.push('Z'); }
  bezierCurveTo(...p) { this.way.push('C' + p.map(n).join(' ')); }
  rect(x, y, w, h) { this.way.push(`M${n(x)} ${n(y)}h${n(w)}v${n(h)}h${n(-w)}Z`); }
  roundRect(x, y, w, h, r) { this.way.push(`M${n(x + r)} ${n(y)}h${n(w - 2 * r)}a${r} ${r} 0 0 1 ${r} ${r}v${n(h - 2 * r)}a${r} ${r} 0 0 1 ${-r} ${r}h${n(2 * r - w)}a${r} ${r} 0 0 1 ${-r} ${-r}v${n(2 * r - h)}a${r} ${r} 0 0 1 ${r} ${-r}Z`); }
  arc(x, y, r) { this.way.push(`M${n(x - r)} ${n(y)}a${n(r)} ${n(r)} 0 1 0 ${n(2 * r)} 0a${n(r)} ${n(r)} 0 1 0 ${n(-2 * r)} 0Z`); } // circles are all that is drawn
  setLineDash(list) { this.dash = list; }
  fill() { this.path(`fill="${this.colour(this.fillStyle)}"`); }
  stroke() { this.path(`fill="none" stroke="${this.colour(this.strokeStyle)}" stroke-width="${n(this.lineWidth)}"` + (this.dash.length ? ` stroke-dasharray="${this.dash.join(' ')}"` : '')); }
  fillRect(x, y, w, h) { this.beginPath(); this.rect(x, y, w, h); this.fill(); }
  strokeRect(x, y, w, h) { this.beginPath(); this.rect(x, y, w, h); this.stroke(); }
  path(style) { if (this.way.length) this.out.push(`<path d="${this.way.join('')}" ${style}${this.alpha()}/>`); }
  alpha() { return this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : ''; }
  measureText(text) { this.ruler.font = this.font; return this.ruler.measureText(text); }
  fillText(text, x, y) {
    const [, weight, size, family] = /^(\d+ )?([\d.]+)px (.*)$/.exec(this.font) ?? [null, '', '11', 'sans-serif'];
    const anchor = {center: 'middle', right: 'end'}[this.textAlign];
    this.out.push(`<text x="${n(x)}" y="${n(y)}" fill="${this.colour(this.fillStyle)}" font-size="${size}" font-family="${escaped(family)}"` +
      (weight ? ` font-weight="${weight.trim()}"` : '') + (anchor ? ` text-anchor="${anchor}"` : '') + `>${escaped(text)}</text>`);
  }
  /** colour is one that every viewer knows: mixtures are worked out. */
  colour(name) {
    if (!name.startsWith('color-mix')) return name;
    this.ruler.fillStyle = name;
    this.ruler.fillRect(0, 0, 1, 1);
    const [r, g, b] = this.ruler.getImageData(0, 0, 1, 1).data;
    return `rgb(${r} ${g} ${b})`;
  }
}

const n = v => String(Math.round(v * 100) / 100);

const escaped = text => text.replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);

/** savePicture saves what paint draws with a pen on a sheet of a size. */
export function savePicture(name, width, height, paint) {
  const pen = new Pen();
  paint(pen);
  const ground = getComputedStyle(document.documentElement).getPropertyValue('--panel');
  saveFile(name, 'image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}"><rect width="100%" height="100%" fill="${ground}"/>${pen.out.join('\n')}${'</g>'.repeat(pen.depth)}</svg>\n`);
}

/** saveFile gives the reader a file. */
export function saveFile(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
