// layout.js: places boxes in layers from top to bottom, after Sugiyama, Tagawa and Toda (1981). No document in here.

const gapX = 20;
const gapY = 34;
const bendW = 10;
const mostBends = 4000; // beyond, edges that pass layers are straight
const mostSwept = 3000; // beyond, boxes stay in their order

/**
 * layout places boxes {w, h}, which come in execution order, so that edges {from, to}, places of boxes, point down and pass beside the
 * boxes between. It gives boxes their centres x, y and edges their way, a list of points; the result is the size of all. An edge that leads
 * back in the order has no say in where boxes stand.
 */
export function layout(boxes, edges) {
  const n = boxes.length;
  const ahead = edges.filter(e => e.from < e.to);
  if (!ahead.length) return inRows(boxes, edges);
  const layer = new Int32Array(n);
  const outs = Array.from({length: n}, () => []);
  const fed = new Uint8Array(n);
  for (const e of ahead) {
    outs[e.from].push(e.to);
    fed[e.to] = 1;
  }
  for (let i = 0; i < n; i++) for (const to of outs[i]) layer[to] = Math.max(layer[to], layer[i] + 1);
  for (let i = n - 1; i >= 0; i--) { // what nothing feeds stands above what it feeds
    if (!fed[i] && outs[i].length) layer[i] = outs[i].reduce((low, o) => Math.min(low, layer[o]), Infinity) - 1;
  }
  const nodes = boxes.map((b, i) => ({w: b.w, h: b.h, layer: layer[i], x: 0, up: [], down: []}));
  const long = ahead.reduce((sum, e) => sum + layer[e.to] - layer[e.from] - 1, 0) <= mostBends;
  const ways = new Map();
  for (const e of ahead) {
    const way = [nodes[e.from]];
    for (let k = layer[e.from] + 1; long && k < layer[e.to]; k++) {
      const bend = {bend: true, w: bendW, h: 0, layer: k, x: 0, up: [], down: []};
      nodes.push(bend);
      way.push(bend);
    }
    way.push(nodes[e.to]);
    for (let k = 1; k < way.length; k++) {
      way[k - 1].down.push(way[k]);
      way[k].up.push(way[k - 1]);
    }
    ways.set(e, way);
  }
  const layers = [];
  for (const v of nodes) (layers[v.layer] ??= []).push(v);
  const alone = nodes.filter(v => !v.up.length && !v.down.length); // below all, in rows
  if (alone.length) layers.forEach((list, k) => { layers[k] = list.filter(v => v.up.length || v.down.length); });
  arrange(layers.filter(l => l.length), nodes.length > mostSwept ? 0 : 6);

  let y = 0;
  for (const list of layers) {
    const h = list.reduce((most, v) => Math.max(most, v.h), 0);
    for (const v of list) {
      v.y = y + h / 2;
      if (v.bend) v.h = h;
    }
    if (h) y += h + gapY;
  }
  let left = Infinity;
  let right = -Infinity;
  for (const v of layers.flat()) {
    left = Math.min(left, v.x - v.w / 2);
    right = Math.max(right, v.x + v.w / 2);
  }
  let width = right - left;
  for (const v of layers.flat()) v.x -= left;
  if (alone.length) {
    const size = inRows(alone, [], Math.max(width, 900));
    for (const v of alone) v.y += y;
    y += size.h + gapY;
    width = Math.max(width, size.w);
  }
  boxes.forEach((b, i) => { b.x = nodes[i].x; b.y = nodes[i].y; });
  for (const e of edges) e.way = ways.has(e) ? points(ways.get(e)) : straight(boxes[e.from], boxes[e.to]);
  return {w: width, h: y - gapY};
}

/** arrange orders the boxes of each layer by those above and below, and draws them towards these. */
function arrange(layers, sweeps) {
  const middle = list => list.reduce((sum, v) => sum + v.x, 0) / list.length;
  const pack = list => {
    let x = 0;
    for (const v of list) {
      v.x = x + v.w / 2;
      x += v.w + gapX;
    }
    for (const v of list) v.x -= x / 2;
  };
  for (const list of layers) pack(list);
  for (let k = 0; k < sweeps; k++) {
    const down = k % 2 === 0;
    for (const list of down ? layers : layers.toReversed()) {
      for (const v of list) {
        const near = down ? v.up : v.down;
        v.want = near.length ? middle(near) : v.x;
      }
      list.sort((a, b) => a.want - b.want);
      pack(list);
    }
  }
  for (let k = 0; k < 8; k++) {
    const down = k % 2 === 0;
    for (const list of down ? layers : layers.toReversed()) {
      const wanted = list.map(v => { const near = down ? v.up : v.down; return near.length ? middle(near) : v.x; });
      // As far left and as far right as neighbours allow; the middle of both keeps them apart.
      const low = [];
      const high = [];
      list.forEach((v, i) => { low[i] = i ? Math.max(wanted[i], low[i - 1] + (list[i - 1].w + v.w) / 2 + gapX) : wanted[i]; });
      for (let i = list.length - 1; i >= 0; i--) high[i] = i < list.length - 1 ? Math.min(wanted[i], high[i + 1] - (list[i + 1].w + list[i].w) / 2 - gapX) : wanted[i];
      list.forEach((v, i) => { v.x = (low[i] + high[i]) / 2; });
    }
  }
}

/** inRows places boxes that nothing ties in rows, in their order. */
function inRows(boxes, edges, width = 0) {
  const area = boxes.reduce((sum, b) => sum + (b.w + gapX) * (b.h + gapY), 0);
  const most = width || boxes.reduce((wide, b) => Math.max(wide, b.w), Math.sqrt(area * 1.6));
  let [x, y, h, right] = [0, 0, 0, 0];
  for (const b of boxes) {
    if (x > 0 && x + b.w > most) [x, y, h] = [0, y + h + gapY / 2, 0];
    b.x = x + b.w / 2;
    b.y = y + b.h / 2;
    x += b.w + gapX;
    right = Math.max(right, x - gapX);
    h = Math.max(h, b.h);
  }
  for (const e of edges) e.way = straight(boxes[e.from], boxes[e.to]);
  return {w: right, h: y + h};
}

/** straight goes from a box to one below it; back to one above or beside it, from side to side. */
const straight = (a, b) => a.y < b.y ? [[a.x, a.y + a.h / 2], [b.x, b.y - b.h / 2]] : [[a.x + a.w / 2, a.y], [b.x + b.w / 2, b.y]];

/** points are those of an edge, which passes the boxes beside a bend straight down. */
const points = way => way.flatMap((v, k) => k === 0 ? [[v.x, v.y + v.h / 2]] : k === way.length - 1 ? [[v.x, v.y - v.h / 2]] : [[v.x, v.y - v.h / 2], [v.x, v.y + v.h / 2]]);
