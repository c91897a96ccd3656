// filter.js: the columns of the table, sorting and filtering. No document in here.

import {numbers, tensor, statisticNames} from './data.js';
import {t, show} from './text.js';
import {figure, cosineText, shapeText} from './format.js';

const ranks = {bad: 0, inherited: 1, suspect: 2, damaged: 3, good: 4, uncompared: 5};

/** columns are those of the table: text(i) is what a cell shows, key(i) what it is sorted by, csv(i) what is saved. */
export function columns(m) {
  const number = (name, width, from, text = figure, worst = 'high') => {
    const v = numbers(m, from);
    return {name, width, numeric: true, worst, text: i => m.compared(i) && !Number.isNaN(v[i]) ? text(v[i]) : m.raw[from] && m.raw[from][i] === 'NaN' ? 'NaN' : '', key: () => v, csv: i => Number.isNaN(v[i]) ? '' : v[i]};
  };
  const wordy = (name, width, w) => ({name, width, text: i => show(w.get(i)), key: () => wordRanks(w), csv: i => w.get(i)});
  const state = i => stateOf(m, i);
  const list = [
    {name: 'state', width: 128, sign: true, text: i => t('report.word.' + state(i)), state, key: () => Float64Array.from({length: m.rows}, (_, i) => ranks[state(i)]), csv: state},
    {name: 'index', width: 60, numeric: true, text: i => String(m.index(i)), key: () => Float64Array.from({length: m.rows}, (_, i) => m.index(i)), csv: m.index},
    {name: 'order', width: 60, numeric: true, text: i => String(m.opOfRow[i]), key: () => Float64Array.from(m.opOfRow), csv: i => m.opOfRow[i]},
    wordy('type', 130, m.type),
    {name: 'tensor', width: 330, text: i => show(tensor(m, i) || m.op.get(i)), key: () => tensorRanks(m), csv: i => tensor(m, i) || m.op.get(i), left: true},
    wordy('left', 200, m.leftNames), wordy('right', 200, m.rightNames),
    {name: 'role', width: 70, text: i => t('role.' + m.role(i)), key: () => Float64Array.from({length: m.rows}, (_, i) => ({output: 0, input: 1, operator: 2})[m.role(i)] * 1000 + m.slot(i)), csv: m.role},
    {name: 'dtype', width: 130, text: i => dtypeText(m, i), key: () => rankTexts(m.rows, i => dtypeText(m, i)), csv: i => dtypeText(m, i)},
    {name: 'shape', width: 130, text: i => shapeText(m.shape(i)), key: () => Float64Array.from({length: m.rows}, (_, i) => m.shape(i) ? m.shape(i).reduce((a, b) => a * b, 1) : NaN), csv: i => shapeText(m.shape(i))},
  ];
  const causes = i => causeText(m, i);
  list.push({name: 'cause', width: 220, text: causes, csv: causes, key: () => rankTexts(m.rows, i => m.causes.get(i)?.[0].kind ?? '\uffff'), left: true});
  if (m.statistics) {
    for (const name of statisticNames) {
      for (const side of ['left', 'right']) {
        const v = i => m.knows(side, name, i) ? m.statistic(side, name, i) : NaN;
        list.push({name: side + '-' + name, width: 100, numeric: true, worst: 'high', text: i => m.knows(side, name, i) ? figure(v(i), 6) : '', csv: i => m.knows(side, name, i) ? v(i) : '', key: () => Float64Array.from({length: m.rows}, (_, i) => v(i))});
      }
    }
  }
  if (m.raw.overflow) list.push(wordy('overflow', 80, m.overflow));
  for (const name of m.page.metrics ?? []) {
    if (name === 'StandardDeviation') continue;
    list.push(number(name, 110, name, name === 'CosineSimilarity' ? cosineText : figure, name === 'CosineSimilarity' ? 'low' : 'high'));
  }
  if (m.raw.StandardDeviation) {
    const four = i => { const v = m.raw.StandardDeviation[i]; return Array.isArray(v) ? '(' + figure(v[0]) + '; ' + figure(v[1]) + '), (' + figure(v[2]) + '; ' + figure(v[3]) + ')' : ''; };
    list.push({name: 'StandardDeviation', width: 230, text: four, csv: four,
      key: () => Float64Array.from({length: m.rows}, (_, i) => Array.isArray(m.raw.StandardDeviation[i]) ? Number(m.raw.StandardDeviation[i][1]) : NaN)});
  }
  for (const name of m.custom) {
    const text = i => m.customs.get(i + '\n' + name) ?? '';
    list.push({name, width: 120, own: true, text: i => show(text(i)), csv: text, key: () => rankTexts(m.rows, text)});
  }
  const reasons = i => reasonText(m, i);
  list.push({name: 'reason', width: 420, text: reasons, csv: reasons, key: () => rankTexts(m.rows, i => m.reasons.has(i) ? reasons(i) : '\uffff'), left: true});
  return list;
}

export const hiddenFirst = new Set(['left', 'right', 'role', 'AccumulatedRelativeError', 'KullbackLeiblerDivergence', 'StandardDeviation', 'MeanAbsoluteError', 'RootMeanSquareError', 'MeanRelativeError', 'index']);

/** stateOf is the state of a row: that of its operator where it is bad for what comes in. */
export function stateOf(m, i) {
  const v = m.verdictOf(i);
  return v === 'bad' && m.role(i) === 'output' && m.ops[m.opOfRow[i]]?.state === 'inherited' ? 'inherited' : v;
}

export function dtypeText(m, i) {
  const left = m.leftShape(i) ? m.page.dtypes[m.leftType(i)] ?? '' : '';
  const right = m.rightShape(i) ? m.page.dtypes[m.rightType(i)] ?? '' : '';
  return left === right || !right ? left : left ? left + ' / ' + right : right;
}

export function causeText(m, i) {
  return (m.causes.get(i) ?? []).map(c => oneCause(c)).join('; ');
}

export function oneCause(c) {
  let text = t('report.short.' + c.kind);
  if (c.count > 0 && c.of > 0) text += ' ' + c.count + '/' + c.of;
  else if (!Number.isNaN(c.value)) text += ' ' + figure(c.value);
  if (!Number.isNaN(c.limit) && c.limit !== 0) text += ' (' + t('limit', figure(c.limit)) + ')';
  return c.waived ? text + ' ' + t('waived') : text;
}

export function reasonText(m, i) {
  return (m.reasons.get(i) ?? []).map(r => show(t('reason.' + r.kind, ...r.args))).join('; ');
}

function wordRanks(w) {
  const places = w.of.map((_, i) => i).sort((a, b) => w.of[a] < w.of[b] ? -1 : w.of[a] > w.of[b] ? 1 : 0);
  const rank = new Float64Array(w.of.length);
  places.forEach((p, r) => { rank[p] = r; });
  return Float64Array.from(w.at, p => rank[p]);
}

function tensorRanks(m) {
  const names = wordRanks(m.op);
  const roles = {input: 0, output: 500, operator: 999};
  return names.map((r, i) => r * 1000 + roles[m.role(i)] + Math.min(m.slot(i), 400));
}

/** textColumn is a column of texts, that of row i is text(i). */
export function textColumn(rows, name, text) { return {name, text: i => show(text(i)), csv: text, key: () => rankTexts(rows, text)}; }

function rankTexts(rows, text) {
  const place = new Map();
  const at = new Int32Array(rows);
  for (let i = 0; i < rows; i++) {
    const s = text(i);
    let p = place.get(s);
    if (p === undefined) place.set(s, p = place.size);
    at[i] = p;
  }
  return wordRanks({of: [...place.keys()], at});
}

/** sorted sorts rows by a column; what is not known comes last either way. */
export function sorted(rows, column, down) {
  const key = column.keys ??= column.key();
  const sign = down ? -1 : 1;
  return rows.slice().sort((a, b) => {
    const x = key[a];
    const y = key[b];
    if (x < y) return -sign;
    if (x > y) return sign;
    if (x === y) return a - b;
    const p = Number.isNaN(x);
    const q = Number.isNaN(y);
    return p === q ? a - b : p ? 1 : -1;
  });
}

/** filtered are the rows that pass: text or regular expression, type, dtype, state, role. */
export function filtered(m, f) {
  let matches = () => true;
  if (f.text) {
    let of;
    if (f.regexp) {
      const r = new RegExp(f.text, 'iu');
      of = s => r.test(s);
    } else {
      const low = f.text.toLowerCase();
      of = s => s.toLowerCase().includes(low);
    }
    // Each different name is looked at once.
    const ops = m.op.of.map(of);
    const types = m.type.of.map(of);
    const left = m.leftNames.of.map(of);
    const right = m.rightNames.of.map(of);
    matches = i => ops[m.op.at[i]] || types[m.type.at[i]] || left[m.leftNames.at[i]] || right[m.rightNames.at[i]] ||
      f.text.includes(':') && of(tensor(m, i)) || m.reasons.has(i) && of(reasonText(m, i));
  }
  const type = f.type ? m.type.of.indexOf(f.type) : -1;
  const out = [];
  for (let i = 0; i < m.rows; i++) {
    if (type >= 0 && m.type.at[i] !== type) continue;
    if (f.role && m.role(i) !== f.role) continue;
    if (f.compared && m.verdictOf(i) === 'uncompared') continue;
    if (f.wrong && (m.verdictOf(i) === 'good' || m.verdictOf(i) === 'uncompared')) continue;
    if (f.state && stateOf(m, i) !== f.state) continue;
    if (f.dtype && dtypeText(m, i) !== f.dtype) continue;
    if (matches(i)) out.push(i);
  }
  return Uint32Array.from(out);
}

/** cell writes a cell of csv. One that a spreadsheet would run as a formula gets a blank in front, as in the program's tables. */
export function cell(v) {
  let s = String(v);
  if (typeof v !== 'number' && /^[=+\-%@\t\r＝＋－％＠]/.test(s)) s = ' ' + s;
  return /[",\n\r]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
}
