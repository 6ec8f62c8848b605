// files.mjs: what can be checked of the site without a browser.  node files.mjs build/web
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { execFileSync } from 'node:child_process';
import { element, read, unesc } from '../util.mjs';
import { check, finish } from './report.mjs';

const SITE = process.argv[2] ?? 'build/web',
  LIMIT = 120e3;
const pages = fs.readdirSync(SITE).filter((f) => f.endsWith('.html'));
const html = Object.fromEntries(pages.map((p) => [p, read(path.join(SITE, p))]));
const prose = (p) => html[p].replace(/<(pre|code)\b[^]*?<\/\1>/g, ' ');

// Addresses.
const ids = {},
  twice = [],
  broken = [],
  outside = [];
for (const p of pages) {
  const all = [...html[p].matchAll(/\sid="([^"]+)"/g)].map((m) => m[1]);
  ids[p] = new Set(all);
  if (ids[p].size < all.length)
    twice.push(`${p}: ${all.filter((x, k) => all.indexOf(x) < k).slice(0, 3)}`);
}
let links = 0;
for (const p of pages)
  for (const [, url] of html[p].matchAll(/\s(?:href|src|data-page)="([^"]+)"/g)) {
    links++;
    if (/^https?:/.test(url)) {
      if (/\.(js|css|woff2?|png|svg)$/.test(url)) outside.push(`${p}: ${url}`);
      continue;
    }
    const [file, id] = url.split('#');
    const there = fs.existsSync(path.join(SITE, file || p));
    if (!there || (id && ids[file || p] && !ids[file || p].has(decodeURIComponent(id))))
      broken.push(`${p}: ${url}`);
  }
for (const p of pages)
  for (const [, page, id] of html[p].matchAll(/data-page="([^"]+)" data-id="([^"]+)"/g)) {
    if (!ids[page]?.has(id)) broken.push(`${p}: unfolds ${page}#${id}`);
  }
check(!twice.length, 'no address twice on a page', twice);
check(!broken.length, `${links} links, none broken`, broken);
check(!outside.length, 'nothing is loaded from elsewhere', outside);

// The checks of each section can be unfolded where it ends.
const hidden = [];
for (const p of pages.filter((f) => /-(checks|proofs)\.html$/.test(f))) {
  for (const m of html[p].matchAll(/<section class="of" id="([^"]*)">/g)) {
    const whole = element(html[p], m.index, 'section');
    const here = html[p.replace(/-(checks|proofs)/, '')].includes(`data-id="${m[1]}"`);
    if (whole.includes('<pre') && !here) hidden.push(`${p}#${m[1]}`);
  }
}
check(!hidden.length, 'the checks of each section unfold there', hidden);

// Markup.
const left = pages.filter((p) =>
  /ref:[a-z]|<!--|\?\?|\\[a-zA-Z]{2,}\{/.test(prose(p).replace(/ data-tex="[^"]*"/g, '')),
);
check(!left.length, 'no LaTeX and no mark of ours is left over', left);
const unbalanced = pages.filter((p) =>
  ['section', 'div', 'figure', 'details', 'ol', 'ul', 'table', 'p', 'math'].some(
    (t) =>
      html[p].split(`<${t}`).filter((s) => /^[\s>]/.test(s)).length !==
      html[p].split(`</${t}>`).length - 1,
  ),
);
check(!unbalanced.length, 'every element is closed', unbalanced);
const noAlt = pages.flatMap((p) =>
  [...html[p].matchAll(/<img(?![^>]*alt=)[^>]*>/g)].map((m) => `${p}: ${m[0]}`),
);
check(!noAlt.length, 'every drawing has an alternative text', noAlt);

// Words and numbers of the PDFs.
const words = (s) =>
  new Set(
    (
      s
        .normalize('NFKD')
        .replace(/[\u0300-\u036f]/g, '')
        .match(/[A-Za-z]{4,}/g) ?? []
    ).map((w) => w.toLowerCase()),
  );
const site = words(
  pages
    .map(
      (p) =>
        unesc(html[p].replace(/<wbr>/g, '').replace(/<[^>]+>/g, ' ')) +
        unesc(html[p].replace(/<[^>]+>/g, '')),
    )
    .join(' '),
);
// (what only the PDFs have, such as the letters of a formula run together, is no word)
const folder = (dir) =>
  fs
    .readdirSync(dir)
    .filter((f) => f.endsWith('.tex'))
    .map((f) => path.join(dir, f));
const written = words(
  [
    ...folder('build/tex'),
    ...folder('book'),
    'build/attention/attention.bbl',
    'build/companion/companion.bbl',
  ]
    .filter((f) => !/(about|companion|cover)\.tex$/.test(f))
    .map((f) => read(f).replace(/\\[a-zA-Z]+/g, ' '))
    .join(' '),
);
for (const pdf of ['book/attention.pdf', 'book/companion.pdf'].filter((f) => fs.existsSync(f))) {
  const printed = words(
    execFileSync('pdftotext', [pdf, '-'], { encoding: 'utf8', maxBuffer: 1 << 28 }),
  );
  const wanted = [...printed].filter((w) => written.has(w)),
    missing = wanted.filter((w) => !site.has(w));
  check(
    !missing.length,
    `each of the ${wanted.length} words of ${path.basename(pdf)} is on the site`,
    [missing.join(' ')],
  );
}

// Code: what the buttons copy is what the compiler reads.
const code = {};
globalThis.BOOK = {
  code(file, chunks) {
    code[file] = chunks;
  },
};
const CODE = path.join(SITE, 'assets/code');
for (const f of fs.readdirSync(CODE))
  (0, eval)(read(path.join(CODE, f)).replace(/^BOOK/, 'globalThis.BOOK'));
function expand(address) {
  const [file, id] = address.split('#'),
    [pieces, next] = code[file][id];
  let out = '';
  pieces.forEach((piece, k) => {
    const column = out.length - out.lastIndexOf('\n') - 1;
    out += k % 2 ? expand(piece).replace(/\n(?=[^\n])/g, `\n${' '.repeat(column)}`) : piece;
  });
  return next ? `${out}\n${expand(next)}` : out;
}
// (but for the comments that name equations and lines, and for indentation, which #line costs)
const tidy = (s) =>
  s
    .split('\n')
    .map((l) => l.replace(/\/\/ eq:.*/, '').trim())
    .filter((l) => l && !/^#line|^\(\*@ \d+ chapters/.test(l))
    .join('\n');
const roots = new Map();
for (const [file, chunks] of Object.entries(code))
  for (const [id, [, , root]] of Object.entries(chunks)) {
    if (typeof root === 'string' && !roots.has(root)) roots.set(root, `${file}#${id}`);
  }
const differ = [];
for (const [root, address] of roots) {
  const source = [`build/src/${root}`, `tangled/${root}`].find((f) => fs.existsSync(f));
  if (!source) differ.push(`${root}: not tangled`);
  else if (
    /^build/.test(source) &&
    tidy(read(source)).replace(/^(\/\/|#).*tangled from.*\n/, '') !== tidy(expand(address))
  )
    differ.push(root);
}
check(
  !differ.length,
  `${roots.size} files, copied from their pages, are what the compiler reads`,
  differ,
);

// Fonts and sizes.
const need = read('build/web-kept/fonts/characters.txt');
const lacking = execFileSync(
  '/usr/bin/python3',
  [
    '-c',
    `
import sys
from fontTools.ttLib import TTFont
have = set()
for f in sys.argv[2:]: have |= set(TTFont(f).getBestCmap())
print(''.join(c for c in sys.argv[1] if ord(c) not in have and not c.isspace() and ord(c) not in (0x2061, 0x2062, 0x2063, 0x200b, 0xfe0e)))`,
    need,
    ...['pagella-math', 'pagella-regular'].map((f) => `${SITE}/assets/${f}.woff2`),
  ],
  { encoding: 'utf8' },
).trim();
check(!lacking, `the ${[...need].length} characters of the formulas are in the fonts`, [lacking]);
const large = pages
  .filter((p) => /^\d/.test(p))
  .map((p) => [p, zlib.gzipSync(html[p], { level: 9 }).length]);
const worst = large.sort((a, b) => b[1] - a[1])[0];
check(
  worst[1] <= LIMIT,
  `no chapter is larger than 120 kB compressed; the largest, ${worst[0]}, is ${(worst[1] / 1e3).toFixed(0)} kB`,
);
finish();
