// graph.js: the network as a picture: what is around an operator, or all of it as modules that open.

import {t, el, show} from './text.js';
import {dtypeText} from './filter.js';
import {colour, draw as mark, ring, fit, signs, order as states} from './marks.js';
import {figure, shapeText} from './format.js';
import {modules, around, minor, ties, beside, near as nearby, picture, boxW, boxH} from './fold.js';
import {errorOf} from './chart.js';
import {savePicture} from './svg.js';
import {state, set, select, on} from './state.js';

const mostNear = 400;

export function graphView(m) {
  const canvas = document.getElementById('graph');
  const small = document.getElementById('overview');
  const search = document.getElementById('graph-search');
  const wide = document.getElementById('graph-whole');
  const all = document.getElementById('graph-minor');
  const heat = document.getElementById('graph-heat');
  const camera = {x: 0, y: 0, scale: 1};
  const extent = measure(m.ops);
  const open = new Set();
  let scene = {boxes: [], edges: [], w: 0, h: 0, shows: () => null};
  let error = () => NaN;
  let range = null; // of errors, as powers of 10, while colours show them

  const hides = op => !all.checked && minor(op) && op.place !== state.op;

  /** place puts together what is to be seen. */
  const place = () => {
    const op = m.ops[state.op];
    if (op && !wide.checked) {
      const found = new Set([op]);
      for (const way of [0, 1]) {
        let front = [op];
        for (let k = 0; k < state.steps; k++) {
          front = front.flatMap(o => beside(o, way, hides)).filter(o => !found.has(o) && found.size < mostNear && found.add(o));
        }
      }
      scene = nearby([...found].sort((a, b) => a.place - b.place), hides);
    } else {
      const top = modules(m);
      if (op) for (const node of around(op)) open.add(node);
      scene = picture(top, ties(m.edges, hides), node => open.has(node), hides);
    }
  };

  const frame = () => {
    const {g, w, h} = fit(canvas);
    g.translate(w / 2, h / 2);
    g.scale(camera.scale, camera.scale);
    g.translate(-camera.x, -camera.y);
    const s = camera.scale;
    paint(g, s, {left: camera.x - w / 2 / s, right: camera.x + w / 2 / s, up: camera.y - h / 2 / s, down: camera.y + h / 2 / s});
    overview();
  };

  /** paint draws what lies in a part of the scene, s times as large as it is. */
  const paint = (g, s, sight) => {
    const inSight = b => b.x + b.w / 2 > sight.left && b.x - b.w / 2 < sight.right && b.y + b.h / 2 > sight.up && b.y - b.h / 2 < sight.down;
    const text = s > 0.3;
    for (const b of scene.boxes) if (b.open && inSight(b)) frameOf(g, b, s);
    for (const lit of [false, true]) {
      g.strokeStyle = colour(lit ? 'bad' : 'edge');
      g.lineWidth = (lit ? 2 : 1) / Math.min(1, Math.max(s, 0.2));
      g.beginPath();
      for (const e of scene.edges) {
        if (e.all.some(onTheWay) !== lit) continue;
        const ys = e.way.map(p => p[1]);
        if (Math.max(...ys) < sight.up || Math.min(...ys) > sight.down) continue;
        run(g, e.way);
      }
      g.stroke();
    }
    if (text && s > 0.75 && !wide.checked) labels(g, inSight);
    for (const b of scene.boxes) {
      if (b.open || !inSight(b)) continue;
      const of = b.op ?? b.node;
      const x = b.x - b.w / 2;
      const y = b.y - b.h / 2;
      if (!text) {
        g.fillStyle = fillOf(of) ?? colour(of.state);
        const r = Math.max(1, (of.state === 'good' || of.state === 'uncompared' ? 2 : 4) / s / b.h);
        g.fillRect(b.x - b.w / 2 * r, b.y - b.h / 2 * r, b.w * r, b.h * r);
        if (of.root >= 0) ring(g, b.x, b.y, Math.max(b.w * 0.6, 7 / s));
      } else {
        g.lineWidth = of.root >= 0 ? 3 : 1.5;
        g.strokeStyle = colour(of.state);
        g.setLineDash(of.state === 'uncompared' ? [4, 3] : []);
        if (b.node) { // as if more lay below
          g.fillStyle = colour('panel');
          for (const k of b.node.pile ? [8, 4] : [4]) card(g, x + k, y + k, b.w, b.h, 6);
        }
        g.fillStyle = fillOf(of) ?? colour('panel');
        card(g, x, y, b.w, b.h, b.op?.inserted ? 2 : 8);
        g.setLineDash([]);
        mark(g, of.state, x + 13, y + 14, 5);
        if (b.op) words(g, x, y, b.w, show(b.op.type || '?') + (b.op.root >= 0 ? '  ' + t('root') : ''), metric(b.op), show(b.op.name));
        else words(g, x, y, b.w, show(b.node.name), b.node.pile ? '×' + b.node.pile : '+', counts(b.node));
      }
      if (b.op && b.op.place === state.op) outline(g, x - 5 / Math.min(s, 1), y - 5 / Math.min(s, 1), b.w + 10 / Math.min(s, 1), b.h + 10 / Math.min(s, 1), 2 / Math.min(s, 1));
    }
  };

  /** frameOf draws an open module around what it holds. */
  const frameOf = (g, b, s) => {
    g.fillStyle = colour(b.depth % 2 ? 'panel' : 'ground');
    g.strokeStyle = colour('line');
    g.lineWidth = 1 / Math.min(1, s);
    card(g, b.x - b.w / 2, b.y - b.h / 2, b.w, b.h, 8);
    if (s < 0.3) return;
    mark(g, b.node.state, b.x - b.w / 2 + 12, b.y - b.h / 2 + 12, 4);
    g.fillStyle = colour('dim');
    g.font = '600 11px system-ui, sans-serif';
    g.fillText(cut(g, '− ' + show(b.node.name) + '  ' + counts(b.node), b.w - 30), b.x - b.w / 2 + 22, b.y - b.h / 2 + 16);
  };

  const counts = node => states.filter(s => node.counts[s]).map(s => signs[s] + node.counts[s]).join(' ');

  const metric = op => { const v = error(op); return Number.isNaN(v) ? '' : Number.isFinite(v) ? figure(v, 3) : 'NaN'; };

  /** fillOf is the colour of an operator's error between the smallest and the largest, if that is asked for. */
  const fillOf = of => {
    if (of.module || !range) return null;
    const v = error(of);
    if (Number.isNaN(v)) return of.state === 'bad' || of.state === 'inherited' ? tint(1) : null;
    return tint(v > 0 ? Math.min(1, Math.max(0, (Math.log10(v) - range.low) / Math.max(1e-9, range.high - range.low))) : 0);
  };

  const renewHeat = () => {
    error = errorOf(m);
    const list = heat.value === 'error' ? m.ops.map(error).filter(v => v > 0 && Number.isFinite(v)).map(Math.log10) : [];
    range = list.length ? {low: list.reduce((a, b) => Math.min(a, b)), high: list.reduce((a, b) => Math.max(a, b))} : null;
    const legend = document.getElementById('graph-legend');
    legend.hidden = !range;
    if (range) legend.replaceChildren(figure(10 ** range.low, 2) + ' ', el('span.ramp', {}), ' ' + figure(10 ** range.high, 2));
  };

  // Edges of the selected operator tell what goes along them.
  const labels = (g, inSight) => {
    g.font = '10px system-ui, sans-serif';
    g.fillStyle = colour('dim');
    g.textAlign = 'center';
    for (const e of scene.edges) {
      if (e.from.op?.place !== state.op && e.to.op?.place !== state.op || !inSight(e.from) && !inSight(e.to)) continue;
      const {from, output} = e.all[0];
      const row = from.rows.findLast(i => m.role(i) === 'output' && m.slot(i) === output);
      if (row === undefined) continue;
      const down = e.to.op?.place === state.op;
      const [x, y] = down ? e.way[0] : e.way.at(-1);
      g.fillText([dtypeText(m, row), shapeText(m.leftShape(row) ?? m.shape(row))].filter(Boolean).join(' '), x, y + (down ? 13 : -7));
    }
    g.textAlign = 'start';
  };

  const overview = () => {
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
    const op = m.ops[state.op];
    if (op) outline(g, op.x - 5 / s, op.y - 5 / s, 10 / s, 10 / s, 1.5 / s);
  };

  const centre = () => {
    const b = m.ops[state.op] && scene.shows(m.ops[state.op]);
    if (!b) { whole(); return; }
    camera.x = b.x;
    camera.y = b.y;
    let scale = 1;
    if (!wide.checked) {
      const half = {w: 2 * Math.max(scene.w - b.x, b.x), h: 2 * Math.max(scene.h - b.y, b.y)};
      scale = Math.min(canvas.clientWidth / (half.w + 20), canvas.clientHeight / (half.h + 20));
    }
    camera.scale = Math.max(0.62, Math.min(1.1, scale));
    later();
  };

  const whole = () => {
    camera.x = scene.w / 2;
    camera.y = scene.h / 2;
    camera.scale = Math.min(1, canvas.clientWidth / (scene.w + 40), canvas.clientHeight / (scene.h + 40)) || 1;
    later();
  };

  /** turn opens or closes a module, whose place on the screen stays. */
  const turn = node => {
    const before = scene.shows(node);
    if (!open.delete(node)) open.add(node);
    const kept = state.op >= 0 && !open.has(node) && around(m.ops[state.op]).includes(node); // closing what is chosen
    if (kept) set({op: -1, row: -1});
    scene = picture(modules(m), ties(m.edges, hides), n => open.has(n), hides);
    const after = scene.shows(node);
    if (before && after) {
      camera.x += after.x - before.x;
      camera.y += after.y - after.h / 2 - (before.y - before.h / 2);
    }
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

  /** at is the operator or module at a place, the innermost. */
  const at = p => {
    const reach = Math.max(0, 6 / camera.scale - boxH / 2);
    const b = scene.boxes.findLast(o => Math.abs(o.x - p.x) < o.w / 2 + reach && Math.abs(o.y - p.y) < o.h / 2 + reach);
    return b?.op ?? b?.node;
  };

  let drag = null;
  canvas.addEventListener('pointerdown', e => { drag = {x: e.clientX, y: e.clientY, moved: false}; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener('pointermove', e => {
    if (!drag) {
      const of = at(point(e));
      canvas.title = !of ? '' : of.module ? show(of.path) + ' ' + counts(of) : show(of.type + ' ' + of.name) + ' ' + metric(of);
      return;
    }
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
    const hit = click && at(point(e));
    if (!hit) return;
    if (hit.module) turn(hit);
    else select(hit.place);
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
    const x = extent.x + (e.clientX - b.left - b.width / 2) / s;
    const y = extent.y + (e.clientY - b.top - b.height / 2) / s;
    const far = o => Math.hypot(o.x - x, o.y - y);
    if (m.ops.length) select(m.ops.reduce((best, o) => far(o) < far(best) ? o : best).place);
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
  document.getElementById('graph-fit').addEventListener('click', () => {
    wide.checked = true;
    open.clear();
    if (state.op < 0) renew();
    else set({op: -1, row: -1});
  });
  document.getElementById('graph-svg').addEventListener('click', () => savePicture('graph.svg', scene.w + 24, scene.h + 24, g => {
    g.translate(12, 12);
    paint(g, 1, {left: -Infinity, right: Infinity, up: -Infinity, down: Infinity});
  }));
  const renew = () => {
    document.getElementById('graph-steps').textContent = t('steps', state.steps);
    place();
    centre();
  };
  wide.addEventListener('change', renew);
  all.addEventListener('change', renew);
  all.parentElement.hidden = !m.ops.some(minor);
  heat.addEventListener('change', () => { renewHeat(); later(); });
  new ResizeObserver(later).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', later);
  const texts = () => {
    search.placeholder = t('search');
    const chosen = heat.value || 'state';
    heat.replaceChildren(...['state', 'error'].map(v => el('option', {value: v, selected: v === chosen}, t('heat.' + v))));
    document.getElementById('graph-steps').textContent = t('steps', state.steps);
    later();
  };
  on('op steps', renew);
  on('metric', () => { renewHeat(); later(); });
  on('lang', texts);
  texts();
  renewHeat();
  document.getElementById('graph-note').hidden = m.edges.length > 0;
  wide.checked = m.roots.length === 0;
  renew();
}

/** words are those of a box: what it is, a number at its right end, and a name in whole lines, cut in its middle where it is too long. */
function words(g, x, y, w, kind, number, name) {
  g.fillStyle = colour('ink');
  g.font = '11px system-ui, sans-serif';
  const room = number ? g.measureText(number).width + 8 : 0;
  if (number) g.fillText(number, x + w - room, y + 18);
  g.font = '600 11px system-ui, sans-serif';
  g.fillText(cut(g, kind, w - 30 - room), x + 24, y + 18);
  g.font = '10.5px ui-monospace, monospace';
  g.fillStyle = colour('dim');
  const fits = Math.floor((w - 14) / g.measureText('m').width);
  const text = cutMiddle(name, 2 * fits);
  // A name is folded behind a point or stroke, if there is one near the end of the line.
  const most = Math.max(...[...text.slice(0, fits).matchAll(/[./_ ]/g)].map(x => x.index + 1), 0);
  const fold = text.length <= fits ? text.length : text.length - most <= fits && most > fits / 3 ? most : fits;
  g.fillText(text.slice(0, fold), x + 7, y + 35);
  g.fillText(text.slice(fold), x + 7, y + 49);
}

function card(g, x, y, w, h, round) {
  g.beginPath();
  g.roundRect(x, y, w, h, round);
  g.fill();
  g.stroke();
}

/** run draws an edge over its bends. */
function run(g, way) {
  g.moveTo(...way[0]);
  for (let k = 1; k < way.length; k++) {
    const [x0, y0] = way[k - 1];
    const [x, y] = way[k];
    const bend = Math.abs(y - y0) / 2;
    if (y > y0) g.bezierCurveTo(x0, y0 + bend, x, y - bend, x, y);
    else g.bezierCurveTo(x0 + 40 + bend / 4, y0, x + 40 + bend / 4, y, x, y);
  }
}

/** tint is the colour of a share of the range of errors, as the legend shows it. */
function tint(share) { return `color-mix(in srgb, ${colour('bad')} ${Math.round(6 + 74 * share)}%, ${colour('panel')})`; }

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

/** onTheWay tells of an edge whether an error goes along it: out of a root or of what inherits, into what is bad. */
function onTheWay(e) {
  const carries = o => o.root >= 0 || o.state === 'inherited' || o.state === 'bad';
  return carries(e.from) && (carries(e.to) || e.to.state === 'uncompared' && e.to.final);
}

function cutMiddle(text, most) { return text.length <= most ? text : text.slice(0, Math.ceil(most / 2) - 1) + '…' + text.slice(-Math.floor(most / 2)); }

function cut(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 3 && g.measureText(cutMiddle(text, n)).width > width) n--;
  return cutMiddle(text, n);
}
