// data.js: the data of the page, out of its script element. Columns stay columns.

/** unpack decodes what the program embedded: gzip in base64 of JSON. A second line has what is for programs alone, in three brackets. */
export async function unpack() {
  const element = document.getElementById('precision');
  const [coded, rest] = element.textContent.split('\n');
  element.textContent = '';
  let bytes;
  if (Uint8Array.fromBase64) {
    bytes = Uint8Array.fromBase64(coded);
  } else {
    const raw = atob(coded);
    bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  }
  // Text is put together from pieces: all at once, a browser copies it twice as often.
  const gzip = new DecompressionStream('gzip');
  const writer = gzip.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  const reader = gzip.readable.pipeThrough(new TextDecoderStream()).getReader();
  const pieces = [];
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) pieces.push(piece.value);
  await written;
  return JSON.parse(pieces.join('') + (rest ? '}}}' : ''));
}

const words = {NaN: NaN, Infinity: Infinity, '-Infinity': -Infinity, zero: 1};

/** text is a text of a column: bytes that are no UTF-8 come in base64. */
function text(v) { return typeof v === 'object' && v !== null ? atob(v.base64) : v; }

/** numberOf reads a number of a column; what is not known is NaN. */
export function numberOf(v) {
  if (typeof v === 'number') return v;
  return typeof v === 'string' ? words[v] ?? NaN : NaN;
}

/** Words is a column of texts, kept as the different ones and their places. */
export class Words {
  constructor(raw, rows) {
    if (raw === undefined) {
      this.of = [''];
      this.at = new Int32Array(rows);
    } else if (Array.isArray(raw)) {
      const place = new Map();
      this.of = [];
      this.at = Int32Array.from(raw, v => {
        const s = text(v);
        let p = place.get(s);
        if (p === undefined) {
          p = this.of.length;
          place.set(s, p);
          this.of.push(s);
        }
        return p;
      });
    } else {
      this.of = raw.of.map(text);
      this.at = Int32Array.from(raw.at);
    }
  }
  get(i) { return this.of[this.at[i]]; }
}

/** listed is what the views of tables and charts look at where rows are no pairs of tensors: known has names and states, rows of one name are
 * one operator. */
export function listed(rows, known) {
  const none = new Words(undefined, rows);
  const m = {
    rows, statistics: false, custom: [], raw: {}, file: {table: {}}, roots: [], edges: [], type: none, leftNames: none, rightNames: none,
    role: () => 'output', slot: () => 0, verdictOf: known.state, compared: i => known.state(i) !== 'uncompared', shape: () => null, name: i => m.op.get(i),
    leftType: () => 0, rightType: () => 0, leftShape: () => null, rightShape: () => null, causes: new Map(), reasons: new Map(), looks: new Map(),
    byName: new Map(), ops: [], opOfRow: new Int32Array(rows), ...known, page: {...known.page, dtypes: {}},
  };
  const gravity = ['good', 'uncompared', 'suspect', 'bad'];
  for (let i = 0; i < rows; i++) {
    const name = m.name(i);
    let op = m.byName.get(name);
    if (!op) {
      op = {place: m.ops.length, name, type: m.type.get(i), state: m.verdictOf(i), root: -1, rows: []};
      m.byName.set(name, op);
      m.ops.push(op);
    }
    if (gravity.indexOf(m.verdictOf(i)) > gravity.indexOf(op.state)) op.state = m.verdictOf(i);
    op.rows.push(i);
    m.opOfRow[i] = op.place;
  }
  return m;
}

/** model makes of the embedded JSON what the views look at. */
export function model(file) {
  const {table, page} = file;
  const rows = page.rows.verdicts.length;
  const raw = table.rows ?? {};
  const column = (name, otherwise) => raw[name] ? i => raw[name][i] : () => otherwise;
  const m = {
    file, page, rows,
    meta: table.meta, verdict: file.verdict,
    op: new Words(raw.op, rows), type: new Words(raw.type, rows),
    leftNames: new Words(raw.left_names, rows), rightNames: new Words(raw.right_names, rows),
    leftFile: new Words(raw.left_file, rows), rightFile: new Words(raw.right_file, rows),
    overflow: new Words(raw.overflow, rows),
    roles: raw.role ?? null,
    role: column('role', 'output'), slot: column('slot', 0), index: column('index', 0), sequence: column('sequence', 0),
    shape: column('shape', null), compared: column('compared', 0), order: column('order', 0),
    leftType: column('left_dtype', 0), rightType: column('right_dtype', 0),
    leftShape: column('left_shape', null), rightShape: column('right_shape', null),
    producer: new Words(raw.producer, rows), producerOutput: column('producer_output', 0),
    raw, numbers: new Map(), reasons: new Map(), causes: new Map(), custom: [], customs: new Map(),
  };
  const sparse = (part, each) => part?.row?.forEach((row, k) => each(row, k));
  sparse(raw.reasons, (row, k) => push(m.reasons, row, {kind: at(raw.reasons.kind, k), args: (raw.reasons.args?.[k] ?? []).map(text)}));
  if (raw.custom) {
    const names = new Words(raw.custom.name, raw.custom.row.length);
    const texts = new Words(raw.custom.text, raw.custom.row.length);
    m.custom = names.of.slice();
    sparse(raw.custom, (row, k) => m.customs.set(row + '\n' + names.get(k), texts.get(k)));
  }
  const c = page.rows;
  const waived = new Set(c.waived ?? []);
  c.row?.forEach((row, k) => push(m.causes, row, {kind: c.kind[k], value: numberOf(c.value[k]), limit: numberOf(c.limit[k]),
    count: c.count[k], of: c.of[k], first: c.first[k], waived: waived.has(k)}));
  m.verdictOf = i => verdicts[c.verdicts[i]];
  recorded(m, raw.recorded);
  makeOperators(m, table, page);
  m.looks = new Map(lookList(table.looks).map(l => [l.tensor, l]));
  return m;
}

/** statisticNames are what recorders note of a tensor, in the order of the bits that say what is known. */
export const statisticNames = ['max', 'min', 'mean', 'norm'];

/** recorded gives what recordings say of values: m.statistic(side, name, row), NaN where it is not known; m.value(side, row), a text. */
function recorded(m, raw) {
  m.statistics = false;
  m.statistic = () => NaN;
  m.value = m.place = m.stack = () => '';
  if (!raw?.row) return;
  const place = new Int32Array(m.rows).fill(-1);
  raw.row.forEach((row, k) => { place[row] = k; });
  const bits = Object.fromEntries(statisticNames.map((name, k) => [name, 1 << k]));
  const texts = {};
  for (const side of ['left', 'right']) {
    texts[side] = raw[side + '_value'] ? new Words(raw[side + '_value'], raw.row.length) : null;
    m.statistics ||= (raw[side + '_known'] ?? []).some(k => k > 0);
  }
  m.statistic = (side, name, i) => {
    const k = place[i];
    return k >= 0 && (raw[side + '_known']?.[k] ?? 0) & bits[name] ? numberOf(raw[side + '_' + name]?.[k] ?? 0) : NaN;
  };
  m.knows = (side, name, i) => place[i] >= 0 && ((raw[side + '_known']?.[place[i]] ?? 0) & bits[name]) > 0;
  const places = new Words(raw.place, raw.row.length);
  const stacks = new Words(raw.stack, raw.row.length);
  m.place = i => place[i] >= 0 ? places.get(place[i]) : '';
  m.stack = i => place[i] >= 0 ? stacks.get(place[i]) : '';
  m.value = (side, i) => place[i] >= 0 ? texts[side]?.get(place[i]) ?? '' : '';
}

/** apart is how far apart two recorded numbers are, as a share of the larger one: 0 where they are equal, Infinity where one alone is finite. */
export function apart(a, b) {
  if (a === b || Number.isNaN(a) && Number.isNaN(b)) return 0;
  const d = Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
  return Number.isNaN(d) ? Infinity : d;
}

const verdicts = {u: 'uncompared', g: 'good', s: 'suspect', b: 'bad', d: 'damaged'};
const states = {u: 'uncompared', g: 'good', s: 'suspect', i: 'inherited', b: 'bad', d: 'damaged'};

function at(words, k) { return Array.isArray(words) ? text(words[k]) : text(words.of[words.at[k]]); }

function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** makeOperators lists the operators in execution order, with their rows and edges. */
function makeOperators(m, table, page) {
  const raw = table.operators ?? {};
  const listed = page.ops.at ?? [];
  const most = listed.reduce((n, p) => Math.max(n, p + 1), 0);
  const names = new Words(raw.name ?? [], most);
  const types = new Words(raw.type, most);
  const scopes = new Words(raw.scope, most);
  const byName = new Map();
  m.ops = listed.map((place, i) => {
    const own = place >= 0;
    const op = {
      place: i, name: own ? names.get(place) : m.op.get(-1 - place), type: own ? types.get(place) : m.type.get(-1 - place),
      state: states[page.ops.states[i]], from: page.ops.from?.[i] ?? [], factor: page.ops.factor?.[i] ?? 0, root: -1,
      index: own ? raw.index?.[place] ?? 0 : m.index(-1 - place), order: own ? raw.order?.[place] ?? 0 : m.order(-1 - place),
      framework: own ? (raw.framework?.[place] ?? []).map(text) : [],
      inserted: own && !!raw.inserted?.[place], constant: own && !!raw.constant?.[place], feed: own && !!raw.feed?.[place],
      scope: own ? scopes.get(place) : '', final: own && !!raw.final?.[place], dumped: own && !!raw.dumped?.[place],
      x: own ? raw.x?.[place] ?? 0 : 0, y: own ? raw.y?.[place] ?? 0 : 0,
      rows: [], ins: [], outs: [], listed: own,
    };
    byName.set(op.name, op);
    return op;
  });
  m.byName = byName;
  page.roots?.forEach((r, k) => { m.ops[r.op].root = k; });
  m.roots = page.roots ?? [];
  m.opOfRow = new Int32Array(m.rows);
  const ofName = m.op.of.map(name => byName.get(name)?.place ?? -1);
  for (let i = 0; i < m.rows; i++) {
    const p = ofName[m.op.at[i]];
    m.opOfRow[i] = p;
    if (p >= 0) m.ops[p].rows.push(i);
  }
  const byPlace = new Map(m.ops.filter(o => o.listed).map(o => [listed[o.place], o]));
  // Calls that one side alone has, and what its recording tells of their tensors.
  for (const op of m.ops) {
    op.alone = {'no-right-call': 'left', 'no-left-call': 'right'}[op.rows.flatMap(i => m.reasons.get(i) ?? []).find(r => r.kind in {'no-right-call': 1, 'no-left-call': 1})?.kind] ?? '';
    op.gives = [];
  }
  const g = raw.gives;
  const places = g && new Words(g.place, g.row.length);
  g?.row.forEach((row, k) => {
    const values = statisticNames.map((name, bit) => (g.known?.[k] ?? 0) & 1 << bit ? numberOf(g['stats_' + name]?.[k] ?? 0) : undefined);
    byPlace.get(row)?.gives.push({place: places.get(k), shape: g.shape?.[k] ?? [], values});
  });
  // Edges of the graph: slots count up within an operator.
  const inputs = raw.inputs;
  m.edges = [];
  if (inputs) {
    const from = new Words(inputs.op, inputs.row.length);
    inputs.row.forEach((row, k) => {
      const to = byPlace.get(row);
      if (!to) return;
      const slot = to.slots = (to.slots ?? -1) + 1;
      const source = byName.get(from.get(k));
      if (!source) return;
      const e = {from: source, to, output: inputs.output?.[k] ?? 0, slot};
      m.edges.push(e);
      to.ins.push(e);
      source.outs.push(e);
    });
  }
}

/** numbers is a column of numbers by name, as float64; what is not known is NaN. */
export function numbers(m, name) {
  let list = m.numbers.get(name);
  if (!list) {
    const raw = m.raw[name];
    list = new Float64Array(m.rows);
    const compared = m.raw.compared;
    for (let i = 0; i < m.rows; i++) list[i] = !compared?.[i] ? NaN : raw ? numberOf(raw[i]) : name in facts ? 0 : NaN;
    if (name in facts && m.raw.facts) {
      for (let i = 0; i < m.rows; i++) if (!m.raw.facts[i]) list[i] = NaN;
    }
    m.numbers.set(name, list);
  }
  return list;
}

// Columns that are left out of the file where all their numbers are 0.
const facts = {max_abs: 1, max_rel: 1, cosine: 1, distance: 1};

/** tensor is the name of a row's tensor: conv1:output:0. */
export function tensor(m, i) {
  const role = m.role(i);
  return role === 'operator' ? '' : m.op.get(i) + ':' + role + ':' + m.slot(i);
}

/** lookList makes objects of the columns of looks at elements. */
export function lookList(raw) {
  if (!raw) return [];
  const tensors = new Words(raw.tensor, Array.isArray(raw.tensor) ? raw.tensor.length : raw.tensor.at.length);
  const list = Array.from(tensors.at, (_, i) => ({tensor: tensors.get(i), first: [], largest: [], patterns: []}));
  for (const [name, column] of Object.entries(raw)) {
    if (name === 'tensor') continue;
    if (!column.row) {
      list.forEach((l, i) => { l[name] = typeof column[i] === 'string' ? numberOf(column[i]) : column[i]; });
    } else if (name === 'patterns') {
      sparseItems(column, (row, k) => list[row].patterns.push({kind: at(column.kind, k), explained: numberOf(column.explained?.[k] ?? 0), elements: column.elements?.[k] ?? 0, evidence: column.evidence ? at(column.evidence, k) : ''}));
    } else {
      sparseItems(column, (row, k) => list[row][name].push({index: column.index[k], left: numberOf(column.index_left?.[k] ?? 0), right: numberOf(column.index_right?.[k] ?? 0), leftRest: column.index_left_rest?.[k] ?? 0, rightRest: column.index_right_rest?.[k] ?? 0}));
    }
  }
  return list;
}

function sparseItems(part, each) { part.row.forEach((row, k) => each(row, k)); }
