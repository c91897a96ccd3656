// main.js: puts the page together.

import {setTexts, t, el, language} from './text.js';
import {unpack, model} from './data.js';
import {state, set, on, follow, settle} from './state.js';
import {verdictView, rootOrder} from './cards.js';
import {chartView} from './chart.js';
import {tableView} from './table.js';
import {graphView} from './graph.js';
import {panelView} from './panel.js';

/** speak writes the fixed texts of the page. */
function speak(m) {
  setTexts(m.page.say, state.lang);
  document.documentElement.lang = state.lang;
  for (const e of document.querySelectorAll('[data-say]')) e.textContent = t(e.dataset.say);
  for (const e of document.querySelectorAll('[data-title]')) {
    e.title = t(e.dataset.title);
    e.setAttribute('aria-label', e.title);
  }
  for (const b of document.querySelectorAll('#languages button')) b.setAttribute('aria-pressed', String(b.value === language()));
}

/** first is the root to look at when nobody chose an operator. */
function first(m) { return m.roots[rootOrder(m)[0]]; }

async function open() {
  const m = model(await unpack());
  settle({lang: m.page.lang, op: -1});
  const wanted = follow(m);
  Object.assign(state, wanted);
  if (state.op < 0 && first(m)) Object.assign(state, {op: first(m).op, row: first(m).row});
  on('lang', () => speak(m));
  speak(m);
  for (const b of document.querySelectorAll('#languages button')) b.addEventListener('click', () => set({lang: b.value}));
  document.body.classList.add('open');
  verdictView(m);
  panelView(m);
  tableView(m);
  chartView(m);
  graphView(m);
  document.body.dataset.ready = String(Math.round(performance.now()));
}

open().catch(e => {
  document.getElementById('headline').textContent = 'This page needs a browser of 2023 or later. / 需要 2023 年以后的浏览器。 ' + e.message;
  throw e;
});
