// cards.js: the roots as cards, and the commands to go on with.

import {t, el, show, spoken} from './text.js';
import {tensor} from './data.js';
import {signs} from './marks.js';
import {smallLook, rangeLook} from './look.js';
import {state, select, on} from './state.js';

let shown = 4; // cards that are open

export function verdictView(m) {
  const draw = () => {
    cards(m);
    const records = m.page.records ?? [];
    const box = document.getElementById('records');
    box.hidden = !records.length;
    box.replaceChildren(el('h3', {}, t('records')), el('pre', {}, records.map(show).join('\n')));
  };
  on('lang', draw);
  on('op', () => mark(m));
  draw();
}

function cards(m) {
  const s = spoken();
  const box = document.getElementById('cards');
  const order = rootOrder(m).filter(k => s.cards?.[k]);
  const list = order.slice(0, shown).map(k => card(m, s.cards[k], k));
  const rest = m.roots.length - list.length;
  if (rest > 0 && order.length > shown) {
    list.push(el('button.more', {type: 'button', onclick: () => { shown += 20; cards(m); }}, t('more-roots', rest)));
  }
  box.replaceChildren(...list);
  mark(m);
}

/** rootOrder are the places of the roots: what is bad before what is suspect, either in execution order. */
export function rootOrder(m) {
  const places = m.roots.map((_, k) => k);
  const suspect = k => m.ops[m.roots[k].op].state === 'suspect' ? 1 : 0;
  return places.sort((a, b) => suspect(a) - suspect(b) || a - b);
}

function mark(m) {
  for (const c of document.querySelectorAll('#cards .card')) c.classList.toggle('selected', Number(c.dataset.op) === state.op);
}

function card(m, c, k) {
  const r = m.roots[k];
  const op = m.ops[r.op];
  const sign = op.state === 'suspect' ? 'suspect' : 'bad';
  return el('article.card.' + sign, {tabindex: 0, 'aria-label': c.Name, 'data-op': r.op, onclick: () => select(r.op, r.row),
    onkeydown: e => { if (e.key === 'Enter' && e.target === e.currentTarget) select(r.op, r.row); }},
  el('header', {}, el('span.sign', {'aria-hidden': 'true'}, signs[sign]), el('span.number', {}, m.roots.length > 1 ? t('root-n', k + 1) : t('root')), el('b', {}, c.Type), el('span.name', {}, c.Name), c.Origin ? el('span.dim', {}, c.Origin) : null),
  el('div.body', {},
    el('div.words', {},
      [c.Begins, c.Kind].map(x => x ? el('p.kind', {}, x) : null),
      c.Kind || c.Begins ? c.Causes.map(x => el('p', {}, x)) : el('ul.causes', {}, c.Causes.map(x => el('li', {}, x))),
      [c.Certainty, c.Noise, c.Follows].map(x => x ? el('p', {}, x) : null)),
    smallLook(m.looks.get(tensor(m, r.row))) ?? rangeLook(m, r.row)),
  c.Stack?.length ? stack(c.Stack) : null,
  goOn(commands(m, r, op)));
}

/** stack is the line of the program that made a call, in sight; those that led to it unfold. */
export function stack(lines) {
  const first = el('code', {}, show(lines[0]));
  if (lines.length === 1) return el('p.source', {}, t('source') + ' ', first);
  return el('details.source', {onclick: e => e.stopPropagation()}, el('summary', {}, t('source') + ' ', first), el('ol', {}, lines.slice(1).map(l => el('li', {}, el('code', {}, show(l))))));
}

/** goOn are the commands that one types next, folded. */
function goOn(lines) {
  return lines.length ? el('details.commands', {onclick: e => e.stopPropagation()}, el('summary', {}, t('go-on')), lines.map(l => command(l))) : null;
}

/** commands are what one types next, about a root. */
function commands(m, r, op) {
  const list = [];
  const q = quote;
  const sides = '-lt ' + q(m.meta.left_dir ?? '') + (m.meta.right_dir ? ' -rt ' + q(m.meta.right_dir) : '');
  if (m.meta.graph) {
    list.push('precision graph ' + q(m.meta.graph) + ' -op ' + q(op.name));
    if (m.meta.left_kind === 'npu' && m.meta.right_kind !== 'npu') list.push('precision check ' + sides + ' -g ' + q(m.meta.graph));
  }
  const left = m.leftFile.get(r.row);
  const right = m.rightFile.get(r.row);
  if (m.meta.graph) list.unshift('precision why ' + q(op.name) + ' ' + sides + ' -g ' + q(m.meta.graph));
  else if (m.statistics) list.push('precision why ' + q(op.name) + ' -lt ' + q(m.meta.left_dir ?? ''));
  if (left) list.push('precision pt ' + q(left));
  if (right && right !== left) list.push('precision pt ' + q(right));
  return list;
}

/** quote writes a word so that a shell of Unix takes it as it is. */
export function quote(word) { return /^[\w@%+=:,.\/-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'"; }

/** command is a line to paste, with its button. */
export function command(line, where = '') {
  return el('div.command', {}, where ? el('span.dim', {}, where + ' ') : null, el('code', {}, where.includes('.') ? line.split('\n').flatMap((x, k) => k ? [el('br'), show(x)] : [show(x)]) : show(line)), copyButton(line)); // a file has lines
}

/** copyButton copies a text. */
export function copyButton(text) {
  const button = el('button.copy', {type: 'button'}, t('copy'));
  button.addEventListener('click', async e => {
    e.stopPropagation();
    await copy(text);
    button.textContent = '✓';
    setTimeout(() => { button.textContent = t('copy'); }, 1200);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed: as of old
    const area = el('textarea', {});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}
