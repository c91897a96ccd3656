// main.js: puts the page together.

import {start, t, el, show} from './text.js';
import {unpack, model} from './data.js';
import {state, follow, settle} from './state.js';
import {topView, count, ready} from './top.js';
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
  settle({lang: m.page.lang, op: first(m)?.op ?? -1, row: first(m)?.row ?? -1});
  Object.assign(state, follow(m));
  const names = ['uncompared', 'good', 'suspect', 'inherited', 'bad', 'damaged'];
  const {meta} = m;
  topView(m.page, {verdict: m.verdict, sides: () => [el('span', {}, t('left') + ' ', el('code', {}, show(meta.left_dir ?? ''))), ' ', el('span', {}, t('right') + ' ', el('code', {}, show(meta.right_dir ?? ''))), ' ',
    el('span.dim', {}, [meta.numerics ? t('numerics', meta.numerics) : '', (meta.time ?? '').replace('T', ' ').slice(0, 16), meta.version ? 'precision ' + show(meta.version) : ''].filter(Boolean).join(' · '))],
  counts: () => names.map((name, i) => count(name, m.page.counts[i])).reverse()});
  verdictView(m);
  panelView(m);
  tableView(m);
  chartView(m);
  graphView(m);
  treeView(m);
  keys(['chart', 'graph', 'rows', ...document.getElementById('sides-tree').hidden ? [] : ['tree', 'pair'], 'enter']);
  ready();
}

start(open);
