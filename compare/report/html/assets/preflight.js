// preflight.js: what two trainings begin with, and how they go: curves of logs, keys of configurations, files of manifests.

import {t, start, el, show, spoken} from './text.js';
import {unpack, listed, Words} from './data.js';
import {signs, colour} from './marks.js';
import {textColumn} from './filter.js';
import {state, follow, settle} from './state.js';
import {topView, count, ready} from './top.js';
import {tableView} from './table.js';
import {keys} from './keys.js';

const states = {changed: 'bad', 'only-a': 'suspect', 'only-b': 'suspect', moved: 'suspect', unproven: 'suspect', unread: 'suspect', paths: 'uncompared', places: 'uncompared', same: 'good'};

/** model makes of the rows what the table looks at. */
function model({rows: r, page}) {
  const n = (r.what ?? []).length;
  const words = name => new Words(r[name] ?? [], n);
  const m = listed(n, {page, op: words('key'), leftNames: words('a'), rightNames: words('b'), state: i => states[r.what[i]], states: ['bad', 'suspect', 'good', 'uncompared']});
  const text = (name, of, left = true) => ({...textColumn(n, name, of), left});
  m.columns = [
    {...text('state', i => t(r.what[i] === 'same' ? 'preflight.word.good' : 'preflight.label.' + r.what[i]), false), sign: true},
    text('preflight.key', i => r.key[i]), text('preflight.a', i => r.a[i]), text('preflight.b', i => r.b[i]),
    text('preflight.how', i => r.how[i] ? t('preflight.config.how.' + r.how[i], r.key_b[i]) : ''),
  ];
  return m;
}

/** chart draws a quantity of both logs, a loss scale as steps; where they part is a line. */
function chart(q, title) {
  const number = v => typeof v === 'number' ? v : null; // NaN and infinities leave a gap
  const steps = [...new Set([...q.steps_a, ...q.steps_b])].sort((x, y) => x - y);
  const side = (at, values) => { const known = new Map(at.map((s, i) => [s, number(values[i])])); return steps.map(s => known.get(s)); };
  const box = el('div.curve', {tabindex: -1});
  const wide = () => ({width: Math.max(280, box.clientWidth), height: 240});
  let plot = null;
  const build = () => {
    plot?.destroy();
    const paths = q.stepped ? {paths: uPlot.paths.stepped({align: 1})} : {};
    const axis = {stroke: colour('dim'), grid: {stroke: colour('line')}};
    plot = new uPlot({
      title, ...wide(), scales: {x: {time: false}, y: q.positive && q.high > 100 * q.low ? {distr: 3} : {}}, cursor: {drag: {x: true, y: false}, sync: {key: 'steps'}},
      axes: [axis, {...axis, size: 80, values: (u, list) => list.map(v => v === null ? '' : String(Number(v.toPrecision(6))))}],
      series: [{label: t('preflight.step')}, {label: 'A', stroke: colour('accent'), width: 1.5, spanGaps: true, ...paths}, {label: 'B', stroke: colour('inherited'), width: 1.5, spanGaps: true, ...paths}],
      hooks: {draw: [u => {
        if (!q.parts) return;
        const x = u.valToPos(q.part_step, 'x', true);
        u.ctx.save();
        u.ctx.strokeStyle = colour('bad');
        u.ctx.setLineDash([4, 4]);
        u.ctx.beginPath();
        u.ctx.moveTo(x, u.bbox.top);
        u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
        u.ctx.stroke();
        u.ctx.restore();
      }]},
    }, [steps, side(q.steps_a, q.values_a), side(q.steps_b, q.values_b)], box);
  };
  new ResizeObserver(() => { if (!plot) build(); else if (plot.width !== wide().width) plot.setSize(wide()); }).observe(box);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { if (plot) build(); });
  return box;
}

start(async () => {
  const data = await unpack();
  const m = model(data);
  const curves = data.curves ?? [];
  settle({lang: m.page.lang, op: -1});
  Object.assign(state, follow(m));
  const draw = () => {
    const words = spoken().quantities ?? [];
    const boxes = curves.map((q, k) => chart(q, words[k][0]));
    document.getElementById('charts').hidden = !curves.length;
    document.getElementById('curves').replaceChildren(...boxes);
    document.getElementById('cards').replaceChildren(...curves.flatMap((q, k) => {
      const go = () => boxes[k].scrollIntoView({block: 'nearest'});
      return q.parts ? [el('article.card.bad', {tabindex: 0, onclick: go, onkeydown: e => { if (e.key === 'Enter') go(); }},
        el('header', {}, el('span.sign', {'aria-hidden': 'true'}, signs.bad), el('span.name', {}, show(words[k][0]))), words[k].slice(1).map((x, n) => el(n ? 'p' : 'p.strong', {}, x)))] : [];
    }));
  };
  topView(m.page, {verdict: data.verdict, sides: () => ['A ', el('code', {}, show(data.a)), ' B ', el('code', {}, show(data.b))],
    counts: () => m.states.map(s => [s, m.ops.filter(op => op.state === s).length]).filter(([, n]) => n).map(([s, n]) => count(s, n))}, draw);
  document.getElementById('list').hidden = !m.rows;
  document.getElementById('only-compared').parentElement.hidden = true; // places are no more to be left out than what is the same
  if (m.rows) tableView(m);
  keys([...m.rows ? ['rows'] : [], 'enter']);
  ready();
});
