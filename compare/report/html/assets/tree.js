// tree.js: both sides as modules within modules, opened together, and pairing by hand.

import {t, el, show} from './text.js';
import {statisticNames, apart} from './data.js';
import {signs, order as states} from './marks.js';
import {figure, shapeText} from './format.js';
import {modules, around, scopeOf} from './fold.js';
import {copyButton} from './cards.js';
import {state, select, on} from './state.js';

const mostShown = 300; // of what is inside one module, until more is asked for

export function treeView(m) {
  const box = document.getElementById('tree');
  const lone = m.ops.filter(op => op.alone);
  document.getElementById('sides-tree').hidden = !m.raw.recorded && !lone.length;
  if (!m.raw.recorded && !lone.length) return;
  const top = modules(m);
  const open = new Set();
  const wide = new Map(); // module -> how many of what is inside are shown
  let taken = null; // {side, of}: the first half of a pair
  const pairs = [];
  const nodes = new Map(); // what a line shows -> the line

  /** name is what a side calls an operator; nothing where it does not have it. */
  const name = (op, side) => {
    if (op.alone && op.alone !== side) return '';
    return op.rows.length ? m[side + 'Names'].get(op.rows[0]).replace(/^\*$/, '') : op.name;
  };
  const has = (one, side) => one.module ? one.all > one[side === 'left' ? 'right' : 'left'] : name(one, side) !== '';

  const half = (one, side, text) => el('span', {}, text, has(one, side) ? [' ', el('button' + (taken?.of === one && taken.side === side ? '.taken' : ''), {type: 'button', tabindex: -1, title: t('tree.take'), 'aria-label': t('tree.take'),
    onclick: e => { e.stopPropagation(); take(one, side); }}, '⇄')] : null);

  const line = (one, depth) => {
    const chosen = !one.module && one.place === state.op;
    const node = el('div.node' + (chosen ? '.selected' : ''), {role: 'treeitem', 'aria-level': depth + 1, 'aria-expanded': one.module ? String(open.has(one)) : null, 'aria-selected': String(chosen), onclick: () => go(one)},
      ...['left', 'right'].map(side => {
        const lonely = one.module ? one[side] : 0;
        const text = one.module ? has(one, side) ? (open.has(one) ? '▾ ' : '▸ ') + show(one.name) + (one.pile ? ' ×' + one.pile : '') : '' : show(name(one, side));
        const h = half(one, side, el(one.module ? 'b' : 'code', {}, text));
        if (lonely && !open.has(one)) h.append(' ', el('span.dim', {}, '○ ' + t('tree.alone-' + side, lonely)));
        h.style.paddingLeft = depth * 14 + 'px';
        return h;
      }).flatMap((h, k) => k ? [h] : [h, el('span.states', {}, one.module ? states.filter(s => one.counts[s]).map(s => el('span.' + s, {}, signs[s] + one.counts[s] + ' ')) : el('span.' + one.state, {title: t('report.word.' + one.state)}, signs[one.state] + (one.root >= 0 ? ' ' + t('root') : '')))]));
    nodes.set(one, node);
    return node;
  };

  const draw = () => {
    nodes.clear();
    const list = [];
    const inside = (node, depth) => {
      const most = wide.get(node) ?? mostShown;
      node.inside.slice(0, most).forEach(one => {
        list.push(line(one, depth));
        if (one.module && open.has(one)) inside(one, depth + 1);
      });
      const rest = node.inside.length - most;
      if (rest > 0) list.push(el('button', {type: 'button', onclick: () => { wide.set(node, most + 10 * mostShown); draw(); }}, t('tree.more', rest)));
    };
    inside(top, 0);
    box.replaceChildren(...list);
  };

  const go = one => {
    if (!one.module) { select(one.place); return; }
    if (!open.delete(one)) open.add(one);
    draw();
  };

  /** reveal opens the modules around an operator and brings it into sight. */
  const reveal = () => {
    const op = m.ops[state.op];
    if (op) {
      for (const node of around(op)) {
        open.add(node);
        const k = node.above.inside.indexOf(node);
        if (k >= mostShown) wide.set(node.above, k + mostShown);
      }
      const k = op.above.inside.indexOf(op);
      if (k >= mostShown) wide.set(op.above, k + mostShown);
    }
    draw();
    const node = nodes.get(op);
    if (node) box.scrollTop += node.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  };

  // Previous and next, through what is of a kind.
  const kinds = {root: m.ops.filter(op => op.root >= 0), suspect: m.ops.filter(op => op.state === 'suspect'), alone: lone};
  const kind = document.getElementById('tree-kind');
  const count = () => {
    const list = kinds[kind.value] ?? [];
    document.getElementById('tree-count').textContent = t('tree.count', list.findIndex(op => op.place === state.op) + 1, list.length);
  };
  const step = way => {
    const list = kinds[kind.value] ?? [];
    const next = way > 0 ? list.find(op => op.place > state.op) ?? list[0] : list.findLast(op => op.place < state.op) ?? list.at(-1);
    if (next) select(next.place);
  };
  document.getElementById('tree-previous').addEventListener('click', () => step(-1));
  document.getElementById('tree-next').addEventListener('click', () => step(1));
  kind.addEventListener('change', count);

  const sides = {l: 'left', L: 'left', r: 'right', R: 'right'}; // whose half a key takes
  box.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target !== box) return; // a button in it is pressed
    const list = [...nodes.keys()];
    const at = list.findIndex(one => one.place === state.op && !one.module);
    const now = m.treeAt && list.includes(m.treeAt) ? list.indexOf(m.treeAt) : at;
    const to = {ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: list.length - 1}[e.key];
    const one = list[now];
    if (to !== undefined) mark(list[Math.min(list.length - 1, Math.max(0, to))]);
    else if (e.key === 'Enter' && one) go(one);
    else if (one && sides[e.key] && has(one, sides[e.key])) take(one, sides[e.key]);
    else if (e.key === 'ArrowRight' && one?.module) { open.add(one); draw(); }
    else if (e.key === 'ArrowLeft' && one) {
      if (one.module && open.delete(one)) draw();
      else if (one.above?.above) mark(one.above);
    } else return;
    e.preventDefault();
    if (m.treeAt) mark(m.treeAt);
  });
  /** mark shows where the keys stand. */
  const mark = one => {
    m.treeAt = one;
    for (const [of, node] of nodes) node.style.outline = of === one ? '2px solid var(--accent)' : '';
    nodes.get(one)?.scrollIntoView({block: 'nearest'});
  };

  // Pairing by hand.
  const take = (one, side) => {
    if (taken && taken.side !== side && taken.of.module === one.module) {
      const [left, right] = side === 'right' ? [taken.of, one] : [one, taken.of];
      pairs.push({left, right});
      taken = null;
      showPairs();
    } else {
      taken = taken?.of === one && taken.side === side ? null : {of: one, side};
    }
    draw();
  };

  /** values are what a side's recording tells of an operator's tensors, by their places. */
  const values = (op, side) => {
    const out = new Map(op.gives.map(g => [g.place, g]));
    for (const i of op.rows) {
      if (!m.place(i) || !statisticNames.some(s => m.knows(side, s, i))) continue;
      out.set(m.place(i), {place: m.place(i), shape: m[side + 'Shape'](i) ?? [], values: statisticNames.map(s => m.knows(side, s, i) ? m.statistic(side, s, i) : undefined)});
    }
    return out;
  };

  /** calls are those of a side in a module, by their path in it, what they are and which of these. */
  const calls = (node, side) => {
    const out = new Map();
    const depth = around({above: node}).filter(x => !x.pile).reduce((n, x) => n + x.name.split('/').length, 0);
    const number = new Map();
    const within = at => at.inside.forEach(one => {
      if (one.module) { within(one); return; }
      if (!has(one, side)) return;
      const key = [...scopeOf(one).slice(depth), one.type].join('/');
      number.set(key, (number.get(key) ?? -1) + 1);
      out.set(key + '#' + number.get(key), one);
    });
    within(node);
    return out;
  };

  const inPair = ({left, right}) => {
    if (!left.module) return [[left, right]];
    const others = calls(right, 'right');
    return [...calls(left, 'left')].filter(([key]) => others.has(key)).map(([key, op]) => [op, others.get(key)]);
  };

  /** told says how a pair of calls agrees, the worst of its inputs and of its outputs. */
  const told = (a, b) => {
    const left = values(a, 'left');
    const right = values(b, 'right');
    const lines = [];
    for (const role of ['input', 'output']) {
      let worst = null;
      for (const [place, x] of left) {
        const y = right.get(place);
        if (!y || (place.startsWith('output') ? 'output' : 'input') !== role) continue;
        if (shapeText(x.shape) !== shapeText(y.shape)) lines.push(el('div.bad', {}, t('pair.shapes', t('role.' + role), show(place), shapeText(x.shape), shapeText(y.shape))));
        x.values.forEach((v, k) => {
          if (v === undefined || y.values[k] === undefined) return;
          const d = apart(v, y.values[k]);
          if (!worst || d > worst.d) worst = {d, place: place + ' ' + t('statistic.' + statisticNames[k])};
        });
      }
      if (worst) lines.push(el('div' + (worst.d > 0 ? '.strong' : '.good'), {}, worst.d > 0 ? t('pair.apart', t('role.' + role), Number.isFinite(worst.d) ? figure(100 * worst.d, 3) : '∞', show(worst.place)) : t('pair.same', t('role.' + role))));
    }
    return lines.length ? lines : [el('div.dim', {}, t('pair.none'))];
  };

  /** mapLines are those of a data mapping: the tensors that both have, by their full names. */
  const mapLines = (a, b) => {
    const right = values(b, 'right');
    const word = text => /^[\w./-]+$/.test(text) ? text : JSON.stringify(text);
    return [...values(a, 'left').keys()].filter(place => right.has(place)).map(place => word(name(a, 'left') + '.' + place) + ': ' + word(name(b, 'right') + '.' + place));
  };

  const showPairs = () => {
    const lines = [...new Set(pairs.flatMap(p => inPair(p).flatMap(([a, b]) => mapLines(a, b))))];
    const title = (one, side) => show(one.module ? one.path : name(one, side));
    document.getElementById('pairs').replaceChildren(...!pairs.length ? [] : [el('h3', {}, t('pair')),
      ...pairs.map((p, k) => el('div.pair', {}, el('div', {}, el('code', {}, title(p.left, 'left')), ' ⇄ ', el('code', {}, title(p.right, 'right')), ' ', el('button', {type: 'button', onclick: () => { pairs.splice(k, 1); showPairs(); }}, t('pair.undo'))),
        inPair(p).slice(0, 100).map(([a, b]) => el('div', {}, p.left.module ? el('code', {}, show(name(a, 'left')) + ' ⇄ ' + show(name(b, 'right'))) : null, told(a, b))))),
      ...lines.length ? [el('p', {}, t('pair.map')), el('pre', {}, lines.map(show).join('\n')), copyButton(lines.join('\n'))] : []]);
  };

  const texts = () => {
    const chosen = kind.value;
    kind.replaceChildren(...Object.keys(kinds).map(k => el('option', {value: k, selected: k === chosen}, t('tree.' + k) + ' (' + kinds[k].length + ')')));
    count();
    draw();
    showPairs();
  };
  on('lang', texts);
  on('op', () => { reveal(); count(); });
  texts();
  reveal();
}
