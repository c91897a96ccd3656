// top.js: what stands above every page and below it: the verdict, what was held against what, how many of each state, the languages, what it rests on.

import {speak, t, el, spoken, spans, lines} from './text.js';
import {signs} from './marks.js';
import {state, set, on} from './state.js';

/** topView shows it in the language chosen: sides() and counts() are what stands below the verdict, draws what else changes with the language. */
export function topView(page, {verdict, sides, counts = () => []}, ...draws) {
  const draw = () => {
    speak(page.say, state.lang);
    const head = document.getElementById('headline');
    head.className = 'verdict ' + verdict;
    head.replaceChildren(el('span.sign', {'aria-hidden': 'true'}, signs[verdict] ?? ''), el('span', {}, spans(spoken().headline)));
    document.getElementById('sides').replaceChildren(...sides());
    document.getElementById('counts').replaceChildren(...counts());
    document.getElementById('ground').replaceChildren(...lines(spoken().lines ?? []));
    for (const f of draws) f();
  };
  for (const b of document.querySelectorAll('#languages button')) b.addEventListener('click', () => set({lang: b.value}));
  on('lang', draw);
  document.body.classList.add('open');
  draw();
  document.getElementById('rests').open = !document.querySelector('.card'); // cards say it
}

/** ready tells that the page can be used, and when that was. */
export function ready() { document.body.dataset.ready = String(Math.round(performance.now())); }

/** count says how many are of a state. */
export function count(name, n) { return el('li.' + name, {}, el('span.sign', {'aria-hidden': 'true'}, signs[name]), ' ' + n + ' ' + t('report.word.' + name)); }
