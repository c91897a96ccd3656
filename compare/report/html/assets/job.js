// job.js: what became of a job: where errors begin, and a matrix of ranks and steps whose cells open the page of their part in place.

import {start, t, el, show, spoken, spans} from './text.js';
import {unpack} from './data.js';
import {state, settle} from './state.js';
import {topView, ready} from './top.js';
import {keys} from './keys.js';
import {figure} from './format.js';
import {signs, colour} from './marks.js';

const gravity = ['none', 'good', 'suspect', 'inconclusive', 'bad', 'failed'];
const letters = {good: '·', suspect: signs.suspect, inconclusive: '?', bad: signs.bad, failed: '!', none: ''};

/** numbers are those of a list such as 0,4-7 that are among the ranks. */
function numbers(list, ranks) {
  const ranges = list.split(',').map(x => x.split('-').map(Number));
  return ranks.filter(r => ranges.some(([from, to = from]) => r >= from && r <= to));
}

start(async () => {
  const {job, page} = await unpack();
  let open = -1; // the part that is shown
  let chosen = ''; // the operator at which its page opens
  let back = 0; // where the reader was before it was opened
  const heat = document.getElementById('heat');
  const stateOf = p => job.parts[p].failed ? 'failed' : job.parts[p].verdict;
  const wrong = p => { const n = job.parts[p].operators ?? []; return (n[2] ?? 0) + (n[3] ?? 0) + (n[4] ?? 0); };
  const of = p => (job.parts[p].operators ?? []).slice(1).reduce((a, b) => a + b, 0);

  const cells = new Map(); // "rank step" -> places of parts, the gravest first
  const ranks = new Map(); // rank -> host
  const steps = new Set();
  job.parts.forEach((p, k) => {
    const key = p.rank + ' ' + p.step;
    cells.set(key, [...cells.get(key) ?? [], k].sort((a, b) => gravity.indexOf(stateOf(b)) - gravity.indexOf(stateOf(a)) || a - b));
    ranks.set(p.rank, p.host ?? ranks.get(p.rank) ?? '');
    steps.add(p.step);
  });
  for (const a of job.alone ?? []) {
    if (!ranks.has(a.rank)) ranks.set(a.rank, '');
    steps.add(a.step);
  }
  const columns = [...steps].sort((a, b) => a - b);
  const rows = [...ranks.keys()].sort((a, b) => a - b);
  // Ranks stand by their hosts or by the groups in which they met: those of tensor, pipeline and data parallel, as far as collectives tell.
  const ways = [{name: () => t('job.by-host'), of: r => ranks.get(r)}];
  for (const m of job.collectives ?? []) {
    const key = (m.groups ?? []).join(' ');
    if ((m.groups ?? []).length < 2 || ways.some(w => w.key === key)) continue;
    const group = new Map(m.groups.flatMap(g => numbers(g, rows).map(r => [r, g])));
    ways.push({key, name: () => t('job.by-group', m.groups.length, show(m.type)), of: r => group.has(r) ? t('job.group', group.get(r)) : ''});
  }
  const by = el('select', {id: 'ranks-by'});
  by.hidden = ways.length < 2 && rows.every(r => !ranks.get(r));
  heat.before(by, ' ');
  const firstBad = columns.find(s => rows.some(r => cells.get(r + ' ' + s)?.some(k => stateOf(k) === 'bad')));
  const number = n => n < 0 ? '?' : String(n);
  const nameOf = k => t('job.at', number(job.parts[k].step), number(job.parts[k].rank)) + (job.parts[k].model ? ' · ' + show(job.parts[k].model) : '');

  const matrix = () => {
    const most = job.parts.reduce((m, _, k) => Math.max(m, wrong(k) / Math.max(1, of(k))), 1e-9);
    const head = el('tr', {}, el('th', {}, t('job.rank')), columns.map(s => el('th' + (s === firstBad ? '.bad' : ''), {scope: 'col', title: s === firstBad ? t('job.first-bad') : null}, (s === firstBad ? '▼ ' : '') + number(s))));
    const body = [];
    const way = ways[Number(by.value)] ?? ways[0];
    const first = new Map(); // label -> its lowest rank
    for (const r of rows) if (!first.has(way.of(r))) first.set(way.of(r), r);
    let host = '';
    for (const r of rows.toSorted((a, b) => first.get(way.of(a)) - first.get(way.of(b)) || a - b)) {
      if (way.of(r) !== host) {
        host = way.of(r);
        body.push(el('tr.host', {}, el('th', {colspan: columns.length + 1, scope: 'rowgroup'}, show(host))));
      }
      body.push(el('tr', {}, el('th', {scope: 'row'}, number(r)), columns.map(s => {
        const list = cells.get(r + ' ' + s);
        if (!list) return el('td.none');
        const k = list[0];
        const state = stateOf(k);
        const share = wrong(k) / Math.max(1, of(k));
        const b = el('button.cell-of.' + state, {type: 'button', 'data-part': k, title: nameOf(k) + ': ' + spoken().parts[k], 'aria-label': nameOf(k) + ': ' + spoken().parts[k]},
          heat.value === 'share' ? (share > 0 ? figure(100 * share, 2) : letters[state]) : letters[state]);
        if (heat.value === 'share') b.style.background = share > 0 ? `color-mix(in srgb, ${colour('bad')} ${Math.round(10 + 70 * share / most)}%, ${colour('panel')})` : '';
        return el('td', {}, b);
      })));
    }
    document.getElementById('matrix').replaceChildren(el('table', {}, el('thead', {}, head), el('tbody', {}, body)));
  };

  const cards = () => {
    document.getElementById('cards').replaceChildren(...spoken().origins.map((o, k) => {
      const origin = job.origins[k];
      const at = page.first[k];
      const go = () => { if (at >= 0) reveal(at, origin.op); };
      const sign = origin.through || origin.later ? 'inherited' : origin.verdict;
      return el('article.card.' + sign, {tabindex: 0, onclick: go, onkeydown: e => { if (e.key === 'Enter') go(); }},
        el('header', {}, el('span.sign', {'aria-hidden': 'true'}, signs[sign] ?? ''), el('span.number', {}, o[0].label)),
        o.map(l => el('p', {}, spans(l.text))), at >= 0 && page.pages[at] ? el('p.dim', {}, t('job.opens', nameOf(at))) : null);
    }));
  };

  /** reveal opens a part below the matrix; its page, if there is one, at an operator. */
  const reveal = (k, op) => {
    if (open < 0) back = scrollY;
    open = k;
    chosen = op ?? '';
    location.hash = new URLSearchParams({part: job.parts[k].table ?? String(k), ...op ? {op} : {}});
    part();
    document.getElementById('part').scrollIntoView({block: 'start'});
    document.getElementById('back').focus({preventScroll: true}); // from where Esc is heard
  };
  const part = () => {
    const box = document.getElementById('part');
    box.hidden = open < 0;
    for (const b of document.querySelectorAll('#matrix .selected')) b.classList.remove('selected');
    const words = document.getElementById('part-words');
    if (open < 0) { words.replaceChildren(); return; }
    const p = job.parts[open];
    document.querySelector(`#matrix [data-part="${open}"]`)?.classList.add('selected');
    document.getElementById('part-name').textContent = nameOf(open);
    const others = (cells.get(p.rank + ' ' + p.step) ?? []).filter(k => k !== open);
    const list = [el('p', {}, el('span.sign.' + stateOf(open), {'aria-hidden': 'true'}, letters[stateOf(open)] + ' '), spoken().parts[open]),
      others.length ? el('p', {}, others.map(k => el('button', {type: 'button', onclick: () => reveal(k)}, nameOf(k) + ' ' + letters[stateOf(k)]))) : null,
      el('p', {}, t('left') + ' ', el('code', {}, show(p.left ?? '')), ' ' + t('right') + ' ', el('code', {}, show(p.right ?? '')))];
    if (page.pages[open]) {
      const hash = new URLSearchParams({lang: state.lang, ...chosen ? {op: chosen} : {}});
      list.push(el('iframe', {src: page.pages[open] + '#' + hash, title: nameOf(open), sandbox: 'allow-scripts allow-downloads'}));
    } else if (p.table) {
      list.push(el('p', {}, t('job.no-page') + ' ', el('code', {}, 'precision report tables/' + show(p.table) + '.json -html ' + show(p.table) + '.html')));
    }
    words.replaceChildren(...list.filter(Boolean));
  };
  const follow = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const k = wanted.has('part') ? job.parts.findIndex((p, i) => (p.table ?? String(i)) === wanted.get('part')) : -1;
    const op = wanted.get('op') ?? '';
    if (k === open && op === chosen) return;
    const was = open;
    if (k >= 0 && open < 0) back = scrollY;
    open = k;
    chosen = op;
    part();
    if (open < 0) {
      scrollTo(0, back);
      document.querySelector(`#matrix [data-part="${was}"]`)?.focus({preventScroll: true});
    } else if (was < 0) {
      document.getElementById('part').scrollIntoView({block: 'start'});
    }
  };

  const draw = () => {
    const shown = heat.value || 'state';
    const grouped = by.value || '0';
    by.replaceChildren(...ways.map((w, k) => el('option', {value: k, selected: String(k) === grouped}, w.name())));
    by.title = t('job.ranks-by');
    by.setAttribute('aria-label', by.title);
    heat.replaceChildren(...['state', 'share'].map(v => el('option', {value: v, selected: v === shown}, t('job.heat.' + v))));
    document.getElementById('matrix-tip').textContent = t('job.hint');
    cards();
    matrix();
    if (open >= 0) part();
  };
  by.addEventListener('change', matrix);
  heat.addEventListener('change', matrix);
  document.getElementById('matrix').addEventListener('click', e => {
    const b = e.target.closest('[data-part]');
    if (b) reveal(Number(b.dataset.part));
  });
  document.getElementById('matrix').addEventListener('keydown', e => {
    const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[e.key];
    const at = e.target.closest('td');
    if (!move || !at) return;
    e.preventDefault();
    let row = at.parentElement;
    const column = at.cellIndex + move[0];
    for (let k = 0; k < Math.abs(move[1]); k++) {
      do row = move[1] > 0 ? row?.nextElementSibling : row?.previousElementSibling; while (row?.classList.contains('host'));
    }
    row?.cells[column]?.querySelector('button')?.focus();
  });
  const close = () => { location.hash = ''; };
  document.getElementById('back').addEventListener('click', close);
  addEventListener('keydown', e => { if (e.key === 'Escape' && open >= 0) close(); });
  addEventListener('hashchange', follow);
  settle({lang: page.lang});
  topView(page, {verdict: job.verdict, sides: () => [t('left') + ' ', el('code', {}, show(job.left ?? '')), ' ' + t('right') + ' ', el('code', {}, show(job.right ?? ''))],
    counts: () => ['bad', 'suspect', 'inconclusive', 'failed', 'good'].filter(v => job.counts[v]).map(v => el('li.' + v, {}, letters[v] + ' ' + job.counts[v] + ' ' + t('job.verdict.' + v)))}, draw);
  follow();
  keys(['part', 'matrix', 'enter']);
  ready();
});
