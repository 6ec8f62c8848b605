// epub.mjs: the same pages as EPUB 3, with MathML and the drawings of the light theme.  The
// archive is written here, so that the same book gives the same bytes.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { promisify } from 'node:util';
import { TITLE } from './template.mjs';
import { element, esc, read, text } from './util.mjs';

const LONG = 300000; // characters: longer pages are cut at their sections
const MATHML = 'http://www.w3.org/1998/Math/MathML';
const FEATURES = [
  ['accessMode', 'textual'],
  ['accessMode', 'visual'],
  ['accessModeSufficient', 'textual'],
  ['accessibilityFeature', 'MathML'],
  ['accessibilityFeature', 'alternativeText'],
  ['accessibilityFeature', 'tableOfContents'],
  ['accessibilityFeature', 'structuralNavigation'],
  ['accessibilityHazard', 'none'],
  ['accessibilitySummary', 'Mathematics is MathML; figures have alternative texts; code is text.'],
];

/// pages: those of the site, in the order of reading
export async function writeEpub({ out, book, pages, style, fonts }) {
  const kept = pages.filter((p) => p.kind !== 'list' && p.file !== 'downloads.html');
  const texts = kept.flatMap(split),
    home = new Map();
  for (const t of texts) {
    for (const [, id] of t.html.matchAll(/\sid="([^"]+)"/g)) home.set(`${t.page}#${id}`, t.name);
    if (!home.has(t.page)) home.set(t.page, t.name);
  }
  const files = [],
    add = (name, data, type, properties = '') =>
      files.push({ name, data: Buffer.from(data), type, properties });
  for (const t of texts) {
    const body = xhtml(t.html, (href) => follow(href, t, home));
    add(
      t.name,
      documentOf(t.title, `<section epub:type="${t.kind}">${body}</section>`),
      'application/xhtml+xml',
      /<math/.test(body) ? 'mathml' : '',
    );
  }
  const spine = files.map((f) => f.name);
  for (const name of drawings(texts))
    add(`fig/${name}.svg`, read(svgOf(book, name)), 'image/svg+xml');
  for (const f of fs.readdirSync(fonts)) {
    if (/woff2$/.test(f)) add(f, fs.readFileSync(path.join(fonts, f)), 'font/woff2');
  }
  add('epub.css', style, 'text/css');
  add('cover.svg', coverImage(book), 'image/svg+xml', 'cover-image');
  add('nav.xhtml', navigation(book, home), 'application/xhtml+xml', 'nav');
  fs.writeFileSync(out, await zip(archive(files, spine, packageOf(book, files, spine))));
}

// --------------------------------------------------------------- content --
/// A long page becomes one file for each of its sections, or for some of them.
function split(page) {
  const name = (k) => page.file.replace('.html', k ? `-${k}.xhtml` : '.xhtml');
  const one = (html, k) => ({
    name: name(k),
    page: page.file,
    html,
    title: text(page.title),
    kind: page.kind === 'chapter' ? 'chapter' : 'appendix',
  });
  if (page.html.length < LONG) return [one(page.html, 0)];
  const pieces = [''];
  for (const part of sections(page.html)) {
    if (pieces.at(-1).length > LONG / 2) pieces.push('');
    pieces[pieces.length - 1] += part;
  }
  return pieces.map(one);
}
/// What stands between the headings; a section of checks is in one piece.
function sections(html) {
  if (!html.includes('<section class="of"')) return html.split(/(?=<h2 id=)/);
  const out = [];
  let at = 0;
  for (const m of html.matchAll(/<section class="of"/g)) {
    const whole = element(html, m.index, 'section');
    out.push(html.slice(at, m.index), whole);
    at = m.index + whole.length;
  }
  return [...out, html.slice(at)];
}
function follow(href, from, home) {
  if (/^https?:/.test(href)) return href;
  const [page, id] = href.split('#'),
    name = home.get(id ? `${page || from.page}#${id}` : page);
  if (!name) return null; // a list that is not in the EPUB
  return id ? `${name === from.name ? '' : name}#${id}` : name;
}
/// HTML -> XHTML without what only the site has.
function xhtml(html, follows) {
  return html
    .replace(
      /<details class="unfold" data-page="([^"]*)" data-id="([^"]*)"><summary>([^]*?)<\/summary>[^]*?<\/details>/g,
      (m, page, id, title) => `<p class="unfold"><a href="${page}#${id}">${title}</a></p>`,
    )
    .replace(
      /<div class="drawing"[^>]*>(<img[^>]*>)<img[^>]*><\/div>/g,
      '<div class="drawing">$1</div>',
    )
    .replace(/ <small class="data">[^]*?<\/small>/g, '')
    .replace(/ (tabindex|role|aria-labelledby|aria-label|scope|data-[a-z]+|loading)="[^"]*"/g, '')
    .replace(/<a ([^>]*?)href="([^"]*)"([^>]*)>([^]*?)<\/a>/g, (m, before, href, after, words) => {
      const to = follows(href);
      return to === null
        ? `<span>${words}</span>`
        : `<a ${before}href="${to}"${after}>${words}</a>`;
    })
    .replace(/<(br|wbr|hr|img)\b([^>]*?)\s*\/?>/g, '<$1$2/>')
    .replace(/&(?!(amp|lt|gt|quot|#\d+|#x[0-9a-f]+);)/gi, '&amp;')
    .replace(/<math\b/g, `<math xmlns="${MATHML}"`)
    .replace(/(<(?!mstyle)m\w+[^>]*?) scriptlevel="[^"]*"/g, '$1')
    .replace(/(<munder\b[^>]*?) accent="[^"]*"/g, '$1')
    .replace(/<mtext><span[^>]*><\/span><\/mtext>/g, '<mtext></mtext>');
}
const drawings = (texts) => [
  ...new Set(
    texts.flatMap((t) =>
      [...t.html.matchAll(/class="light" src="fig\/([^"]+)\.svg"/g)].map((m) => m[1]),
    ),
  ),
];
const svgOf = (book, name) =>
  book.drawings.made.get(name)?.files[0] ?? `build/web-kept/fig/${name}.svg`;
const documentOf = (title, body) => `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">
<head><title>${esc(title)}</title><link rel="stylesheet" href="epub.css"/></head>
<body>${body}</body></html>
`;
function coverImage(book) {
  const arcs = book.arcs.light.replace('<svg ', '<svg x="40" y="300" width="520" height="360" ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 800" width="1200" height="1600"><rect width="600" height="800" fill="#f8f6f1"/>
${arcs}<g font-family="Palatino, serif" fill="#1c1b19"><text x="40" y="110" font-size="52">Attention</text>
<text x="40" y="170" font-size="52">as a Bilinear Form</text><text x="40" y="220" font-size="20" font-style="italic">A literate program in C++</text>
<text x="40" y="250" font-size="20" font-style="italic">in which nothing is merely claimed</text></g></svg>\n`;
}

// ------------------------------------------------------------- navigation --
function navigation(book, home) {
  const link = (t) =>
    `<a href="${home.get(`${t.page}#${t.id}`)}#${t.id}">${t.number ? `${t.number} ` : ''}${plain(t.title)}</a>`;
  const item = (t) => {
    const inner = book.contents.filter((s) => s.level === 2 && s.page === t.page && s.number);
    return `<li>${link(t)}${inner.length ? `<ol>${inner.map((s) => `<li>${link(s)}</li>`).join('')}</ol>` : ''}</li>`;
  };
  const chapters = book.contents.filter((t) => t.level === 1 && home.has(`${t.page}#${t.id}`));
  const order = chapters.map(item).join('\n');
  return documentOf('Contents', `<nav epub:type="toc"><h1>Contents</h1><ol>${order}</ol></nav>`);
}
const plain = (html) => text(html).replace(/&(?!(amp|lt|gt|quot);)/g, '&amp;');

function packageOf(book, files, spine) {
  const id = (name) => `f-${name.replace(/\W/g, '-')}`;
  const date = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000)
    .toISOString()
    .slice(0, 19);
  const meta = (property, value) => `<meta property="${property}">${value}</meta>`;
  const item = (f) =>
    `<item id="${id(f.name)}" href="${f.name}" media-type="${f.type}"${
      f.properties ? ` properties="${f.properties}"` : ''
    }/>`;
  return `<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:attention-as-a-bilinear-form:${text(
    book.soft('machine/version'),
  )}</dc:identifier><dc:title>${TITLE}</dc:title><dc:creator>A Literate Program</dc:creator>
<dc:language>en</dc:language>${meta('dcterms:modified', `${date}Z`)}
${FEATURES.map(([k, v]) => meta(`schema:${k}`, v)).join('\n')}</metadata>
<manifest>${files.map(item).join('\n')}</manifest>
<spine><itemref idref="${id('nav.xhtml')}"/>${spine.map((name) => `<itemref idref="${id(name)}"/>`).join('')}</spine>
</package>
`;
}
function archive(files, spine, opf) {
  const container =
    `<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>` +
    `<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`;
  return [
    { name: 'mimetype', data: Buffer.from('application/epub+zip'), stored: true },
    { name: 'META-INF/container.xml', data: Buffer.from(container) },
    { name: 'OEBPS/book.opf', data: Buffer.from(opf) },
    ...files.map((f) => ({ ...f, name: `OEBPS/${f.name}` })),
  ];
}

// ---------------------------------------------------------------- archive --
const deflate = promisify(zlib.deflateRaw);
/// A zip archive with one date for all its files, which are compressed side by side.
async function zip(files) {
  const bodies = [],
    directory = [],
    small = await Promise.all(files.map((f) => (f.stored ? f.data : deflate(f.data))));
  let at = 0;
  for (const [k, { name, data, stored }] of files.entries()) {
    const body = small[k],
      path_ = Buffer.from(name);
    const local = header(data, body, path_, stored),
      entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 4);
    local.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(at, 42);
    bodies.push(local, path_, body);
    directory.push(entry, path_);
    at += 30 + path_.length + body.length;
  }
  const end = Buffer.alloc(22),
    size = directory.reduce((s, b) => s + b.length, 0);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, ...directory, end]);
}
function header(data, body, name, stored) {
  const h = Buffer.alloc(30);
  h.writeUInt32LE(0x04034b50, 0);
  h.writeUInt16LE(20, 4);
  h.writeUInt16LE(stored ? 0 : 8, 8);
  h.writeUInt16LE(0x21, 12); // 1 January 1980
  h.writeUInt32LE((zlib.crc32 ?? crc32)(data), 14);
  h.writeUInt32LE(body.length, 18);
  h.writeUInt32LE(data.length, 22);
  h.writeUInt16LE(name.length, 26);
  return h;
}
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
function crc32(bytes) {
  let c = ~0;
  for (const b of bytes) c = TABLE[(c ^ b) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}
