// template.mjs: the frame of a page, and the first page.
import { liveHead } from './live.mjs';
import { esc, text } from './util.mjs';

export const TITLE = 'Attention as a Bilinear Form';
const LISTS = [
  'definitions',
  'theorems',
  'examples',
  'exercises',
  'errata',
  'figures',
  'bibliography',
  'chunks',
  'identifiers',
  'terms',
  'downloads',
];

const isLetter = (number) => /^[A-Z]$/.test(number);
/// The chapters under the parts to which they belong.
function grouped(book) {
  const chapters = book.contents.filter(
    (t) => t.level === 1 && t.number !== null && !isLetter(t.number),
  );
  const groups = [{ title: null, chapters: [] }];
  for (const c of chapters) {
    const part = book.parts.find((p) => String(p.before) === c.number);
    if (part) groups.push({ title: part.title, chapters: [] });
    groups.at(-1).chapters.push(c);
  }
  return groups.filter((g) => g.chapters.length);
}
const appendices = (book) =>
  book.contents.filter((t) => t.level === 1 && t.number !== null && isLetter(t.number));
const sections = (book, page) =>
  book.contents.filter((t) => t.level === 2 && t.page === page && t.number !== null);
const entry = (t, here, more) =>
  `<li><a href="${t.page}"${t.page === here ? ' aria-current="page"' : ''}>` +
  `<span class="num">${t.number}</span> <span>${t.title}</span></a>${more}</li>`;
function sidebar(book, page) {
  const parent = page.of?.page ?? page.file;
  const inner = (t) =>
    t.page !== parent
      ? ''
      : `<ol>${sections(book, page.file)
          .map(
            (s) =>
              `<li><a href="#${s.id}"><span class="num">${s.number}</span> <span>${s.title}</span></a></li>`,
          )
          .join('')}</ol>`;
  const group = (g) =>
    `${g.title ? `<p class="part">${g.title}</p>` : ''}<ol>${g.chapters
      .map((t) => entry(t, parent, inner(t)))
      .join('\n')}</ol>`;
  const lists = LISTS.map((name) => book.pages.find((p) => p.file === `${name}.html`)).filter(
    Boolean,
  );
  return `${grouped(book).map(group).join('\n')}
<p class="part">Appendices</p><ol>${appendices(book)
    .map((t) => entry(t, parent, ''))
    .join('\n')}</ol>
<p class="part">Lists</p><ul>${lists
    .map(
      (p) =>
        `<li><a href="${p.file}"${
          p.file === page.file ? ' aria-current="page"' : ''
        }>${text(p.title)}</a></li>`,
    )
    .join('\n')}</ul>`;
}
const neighbour = (page, rel, word) =>
  page
    ? `<a rel="${rel}" href="${page.file}"><small>${word}</small> <span>${
        page.number ? `${page.number} ` : ''
      }${esc(text(page.title))}</span></a>`
    : '<span></span>';

const icon = (drawn) => `<svg viewBox="0 0 16 16" aria-hidden="true">${drawn}</svg>`;
export function frame(book, page, before, after) {
  const title = page.title === TITLE ? TITLE : `${esc(text(page.title))} – ${TITLE}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/style.css">
<script src="assets/theme.js"></script>
<script src="assets/book.js" defer></script>
${liveHead(page.html)}</head>
<body class="${page.kind ?? ''}">
<a class="skip" href="#main">Skip to the text</a>
<header class="bar">
<button id="menu" type="button" aria-expanded="false" aria-controls="side">${icon('<path d="M2 4h12M2 8h12M2 12h12"/>')}<span class="vh">Contents</span></button>
<a class="brand" href="index.html">${TITLE}</a>
<button id="find" type="button" aria-haspopup="dialog">${icon('<circle cx="6.5" cy="6.5" r="4.5"/><path d="M10 10l4.5 4.5"/>')} <span class="wide">Search</span> <kbd aria-hidden="true">/</kbd></button>
<button id="theme" type="button">${icon('<circle cx="8" cy="8" r="6"/><path fill="currentColor" d="M8 2a6 6 0 0 1 0 12z"/>')}<span class="vh">Light or dark</span></button>
</header>
<nav id="side" aria-label="Contents">
${sidebar(book, page)}
</nav>
<main id="main">
<article>
${page.html}</article>
<nav class="foot" aria-label="Previous and next">${neighbour(before, 'prev', '← Previous')}${neighbour(after, 'next', 'Next →')}</nav>
</main>
<dialog id="search" aria-label="Search the book">
<form method="dialog"><input type="search" aria-label="Text, statements, identifiers, bibliography" placeholder="Search" autocomplete="off"><button>Close</button></form>
<p id="count" role="status"></p><ol id="hits"></ol></dialog>
</body>
</html>
`;
}

const proved = (book) =>
  +book.raw('proved/statements') > 0
    ? `<p class="passed">✓ ${book.soft('proved/statements')} statements proved, read by Coq</p>\n`
    : '';
export function cover(book) {
  const chapter = (t) =>
    entry(
      t,
      null,
      `<ol>${sections(book, t.page)
        .map(
          (s) =>
            `<li><a href="${s.page}#${s.id}"><span class="num">${s.number}</span> <span>${s.title}</span></a></li>`,
        )
        .join('')}</ol>`,
    );
  const parts = grouped(book).map(
    (g) =>
      `${g.title ? `<h2 class="part">${g.title}</h2>` : ''}<ol>${g.chapters
        .map(chapter)
        .join('\n')}</ol>`,
  );
  const preface = book.pages.find((p) => p.file === 'preface.html');
  return {
    file: 'index.html',
    title: TITLE,
    kind: 'cover',
    html: `<div class="title"><h1>${TITLE}</h1>
<p class="sub">A literate program in C++ in which nothing is merely claimed</p>
<p class="passed">✓ ${book.soft('book/cases')} checks passed, ${book.soft('book/instances')} measurements</p>
${proved(book)}<p><a href="${preface?.file}">Preface</a> · <a href="downloads.html">PDF, EPUB, data</a></p>
<img class="light arcs" src="fig/cover.svg" alt=""><img class="dark arcs" src="fig/cover-dark.svg" alt=""></div>
<nav class="toc" aria-label="All chapters">${parts.join('\n')}
<h2 class="part">Appendices</h2><ol>${appendices(book)
      .map((t) => entry(t, null, ''))
      .join('\n')}</ol></nav>\n`,
  };
}
