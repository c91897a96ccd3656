// keys.js: what the keyboard does anywhere on a page, and the help about it.

import {t, el} from './text.js';

const named = {search: '/', help: '?', escape: 'Esc', enter: 'Enter', chart: '← →', graph: '← → ↑ ↓ + − 0', rows: '↑ ↓ PgUp PgDn Home End', tree: '↑ ↓ ← →', matrix: '← → ↑ ↓'};

/** keys listens for / to search, ? for help and Esc to leave; lists are the keys, beside these, that the help tells of. */
export function keys(lists) {
  const dialog = el('dialog', {id: 'help'});
  document.body.append(dialog);
  const help = () => {
    dialog.replaceChildren(el('h3', {}, t('keys')), el('table', {}, el('tbody', {}, ['search', 'help', 'escape', ...lists].map(k => el('tr', {}, el('th', {}, named[k]), el('td', {}, t('keys.' + k)))))),
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
      const field = document.getElementById('graph-search') ?? document.getElementById('filter-text');
      if (!field) return;
      field.focus();
      field.select();
      field.scrollIntoView({block: 'nearest'});
    } else return;
    e.preventDefault();
  });
}
