// table.js: the table of all rows. Only the rows in sight are in the document.

import {t, el, show} from './text.js';
import {columns, hiddenFirst, sorted, filtered, cell, dtypeText, stateOf} from './filter.js';
import {signs, order as states} from './marks.js';
import {saveFile} from './svg.js';
import {state, set, select, on} from './state.js';

const height = 26;

// What a sheet of paper holds of the table: so many rows, and the columns that say what is wrong.
const mostPrinted = 60;
const printed = new Set(['state', 'type', 'tensor', 'shape', 'CosineSimilarity', 'RelativeEuclideanDistance', 'MaxAbsoluteError', 'left-norm', 'right-norm', 'cause', 'check.ratio', 'check.expected', 'check.found',
  'preflight.key', 'preflight.a', 'preflight.b', 'preflight.how']);

export function tableView(m) {
  const all = m.columns ?? columns(m);
  const chosen = new Set(all.filter(c => m.columns || !hiddenFirst.has(c.name)).map(c => c.name));
  const scroll = document.getElementById('rows');
  const head = document.getElementById('row-head');
  const body = document.getElementById('row-body');
  const space = document.getElementById('row-space');
  const text = document.getElementById('filter-text');
  const regexp = document.getElementById('filter-regexp');
  const choices = {type: [...new Set(m.type.of)].filter(Boolean).sort(), dtype: dtypes(m), state: states.filter(s => m.states?.includes(s) ?? true), role: m.columns ? [] : ['output', 'input', 'operator']};
  const compared = document.getElementById('only-compared');
  const wrong = document.getElementById('only-wrong');
  const picks = {};
  let rows = Uint32Array.from({length: m.rows}, (_, i) => i);
  let at = new Map(); // place in rows, made when asked
  const most = 8e6; // browsers have a tallest element; beyond it rows move by shares of the scroll

  scroll.style.height = Math.min(440, m.rows * height + 20) + 'px'; // a short table leaves no room below it

  const shown = () => all.filter(c => chosen.has(c.name));
  const named = c => c.own ? c.name : t('column.' + c.name);

  /** fit gives columns the width of what is in them: of the heading and of a sample of the rows. */
  const fit = () => {
    const step = Math.max(1, Math.floor(m.rows / 200));
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = '12.5px ' + getComputedStyle(document.body).fontFamily;
    const digit = Math.max(7.1, pen.measureText('0').width); // wider in some systems' fonts
    for (const c of all) {
      let most = wide(named(c)) + 2;
      if (c.sign) for (const s of states) most = Math.max(most, wide(t('report.word.' + s)) + 3);
      for (let i = 0; i < m.rows; i += step) most = Math.max(most, wide(c.text(i)));
      c.width = Math.round(Math.min(c.left ? 460 : 260, 18 + (c.numeric ? digit : 7.1) * most));
    }
  };

  const refilter = () => {
    const f = {text: text.value, regexp: regexp.checked, compared: compared.checked, wrong: wrong.checked};
    for (const [name, pick] of Object.entries(picks)) f[name] = pick.value;
    text.classList.remove('wrong');
    try {
      rows = filtered(m, f);
    } catch (e) { // no regular expression yet
      text.classList.add('wrong');
      text.title = e.message;
      return;
    }
    text.title = '';
    resort();
  };

  const resort = () => {
    const [name, way] = state.sort.split(' ');
    const c = all.find(x => x.name === name);
    if (c) rows = sorted(rows, c, way === 'down');
    else rows = rows.slice().sort();
    at = null;
    space.style.height = Math.min(rows.length * height, most) + 'px';
    document.getElementById('row-count').textContent = t('rows', rows.length, m.rows);
    drawHead();
    draw();
  };

  const drawHead = () => {
    const [name, way] = state.sort.split(' ');
    head.replaceChildren(...shown().map(c => {
      const cellHead = el('div.cell.head' + (c.numeric ? '.number' : ''), {role: 'columnheader', tabindex: 0, 'aria-sort': c.name === name ? way === 'down' ? 'descending' : 'ascending' : 'none',
        title: named(c), 'data-column': c.name},
      named(c), c.name === name ? way === 'down' ? ' ▾' : ' ▴' : '');
      cellHead.style.width = c.width + 'px';
      const turn = () => {
        const [by, dir] = state.sort.split(' ');
        const first = c.worst === 'high' ? 'down' : 'up';
        const next = by !== c.name ? c.name + ' ' + first : dir === first ? c.name + ' ' + (first === 'up' ? 'down' : 'up') : '';
        set({sort: next});
      };
      cellHead.addEventListener('click', turn);
      cellHead.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); turn(); } });
      return cellHead;
    }));
    const width = shown().reduce((n, c) => n + c.width, 0);
    head.style.width = space.style.width = width + 'px';
  };

  let seen = -1; // the height of the rows in sight when they were drawn; below 0 before the table is put together
  const draw = () => {
    if (seen < 0) return;
    const total = rows.length * height;
    seen = scroll.clientHeight;
    const view = seen || 400;
    const room = Math.max(1, space.offsetHeight - view);
    const y = total <= most ? scroll.scrollTop : scroll.scrollTop / room * (total - view);
    const first = Math.max(0, Math.floor(y / height) - 4);
    const last = Math.min(rows.length, first + Math.min(90, Math.ceil(view / height) + 9));
    body.style.transform = `translateY(${scroll.scrollTop - (y - first * height)}px)`;
    const cols = shown();
    const list = [];
    for (let k = first; k < last; k++) {
      const i = rows[k];
      const s = stateOf(m, i);
      const row = el('div.row.' + s + (i === state.row ? '.selected' : m.opOfRow[i] === state.op ? '.near' : ''), {role: 'row', 'data-row': i, 'aria-rowindex': k + 1});
      for (const c of cols) {
        const text = c.text(i);
        const box = el('div.cell' + (c.numeric ? '.number' : ''), {role: 'cell', title: text.length > 12 ? text : null});
        if (c.sign) box.append(el('span.sign', {'aria-hidden': 'true'}, signs[s]), ' ');
        box.append(text);
        box.style.width = c.width + 'px';
        row.append(box);
      }
      list.push(row);
    }
    body.replaceChildren(...list);
  };

  const place = row => {
    if (!at) {
      at = new Map();
      rows.forEach((r, k) => at.set(r, k));
    }
    return at.get(row) ?? -1;
  };

  const into = () => {
    const op = m.ops[state.op];
    const row = state.row >= 0 ? state.row : op?.rows.find(i => m.role(i) === 'output') ?? op?.rows[0] ?? -1;
    const k = row >= 0 ? place(row) : -1;
    if (k >= 0) {
      const total = rows.length * height;
      const view = scroll.clientHeight;
      const y = total <= most ? scroll.scrollTop : scroll.scrollTop / Math.max(1, space.offsetHeight - view) * (total - view);
      if (k * height < y || (k + 2) * height > y + view) {
        const to = Math.max(0, k * height - view / 3);
        scroll.scrollTop = total <= most ? to : to / (total - view) * (space.offsetHeight - view);
      }
    }
    draw();
  };

  let waiting = false;
  scroll.addEventListener('scroll', () => {
    head.style.transform = `translateX(${-scroll.scrollLeft}px)`;
    if (!waiting) requestAnimationFrame(() => { waiting = false; draw(); });
    waiting = true;
  });
  body.addEventListener('click', e => {
    const row = e.target.closest('[data-row]');
    if (row) select(m.opOfRow[row.dataset.row], Number(row.dataset.row));
  });
  scroll.addEventListener('keydown', e => {
    const page = Math.max(1, Math.floor(scroll.clientHeight / height) - 1);
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity}[e.key];
    if (!step || !rows.length) return;
    e.preventDefault();
    const now = state.row >= 0 ? place(state.row) : -1;
    const k = Math.min(rows.length - 1, Math.max(0, now + step));
    select(m.opOfRow[rows[k]], rows[k]);
  });
  new ResizeObserver(() => { if (scroll.clientHeight !== seen) draw(); }).observe(scroll);

  // On paper there is no scrolling: the rows that are not good, the roots first.
  addEventListener('beforeprint', () => {
    const roots = new Set(m.roots.map(r => r.op));
    const wrongRows = [...filtered(m, {text: '', wrong: true})].sort((a, b) => roots.has(m.opOfRow[b]) - roots.has(m.opOfRow[a]) || m.opOfRow[a] - m.opOfRow[b]);
    const list = wrongRows.slice(0, mostPrinted);
    const cols = all.filter(c => printed.has(c.name) && list.some(i => c.text(i)));
    document.getElementById('paper').replaceChildren(el('table', {}, el('thead', {}, el('tr', {}, cols.map(c => el('th', {}, named(c))))),
      el('tbody', {}, list.map(i => el('tr', {}, cols.map(c => el('td' + (c.numeric ? '.number' : ''), {}, c.sign ? signs[stateOf(m, i)] + ' ' : '', c.text(i))))))),
    wrongRows.length > list.length ? el('p', {}, t('paper-rest', wrongRows.length - list.length)) : '');
  });

  let timer = 0;
  text.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(() => set({filter: text.value}), m.rows > 20000 ? 120 : 30); });
  for (const box of [regexp, compared, wrong]) box.addEventListener('change', refilter);
  document.getElementById('save').addEventListener('click', () => save(m, shown(), rows));

  const texts = () => {
    const box = document.getElementById('filters');
    const kept = Object.fromEntries(Object.entries(picks).map(([n, p]) => [n, p.value]));
    box.replaceChildren(...Object.entries(choices).filter(([, list]) => list.length > 0).map(([name, list]) => {
      const pick = picks[name] = el('select', {'aria-label': t('column.' + name), id: 'filter-' + name},
        el('option', {value: ''}, t('all-of', t('column.' + name))),
        list.map(v => el('option', {value: v}, name === 'state' ? signs[v] + ' ' + t('report.word.' + v) : name === 'role' ? t('role.' + v) : show(v))));
      pick.value = kept[name] ?? '';
      pick.addEventListener('change', refilter);
      return pick;
    }));
    document.getElementById('column-list').replaceChildren(...all.map(c => {
      const check = el('input', {type: 'checkbox', checked: chosen.has(c.name)});
      check.addEventListener('change', () => {
        if (check.checked) chosen.add(c.name);
        else chosen.delete(c.name);
        drawHead();
        draw();
      });
      return el('label', {}, check, ' ', named(c));
    }));
    for (const c of all) if (c.name === 'reason' || c.name === 'role') c.keys = null;
    text.placeholder = t('filter');
    fit();
    resort();
  };
  on('lang', texts);
  on('sort', () => { resort(); scroll.scrollTop = 0; });
  on('filter', () => { if (text.value !== state.filter) text.value = state.filter; refilter(); });
  on('op row', into);
  text.value = state.filter;
  texts();
  if (state.filter) refilter();
  seen = 0;
  into();
}

/** wide is the width of a text in letters: those of Chinese are two wide. */
function wide(text) {
  if (!/[^\0-\u2e7f]/.test(text)) return text.length;
  let n = 0;
  for (const c of text) n += c > '\u2e7f' ? 2 : 1;
  return n;
}

function dtypes(m) {
  const list = new Set();
  const seen = new Set();
  for (let i = 0; i < m.rows; i++) {
    const key = m.leftType(i) * 4096 + m.rightType(i) * 4 + (m.leftShape(i) ? 2 : 0) + (m.rightShape(i) ? 1 : 0);
    if (!seen.has(key)) {
      seen.add(key);
      list.add(dtypeText(m, i));
    }
  }
  return [...list].filter(Boolean).sort();
}

/** save gives the rows that pass the filter as csv. */
function save(m, cols, rows) {
  const lines = [cols.map(c => cell(c.name)).join(',')];
  for (const i of rows) lines.push(cols.map(c => cell(c.csv(i))).join(','));
  saveFile('rows.csv', 'text/csv', '\ufeff' + lines.join('\r\n') + '\r\n');
}
