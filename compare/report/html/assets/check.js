// check.js: what a check found: how far every output is from what its own inputs explain. The chart and the table are those of a comparison;
// here is the model that they look at.

import {start, t, el, show, spoken} from './text.js';
import {unpack, listed, lookList, numberOf, Words} from './data.js';
import {figure, shapeText} from './format.js';
import {lookView, smallLook} from './look.js';
import {signs} from './marks.js';
import {textColumn} from './filter.js';
import {state, select, on, follow, settle} from './state.js';
import {topView, count, ready} from './top.js';
import {chartView} from './chart.js';
import {tableView} from './table.js';
import {keys} from './keys.js';

const states = {g: 'good', s: 'suspect', b: 'bad', u: 'uncompared'};
const mostCards = 12;

/** model makes of the outputs what the chart and the table look at: an operator is a point of the execution order, an output a row. */
function model({outputs: o, looks, heat, page}) {
  const rows = o.states.length;
  const number = name => Float64Array.from(o[name] ?? [], numberOf);
  const stateAt = i => states[o.states[i]];
  const m = listed(rows, {
    page, o, op: new Words(o.op ?? [], rows), type: new Words(o.type ?? [], rows), slot: i => o.index[i], state: stateAt, shape: i => o.shape[i], states: ['bad', 'suspect', 'good', 'uncompared'],
    name: i => o.op[i] + (o.rank[i] >= 0 ? ' @' + o.rank[i] : ''), ratio: number('ratio'), expected: number('expected'), found: number('found'), bound: number('bound'), largest: number('largest'),
  });
  m.looks = new Map(lookList(looks).map(l => [l.tensor, l]));
  m.look = i => m.looks.get(m.name(i) + ':output:' + o.index[i]);
  // What monitors recorded has no bound; all series have sizes, whether anything was found in them or not, and at the top is what became no number.
  const noNumber = i => stateAt(i) === 'suspect' && Number.isNaN(m.ratio[i]) && m.found[i] !== 0;
  const sizes = heat?.sizes.map((list, i) => noNumber(i) ? Infinity : Math.max(...list.map(numberOf).filter(Number.isFinite), m.ratio[i] || 0) || NaN);
  m.measures = [sizes ? {name: 'ratio', values: Float64Array.from(sizes), statistic: 'size'} : {name: 'ratio', values: m.ratio, limit: 1}];
  m.kind = i => spoken().kinds?.[o.kind[i]] ?? '';
  const reason = i => spoken().reasons[o.reason[i]] ?? '';
  const numeric = (name, v) => ({name: 'check.' + name, width: 110, numeric: true, worst: 'high', text: i => Number.isNaN(v[i]) || stateAt(i) === 'uncompared' ? '' : figure(v[i], 6), key: () => v, csv: i => v[i]});
  const wordy = (name, text, left) => ({...textColumn(rows, name, text), left});
  const rank = {bad: 0, suspect: 1, uncompared: 2, good: 3};
  m.columns = [
    {name: 'state', width: 110, sign: true, text: i => t('report.word.' + stateAt(i)), state: stateAt, csv: i => t('report.word.' + stateAt(i)), key: () => Float64Array.from({length: rows}, (_, i) => rank[stateAt(i)])},
    {name: 'order', width: 60, numeric: true, text: i => String(m.opOfRow[i]), csv: i => m.opOfRow[i], key: () => Float64Array.from(m.opOfRow)},
    wordy('type', i => m.type.get(i)), wordy('tensor', i => m.name(i) + ':output:' + o.index[i], true),
    numeric('ratio', m.ratio), numeric('expected', m.expected), numeric('found', m.found), numeric('bound', m.bound), numeric('largest', m.largest),
    {name: 'check.beyond', width: 90, numeric: true, worst: 'high', text: i => o.looked[i] ? o.beyond[i] + '/' + o.looked[i] : '', csv: i => o.beyond[i], key: () => Float64Array.from(o.beyond)},
    wordy('dtype', i => o.dtype[i]), wordy('shape', i => shapeText(o.shape[i])), wordy('cause', m.kind, true), wordy('reason', reason, true),
  ];
  return m;
}

/** numbersOf is the element that is off the most. */
function numbersOf(m, i) {
  const {o} = m;
  if (m.verdictOf(i) === 'uncompared' || Number.isNaN(m.ratio[i])) return null;
  const place = o.worst[i]?.length ? '[' + o.worst[i].join(', ') + ']' : '';
  return el('table.elements', {}, el('tbody', {}, [
    ['ratio', Number.isFinite(m.ratio[i]) ? figure(m.ratio[i], 5) : '∞'], ['expected', figure(m.expected[i], 9)], ['found', figure(m.found[i], 9)], ['bound', Number.isNaN(m.bound[i]) ? '' : figure(m.bound[i], 5)],
    ['where', place], ['largest', Number.isNaN(m.largest[i]) ? '' : figure(m.largest[i], 5)], ['beyond', o.beyond[i] + ' / ' + o.looked[i] + (o.looked[i] < o.elements[i] ? ' (' + t('check.of', o.elements[i]) + ')' : '')],
  ].filter(([, text]) => text && text !== '0 / 0').map(([name, text]) => el('tr', {}, el('th', {}, t('column.check.' + name)), el('td.number', {}, text)))));
}

/** heatView is a map of what monitors recorded, of one rank and metric at a time: a row for each layer, a column for each step. */
function heatView(m, heat) {
  const place = i => m.type.get(i) + ' ' + m.o.op[i].split('/')[0];
  const kinds = [...new Set(m.o.op.map((_, i) => place(i)))];
  const worst = m.o.op.findIndex((_, i) => m.verdictOf(i) === 'suspect');
  const choice = el('select', {'aria-label': t('check.heat')}, kinds.map(k => el('option', {value: k, selected: worst >= 0 && k === place(worst)}, show(k))));
  const box = el('div#matrix');
  const draw = () => box.replaceChildren(el('table', {},
    el('thead', {}, el('tr', {}, el('th'), heat.steps.map(s => el('th', {scope: 'col'}, String(s))))),
    el('tbody', {}, m.o.op.map((name, i) => place(i) !== choice.value ? null : el('tr', {}, el('th', {scope: 'row'}, show(name.split('/').slice(2).join('/')) + (m.o.index[i] ? ':' + m.o.index[i] : '')),
      heat.sizes[i].map((v, k) => {
        const x = numberOf(v), known = Number.isFinite(x);
        const cell = el('button.cell-of', {type: 'button', title: name + ' · ' + heat.steps[k] + ': ' + (known ? figure(x, 4) + '×' : t('check.no-number')), onclick: () => select(m.opOfRow[i], i)}, known ? figure(x, 2) : '–');
        cell.style.background = `color-mix(in srgb, var(--bad) ${known ? Math.min(75, Math.round(25 * Math.abs(Math.log10(Math.max(x, 1e-9))))) : 75}%, var(--panel))`;
        return el('td', {}, cell);
      }))).filter(Boolean))));
  choice.addEventListener('change', draw);
  draw();
  return el('section', {}, el('h2', {}, t('check.heat') + ' ', choice), box);
}

start(async () => {
  const read = await unpack();
  const m = model(read);
  const order = [...Array(m.rows).keys()].filter(i => m.verdictOf(i) === 'bad' || m.verdictOf(i) === 'suspect').sort((a, b) => (m.verdictOf(a) === 'suspect') - (m.verdictOf(b) === 'suspect') || a - b);
  settle({lang: m.page.lang, op: order.length ? m.opOfRow[order[0]] : -1, row: order[0] ?? -1, metric: 'ratio'});
  Object.assign(state, follow(m));

  const card = i => {
    const go = () => select(m.opOfRow[i], i);
    return el('article.card.' + m.verdictOf(i), {tabindex: 0, 'data-op': m.opOfRow[i], onclick: go, onkeydown: e => { if (e.key === 'Enter') go(); }},
      el('header', {}, el('span.sign', {'aria-hidden': 'true'}, signs[m.verdictOf(i)]), el('span.number', {}, t('report.word.' + m.verdictOf(i))), el('b', {}, show(m.type.get(i))), el('span.name', {}, show(m.name(i)) + ':' + m.o.index[i])),
      el('div.body', {}, el('div.words', {}, Number.isNaN(m.bound[i]) ? null : el('p.strong', {}, t('check.numbers', figure(m.found[i], 6), figure(m.expected[i], 6), m.o.worst[i]?.length ? '[' + m.o.worst[i].join(', ') + ']' : '', Number.isFinite(m.ratio[i]) ? figure(m.ratio[i], 3) : '∞')),
      ...[m.kind(i), spoken().reasons[m.o.reason[i]]].map((x, k) => x ? el(k ? 'p' : 'p.kind', {}, x) : null)), smallLook(m.look(i))));
  };
  const cards = () => document.getElementById('cards').replaceChildren(...order.slice(0, mostCards).map(card), ...order.length > mostCards ? [el('p.dim', {}, t('check.more', order.length - mostCards))] : []);
  const panel = () => {
    for (const c of document.querySelectorAll('#cards .card')) c.classList.toggle('selected', Number(c.dataset.op) === state.op);
    const op = m.ops[state.op];
    document.getElementById('operator').replaceChildren(...!op ? [el('p.dim', {}, t('select-one'))] : [
      el('h3', {}, el('span.sign.' + op.state, {'aria-hidden': 'true'}, signs[op.state]), ' ' + show(op.type) + ' ', el('span.name', {}, show(op.name))),
      ...op.rows.map(i => el('div', {}, el('h4', {}, el('span.sign.' + m.verdictOf(i), {'aria-hidden': 'true'}, signs[m.verdictOf(i)]), ' ' + t('role.output') + ' ' + m.o.index[i] + ' ', el('span.dim', {}, [m.o.dtype[i], shapeText(m.o.shape[i])].filter(Boolean).join(' '))),
        el('div.pictures', {}, el('div', {}, numbersOf(m, i), el('p.kind', {}, m.kind(i)), el('p', {}, spoken().reasons[m.o.reason[i]] ?? '')), m.look(i) ? lookView(m, m.look(i)) : null)))]);
  };
  on('op row', panel);
  topView(m.page, {verdict: m.page.verdict, sides: () => [el('code', {}, show(m.page.left)), m.page.graph ? el('code', {}, ' ' + show(m.page.graph)) : ''],
    counts: () => m.states.map(s => count(s, [...m.o.states].filter(x => states[x] === s).length))}, cards, panel);
  if (read.heat) {
    document.getElementById('first').after(heatView(m, read.heat));
    m.columns = m.columns.filter(c => m.o.op.some((_, i) => c.text(i)));
  }
  tableView(m);
  chartView(m);
  const whatIf = document.getElementById('what-if'); // the bound itself is the first limit to look at
  whatIf.checked = !read.heat;
  whatIf.dispatchEvent(new Event('change'));
  keys(['chart', 'rows', 'enter']);
  ready();
});
