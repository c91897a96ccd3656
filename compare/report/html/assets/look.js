// look.js: a look at the elements of a tensor: pictures of what the program counted.

import {t, el, show, spoken} from './text.js';
import {figure, coordinates} from './format.js';
import {colour, fit} from './marks.js';

/** lookView shows what is known of the elements of a row. */
export function lookView(m, look) {
  const box = el('div.look', {}, el('h4', {}, t('look'), ' ', el('code', {}, show(look.tensor))));
  if (look.patterns?.length) {
    box.append(el('ul.patterns', {}, look.patterns.map(p => el('li', {}, el('b', {}, kindName(p.kind)), ' ' + t('explains', figure(100 * p.explained, 3), p.elements), p.evidence ? el('div.evidence', {}, show(evidence(p))) : null))));
  }
  const pictures = el('div.pictures', {});
  box.append(pictures);
  if (look.histogram?.length) pictures.append(figureBox(t('histogram'), 260, 140, c => histogram(c, look), [figure(10 ** look.histogram_low), figure(10 ** look.histogram_high)], t('histogram-note', look.equal ?? 0)));
  if (look.density?.length) pictures.append(figureBox(t('density'), 180, 180, c => density(c, look), [figure(look.density_low), figure(look.density_high)], t('density-note')));
  if (look.channels?.length > 1) pictures.append(figureBox(t('channels', look.channel_axis ?? 0), 260, 140, c => bars(c, look.channels), ['0', String(look.channel_count - 1)], t('channels-note')));
  if (look.map?.length) pictures.append(figureBox(t('map'), 180, 180, c => map(c, look), [], t('map-note', look.map_rows, look.map_columns)));
  const lists = el('div.pictures', {});
  box.append(lists);
  for (const [name, list] of [['first', look.first], ['largest', look.largest]]) {
    if (!list?.length) continue;
    lists.append(el('table.elements', {}, el('caption', {}, t('elements-' + name)),
      el('thead', {}, el('tr', {}, ['place', 'npu', 'golden', 'difference'].map(x => el('th', {}, t('element-' + x))))),
      el('tbody', {}, list.map(e => el('tr', {}, el('td', {}, coordinates(e.index, look.shape ?? [])), el('td.number', {}, whole(e.left, e.leftRest)), el('td.number', {}, whole(e.right, e.rightRest)), el('td.number', {}, figure(Number(e.left) - Number(e.right) + (e.leftRest - e.rightRest))))))));
  }
  return box;
}

/** smallLook is the picture of a tensor's error for a card, null where nobody looked at its elements: along an axis, or over the last two,
 * whichever has more of the error in few places; and golden against NPU. */
export function smallLook(look) {
  if (!look) return null;
  const list = [];
  const axis = look.channels?.length > 1 ? contrast(look.channels) : 0;
  const area = look.map?.length > 1 ? contrast(look.map) : 0;
  if (axis > 0 && axis >= area) list.push(figureBox(t('channels', look.channel_axis ?? 0), 150, 84, c => bars(c, look.channels), ['0', String(look.channel_count - 1)], ''));
  else if (area > 0) list.push(figureBox(t('map'), 150, 84, c => map(c, look), [], ''));
  if (look.density?.length) list.push(figureBox(t('density'), 100, 84, c => density(c, look), [], ''));
  return list.length ? el('div.pictures.small', {}, list) : null;
}

/** contrast is the share of a sum that is in the largest quarter of its parts. */
function contrast(list) {
  const all = list.filter(v => v > 0).sort((a, b) => b - a);
  const sum = all.reduce((a, b) => a + b, 0);
  return sum > 0 ? all.slice(0, Math.ceil(list.length / 4)).reduce((a, b) => a + b, 0) / sum : 0;
}

/** rangeLook is the picture of a tensor of which statistics are known alone: both sides' smallest and largest element on one line each, with the mean. */
export function rangeLook(m, i) {
  const of = side => ({lo: m.statistic(side, 'min', i), hi: m.statistic(side, 'max', i), mean: m.statistic(side, 'mean', i)});
  const [left, right] = [of('left'), of('right')];
  if (![left.lo, left.hi, right.lo, right.hi].every(Number.isFinite)) return null;
  const low = Math.min(left.lo, right.lo);
  const high = Math.max(left.hi, right.hi);
  return el('div.pictures.small', {}, figureBox(t('range', t('right'), t('left')), 250, 60, canvas => {
    const {g, w, h} = fit(canvas);
    const at = v => 4 + (w - 8) * (high > low ? (v - low) / (high - low) : 0.5);
    [right, left].forEach((s, k) => {
      const y = h * (k ? 0.72 : 0.28);
      g.strokeStyle = g.fillStyle = colour(k ? 'bad' : 'good');
      g.lineWidth = 8;
      g.globalAlpha = 0.45;
      g.beginPath();
      g.moveTo(at(s.lo), y);
      g.lineTo(Math.max(at(s.hi), at(s.lo) + 1), y);
      g.stroke();
      g.globalAlpha = 1;
      if (Number.isFinite(s.mean)) g.fillRect(at(s.mean) - 1.5, y - 9, 3, 18);
    });
  }, [figure(low), figure(high)], ''));
}

/** whole is an element: in all its digits if it is an integer that no float64 holds. */
function whole(v, rest) { return rest ? String(BigInt(v) + BigInt(rest)) : figure(Number(v), 6); }

/** kindName is what a kind of wrong is called. */
function kindName(kind) {
  const name = t('pattern.' + kind);
  return name === 'pattern.' + kind ? kind : name;
}

/** evidence is what a kind of wrong rests on, in words where the program had them. */
function evidence(p) { return spoken().evidence?.[p.kind + ' ' + p.evidence] ?? p.evidence; }

function figureBox(title, w, h, draw, ends, note) {
  const canvas = el('canvas', {role: 'img', 'aria-label': title});
  canvas.style.width = w + 'px';
  canvas.style.height = h + 'px';
  requestAnimationFrame(() => draw(canvas));
  const f = el('figure', {}, el('figcaption', {}, title), canvas, ends.length ? el('div.ends', {}, el('span', {}, ends[0]), el('span', {}, ends[1])) : null, note ? el('small.dim', {}, note) : null);
  f.style.width = w + 'px';
  return f;
}

function histogram(canvas, look) { columnsOf(canvas, look.histogram.map(v => Math.log10(1 + v))); }

function bars(canvas, list) { columnsOf(canvas, list); }

function columnsOf(canvas, list) {
  const {g, w, h} = fit(canvas);
  const most = Math.max(...list, 1e-300);
  g.fillStyle = colour('accent');
  const step = w / list.length;
  list.forEach((v, i) => { const y = v / most * (h - 4); g.fillRect(i * step, h - y, Math.max(1, step - 1), y); });
  g.fillStyle = colour('line');
  g.fillRect(0, h - 1, w, 1);
}

function density(canvas, look) {
  const n = Math.round(Math.sqrt(look.density.length));
  const {g, w, h} = grid(canvas, look.density.map(v => Math.log10(1 + v)), n, n, true);
  g.strokeStyle = colour('dim');
  g.setLineDash([3, 3]);
  g.beginPath();
  g.moveTo(0, h);
  g.lineTo(w, 0);
  g.stroke();
}

function map(canvas, look) { grid(canvas, look.map, look.map_kept, look.map.length / look.map_kept, false); }

/** grid draws numbers as shades, row by row, the first row at the bottom if flipped. */
function grid(canvas, list, rows, cols, flipped) {
  const {g, w, h} = fit(canvas);
  const most = Math.max(...list, 1e-300);
  g.fillStyle = colour('accent');
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const v = list[r * cols + c];
      if (!(v > 0)) continue;
      g.globalAlpha = 0.12 + 0.88 * v / most;
      g.fillRect(c * w / cols, (flipped ? rows - 1 - r : r) * h / rows, w / cols + 0.3, h / rows + 0.3);
    }
  }
  g.globalAlpha = 1;
  g.strokeStyle = colour('line');
  g.strokeRect(0.5, 0.5, w - 1, h - 1);
  return {g, w, h};
}
