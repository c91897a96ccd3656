// main.js: puts the page together.

import {speak, start} from './text.js';
import {unpack, model} from './data.js';
import {state, set, on, follow, settle} from './state.js';
import {verdictView, rootOrder} from './cards.js';
import {chartView} from './chart.js';
import {tableView} from './table.js';
import {graphView} from './graph.js';
import {panelView} from './panel.js';
import {treeView} from './tree.js';
import {keys} from './keys.js';

/** first is the root to look at when nobody chose an operator. */
function first(m) { return m.roots[rootOrder(m)[0]]; }

async function open() {
  const m = model(await unpack());
  settle({lang: m.page.lang, op: -1});
  const wanted = follow(m);
  Object.assign(state, wanted);
  if (state.op < 0 && first(m)) Object.assign(state, {op: first(m).op, row: first(m).row});
  const said = () => speak(m.page.say, state.lang);
  on('lang', said);
  said();
  for (const b of document.querySelectorAll('#languages button')) b.addEventListener('click', () => set({lang: b.value}));
  document.body.classList.add('open');
  verdictView(m);
  panelView(m);
  tableView(m);
  chartView(m);
  graphView(m);
  treeView(m);
  keys(['chart', 'graph', 'rows', 'tree', 'enter']);
  document.body.dataset.ready = String(Math.round(performance.now()));
}

start(open);
