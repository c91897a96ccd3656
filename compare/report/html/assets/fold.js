// fold.js: the network as modules within modules, and what of it is in sight when some are open. No document in here.

import {layout} from './layout.js';

export const boxW = 190;
export const boxH = 58;
const border = 12;
const title = 24;
const fewest = 3; // layers alike that stand as one

/** gravity of states, the worst last: what a closed box shows of what is inside. */
const gravity = {uncompared: 0, good: 1, damaged: 2, suspect: 3, inherited: 4, bad: 5};
export const worse = (a, b) => gravity[a] > gravity[b] ? a : b;

/** scopeOf are the modules around an operator, outermost first: those that were recorded, else what its name says; numbers belong to what they count. */
export function scopeOf(op) {
  const parts = op.scope ? op.scope.split('.') : (op.framework[0] ?? op.name).split('/').slice(0, -1);
  const out = [];
  for (const p of parts) {
    if (/^\d+$/.test(p) && out.length) out[out.length - 1] += '.' + p;
    else if (p) out.push(p);
  }
  return out;
}

const makeModule = (name, path, above) => ({module: true, name, path, above, modules: new Map(), ops: [], inside: [], counts: {}, all: 0, state: 'uncompared', root: -1, first: Infinity, left: 0, right: 0});

/** modules is the tree of all modules, made when it is first asked for: inside are modules and operators in execution order; left and right count the calls that one side alone has. */
export function modules(m) { return m.modules ??= grow(m.ops); }

function grow(ops) {
  const top = makeModule('', '', null);
  for (const op of ops) {
    let at = top;
    for (const name of scopeOf(op)) {
      if (!at.modules.has(name)) {
        const inner = makeModule(name, at.path ? at.path + '/' + name : name, at);
        at.modules.set(name, inner);
      }
      at = at.modules.get(name);
    }
    at.ops.push(op);
    op.above = at;
    for (; at; at = at.above) {
      at.counts[op.state] = (at.counts[op.state] ?? 0) + 1;
      at.all++;
      at.state = worse(op.state, at.state);
      if (op.root >= 0 && at.root < 0) at.root = op.root;
      at.first = Math.min(at.first, op.place);
      if (op.alone) at[op.alone]++;
    }
  }
  settle(top);
  return top;
}

/** settle lists what is inside a module. One that holds nothing but another takes its name into its own, an operator alone needs no module around it, and layers alike that follow each other stand as one. */
function settle(node) {
  while (node.above && node.modules.size === 1 && !node.ops.length) {
    const [inner] = node.modules.values();
    Object.assign(node, {name: node.name + '/' + inner.name, path: inner.path, modules: inner.modules, ops: inner.ops});
    for (const child of node.modules.values()) child.above = node;
    for (const op of node.ops) op.above = node;
  }
  for (const child of node.modules.values()) settle(child);
  const types = [...node.ops.map(o => o.type), ...[...node.modules.values()].map(c => c.name.replace(/\d+/g, '#') + c.likeness)];
  node.likeness = '{' + types.sort().join(',') + '}';
  if (node.likeness.length > 200) node.likeness = String(hash(node.likeness));
  const list = [...[...node.modules.values()].map(c => c.all === 1 ? c.ops[0] ?? c : c), ...node.ops].sort((a, b) => (a.first ?? a.place) - (b.first ?? b.place));
  for (const one of list) one.above = node;
  node.inside = [];
  for (let k = 0, next; k < list.length; k = next) {
    const kind = kindOf(list[k]);
    for (next = k + 1; kind && next < list.length && kindOf(list[next]) === kind;) next++;
    const group = list.slice(k, next);
    if (group.length < fewest) node.inside.push(...group);
    else node.inside.push(pileOf(group, node));
  }
}

/** kindOf is the same for modules that are alike but for their numbers; operators are none of them. */
const kindOf = one => one.module && /\d/.test(one.name) ? one.name.replace(/\d+/g, '#') + one.likeness : '';

/** pileOf makes one of layers that are alike. */
function pileOf(group, above) {
  const numbered = child => child.name.split('/').find(part => /\d/.test(part));
  const pile = makeModule(numbered(group[0]) + ' … ' + numbered(group.at(-1)), group[0].path + ' …', above);
  pile.pile = group.length;
  pile.inside = group;
  for (const child of group) {
    child.above = pile;
    for (const [s, k] of Object.entries(child.counts)) pile.counts[s] = (pile.counts[s] ?? 0) + k;
    for (const name of ['all', 'left', 'right']) pile[name] += child[name];
    pile.state = worse(child.state, pile.state);
    if (pile.root < 0) pile.root = child.root;
    pile.first = Math.min(pile.first, child.first);
  }
  return pile;
}

function hash(text) {
  let h = 7;
  for (let i = 0; i < text.length; i++) h = Math.imul(h, 31) + text.charCodeAt(i) | 0;
  return h;
}

/** around are the modules that an operator lies in, innermost first. */
export function around(op) {
  const list = [];
  for (let at = op.above; at?.above; at = at.above) list.push(at);
  return list;
}

/** minor operators compute nothing of the network: weights and literals, and what the compiler inserted; those that are wrong stay in sight. */
export const minor = op => (op.constant || op.inserted) && (op.state === 'good' || op.state === 'uncompared');

/** ties are the edges between operators that are not hidden: those of hidden ones lead on past them. */
export function ties(edges, hides) {
  return edges.filter(e => !hides(e.to)).flatMap(e => [...new Set(past(e.from, 0, hides, new Set()))].map(from => ({from, to: e.to, edge: e})));
}

/** past is an operator, or those before (way 0) or behind (way 1) it that are in sight where it is hidden; been are the hidden ones that were passed. */
function past(op, way, hides, been) {
  const [found, next] = [[], [op]];
  for (const one of next) {
    if (!hides(one)) found.push(one);
    else if (!been.has(one)) {
      been.add(one);
      for (const e of way ? one.outs : one.ins) next.push(way ? e.to : e.from);
    }
  }
  return found;
}

/** beside are the operators in sight before (way 0) or behind (way 1) one, each once. */
export function beside(op, way, hides) {
  const been = new Set();
  return [...new Set(way ? op.outs.flatMap(e => past(e.to, 1, hides, been)) : op.ins.flatMap(e => past(e.from, 0, hides, been)))];
}

/** near places operators without their modules, in execution order, and the ties between them. */
export function near(ops, hides) {
  const tied = ties(ops.flatMap(op => op.ins), hides);
  const boxes = ops.map(op => ({op, w: boxW, h: boxH, depth: 0}));
  const place = new Map(ops.map((op, i) => [op, i]));
  const edges = tied.filter(e => place.has(e.from) && place.has(e.to)).map(e => ({from: place.get(e.from), to: place.get(e.to), all: [e.edge]}));
  const size = layout(boxes, edges);
  return {boxes, edges: edges.map(e => ({...e, from: boxes[e.from], to: boxes[e.to]})), ...size, shows: op => boxes[place.get(op)] ?? null};
}

/**
 * picture places what is in sight of the network: boxes {x, y, w, h, op or node, depth}, those of open modules before what they hold, and edges
 * {way, from, to, all}, all the edges of the network that run along one. opened is asked for modules, hides for operators.
 */
export function picture(top, tied, opened, hides) {
  const out = {boxes: [], edges: []};
  const seen = new Map(); // what stands for an operator or a module
  const within = new Map(); // module -> edges between what is inside
  for (const e of tied) {
    const a = [e.from, ...around(e.from)];
    const b = [e.to, ...around(e.to)];
    while (a.length && b.length && a.at(-1) === b.at(-1)) { a.pop(); b.pop(); }
    if (!a.length || !b.length) continue;
    const home = a.at(-1).above;
    if (!within.has(home)) within.set(home, []);
    within.get(home).push({from: a.at(-1), to: b.at(-1), edge: e.edge});
  }
  const build = (node, depth) => {
    const boxes = [];
    const ways = new Map();
    for (const one of node.inside) {
      if (!one.module) {
        if (!hides(one)) boxes.push({op: one, w: boxW, h: boxH, depth});
        continue;
      }
      if (!opened(one)) {
        boxes.push({node: one, w: boxW, h: boxH, depth});
        continue;
      }
      const inner = build(one, depth + 1);
      boxes.push({node: one, open: true, inner, w: inner.w + 2 * border, h: inner.h + title + border, depth});
    }
    const place = new Map(boxes.map((b, i) => [b.op ?? b.node, i]));
    for (const e of within.get(node) ?? []) {
      const from = place.get(e.from);
      const to = place.get(e.to);
      if (from === undefined || to === undefined) continue;
      const key = from * boxes.length + to;
      if (ways.has(key)) ways.get(key).all.push(e.edge);
      else ways.set(key, {from, to, all: [e.edge]});
    }
    const list = [...ways.values()];
    const size = layout(boxes, list);
    return {boxes, edges: list, w: Math.max(size.w, boxW), h: Math.max(size.h, 0)};
  };
  const lay = (part, x, y) => {
    for (const b of part.boxes) {
      b.x += x;
      b.y += y;
      out.boxes.push(b);
      seen.set(b.op ?? b.node, b);
      if (b.open) lay(b.inner, b.x - b.inner.w / 2, b.y - b.h / 2 + title);
    }
    for (const e of part.edges) out.edges.push({...e, from: part.boxes[e.from], to: part.boxes[e.to], way: e.way.map(p => [p[0] + x, p[1] + y])});
  };
  const whole = build(top, 0);
  lay(whole, 0, 0);
  out.w = whole.w;
  out.h = whole.h;
  /** shows is the box in sight that an operator lies in, or that of a module. */
  out.shows = one => seen.get(one) ?? (one.above ? out.shows(one.above) : null);
  return out;
}
