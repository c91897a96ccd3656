// keys.js: what the keyboard does anywhere on a page, and the help about it.

import {t, el} from './text.js';

const named = {search: '/', help: '?', escape: 'Esc', part: 'Esc', enter: 'Enter', chart: '← →', graph: '← → ↑ ↓ + − 0', rows: '↑ ↓ PgUp PgDn Home End', tree: '↑ ↓ ← →', pair: 'L R', matrix: '← → ↑ ↓'};

/** keys listens for / to search, ? for help and Esc to leave; lists are the keys, beside these, that the help tells of. */
export function keys(lists) {
  const dialog = el('dialog', {id: 'help'});
  document.body.append(dialog);
  const search = () => document.getElementById('graph-search') ?? document.querySelector('section:not([hidden]) #filter-text');
  const help = () => {
    const all = [...search() ? ['search'] : [], 'help', 'escape', ...lists];
    dialog.replaceChildren(el('h3', {}, t('keys')), el('table', {}, el('tbody', {}, all.map(k => el('tr', {}, el('th', {}, named[k]), el('td', {}, t('keys.' + k)))))),
      el('form', {method: 'dialog'}, el('button', {}, t('close'))));
    dialog.showModal();
  };
  addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.closest('input:not([type=checkbox]), select, textarea');
    if (e.key === 'Escape' && typing) typing.blur();
    else if (typing) return;
    else if (e.key === '?' && !dialog.open) help();
    else if (e.key === '/' && !dialog.open) {
      const field = search();
      if (!field) return;
      field.focus();
      field.select();
      field.scrollIntoView({block: 'nearest'});
    } else return;
    e.preventDefault();
  });
}
