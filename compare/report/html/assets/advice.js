// advice.js: from causes and kinds of wrong to what to try next. Remedies and lines are those of the program.

import {t, el} from './text.js';
import {command} from './cards.js';
import {state, set} from './state.js';

/** adviceView lists what to try for an operator. */
export function adviceView(m, op, looks) {
  const kinds = [];
  const {remedies, lines} = m.page.advice;
  for (const l of looks) for (const p of l.patterns ?? []) kinds.push(p.kind);
  const checks = m.file.table.checks;
  if (checks?.pattern) {
    const names = Array.isArray(checks.op) ? checks.op : checks.op.at.map(k => checks.op.of[k]);
    const patterns = Array.isArray(checks.pattern) ? checks.pattern : checks.pattern.at.map(k => checks.pattern.of[k]);
    names.forEach((name, k) => { if (name === op.name && patterns[k]) kinds.push(patterns[k]); });
  }
  for (const i of op.rows) if (m.role(i) === 'output') for (const c of m.causes.get(i) ?? []) if (!c.waived) kinds.push(c.kind);
  const steps = [];
  for (const k of kinds) for (const s of remedies[k] ?? []) if (!steps.includes(s)) steps.push(s);
  if (op.inserted && !steps.includes('formats')) steps.unshift('formats');
  if (op.state === 'inherited') return el('div.advice', {}, el('h4', {}, t('advice')), el('p', {}, t('advice.inherited')));
  if (!steps.length) return null;
  const told = steps.slice(0, 5);
  // A dump does not say who made its graph: the reader chooses whose lines to see.
  const places = [...new Set(told.flatMap(s => lines[s] ?? []).map(l => l.where))].filter(own);
  const place = places.includes(state.place) ? state.place : places[0];
  return el('div.advice', {}, el('h4', {}, t('advice'), places.length > 1 ? [' ', el('select', {id: 'place', title: t('place-of'), 'aria-label': t('place-of'), onchange: e => set({place: e.target.value})}, places.map(p => el('option', {value: p, selected: p === place}, p)))] : null),
    el('ol', {}, told.map(s => el('li', {}, t('advice.' + s), pasted((lines[s] ?? []).filter(l => !own(l.where) || l.where === place), op)))));
}

/** own tells whether a place of lines is that of one framework, and not a file or the shell. */
function own(place) { return place !== '$' && !place.includes('.'); }

/** pasted are the lines of a step with where they go, and the operator's type and name in their places. */
function pasted(lines, op) {
  const framework = op.framework[0] ?? op.name;
  return lines.length ? el('div', {}, lines.map(line => command(line.text.replaceAll('TYPE', () => op.type).replaceAll('NAME', () => framework), line.where))) : null;
}
