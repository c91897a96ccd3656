// text.js: what the page says, in the language chosen, and how texts of others are shown.

let say = {};
let lang = 'en';

export function setTexts(texts, chosen) {
  say = texts;
  lang = chosen;
}

/** speak writes the fixed texts of the page in a language. */
export function speak(texts, chosen) {
  setTexts(texts, chosen);
  document.documentElement.lang = chosen;
  for (const e of document.querySelectorAll('[data-say]')) e.textContent = t(e.dataset.say);
  for (const e of document.querySelectorAll('[data-title]')) {
    e.title = t(e.dataset.title);
    e.setAttribute('aria-label', e.title);
  }
  for (const b of document.querySelectorAll('#languages button')) b.setAttribute('aria-pressed', String(b.value === chosen));
}

/** spans are pieces of a text with their styles. */
export function spans(segments) { return segments.map(x => el('span.' + (x.s ?? 'plain'), {}, x.t)); }

/** lines are what a list of labels and texts says. */
export function lines(list) { return list.map(l => el('div.ground', {}, el('dt', {}, l.label), el('dd', {}, spans(l.text)))); }

/** start puts a page together with open; one that fails says so. */
export function start(open) {
  open().catch(e => {
    document.getElementById('headline').textContent = 'This page needs a browser of 2023 or later. / 需要 2023 年以后的浏览器。 ' + e.message;
    throw e;
  });
}

/** t is the message of a key in the page's language, with its arguments. */
export function t(key, ...args) {
  const texts = say[lang].texts;
  const text = texts['html.' + key] ?? texts[key];
  return text === undefined ? key : fill(text, args);
}

/** spoken is what the program said in whole sentences. */
export function spoken() { return say[lang]; }

/** fill puts arguments where Go's verbs stand: %s, %d, %q, %[2]s, and {one|many} behind a number. */
function fill(text, args) {
  let next = 0;
  let last;
  return text.replace(/%(?:\[(\d+)\])?([sdqvg%])|\{([^{}|]*)\|([^{}]*)\}/g, (all, at, verb, one, many) => {
    if (verb === '%') return '%';
    if (one !== undefined) return Number(last) === 1 ? one : many;
    if (at) next = Number(at) - 1;
    last = args[next++];
    return verb === 'q' ? JSON.stringify(String(last)) : String(last ?? '');
  });
}

// What a viewer would obey instead of showing: control and format characters, line separators.
const obeyed = /[\p{Cc}\p{Cf}\u2028\u2029\ufffd]/gu;

/** show makes text of others safe to look at: what would act upon the page's text is spelled out. */
export function show(text) {
  return String(text).replace(obeyed, c => {
    const n = c.codePointAt(0);
    if (n === 0x200d) return c;
    return n < 0x80 ? '\\x' + n.toString(16).padStart(2, '0') : '\\u' + n.toString(16).padStart(4, '0');
  });
}

/** el makes an element: el('b.name', {title: …}, children…). Texts become text nodes. */
export function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split('.');
  const e = document.createElement(tag || 'div');
  if (classes.length) e.className = classes.join(' ');
  for (const [k, v] of Object.entries(attributes ?? {})) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v === true) e.setAttribute(k, '');
    else if (v !== false && v !== undefined && v !== null) e.setAttribute(k, v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined) e.append(c);
  return e;
}
