// chart.js: the error over execution order.

import {t, el, show} from './text.js';
import {numbers, tensor, apart} from './data.js';
import {figure, cosineText} from './format.js';
import {colour, draw, ring} from './marks.js';
import {savePicture} from './svg.js';
import {state, set, select, on} from './state.js';

/** measures are what y can be: a column and how it is shown. Larger is worse. */
function measures(m) {
  const list = [
    {name: 'cosine', of: 'CosineSimilarity', fact: 'cosine', make: v => 1 - v},
    {name: 'distance', of: 'RelativeEuclideanDistance', fact: 'distance'},
    {name: 'largest', of: 'MaxAbsoluteError', fact: 'max_abs'},
    {name: 'relative', of: 'MaxRelativeError', fact: 'max_rel'},
    {name: 'mean', of: 'MeanAbsoluteError'},
    {name: 'rms', of: 'RootMeanSquareError'},
  ].filter(x => m.raw[x.of] || x.fact && m.raw[x.fact]);
  if (m.statistics) {
    for (const name of ['norm', 'max', 'min', 'mean']) list.push({name: 'stat-' + name, statistic: name});
  }
  const checks = m.file.table.checks;
  if (checks?.local) list.push({name: 'local', check: 'local'}, {name: 'inherited', check: 'inherited'});
  return list;
}

/** values are those of a measure by row, as they are plotted: log10, with 0 at the floor and NaN at the top. */
function values(m, x) {
  if (x.values) return x.values;
  if (x.statistic) {
    return Float64Array.from({length: m.rows}, (_, i) => m.knows('left', x.statistic, i) && m.knows('right', x.statistic, i) ? apart(m.statistic('left', x.statistic, i), m.statistic('right', x.statistic, i)) : NaN);
  }
  const from = x.fact && m.raw[x.fact] ? numbers(m, x.fact) : numbers(m, x.of);
  return x.make ? from.map(x.make) : from;
}

function checked(m, name) {
  const {checks} = m.file.table;
  const list = new Float64Array(m.rows).fill(NaN);
  const rows = new Map();
  for (let i = 0; i < m.rows; i++) if (m.role(i) === 'output') rows.set(tensor(m, i), i);
  const ops = Array.isArray(checks.op) ? checks.op : checks.op.at.map(k => checks.op.of[k]);
  ops.forEach((op, k) => {
    const row = rows.get(op + ':output:' + (checks.output?.[k] ?? 0));
    const v = checks[name]?.[k];
    if (row !== undefined && typeof v === 'number') list[row] = v;
  });
  return list;
}

/** errorOf gives the chosen measure of an operator: the largest of its outputs, NaN where none is known. */
export function errorOf(m) {
  const all = m.chosenMeasures ??= measures(m);
  const x = all.find(a => a.name === state.metric) ?? all[0];
  if (!x) return () => NaN;
  const v = x.v ??= x.check ? checked(m, x.check) : values(m, x);
  return op => op.rows.reduce((most, row) => m.role(row) === 'output' && (x.check || x.statistic || m.compared(row)) && !(v[row] <= most) && !(x.statistic && Number.isNaN(v[row])) ? v[row] : most, NaN);
}

export function chartView(m) {
  const box = document.getElementById('chart');
  const choice = document.getElementById('measure');
  const inputs = document.getElementById('chart-inputs');
  const all = m.measures ?? measures(m);
  inputs.parentElement.hidden = !!m.measures; // which are of outputs alone
  let plot = null;
  let points = []; // {row, op, x, y, v, input}
  let hovered = -1;
  let top = 1;
  let floor = -8;

  const chosen = () => all.find(a => a.name === state.metric) ?? all[0];

  const build = () => {
    const x = chosen();
    if (!x) { box.replaceChildren(el('p.dim', {}, t('nothing-compared'))); return; }
    const v = x.check ? checked(m, x.check) : values(m, x);
    points = [];
    let low = Infinity;
    let high = -Infinity;
    for (const op of m.ops) {
      for (const row of op.rows) {
        const role = m.role(row);
        if (role === 'operator' || role === 'input' && !inputs.checked || !x.statistic && !m.compared(row)) continue;
        if ((x.check || x.statistic) && Number.isNaN(v[row])) continue;
        points.push({row, op, x: op.place, v: v[row], input: role === 'input'});
        if (v[row] > 0 && Number.isFinite(v[row])) {
          low = Math.min(low, v[row]);
          high = Math.max(high, v[row]);
        }
      }
    }
    floor = low < Infinity ? Math.floor(Math.log10(low)) - 1 : -8;
    floor = Math.max(floor, Math.log10(Math.max(high, 1e-8)) - 17);
    top = high > -Infinity ? Math.ceil(Math.log10(high) + 0.1) : 0;
    const odd = points.some(p => !Number.isFinite(p.v));
    for (const p of points) p.y = !Number.isFinite(p.v) ? top + 0.6 : p.v > 0 ? Math.max(Math.log10(p.v), floor) : floor;
    plot?.destroy();
    const range = [floor - 0.4, top + (odd ? 1 : 0.3)];
    const ink = colour('dim');
    const grid = {stroke: colour('line'), width: 1};
    plot = new uPlot({
      width: Math.max(280, box.clientWidth), height: 260, legend: {show: false},
      cursor: {points: {show: false}, drag: {x: true, y: false}, y: false},
      scales: {x: {time: false, range: (u, a, b) => a === b ? [a - 1, b + 1] : [a, b]}, y: {range: () => range}},
      axes: [{stroke: ink, grid, ticks: grid, size: 30, values: (u, s) => s.map(n => Number.isInteger(n) ? String(n) : '')},
        {stroke: ink, grid, ticks: grid, size: 58, splits: () => splits(floor, top, odd), values: (u, s) => s.map(n => n > top ? 'NaN' : n <= floor ? '0' : power(n))}],
      series: [{}, {paths: () => null, points: {show: false}}],
      hooks: {draw: [u => { paint(u); placeLine(u); }], setCursor: [u => hover(u)], ready: [u => {
        let moved = 0;
        u.over.addEventListener('mousedown', e => { moved = e.clientX; });
        u.over.addEventListener('mouseup', e => { if (Math.abs(e.clientX - moved) < 4 && hovered >= 0) select(points[hovered].op.place, points[hovered].row); });
        u.over.addEventListener('mouseleave', () => tell(-1));
      }]},
    }, [[-0.5, Math.max(0.5, m.ops.length - 0.5)], [floor, top]], (u, init) => { box.replaceChildren(u.root); init(); });
    whatIf();
  };

  const paint = (u, g = u.ctx) => {
    const {left, top: up, width, height} = u.bbox;
    const size = (devicePixelRatio || 1) * (points.length > 4000 ? 2.6 : 4);
    g.save();
    g.beginPath();
    g.rect(left, up, width, height);
    g.clip();
    for (const kind of ['uncompared', 'damaged', 'good', 'inherited', 'suspect', 'bad']) {
      for (const p of points) {
        const s = p.input ? m.verdictOf(p.row) : p.op.state === 'inherited' && m.verdictOf(p.row) === 'bad' ? 'inherited' : m.verdictOf(p.row);
        if (s !== kind) continue;
        const px = u.valToPos(p.x, 'x', true);
        if (px < left - size || px > left + width + size) continue;
        g.globalAlpha = p.input ? 0.35 : 1;
        const py = u.valToPos(p.y, 'y', true);
        draw(g, s, px, py, kind === 'good' ? size * 0.8 : size);
        if (!p.input && p.op.root >= 0) ring(g, px, py, size * 2.2);
      }
    }
    g.globalAlpha = 1;
    if (state.op >= 0) {
      const px = u.valToPos(state.op, 'x', true);
      g.strokeStyle = colour('accent');
      g.lineWidth = devicePixelRatio || 1;
      g.setLineDash([4, 3]);
      g.beginPath();
      g.moveTo(px, up);
      g.lineTo(px, up + height);
      g.stroke();
    }
    g.restore();
  };

  /** axes draws what uPlot draws of them, where it does not draw itself. */
  const axes = (u, g, scale) => {
    const {left, top: up, width, height} = u.bbox;
    const odd = points.some(p => !Number.isFinite(p.v));
    g.font = 12 * scale + 'px system-ui, sans-serif';
    g.strokeStyle = colour('line');
    g.fillStyle = colour('dim');
    g.lineWidth = scale;
    g.beginPath();
    g.textAlign = 'right';
    for (const v of splits(floor, top, odd)) {
      const y = u.valToPos(v, 'y', true);
      g.moveTo(left, y);
      g.lineTo(left + width, y);
      g.fillText(v > top ? 'NaN' : v <= floor ? '0' : power(v), left - 6 * scale, y + 4 * scale);
    }
    g.textAlign = 'center';
    for (const v of u.axes[0]._splits ?? []) {
      if (!Number.isInteger(v)) continue;
      const x = u.valToPos(v, 'x', true);
      g.moveTo(x, up);
      g.lineTo(x, up + height);
      g.fillText(String(v), x, up + height + 18 * scale);
    }
    g.textAlign = 'start';
    g.stroke();
  };

  const hover = u => {
    const {left, top: up} = u.cursor;
    let best = -1;
    if (left >= 0) {
      let nearest = 20 * 20;
      points.forEach((p, i) => {
        const dx = u.valToPos(p.x, 'x') - left;
        if (dx > 20 || dx < -20) return;
        const dy = u.valToPos(p.y, 'y') - up;
        const d = dx * dx + dy * dy;
        if (d < nearest) { nearest = d; best = i; }
      });
    }
    tell(best);
  };

  // A limit to try: the line that can be moved, and what it would call bad.
  const asked = document.getElementById('what-if');
  const limit = document.getElementById('what-limit');
  const lineY = document.createElement('div');
  lineY.className = 'what-line';
  const whatIf = () => {
    limit.hidden = !asked.checked;
    lineY.remove();
    document.getElementById('what-count').textContent = '';
    if (!asked.checked || !plot) return;
    const v = Number(limit.value);
    limit.classList.toggle('wrong', limit.value.trim() === '' || Number.isNaN(v));
    if (Number.isNaN(v)) return;
    const over = points.filter(p => !p.input && (!Number.isFinite(p.v) || p.v > v));
    const now = over.filter(p => m.verdictOf(p.row) !== 'bad').length;
    document.getElementById('what-count').textContent = t('what-count', over.length, points.filter(p => !p.input).length, now);
    plot.over.append(lineY);
    placeLine(plot);
  };
  const placeLine = u => {
    const v = Number(limit.value);
    lineY.style.top = u.valToPos(v > 0 ? Math.min(Math.max(Math.log10(v), floor), top) : floor, 'y') + 'px';
  };
  /** usual is the limit to begin with: that of a tensor called bad for this measure, else the middle of the axis. */
  const usual = () => {
    const {name, limit} = chosen();
    if (limit) return limit;
    for (const list of m.causes.values()) {
      for (const c of list) if (c.kind === name && c.limit > 0) return name === 'cosine' ? 1 - c.limit : c.limit;
    }
    return 10 ** Math.round((floor + top) / 2);
  };
  asked.addEventListener('change', () => { limit.value = figure(usual(), 3); whatIf(); });
  limit.addEventListener('input', whatIf);
  lineY.addEventListener('mousedown', e => e.stopPropagation());
  lineY.addEventListener('pointerdown', e => { lineY.setPointerCapture(e.pointerId); e.preventDefault(); });
  lineY.addEventListener('pointermove', e => {
    if (!lineY.hasPointerCapture(e.pointerId)) return;
    limit.value = figure(10 ** plot.posToVal(e.clientY - plot.over.getBoundingClientRect().top, 'y'), 3);
    whatIf();
  });

  const tell = i => {
    hovered = i;
    const tip = document.getElementById('chart-tip');
    if (i < 0) { tip.textContent = t('chart-hint'); return; }
    const p = points[i];
    const {name} = chosen();
    const v = name === 'cosine' && Number.isFinite(p.v) ? cosineText(1 - p.v) : figure(p.v);
    tip.textContent = t('report.word.' + p.op.state) + ' · ' + show(p.op.type) + ' ' + show(tensor(m, p.row)) + ' · ' + t('measure.' + name) + ' ' + v;
  };

  const texts = () => {
    choice.replaceChildren(...all.map(x => el('option', {value: x.name, selected: x === chosen()}, t('axis.' + x.name))));
    tell(-1);
    whatIf();
  };
  choice.addEventListener('change', () => set({metric: choice.value}));
  inputs.addEventListener('change', build);
  document.getElementById('chart-all').addEventListener('click', build);
  document.getElementById('chart-svg').addEventListener('click', () => {
    const scale = devicePixelRatio || 1;
    if (plot) savePicture('chart.svg', plot.width, plot.height + 20, g => {
      g.font = '12px system-ui, sans-serif';
      g.fillStyle = colour('ink');
      g.fillText(t('axis.' + chosen().name), 8, 14);
      g.translate(0, 20);
      g.scale(1 / scale, 1 / scale);
      axes(plot, g, scale);
      paint(plot, g);
    });
  });
  box.addEventListener('keydown', e => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[e.key];
    if (!step || !m.ops.length) return;
    let i = state.op;
    do i += step; while (i >= 0 && i < m.ops.length && !m.ops[i].rows.length);
    if (i >= 0 && i < m.ops.length) select(i);
    e.preventDefault();
  });
  new ResizeObserver(() => { if (plot && Math.abs(plot.width - box.clientWidth) > 1) plot.setSize({width: Math.max(280, box.clientWidth), height: 260}); }).observe(box);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', build);
  on('metric', () => { choice.value = chosen()?.name ?? ''; build(); if (asked.checked && chosen()) { limit.value = figure(usual(), 3); whatIf(); } });
  on('op', () => plot?.redraw(false, false));
  on('lang', texts);
  texts();
  build();
}

function splits(floor, top, odd) {
  const list = [floor];
  const step = Math.max(1, Math.ceil((top - floor) / 6));
  for (let k = Math.ceil(floor) + Math.max(1, Math.ceil(step / 2)); k <= top; k += step) list.push(k);
  if (odd) list.push(top + 0.6);
  return list;
}

function power(n) { return n >= -2 && n <= 3 ? String(Number((10 ** n).toPrecision(3))) : '1e' + Math.round(n); }
