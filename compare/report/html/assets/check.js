// check.js: what a check found: how far every output is from what its own inputs explain. The chart and the table are those of a comparison;
// here is the model that they look at.

import {speak, start, t, el, show, spoken, spans, lines} from './text.js';
import {unpack, numberOf, Words} from './data.js';
import {figure, shapeText} from './format.js';
import {signs} from './marks.js';
import {state, set, select, on, follow, settle} from './state.js';
import {chartView} from './chart.js';
import {tableView} from './table.js';
import {keys} from './keys.js';

const states = {g: 'good', s: 'suspect', b: 'bad', u: 'uncompared'};
const mostCards = 12;

/** model makes of the outputs what the chart and the table look at: an operator is a point of the execution order, an output a row. */
function model({outputs: o, page}) {
  const rows = o.states.length;
  const number = name => Float64Array.from(o[name] ?? [], numberOf);
  const stateAt = i => states[o.states[i]];
  const m = {
    rows, page: {...page, dtypes: {}}, o, statistics: false, custom: [], raw: {}, file: {table: {}}, roots: [], edges: [],
    op: new Words(o.op ?? [], rows), type: new Words(o.type ?? [], rows), leftNames: new Words(undefined, rows), rightNames: new Words(undefined, rows),
    role: () => 'output', slot: i => o.index[i], verdictOf: stateAt, compared: i => stateAt(i) !== 'uncompared', shape: i => o.shape[i],
    leftType: () => 0, rightType: () => 0, leftShape: () => null, rightShape: () => null, causes: new Map(), reasons: new Map(), looks: new Map(),
    states: ['bad', 'suspect', 'good', 'uncompared'],
    ratio: number('ratio'), expected: number('expected'), found: number('found'), bound: number('bound'), largest: number('largest'),
  };
  m.byName = new Map();
  m.ops = [];
  m.opOfRow = new Int32Array(rows);
  const gravity = ['good', 'uncompared', 'suspect', 'bad'];
  for (let i = 0; i < rows; i++) {
    const name = nameOf(m, i);
    let op = m.byName.get(name);
    if (!op) {
      op = {place: m.ops.length, name, type: m.type.get(i), state: stateAt(i), root: -1, rows: []};
      m.byName.set(name, op);
      m.ops.push(op);
    }
    if (gravity.indexOf(stateAt(i)) > gravity.indexOf(op.state)) op.state = stateAt(i);
    op.rows.push(i);
    m.opOfRow[i] = op.place;
  }
  m.measures = [{name: 'ratio', values: m.ratio, limit: 1}];
  m.kind = i => spoken().kinds?.[o.kind[i]] ?? '';
  const reason = i => spoken().reasons[o.reason[i]] ?? '';
  const numeric = (name, v) => ({name: 'check.' + name, width: 110, numeric: true, worst: 'high', text: i => Number.isNaN(v[i]) || stateAt(i) === 'uncompared' ? '' : figure(v[i], 6), key: () => v, csv: i => v[i]});
  const wordy = (name, text, left) => ({name, width: 130, left, text: i => show(text(i)), csv: text, key: () => ranks(rows, text)});
  const rank = {bad: 0, suspect: 1, uncompared: 2, good: 3};
  m.columns = [
    {name: 'state', width: 110, sign: true, text: i => t('report.word.' + stateAt(i)), state: stateAt, csv: i => t('report.word.' + stateAt(i)), key: () => Float64Array.from({length: rows}, (_, i) => rank[stateAt(i)])},
    {name: 'order', width: 60, numeric: true, text: i => String(m.opOfRow[i]), csv: i => m.opOfRow[i], key: () => Float64Array.from(m.opOfRow)},
    wordy('type', i => m.type.get(i)), wordy('tensor', i => nameOf(m, i) + ':output:' + o.index[i], true),
    numeric('ratio', m.ratio), numeric('expected', m.expected), numeric('found', m.found), numeric('bound', m.bound), numeric('largest', m.largest),
    {name: 'check.beyond', width: 90, numeric: true, worst: 'high', text: i => o.looked[i] ? o.beyond[i] + '/' + o.looked[i] : '', csv: i => o.beyond[i], key: () => Float64Array.from(o.beyond)},
    wordy('dtype', i => o.dtype[i]), wordy('shape', i => shapeText(o.shape[i])), wordy('cause', m.kind, true), wordy('reason', reason, true),
  ];
  return m;
}

function nameOf(m, i) { return m.op.get(i) + (m.o.rank[i] >= 0 ? ' @' + m.o.rank[i] : ''); }

function ranks(rows, text) {
  const list = Array.from({length: rows}, (_, i) => text(i));
  const sorted = [...new Set(list)].sort();
  const place = new Map(sorted.map((s, k) => [s, k]));
  return Float64Array.from(list, s => place.get(s));
}

/** numbersOf is the element that is off the most. */
function numbersOf(m, i) {
  const {o} = m;
  if (m.verdictOf(i) === 'uncompared' || Number.isNaN(m.ratio[i])) return null;
  const place = o.worst[i]?.length ? '[' + o.worst[i].join(', ') + ']' : '';
  return el('table.elements', {}, el('tbody', {}, [
    ['ratio', Number.isFinite(m.ratio[i]) ? figure(m.ratio[i], 5) : '∞'], ['expected', figure(m.expected[i], 9)], ['found', figure(m.found[i], 9)], ['bound', figure(m.bound[i], 5)],
    ['where', place], ['largest', figure(m.largest[i], 5)], ['beyond', o.beyond[i] + ' / ' + o.looked[i] + (o.looked[i] < o.elements[i] ? ' (' + t('check.of', o.elements[i]) + ')' : '')],
  ].map(([name, text]) => el('tr', {}, el('th', {}, t('column.check.' + name)), el('td.number', {}, text)))));
}

start(async () => {
  const m = model(await unpack());
  settle({lang: m.page.lang, op: -1, metric: 'ratio'});
  Object.assign(state, follow(m));
  const order = [...Array(m.rows).keys()].filter(i => m.verdictOf(i) === 'bad' || m.verdictOf(i) === 'suspect').sort((a, b) => (m.verdictOf(a) === 'suspect') - (m.verdictOf(b) === 'suspect') || a - b);
  if (state.op < 0 && order.length) Object.assign(state, {op: m.opOfRow[order[0]], row: order[0]});

  const card = i => {
    const go = () => select(m.opOfRow[i], i);
    return el('article.card.' + m.verdictOf(i), {tabindex: 0, 'data-op': m.opOfRow[i], onclick: go, onkeydown: e => { if (e.key === 'Enter') go(); }},
      el('header', {}, el('span.sign', {'aria-hidden': 'true'}, signs[m.verdictOf(i)]), el('span.number', {}, t('report.word.' + m.verdictOf(i))), el('b', {}, show(m.type.get(i))), el('span.name', {}, show(nameOf(m, i)) + ':' + m.o.index[i])),
      el('p.strong', {}, t('check.numbers', figure(m.found[i], 6), figure(m.expected[i], 6), m.o.worst[i]?.length ? '[' + m.o.worst[i].join(', ') + ']' : '', Number.isFinite(m.ratio[i]) ? figure(m.ratio[i], 3) : '∞')),
      ...[m.kind(i), spoken().reasons[m.o.reason[i]]].map((x, k) => x ? el(k ? 'p' : 'p.kind', {}, x) : null));
  };
  const draw = () => {
    speak(m.page.say, state.lang);
    const head = document.getElementById('headline');
    head.className = 'verdict ' + m.page.verdict;
    head.replaceChildren(el('span.sign', {'aria-hidden': 'true'}, signs[m.page.verdict] ?? ''), el('span', {}, spans(spoken().headline)));
    document.getElementById('sides').replaceChildren(el('code', {}, show(m.page.left)), m.page.graph ? el('code', {}, ' ' + show(m.page.graph)) : '');
    const counts = m.states.map(s => [s, [...m.o.states].filter(x => states[x] === s).length]);
    document.getElementById('counts').replaceChildren(...counts.map(([s, n]) => el('li.' + s, {}, el('span.sign', {'aria-hidden': 'true'}, signs[s]), ' ' + n + ' ' + t('report.word.' + s))));
    document.getElementById('cards').replaceChildren(...order.slice(0, mostCards).map(card), ...order.length > mostCards ? [el('p.dim', {}, t('check.more', order.length - mostCards))] : []);
    document.getElementById('ground').replaceChildren(...lines(spoken().lines));
    panel();
  };
  const panel = () => {
    for (const c of document.querySelectorAll('#cards .card')) c.classList.toggle('selected', Number(c.dataset.op) === state.op);
    const op = m.ops[state.op];
    document.getElementById('operator').replaceChildren(...!op ? [el('p.dim', {}, t('select-one'))] : [
      el('h3', {}, el('span.sign.' + op.state, {'aria-hidden': 'true'}, signs[op.state]), ' ' + show(op.type) + ' ', el('span.name', {}, show(op.name))),
      ...op.rows.map(i => el('div', {}, el('h4', {}, el('span.sign.' + m.verdictOf(i), {'aria-hidden': 'true'}, signs[m.verdictOf(i)]), ' ' + t('role.output') + ' ' + m.o.index[i] + ' ', el('span.dim', {}, [m.o.dtype[i], shapeText(m.o.shape[i])].filter(Boolean).join(' '))),
        numbersOf(m, i), el('p.kind', {}, m.kind(i)), el('p', {}, spoken().reasons[m.o.reason[i]] ?? '')))]);
  };
  for (const b of document.querySelectorAll('#languages button')) b.addEventListener('click', () => set({lang: b.value}));
  on('lang', draw);
  on('op row', panel);
  document.body.classList.add('open');
  draw();
  tableView(m);
  chartView(m);
  const whatIf = document.getElementById('what-if'); // the bound itself is the first limit to look at
  whatIf.checked = true;
  whatIf.dispatchEvent(new Event('change'));
  keys(['chart', 'rows', 'enter']);
  document.body.dataset.ready = String(Math.round(performance.now()));
});
