// graph.js: the network as a picture. Places of operators come with the data; here they are only drawn.

import {t, el, show} from './text.js';
import {dtypeText} from './filter.js';
import {colour, draw as mark, ring, fit} from './marks.js';
import {shapeText} from './format.js';
import {state, set, select, on} from './state.js';

const boxW = 168;
const boxH = 40;

export function graphView(m) {
  const canvas = document.getElementById('graph');
  const small = document.getElementById('overview');
  const search = document.getElementById('graph-search');
  const wide = document.getElementById('graph-whole');
  const camera = {x: 0, y: 0, scale: 1};
  const outRow = new Map(); // operator:output -> row
  for (let i = 0; i < m.rows; i++) if (m.role(i) === 'output') outRow.set(m.op.get(i) + ':' + m.slot(i), i);
  const extent = measure(m.ops);
  const path = fromRoots(m);
  let near = null;

  const neighbours = () => {
    if (state.op < 0 || wide.checked) { near = null; return; }
    near = new Set([state.op]);
    for (const up of [true, false]) {
      let front = [m.ops[state.op]];
      for (let k = 0; k < state.steps; k++) {
        const next = [];
        for (const op of front) {
          for (const e of up ? op.ins : op.outs) {
            const o = up ? e.from : e.to;
            if (near.has(o.place) && o !== front[0]) continue;
            near.add(o.place);
            if (near.size > 400) return;
            next.push(o);
          }
        }
        front = next;
      }
    }
  };

  const frame = () => {
    const {g, w, h} = fit(canvas);
    g.translate(w / 2, h / 2);
    g.scale(camera.scale, camera.scale);
    g.translate(-camera.x, -camera.y);
    const s = camera.scale;
    const left = camera.x - w / 2 / s - boxW;
    const right = camera.x + w / 2 / s + boxW;
    const up = camera.y - h / 2 / s - boxH;
    const down = camera.y + h / 2 / s + boxH;
    const inSight = o => o.x > left && o.x < right && o.y > up && o.y < down;
    const text = s > 0.45;
    g.lineWidth = 1 / Math.min(1, s);
    for (const lit of [false, true]) {
      g.strokeStyle = colour(lit ? 'bad' : 'edge');
      g.lineWidth = (lit ? 2 : 1) / Math.min(1, Math.max(s, 0.2));
      g.beginPath();
      for (const e of m.edges) {
        if (near && !(near.has(e.from.place) && near.has(e.to.place))) continue;
        if (path.has(e) !== lit) continue;
        if (Math.max(e.from.y, e.to.y) < up || Math.min(e.from.y, e.to.y) > down || Math.max(e.from.x, e.to.x) < left || Math.min(e.from.x, e.to.x) > right) continue;
        const y0 = e.from.y + boxH / 2;
        const y1 = e.to.y - boxH / 2;
        g.moveTo(e.from.x, y0);
        const bend = Math.max(12, Math.min(60, (y1 - y0) / 2));
        g.bezierCurveTo(e.from.x, y0 + bend, e.to.x, y1 - bend, e.to.x, y1);
      }
      g.stroke();
    }
    if (text && s > 0.75) labels(g, inSight);
    for (const o of m.ops) {
      if (near && !near.has(o.place) || !inSight(o)) continue;
      const x = o.x - boxW / 2;
      const y = o.y - boxH / 2;
      if (!text) {
        g.fillStyle = colour(o.state);
        if (s > 0.12) {
          g.fillRect(x, y, boxW, boxH);
        } else {
          const r = Math.max(boxW * 0.5, (o.state === 'good' || o.state === 'uncompared' ? 1.5 : 3) / s);
          g.fillRect(o.x - r / 2, o.y - r / 2, r, r);
        }
        if (o.root >= 0) ring(g, o.x, o.y, Math.max(boxW * 0.7, 7 / s));
        if (o.place === state.op) outline(g, x - 6 / s, y - 6 / s, boxW + 12 / s, boxH + 12 / s, 2 / s);
        continue;
      }
      g.fillStyle = colour('panel');
      g.strokeStyle = colour(o.state);
      g.lineWidth = o.root >= 0 ? 3 : 1.5;
      g.beginPath();
      g.roundRect(x, y, boxW, boxH, o.inserted ? 2 : 8);
      g.fill();
      g.setLineDash(o.state === 'uncompared' ? [4, 3] : []);
      g.stroke();
      g.setLineDash([]);
      if (o.place === state.op) outline(g, x - 4, y - 4, boxW + 8, boxH + 8, 2);
      mark(g, o.state, x + 12, y + 13, 5);
      g.fillStyle = colour('ink');
      g.font = '600 11px system-ui, sans-serif';
      g.fillText(clip(g, show(o.type || '?') + (o.root >= 0 ? '  ' + t('root') : ''), boxW - 28), x + 22, y + 17);
      g.font = '10.5px ui-monospace, monospace';
      g.fillStyle = colour('dim');
      g.fillText(clip(g, tail(show(o.name)), boxW - 12), x + 7, y + 32);
    }
    overview(w / s, h / s);
  };

  // Edges of the selected operator tell what goes along them.
  const labels = (g, inSight) => {
    const op = m.ops[state.op];
    if (!op) return;
    g.font = '10px system-ui, sans-serif';
    g.fillStyle = colour('dim');
    g.textAlign = 'center';
    for (const e of [...op.ins, ...op.outs]) {
      if (!inSight(e.from) && !inSight(e.to)) continue;
      const row = outRow.get(e.from.name + ':' + e.output);
      if (row === undefined) continue;
      const other = e.to === op ? e.from : e.to;
      const y = e.to === op ? other.y + boxH / 2 + 14 : other.y - boxH / 2 - 8;
      g.fillText([dtypeText(m, row), shapeText(m.leftShape(row) ?? m.shape(row))].filter(Boolean).join(' '), other.x, y);
    }
    g.textAlign = 'start';
  };

  const overview = (w, h) => {
    const {g, w: sw, h: sh} = fit(small);
    const s = Math.min(sw / extent.w, sh / extent.h);
    g.translate(sw / 2, sh / 2);
    g.scale(s, s);
    g.translate(-extent.x, -extent.y);
    for (const name of ['uncompared', 'damaged', 'good', 'suspect', 'inherited', 'bad']) {
      g.fillStyle = colour(name);
      const r = Math.max(boxH, (name === 'bad' ? 3.5 : 2) / s);
      for (const o of m.ops) if (o.state === name) g.fillRect(o.x - r / 2, o.y - r / 2, r, r);
    }
    outline(g, camera.x - w / 2, camera.y - h / 2, w, h, 1.5 / s);
  };

  const centre = () => {
    const op = m.ops[state.op];
    if (!op) { whole(); return; }
    camera.x = op.x;
    camera.y = op.y;
    let scale = 1;
    if (near) {
      const e = measure([...near].map(i => m.ops[i]));
      const half = {w: 2 * Math.max(e.x + e.w / 2 - op.x, op.x - e.x + e.w / 2), h: 2 * Math.max(e.y + e.h / 2 - op.y, op.y - e.y + e.h / 2)};
      scale = Math.min(canvas.clientWidth / half.w, canvas.clientHeight / half.h);
    }
    camera.scale = Math.max(0.62, Math.min(1.1, scale));
    later();
  };

  const whole = () => {
    camera.x = extent.x;
    camera.y = extent.y;
    camera.scale = Math.min(1, canvas.clientWidth / extent.w, canvas.clientHeight / extent.h) || 1;
    later();
  };

  let asked = false;
  const later = () => {
    if (!asked) requestAnimationFrame(() => { asked = false; frame(); });
    asked = true;
  };

  const point = e => {
    const b = canvas.getBoundingClientRect();
    return {x: camera.x + (e.clientX - b.left - b.width / 2) / camera.scale, y: camera.y + (e.clientY - b.top - b.height / 2) / camera.scale};
  };

  let drag = null;
  canvas.addEventListener('pointerdown', e => { drag = {x: e.clientX, y: e.clientY, moved: false}; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointermove', e => {
    if (!drag) return;
    const dx = e.clientX - drag.x;
    const dy = e.clientY - drag.y;
    drag.moved ||= Math.abs(dx) + Math.abs(dy) > 4;
    if (!drag.moved) return;
    camera.x -= dx / camera.scale;
    camera.y -= dy / camera.scale;
    drag.x = e.clientX;
    drag.y = e.clientY;
    later();
  });
  canvas.addEventListener('pointerup', e => {
    const click = drag && !drag.moved;
    drag = null;
    if (!click) return;
    const p = point(e);
    const reach = Math.max(0, 6 / camera.scale - boxH / 2);
    const hit = m.ops.find(o => (!near || near.has(o.place)) && Math.abs(o.x - p.x) < boxW / 2 + reach && Math.abs(o.y - p.y) < boxH / 2 + reach);
    if (hit) select(hit.place);
  });
  canvas.addEventListener('wheel', e => {
    e.preventDefault();
    const p = point(e);
    const factor = Math.exp(-e.deltaY * 0.0015);
    const scale = Math.min(3, Math.max(0.002, camera.scale * factor));
    camera.x = p.x - (p.x - camera.x) * camera.scale / scale;
    camera.y = p.y - (p.y - camera.y) * camera.scale / scale;
    camera.scale = scale;
    later();
  }, {passive: false});
  canvas.addEventListener('keydown', e => {
    const step = 60 / camera.scale;
    const move = {ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step]}[e.key];
    if (move) { camera.x += move[0]; camera.y += move[1]; }
    else if (e.key === '+' || e.key === '=') camera.scale = Math.min(3, camera.scale * 1.25);
    else if (e.key === '-') camera.scale = Math.max(0.002, camera.scale / 1.25);
    else if (e.key === '0') { whole(); return; }
    else return;
    e.preventDefault();
    later();
  });
  small.addEventListener('pointerdown', e => {
    const b = small.getBoundingClientRect();
    const s = Math.min(b.width / extent.w, b.height / extent.h);
    camera.x = extent.x + (e.clientX - b.left - b.width / 2) / s;
    camera.y = extent.y + (e.clientY - b.top - b.height / 2) / s;
    if (near) { wide.checked = true; near = null; }
    later();
  });

  const find = way => {
    const low = search.value.toLowerCase();
    if (!low) return;
    const n = m.ops.length;
    for (let k = 1; k <= n; k++) {
      const o = m.ops[(((state.op < 0 ? -way : state.op) + way * k) % n + n) % n];
      if (o.name.toLowerCase().includes(low) || o.type.toLowerCase() === low || o.framework.some(f => f.toLowerCase().includes(low))) { select(o.place); return; }
    }
  };
  search.addEventListener('keydown', e => { if (e.key === 'Enter') find(e.shiftKey ? -1 : 1); });
  document.getElementById('graph-next').addEventListener('click', () => find(1));
  document.getElementById('graph-previous').addEventListener('click', () => find(-1));
  document.getElementById('graph-less').addEventListener('click', () => set({steps: Math.max(1, state.steps - 1)}));
  document.getElementById('graph-more').addEventListener('click', () => set({steps: Math.min(8, state.steps + 1)}));
  document.getElementById('graph-fit').addEventListener('click', () => { wide.checked = true; near = null; whole(); });
  wide.addEventListener('change', () => { neighbours(); later(); });
  new ResizeObserver(later).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', later);
  const renew = () => {
    document.getElementById('graph-steps').textContent = t('steps', state.steps);
    neighbours();
    centre();
  };
  on('op steps', renew);
  on('lang', () => { search.placeholder = t('search'); document.getElementById('graph-steps').textContent = t('steps', state.steps); later(); });
  search.placeholder = t('search');
  document.getElementById('graph-note').hidden = m.edges.length > 0;
  renew();
}

function outline(g, x, y, w, h, line) {
  g.lineWidth = line;
  g.strokeStyle = colour('accent');
  g.strokeRect(x, y, w, h);
}

function measure(ops) {
  let [l, r, u, d] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const o of ops) {
    l = Math.min(l, o.x); r = Math.max(r, o.x);
    u = Math.min(u, o.y); d = Math.max(d, o.y);
  }
  if (l > r) [l, r, u, d] = [0, 0, 0, 0];
  return {x: (l + r) / 2, y: (u + d) / 2, w: r - l + boxW + 40, h: d - u + boxH + 40};
}

/** fromRoots are the edges on the way of an error: out of a root or of what inherits, into what is bad. */
function fromRoots(m) {
  const lit = new Set();
  const carries = o => o.root >= 0 || o.state === 'inherited' || o.state === 'bad';
  for (const e of m.edges) if (carries(e.from) && (carries(e.to) || e.to.state === 'uncompared' && e.to.final)) lit.add(e);
  return lit;
}

function tail(name) { return name.length > 26 ? '…' + name.slice(-25) : name; }

function clip(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 1 && g.measureText(text.slice(0, n) + '…').width > width) n--;
  return text.slice(0, n) + '…';
}
