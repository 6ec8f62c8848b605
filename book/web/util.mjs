// util.mjs: what all the others need.
import fs from 'node:fs';
import path from 'node:path';

export const read = (file) => fs.readFileSync(file, 'utf8');

/// Write a file unless it has these contents already; make its folder.
export function write(file, data) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const bytes = Buffer.from(data);
  if (!fs.existsSync(file) || !fs.readFileSync(file).equals(bytes)) fs.writeFileSync(file, bytes);
}

const ENTITY = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const esc = (s) => s.replace(/[&<>"]/g, (c) => ENTITY[c]);
export const unesc = (s) =>
  s
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');

/// A name for an address, from TeX or text.
export const slug = (s) =>
  s
    .replace(/\\[a-zA-Z]+|[{}$\\]/g, ' ')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
export const anchor = (label) => label.replace(/[^\w-]/g, '-');
export const capital = (s) => s[0].toUpperCase() + s.slice(1);

/// The words of a piece of HTML.
export const text = (html) =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ')
    .trim();

export const ligatures = (s) =>
  s
    .replace(/---/g, '—')
    .replace(/--/g, '–')
    .replace(/``/g, '“')
    .replace(/''/g, '”')
    .replace(/`/g, '‘')
    .replace(/'/g, '’');

/// The place after the group that opens at s[i]; a backslash hides a brace.
export function closing(s, i, open = '{', close = '}') {
  let depth = 0;
  for (; i < s.length; i++) {
    if (s[i] === '\\') i++;
    else if (s[i] === open) depth++;
    else if (s[i] === close && --depth === 0) return i + 1;
  }
  throw new Error(`no ${close} in ${s.slice(0, 60)}`);
}

/// The contents of the groups {...}{...} that start at s[i].
export function groups(s, i) {
  const out = [];
  while (s[i] === '{') {
    const j = closing(s, i);
    out.push(s.slice(i + 1, j - 1));
    i = j;
  }
  return out;
}

/// a, b, ..., z, aa, ab, ...
export const letters = (n) =>
  (n < 26 ? '' : letters(Math.floor(n / 26) - 1)) + String.fromCharCode(97 + (n % 26));

export const by = (key) => (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);

/// The elements of some HTML that begin with one of these tags and have an id, as a map.
export function elements(html, opening) {
  const found = new Map();
  for (const m of html.matchAll(opening)) found.set(m[2], element(html, m.index, m[1]));
  return found;
}
export function element(html, from, name) {
  const tags = new RegExp(`<(/?)${name}\\b[^>]*>`, 'g');
  tags.lastIndex = from;
  for (let depth = 0, m; (m = tags.exec(html)); ) {
    depth += m[1] ? -1 : 1;
    if (depth === 0) return html.slice(from, tags.lastIndex);
  }
  throw new Error(`<${name}> without end`);
}
