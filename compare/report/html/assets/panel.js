// panel.js: all there is to know of the selected operator.

import {t, el, show} from './text.js';
import {numbers, tensor, statisticNames, apart} from './data.js';
import {figure, cosineText, shapeText, coordinates} from './format.js';
import {dtypeText, oneCause, reasonText, stateOf} from './filter.js';
import {signs} from './marks.js';
import {lookView} from './look.js';
import {adviceView} from './advice.js';
import {stack} from './cards.js';
import {state, select, on} from './state.js';

export function panelView(m) {
  const box = document.getElementById('operator');
  const {looks} = m;
  const draw = () => {
    const op = m.ops[state.op];
    if (!op) { box.replaceChildren(el('p.dim', {}, t('select-one'))); return; }
    const marks = [op.inserted ? 'inserted' : '', op.constant ? 'constant' : '', op.feed ? 'feed' : '', op.final ? 'final' : ''].filter(Boolean).map(x => t('is.' + x));
    const from = op.from.map(k => link(m, m.ops[m.roots[k].op]));
    box.replaceChildren(...[
      el('h3', {}, el('span.sign.' + op.state, {'aria-hidden': 'true'}, signs[op.state]), ' ' + show(op.type) + ' ', el('span.name', {}, show(op.name))),
      el('p', {}, [t('report.word.' + op.state) + (op.root >= 0 ? ', ' + t('root') : ''), t('at-order', op.place), ...marks].join(' · ')),
      from.length ? el('p', {}, t('inherits-from') + ' ', from.flatMap((x, i) => i ? [', ', x] : [x])) : null,
      op.framework.length ? el('p', {}, t('framework') + ' ', op.framework.flatMap((f, i) => [i ? ', ' : '', el('code', {}, show(f))])) : null,
      op.factor ? el('p', {}, t('amplifies', figure(op.factor))) : null,
      ...['output', 'input'].map(role => tensors(m, op, role)),
      op.gives?.length ? givenOf(op) : null,
      stackOf(m, op),
      ...op.rows.filter(i => m.role(i) === 'operator').map(i => el('p.reason', {}, reasonText(m, i))),
      op.root >= 0 && m.page.no_looks ? el('p.dim', {}, show(t('no-looks', m.page.no_looks))) : null,
      ...op.rows.filter(i => looks.has(tensor(m, i))).map(i => lookView(m, looks.get(tensor(m, i)))),
      op.state !== 'good' && op.state !== 'uncompared' ? adviceView(m, op, op.rows.map(i => looks.get(tensor(m, i))).filter(Boolean)) : null,
      files(m, op)].filter(Boolean));
  };
  on('op row lang place', draw);
  draw();
}

function link(m, op) {
  return el('button.link', {type: 'button', onclick: () => select(op.place)}, show(op.name));
}

function tensors(m, op, role) {
  const rows = op.rows.filter(i => m.role(i) === role);
  const edges = role === 'input' ? op.ins : [];
  if (!rows.length && !edges.length) return null;
  if (!rows.some(i => m.compared(i)) && rows.some(i => statisticNames.some(name => m.knows?.('left', name, i) || m.knows?.('right', name, i)) || m.value('left', i) || m.value('right', i))) return saidOf(m, op, role, rows, edges);
  const cosine = numbers(m, m.raw.cosine ? 'cosine' : 'CosineSimilarity');
  const distance = numbers(m, m.raw.distance ? 'distance' : 'RelativeEuclideanDistance');
  const largest = numbers(m, m.raw.max_abs ? 'max_abs' : 'MaxAbsoluteError');
  const value = (v, text) => Number.isNaN(v) ? '' : text(v);
  const lines = rows.map(i => {
    const s = stateOf(m, i);
    const producer = role === 'input' ? m.byName.get(m.producer.get(i)) : null;
    const line = el('tr' + (i === state.row ? '.selected' : ''), {onclick: () => select(op.place, i)},
      el('td', {}, String(m.slot(i))),
      el('td', {}, el('span.sign.' + s, {'aria-hidden': 'true'}, signs[s]), ' ' + t('report.word.' + s)),
      el('td', {}, dtypeText(m, i)), el('td', {}, shapes(m, i)),
      el('td.number', {}, value(cosine[i], cosineText)), el('td.number', {}, value(distance[i], figure)), el('td.number', {}, value(largest[i], figure)),
      el('td', {}, producer ? link(m, producer) : '', (m.causes.get(i) ?? []).map(c => el('div.' + s, {}, oneCause(c))), worst(m, i), m.reasons.has(i) ? el('div.dim', {}, reasonText(m, i)) : null));
    return line;
  });
  const known = new Set(rows.map(i => m.slot(i)));
  for (const e of edges) {
    if (!known.has(e.slot)) lines.push(el('tr.dim', {}, el('td', {}, String(e.slot)), el('td', {colspan: 6}, t('not-recorded')), el('td', {}, link(m, e.from))));
  }
  return el('div.scroll', {}, el('table.tensors', {}, el('caption', {}, t(role + 's')),
    el('thead', {}, el('tr', {}, [t('slot'), t('column.state'), t('column.dtype'), t('column.shape'), t('measure.cosine'), t('measure.distance'), t('measure.largest'), role === 'input' ? t('fed-by') : t('remarks')].map((x, k) => el(k > 3 && k < 7 ? 'th.number' : 'th', {}, x)))),
    el('tbody', {}, lines)));
}

/** givenOf lists what one side's recording tells of a call that the other does not have. */
function givenOf(op) {
  return el('div.scroll', {}, el('table.said', {}, el('caption', {}, t(op.alone)),
    el('thead', {}, el('tr', {}, el('th', {}), el('th', {}, t('column.shape')), statisticNames.map(s => el('th.number', {}, t('statistic.' + s))))),
    el('tbody', {}, op.gives.map(g => el('tr', {}, el('td', {}, show(g.place)), el('td', {}, shapeText(g.shape)), g.values.map(v => el('td.number', {}, v === undefined ? '' : figure(v, 7))))))));
}

/** stackOf is the line of the program that made a call, and those that led there. */
function stackOf(m, op) {
  const lines = op.rows.map(i => m.stack(i)).find(x => x)?.split('\n') ?? [];
  return lines.length ? stack(lines) : null;
}

/** saidOf lists what both sides' recordings say of tensors: a pair of lines for each, with the differences below. */
function saidOf(m, op, role, rows, edges) {
  const known = statisticNames.filter(name => rows.some(i => m.knows('left', name, i) || m.knows('right', name, i)));
  const lines = [];
  for (const i of rows) {
    const s = stateOf(m, i);
    const producer = role === 'input' ? m.byName.get(m.producer.get(i)) : null;
    const number = (side, name) => m.knows(side, name, i) ? figure(m.statistic(side, name, i), 7) : '';
    const both = known.filter(name => m.knows('left', name, i) && m.knows('right', name, i));
    const chosen = {onclick: () => select(op.place, i)};
    const marked = i === state.row ? '.selected' : '';
    const side = (name, more) => el('tr' + marked, chosen, ...more, el('td.dim', {}, t(name)),
      m.value(name, i) && !known.some(k => m.knows(name, k, i)) ? el('td.number', {colspan: known.length || 1}, show(m.value(name, i))) : known.length ? known.map(k => el('td.number', {}, number(name, k))) : el('td', {}));
    const span = both.length ? 3 : 2;
    lines.push(side('left', [el('td', {rowspan: span}, String(m.slot(i))),
      el('td', {rowspan: span}, el('span.sign.' + s, {'aria-hidden': 'true'}, signs[s]), ' ' + t('report.word.' + s), el('div.dim', {}, [dtypeText(m, i), shapes(m, i)].filter(Boolean).join(' ')),
        producer ? el('div', {}, link(m, producer)) : null, (m.causes.get(i) ?? []).map(c => el('div.' + s, {}, oneCause(c))), m.reasons.has(i) ? el('div.dim', {}, reasonText(m, i)) : null)]));
    lines.push(side('right', []));
    if (both.length) {
      lines.push(el('tr.apart' + marked, chosen, el('td.dim', {}, t('apart')), known.map(name => {
        const d = both.includes(name) ? apart(m.statistic('left', name, i), m.statistic('right', name, i)) : NaN;
        return el('td.number' + (d > 0 ? '.strong' : '.dim'), {}, Number.isNaN(d) ? '' : d === 0 ? '=' : Number.isFinite(d) ? figure(100 * d, 3) + ' %' : '≠');
      })));
    }
  }
  const listed = new Set(rows.map(i => m.slot(i)));
  for (const e of edges) {
    if (!listed.has(e.slot)) lines.push(el('tr.dim', {}, el('td', {}, String(e.slot)), el('td', {colspan: known.length + 2}, t('not-recorded') + ' ', link(m, e.from))));
  }
  return el('div.scroll', {}, el('table.said', {}, el('caption', {}, t(role + 's')),
    el('thead', {}, el('tr', {}, el('th', {}, t('slot')), el('th', {}, t('column.state')), el('th', {}), known.map(name => el('th.number', {}, t('statistic.' + name))))), el('tbody', {}, lines)));
}

function shapes(m, i) {
  const logical = shapeText(m.shape(i));
  const stored = shapeText(m.leftShape(i));
  return logical && stored && logical !== stored ? logical + ' ' + t('stored', stored) : logical || stored;
}

/** worst tells the element that is off the most, which is known of every compared tensor. */
function worst(m, i) {
  const at = m.raw.worst?.[i];
  const shape = m.shape(i);
  if (at === undefined || at < 0 || !m.compared(i) || m.verdictOf(i) === 'good' || !m.raw.facts?.[i]) return null;
  const v = name => { const x = m.raw[name]?.[i] ?? 0; return figure(Number(x), 6); };
  return el('div.dim', {}, t('worst-element', shape?.length ? coordinates(at, shape) : String(at), v('worst_left'), v('worst_right')));
}

function files(m, op) {
  const list = new Set();
  for (const i of op.rows) for (const f of [m.leftFile.get(i), m.rightFile.get(i)]) if (f) list.add(f);
  return list.size ? el('details', {}, el('summary', {}, t('files', list.size)), el('ul.files', {}, [...list].map(f => el('li', {}, el('code', {}, show(f)))))) : null;
}
