// build.mjs: the woven chapters, the numbers of the PDFs and the results of the run -> a site
// that needs no server, and an EPUB.  In the root of the repository, after `make book':
//   node book/web/build.mjs [--out build/web] [--epub build/attention.epub] [--quiet] [--draft]
//
//   tex.mjs, chunk.mjs, noted.mjs       read
//   numbers, inline, blocks, statements, lists (.mjs), each built on the one before: the book
//   math, figures, cover                formulas, drawings
//   template, data, epub, live          write
// Everything is counted here again and compared with what LaTeX has counted; a difference,
// an unknown command, an unknown result or a check that has not passed stops the build; in a
// draft some of that is only said.
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { Lists } from './lists.mjs';
import { Mathematics } from './math.mjs';
import { Figures } from './figures.mjs';
import { coverArcs } from './cover.mjs';
import { cover, frame } from './template.mjs';
import { codeData, piecesData, searchData } from './data.mjs';
import { writeEpub } from './epub.mjs';
import { liveFiles } from './live.mjs';
import * as noted from './noted.mjs';
import { anchor, read, write } from './util.mjs';

const HERE = path.dirname(new URL(import.meta.url).pathname);
const option = (name, other) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? other : process.argv[at + 1];
};
const OUT = option('out', 'build/web'),
  KEPT = option('kept', 'build/web-kept');
const start = performance.now();
const say = (what) => {
  if (!process.argv.includes('--quiet'))
    console.log(`${String(Math.round(performance.now() - start)).padStart(6)} ms  ${what}`);
};

async function main() {
  const book = openBook();
  readChunks(book);
  say(`${book.chunks.size} chunks`);
  makePages(book);
  compare(book);
  say(`${book.targets.size} labels as in the PDF, ${book.ledger.length} lines of stamps`);
  book.pages.forEach((page) => {
    page.html = resolve(book, page.html, page.file);
  });
  for (const t of book.contents) t.title = resolve(book, t.title, '');
  book.math.keep();
  makeFonts(book);
  book.arcs = arcsOf('build/cover.tex', [
    path.join(KEPT, 'cover.svg'),
    path.join(KEPT, 'cover-dark.svg'),
  ]);
  if (option('epub')) {
    await writeEpub({
      out: option('epub'),
      book,
      pages: inOrder(book),
      style: read(path.join(HERE, 'theme/epub.css')),
      fonts: path.join(KEPT, 'fonts'),
    });
    say('EPUB');
  }
  downloads(book);
  const all = [cover(book), ...inOrder(book)];
  writeSite(book, all);
  say(`${all.length} pages`);
}

// ------------------------------------------------------------------ read --
function openBook() {
  const chapters = noted.readChapters('build/chapters.tex');
  const aux = noted.readAux([
    'build/attention/attention.aux',
    ...chapters.map((c) => auxOf(c)),
    'build/companion/companion.aux',
  ]);
  const figures = new Figures('build/fig', path.join(KEPT, 'fig'));
  const show = (name, where) => figures.get(name, where);
  show.foreign = (tex, where) => figures.foreign(tex, where);
  const draft = process.argv.includes('--draft'),
    proved = `build/proved${draft ? '-draft' : ''}.tex`;
  const book = new Lists({
    aux,
    chapters,
    draft,
    figures: show,
    drawings: figures,
    math: new Mathematics(noted.readMacros('book/macros.tex'), path.join(KEPT, 'math.json')),
    results: noted.readResults('build/results.tex', proved),
    proofs: noted.readProofs(proved),
    cases: noted.readCases('build/cases.tex'),
    bibliography: noted.readBibliography(
      ['attention', 'companion'].map((v) => `build/${v}/${v}.bbl`),
    ),
  });
  const sources = new Map();
  book.source = (file) => {
    if (!sources.has(file)) sources.set(file, openSource(book, file));
    return sources.get(file);
  };
  return book;
}
const auxOf = (chapter) => `build/attention/tex/${chapter.name}.aux`;
/// A tree, and the function that names the line of an offset.
function openSource(book, file) {
  const s = read(file),
    starts = [0];
  const name = file.replace(/^build\/tex\/(?:answers-)?(\d.*)\.tex$/, 'chapters/$1.nw');
  for (let i = s.indexOf('\n'); i >= 0; i = s.indexOf('\n', i + 1)) starts.push(i + 1);
  const where = (at) => {
    let low = 0,
      high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= at) low = middle;
      else high = middle;
    }
    return `${name}:${low + 1}`;
  };
  return { where, tree: book.parse(s, where) };
}
/// All chunks, in the order of reading, and how many checks each section has.
function readChunks(book) {
  book.checkCounts = new Map();
  book.chapters.forEach((c, k) => {
    const number = String(k + firstNumber()),
      survey = (file, page, mark) => {
        const state = { page, mark, number, section: 0, place: mark + number },
          [nodes, proofs] = book.atProofs(book.source(`build/tex/${file}.tex`).tree);
        book.survey(nodes, state);
        book.survey(proofs, { ...state, page: page.replace('-checks', '-proofs') });
      };
    survey(c.name, `${c.name}.html`, '');
    if (c.checks) {
      survey(`${c.name}-checks`, `${c.name}-checks.html`, 'c');
      countChecks(book, c);
    }
    survey(`answers-${c.name}`, `${c.name}-answers.html`, 'x');
  });
  book.tagChunks();
}
const firstNumber = () => +/\\firstchapter\{(\d+)\}/.exec(read('build/chapters.tex'))[1];
/// Of each section, how many chunks stand below each heading of its checks.
function countChecks(book, chapter) {
  let count = null;
  const open = (label) => {
    if (!book.checkCounts.has(label)) book.checkCounts.set(label, []);
    book.checkCounts.get(label).push((count = { chunks: 0 }));
  };
  open(chapter.label);
  for (const n of book.source(`build/tex/${chapter.name}-checks.tex`).tree) {
    if (n.t === 'cmd' && n.name === 'checksof') open(n.args[0]);
    if (n.t === 'cmd' && n.name === 'proofsection') open(`proofs of ${chapter.label}`);
    if (n.t === 'chunk') count.chunks++;
  }
}

// ------------------------------------------------------------------ make --
/// One stream from the preface to the index; each \chapter opens a page.
function makePages(book) {
  const files = new Map(book.chapters.map((c) => [c.label, c.name]));
  const names = { 'ch:symbols': 'notation', 'ch:machine': 'machine', 'ch:reference': 'library' };
  let open = null;
  const close = () => {
    if (open) {
      book.closeSections(1);
      open.html = book.out;
    }
    book.out = '';
  };
  book.onChapter = (n, labels, number) => {
    const label = labels.find((l) => files.has(l)) ?? labels[0];
    close();
    const name =
      files.get(label) ??
      names[label] ??
      label?.replace(/^ch:/, '') ??
      book.plain(n.args[0]).toLowerCase();
    book.openSections = files.has(label) ? [] : null;
    open = book.openPage(`${name}.html`, {
      title: book.inline(n.args[0]),
      number,
      kind: book.appendix ? 'back' : 'chapter',
    });
  };
  const whole = (file) => {
    open = null;
    book.out = '';
    book.within(file, (tree) => book.flow(tree));
    close();
  };
  whole('book/preface.tex');
  book.n.chapter = firstNumber() - 1;
  for (const chapter of book.chapters) {
    whole(`build/tex/${chapter.name}.tex`);
    book.compareCounters(auxOf(chapter));
    if (chapter.checks) book.checksPage(chapter);
  }
  say('chapters');
  whole('book/backmatter.tex');
  book.statementLists();
  say('back matter');
}
function downloads(book) {
  const size = (f) => `${(fs.statSync(f).size / 1e6).toFixed(1)} MB`;
  const files = [
    ['book/attention.pdf', 'Volume one, the argument and the library (PDF)'],
    ['book/companion.pdf', 'Volume two, checks and programs (PDF)'],
    [option('epub'), 'Both in one (EPUB)'],
  ];
  book.downloads = files.filter(([f]) => f && fs.existsSync(f));
  const data = [...new Set(book.figureList.flatMap((f) => book.figures(f.name).data))].sort();
  book.figureData = data.filter((d) => fs.existsSync(`build/data/${d}.csv`));
  const item = ([f, what]) =>
    `<a href="downloads/${path.basename(f)}" download>${what}</a> <small>${size(f)}</small>`;
  book.aside(
    'downloads.html',
    { title: 'Downloads', kind: 'back' },
    () => `<h1>Downloads</h1>
${book.plainList(book.downloads.map(item))}<h2 id="data">Data of the figures</h2>
${book.plainList(
  book.figureData.map((d) => `<a href="data/${d}.csv" download>${d}.csv</a>`),
  'columns',
)}`,
  );
}
function compare(book) {
  book.compareLabels();
  if (!book.problems.length) return;
  if (book.draft) return console.error(book.problems.slice(0, 20).join('\n'));
  throw new Error(
    `${book.problems.slice(0, 40).join('\n')}\n${book.problems.length} differences from the PDF`,
  );
}
/// What could be named only when everything had its place.
function resolve(book, html, file) {
  return html
    .replace(/href="ref:([^"]+)"/g, (m, label) => `href="${place(book, label, file)}"`)
    .replace(/<!--title:([^>]*)-->/g, (m, label) => book.targets.get(label)?.title ?? '')
    .replace(/<!--answer:([^>]*)-->/g, (m, label) => {
      const answer = book.answers.get(label);
      return answer ? book.unfolding(answer.page, answer.id, 'Answer') : '';
    });
}
function place(book, label, file) {
  if (label.startsWith('cite.')) return `bibliography.html#cite-${anchor(label.slice(5))}`;
  if (label.startsWith('ident.')) return `identifiers.html#ident-${anchor(label.slice(6))}`;
  const t = book.targets.get(label);
  if (!t && book.draft) return '#';
  if (!t) throw new Error(`${file}: nothing has the label ${label}`);
  return `${t.page === file ? '' : t.page}#${t.id}`;
}
/// The pages as one reads them: a chapter, its checks; answers behind the appendix of answers.
function inOrder(book) {
  const rest = book.pages.filter((p) => p.kind !== 'answers'),
    at = rest.findIndex((p) => p.file === 'answers.html');
  rest.splice(at + 1, 0, ...book.pages.filter((p) => p.kind === 'answers'));
  return rest;
}

// ----------------------------------------------------------------- write --
/// The fonts of the PDF, cut to what is used, if the formulas have other characters now.
function makeFonts(book) {
  const dir = path.join(KEPT, 'fonts'),
    list = path.join(dir, 'characters.txt'),
    used = book.math.characters();
  if (
    fs.existsSync(path.join(dir, 'mono-SemiBold.woff2')) &&
    fs.existsSync(list) &&
    read(list) === used
  )
    return;
  write(list, used);
  execFileSync(path.join(HERE, 'fonts'), [dir, list], { stdio: 'inherit' });
  say('fonts');
}
/// The arcs of the cover, drawn anew if the chunks are others.
function arcsOf(tex, kept) {
  if (kept.some((f) => !fs.existsSync(f) || fs.statSync(f).mtimeMs < fs.statSync(tex).mtimeMs)) {
    const { light, dark } = coverArcs(tex);
    [light, dark].forEach((svg, k) => fs.writeFileSync(kept[k], svg));
  }
  return { light: read(kept[0]), dark: read(kept[1]) };
}
function writeSite(book, all) {
  const wanted = new Set(),
    put = (file, data) => {
      wanted.add(file);
      write(path.join(OUT, file), data);
    };
  const bring = (from, to) => {
    wanted.add(to);
    copy(from, path.join(OUT, to));
  };
  const inFolder = (dir) => fs.readdirSync(dir).map((f) => path.join(dir, f));
  all.forEach((page, k) => put(page.file, frame(book, page, all[k - 1], all[k + 1])));
  put('assets/search.js', searchData(book));
  for (const page of book.pages) {
    const code = codeData(book, page.file),
      name = page.file.replace('.html', '.js');
    put(`assets/pieces/${name}`, piecesData(page));
    if (code) put(`assets/code/${name}`, code);
  }
  put('fig/cover.svg', book.arcs.light);
  put('fig/cover-dark.svg', book.arcs.dark);
  for (const { files } of book.drawings.made.values())
    for (const f of files) bring(f, `fig/${path.basename(f)}`);
  for (const d of book.figureData) bring(`build/data/${d}.csv`, `data/${d}.csv`);
  for (const [f] of book.downloads) bring(f, `downloads/${path.basename(f)}`);
  for (const f of inFolder(path.join(HERE, 'theme')))
    if (!/epub/.test(f)) bring(f, `assets/${path.basename(f)}`);
  for (const f of inFolder(path.join(KEPT, 'fonts')))
    if (/woff2$/.test(f)) bring(f, `assets/${path.basename(f)}`);
  for (const [from, to] of liveFiles()) bring(from, to);
  sweep(OUT, wanted);
  fs.writeFileSync(path.join(OUT, 'built'), '');
}
function copy(from, to) {
  const old = fs.existsSync(to) && fs.statSync(to),
    now = fs.statSync(from);
  if (old && old.size === now.size && old.mtimeMs >= now.mtimeMs) return;
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(from, to);
}
/// Nothing of an earlier build is left.
function sweep(dir, wanted) {
  for (const f of fs.readdirSync(dir, { recursive: true })) {
    const file = path.join(dir, f);
    if (fs.statSync(file).isFile() && !wanted.has(f) && f !== 'built') fs.rmSync(file);
  }
}

main().catch((e) => {
  console.error(process.env.TRACE ? e : e.message);
  process.exit(1);
});
