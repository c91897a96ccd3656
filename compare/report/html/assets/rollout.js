// rollout.js: why a trainer and an inference engine differ: causes, stages by layers, tokens, weights, routers.

import {start, t, el, show, spoken} from './text.js';
import {unpack} from './data.js';
import {settle} from './state.js';
import {topView, ready} from './top.js';
import {keys} from './keys.js';
import {figure} from './format.js';
import {signs, colour} from './marks.js';

const looks = {same: 'good', rounding: 'good', harmless: 'suspect', unknown: 'inconclusive', precision: 'bad', formula: 'bad', weights: 'bad', cache: 'bad'};
const letters = {same: '=', rounding: '≈', harmless: '~', unknown: '?', precision: signs.bad, formula: signs.bad, weights: signs.bad, cache: signs.bad};

start(async () => {
  const {rollout, page} = await unpack();
  const heat = document.getElementById('heat');
  const stages = rollout.stages ?? [];
  const box = id => document.querySelector(`#${id} .cells`);
  const shade = (name, share) => share > 0 ? `color-mix(in srgb, ${colour(name)} ${Math.round(8 + 72 * Math.min(1, share))}%, ${colour('panel')})` : '';
  const percent = x => x < 0 ? '?' : figure(100 * x, 3) + ' %';

  const rows = [...new Set(stages.map(s => s.layer))].sort((a, b) => (a < 0) - (b < 0) || a - b);
  // Stages stand in the order of the network; one that comes twice in a layer, as norms do, has two columns.
  const columns = [];
  const at = new Map();
  for (const layer of rows) {
    const seen = new Map();
    stages.forEach((s, k) => {
      if (s.layer !== layer) return;
      const n = (seen.get(s.stage) ?? 0) + 1;
      seen.set(s.stage, n);
      const key = s.stage + ' ' + n;
      if (!columns.includes(key)) columns.push(key);
      at.set(layer + ' ' + key, k);
    });
  }
  const tell = k => {
    const s = stages[k];
    return [t('rollout.place', s.layer < 0 ? s.stage : s.stage + ', ' + t('rollout.layer') + ' ' + s.layer), t('rollout.finding.' + s.finding),
      t('rollout.errors', percent(s.train), percent(s.rollout)), s.rows ? t('rollout.rows', s.equal, s.rows) : '', s.own >= 0 ? t('rollout.own', percent(s.own)) : '', t('rollout.share', figure(100 * s.share, 3))].filter(Boolean).join('; ');
  };
  const matrix = () => {
    const head = el('tr', {}, el('th', {}, t('rollout.layer')), columns.map(c => el('th', {scope: 'col'}, show(c.split(' ')[0]))));
    const most = Math.max(1e-9, ...stages.map(s => Math.abs(s.share)));
    document.getElementById('matrix').replaceChildren(el('table', {}, el('thead', {}, head), el('tbody', {}, rows.map(r => el('tr', {}, el('th', {scope: 'row'}, r < 0 ? '–' : String(r)), columns.map(c => {
      const k = at.get(r + ' ' + c);
      if (k === undefined) return el('td.none');
      const s = stages[k];
      const share = heat.value === 'share';
      const b = el('button.cell-of.' + looks[s.finding], {type: 'button', 'data-stage': k, title: tell(k), 'aria-label': tell(k)}, share ? figure(100 * s.share, 2) : letters[s.finding]);
      if (share) b.style.background = shade('bad', Math.abs(s.share) / most);
      return el('td', {}, b);
    }))))));
    document.getElementById('stages').hidden = !stages.length;
  };

  const cards = () => {
    document.getElementById('cards').replaceChildren(...spoken().causes.map((words, k) => {
      const c = rollout.causes[k];
      const sign = c.kind === 'rounding' || c.kind === 'harmless' ? 'good' : rollout.verdict;
      return el('article.card.' + (sign === 'bad' ? 'bad' : 'suspect'), {tabindex: 0},
        el('header', {}, el('span.sign', {'aria-hidden': 'true'}, signs[sign] ?? ''), el('span.number', {}, String(k + 1)), el('span.name', {}, t('rollout.kind.' + c.kind))),
        el('p', {}, show(words.text)), words.advice.map(a => el('div.dim', {}, a.text, a.lines.map(l => el('div', {}, el('code', {}, show(l)))))));
    }));
  };

  const tokens = () => {
    const list = page.tokens ?? [];
    document.getElementById('tokens').hidden = !list.length;
    box('tokens').replaceChildren(el('table', {}, el('tbody', {}, list.map(q => el('tr', {}, el('th', {scope: 'row'}, String(q.row)), q.d.map((d, i) => {
      const cell = el('td', {title: d === null ? '' : t('rollout.token', q.row, q.from + i, figure(d, 4))}, '\u2003');
      if (d !== null) cell.style.background = shade(Math.abs(d) > 0.1 ? 'bad' : 'suspect', Math.abs(d) / Math.max(page.largest, 1e-12));
      return cell;
    }))))));
    document.getElementById('tokens-tip').textContent = t('rollout.tokens.tip', list.length, page.sequences);
  };

  const weights = () => {
    const list = rollout.weights?.differ ?? [];
    document.getElementById('weights').hidden = !list.length;
    box('weights').replaceChildren(el('table', {}, el('tbody', {}, list.slice(0, page.most).map(w => el('tr', {}, el('th', {scope: 'row'}, show(w.name)), el('td', {}, t('rollout.weight.' + w.kind)),
      el('td', {}, w.rel === null ? '' : percent(w.rel)), el('td', {}, w.of ? show(w.of) : ''))))));
  };

  const routers = () => {
    const list = rollout.router?.layers ?? [];
    document.getElementById('routers').hidden = !list.length;
    box('routers').replaceChildren(el('table', {}, el('tbody', {}, list.map((x, i) => {
      const cell = el('td', {}, percent(x));
      cell.style.background = shade('suspect', x);
      return el('tr', {}, el('th', {scope: 'row'}, t('rollout.layer') + ' ' + i), cell);
    }))));
  };

  const draw = () => {
    const shown = heat.value || 'finding';
    heat.replaceChildren(...['finding', 'share'].map(v => el('option', {value: v, selected: v === shown}, t('rollout.heat.' + v))));
    document.getElementById('matrix-tip').textContent = t('rollout.hint');
    for (const f of [cards, matrix, tokens, weights, routers]) f();
  };
  heat.addEventListener('change', matrix);
  document.getElementById('matrix').addEventListener('click', e => {
    const b = e.target.closest('[data-stage]');
    if (!b) return;
    for (const x of document.querySelectorAll('#matrix .selected')) x.classList.remove('selected');
    b.classList.add('selected');
    document.getElementById('matrix-tip').textContent = tell(Number(b.dataset.stage));
  });
  settle({lang: page.lang});
  topView(page, {verdict: rollout.verdict, sides: () => [t('rollout.sides') + ' ', el('code', {}, show(page.train)), ' ', el('code', {}, show(page.engine))]}, draw);
  keys(['enter']);
  ready();
});
