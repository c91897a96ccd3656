// state.js: what is selected and how the page is set, kept in the fragment of its address.

const listeners = new Map();

/** state: op is the place of the selected operator, row that of the selected row; -1 is none. */
export const state = {op: -1, row: -1, lang: '', metric: 'cosine', tab: 'operator', steps: 2, sort: '', filter: '', place: ''};

/** on calls f with the names of what changed, whenever one of them did. */
export function on(names, f) {
  for (const name of names.split(' ')) {
    if (!listeners.has(name)) listeners.set(name, new Set());
    listeners.get(name).add(f);
  }
}

/** set changes the state and tells. */
export function set(changes) {
  const told = new Set();
  let changed = false;
  for (const [name, value] of Object.entries(changes)) {
    if (state[name] === value) continue;
    state[name] = value;
    changed = true;
    for (const f of listeners.get(name) ?? []) told.add(f);
  }
  for (const f of told) f();
  if (changed) save();
}

let model = null;
let saved = '';
let kept = -1; // the operator that the address told last, and when that was
let since = 0;

/** follow lets the fragment follow the state and the state the fragment. */
export function follow(m) {
  model = m;
  addEventListener('hashchange', () => {
    if (location.hash === saved) return;
    saved = location.hash;
    set(read());
    kept = state.op;
  });
  return read();
}

function save() {
  if (!model) return;
  const p = new URLSearchParams();
  if (state.op >= 0) p.set('op', model.ops[state.op].name);
  if (state.row >= 0 && model.role(state.row) !== 'operator') p.set('t', model.role(state.row) + ':' + model.slot(state.row));
  for (const name of ['lang', 'metric', 'sort', 'filter', 'place']) if (state[name] !== initial[name]) p.set(name, state[name]);
  if (state.steps !== initial.steps) p.set('steps', state.steps);
  saved = p.size ? '#' + p : '';
  if (location.hash === saved) return;
  const far = state.op !== kept && performance.now() - since > 500; // keys that go from one to the next leave one step to go back
  kept = state.op;
  since = performance.now();
  try {
    history[far ? 'pushState' : 'replaceState'](null, '', saved || '#');
  } catch {
    // A page within another one, as in a notebook, has no address to keep it in.
  }
}

let initial = {...state};

/** settle notes what the state is without a fragment. */
export function settle(changes) {
  Object.assign(state, changes);
  initial = {...state};
  kept = state.op;
}

function read() {
  const p = new URLSearchParams(location.hash.slice(1));
  const changes = {};
  for (const name of ['metric', 'sort', 'filter', 'place']) changes[name] = p.get(name) ?? initial[name];
  changes.lang = p.get('lang') === 'zh' || p.get('lang') === 'en' ? p.get('lang') : initial.lang;
  const steps = Number(p.get('steps') ?? initial.steps);
  changes.steps = steps >= 1 && steps <= 8 ? steps : initial.steps;
  const op = model.byName.get(p.get('op'));
  if (!p.has('op')) {
    changes.op = initial.op;
    changes.row = initial.row;
  } else if (op) {
    changes.op = op.place;
    changes.row = op.rows.find(i => model.role(i) + ':' + model.slot(i) === p.get('t')) ?? -1;
  }
  return changes;
}

/** select selects an operator, and a row of it if one was meant. */
export function select(op, row = -1) { set({op, row}); }
