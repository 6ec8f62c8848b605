// math.mjs: TeX -> MathML.  Temml does the work; here is what makes its result look as in
// print in browsers that set MathML with TeX Gyre Pagella Math, and what remembers formulas
// from one build to the next.
import fs from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { esc, read, write } from './util.mjs';

const HERE = path.dirname(new URL(import.meta.url).pathname);
const { resolve } = createRequire(path.resolve('build/npm/package.json'));
/// Where make setup-web has put it.
function findTemml() {
  try {
    return resolve('temml');
  } catch {
    throw new Error('Temml, which sets the formulas, is not here: make setup-web');
  }
}

/// What the site's script makes of a formula without a copy of its TeX, by that script.
const texOf = new Function(
  `${read(path.join(HERE, 'theme/book.js')).match(/^  function texOf[^]*?^  }$/m)[0]} return texOf`,
)();
/// The same, of a formula's MathML.
export const texOfMath = (ml) => texOf(readTree(ml));

export class Mathematics {
  /// macros: those of book/macros.tex; kept: a file for what was made before.
  constructor(macros, kept) {
    const key = createHash('sha256').update(JSON.stringify(macros)),
      program = findTemml();
    for (const f of [path.join(HERE, 'math.mjs'), program]) key.update(read(f));
    key.update(`${texOf}`);
    Object.assign(this, { macros, kept, program, key: key.digest('hex'), used: {}, made: {} });
    const old = fs.existsSync(kept) ? JSON.parse(read(kept)) : {};
    if (old.key === this.key) this.made = old.made;
  }
  html(tex, display) {
    const name = (display ? 'D' : 'I') + tex;
    return (this.used[name] ??= this.made[name] ?? this.set(tex, display));
  }
  set(tex, display) {
    const source = tex.replace(/(\d),(?=\d)/g, '$1\\mathpunct{,}');
    this.temml ??= createRequire(import.meta.url)(this.program);
    const ml = this.temml.renderToString(source, {
      displayMode: display,
      macros: { ...this.macros },
      throwOnError: true,
      xml: true,
      strict: false,
    });
    const tree = tidy(readTree(ml.replace(/ xmlns="[^"]*"| style="display:block math;"/g, '')));
    if (display) return print(lean(tree));
    // A formula that tells its TeX needs no copy of it; what follows a break is marked.
    const [first, ...rest] = lines(tree).map(lean);
    const copy = esc(tex.replace(/\s+/g, ' '));
    if (rest.length || texOf(first) !== copy) first.at = ` data-tex="${copy}"${first.at}`;
    for (const m of rest) m.at = ` class="on"${m.at}`;
    return [first, ...rest].map(print).join('<wbr>');
  }
  keep() {
    write(this.kept, JSON.stringify({ key: this.key, made: this.used }));
  }
  /// Every character of every formula: to these the font is cut.
  characters() {
    const all = new Set();
    for (const ml of Object.values(this.used))
      for (const c of ml.replace(/<[^>]*>/g, '')) all.add(c);
    return [...all].sort().join('');
  }
}

// MathML -> {name, at, c}; text is a string.
function readTree(ml) {
  const root = { name: '', at: '', c: [] },
    open = [root];
  for (const [, end, name, at, empty, words] of ml.matchAll(
    /<(\/?)([a-zA-Z]+)([^>]*?)(\/?)>|([^<]+)/g,
  )) {
    if (words !== undefined) open.at(-1).c.push(words);
    else if (end) open.pop();
    else {
      const node = { name, at, c: [] };
      open.at(-1).c.push(node);
      if (!empty) open.push(node);
    }
  }
  return root.c[0];
}
const print = (n) =>
  typeof n === 'string' ? n : `<${n.name}${n.at}>${n.c.map(print).join('')}</${n.name}>`;
const make = (name, ...c) => ({ name, at: '', c });

const SCRIPT = /^m(sub|sup|subsup|under|over|underover)$/;
/// A prime is raised in this font already; no space round operators in scripts; short bars.
function tidy(n, script = false) {
  if (typeof n === 'string') return n;
  if (n.name === 'msup' || n.name === 'msubsup') n = lowerPrime(n);
  if (n.name === 'mo') {
    if (n.c[0] === '‾') return { name: 'mo', at: ' stretchy="false"', c: ['¯'] };
    if (n.c[0] === '…') n.at += ' lspace="0" rspace="0"';
    else if (script && !/space=/.test(n.at) && !/^[|‖]$/.test(n.c[0] ?? ''))
      n.at += ' lspace="0" rspace="0"';
  }
  n.c = n.c.map((x, k) => tidy(x, script || (SCRIPT.test(n.name) && k > 0)));
  return n;
}
/// Without what every browser supposes, or our style sheet does not know: fences and separators,
/// which look like others; the form that an operator has by its place; most of Temml's classes;
/// a row that is all of the formula.
function lean(n) {
  if (typeof n === 'string') return n;
  n.at = n.at
    .replace(/ (fence|separator)="true"/g, '')
    .replace(/ class="(?!tml-(tag|jot|right|left|overline)")[^"]*"/, '');
  if (/^(math|mrow)$/.test(n.name) && n.c.length > 1)
    for (const [mark, form] of [
      [n.c[0], 'prefix'],
      [n.c.at(-1), 'postfix'],
    ])
      if (mark.name) mark.at = mark.at.replace(` form="${form}"`, '');
  n.c.forEach(lean);
  const [row] = n.c;
  if (n.name === 'math' && n.c.length === 1 && row.name === 'mrow' && !row.at) n.c = row.c;
  return n;
}
const prime = (n) =>
  n?.name === 'mo' && /tml-prime/.test(n.at)
    ? { name: 'mo', at: ' lspace="0" rspace="0"', c: n.c }
    : null;
function lowerPrime(n) {
  const last = n.c.at(-1),
    alone = prime(last),
    first = last.name === 'mrow' && prime(last.c[0]);
  if (alone) {
    const base = make('mrow', n.c[0], alone);
    return n.name === 'msup' ? base : make('msub', base, n.c[1]);
  }
  if (!first) return n;
  return {
    ...n,
    c: [make('mrow', n.c[0], first), ...n.c.slice(1, -1), make('mrow', ...last.c.slice(1))],
  };
}

const RELATION = /^[=≤≥<>≈≠∈→←↦≡∼∝≪≫⊆⟶:]$/,
  BINARY = /^[+−±·×]$/;
const size = (n) =>
  typeof n === 'string' ? n.trim().length : n.c.reduce((s, x) => s + size(x), 0);
/// Browsers do not break formulas into lines: a long one becomes several, as TeX would break
/// it, after relations, and after sums where nothing else is there to break at.
function lines(math) {
  if (size(math) < 14) return [math];
  const row = math.c.length === 1 && math.c[0].name === 'mrow' ? math.c[0].c : math.c;
  const parts = [[]];
  let length = 0,
    open = 0;
  row.forEach((n, k) => {
    const mark = n.name === 'mo' ? n.c[0] : '';
    parts.at(-1).push(n);
    length += size(n);
    if (/^[([{⟨⌈⌊]$/.test(mark)) open++;
    else if (/^[)\]}⟩⌉⌋]$/.test(mark)) open--;
    const inside = k > 0 && k < row.length - 1;
    const sum = BINARY.test(mark) && open <= 1 && length > 15 && parts.at(-1).length > 1;
    if (inside && ((RELATION.test(mark) && open <= 0) || sum)) {
      n.at = n.at.replace(/ form="[^"]*"/, '') + ' form="infix"';
      parts.push([]);
      length = 0;
    }
  });
  return parts.map((c) => ({ name: 'math', at: math.at, c: [make('mrow', ...c)] }));
}
