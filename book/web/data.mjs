// data.mjs: what the pages load when they want it: search, previews, the code for copying.
// Plain scripts, since a page from disk may load nothing else.
import { anchor, esc, text, unesc } from './util.mjs';
import { texOfMath } from './math.mjs';

const NOT_SEARCHED =
  /^(terms|identifiers|chunks|ledger|figures|definitions|theorems|examples|exercises|errata|index|bibliography)\.html$/;

/// [address, title, words, kind] of each section, statement, chunk, identifier and reference.
export function searchData(book) {
  const out = [];
  for (const page of book.pages) if (!NOT_SEARCHED.test(page.file)) out.push(...sectionsOf(page));
  for (const s of book.statements) {
    const note = s.note && text(s.note) ? ` (${words(s.note)})` : '';
    out.push([
      `${s.page}#${s.id}`,
      `${s.kind[0].toUpperCase()}${s.kind.slice(1)} ${s.number}${note}`,
      words(s.html ?? ''),
      s.kind,
    ]);
  }
  for (const c of book.chunks.values()) {
    if (c.label === c.first)
      out.push([`${c.page}#${c.id}`, words(book.chunkName(c.name)), c.tag, 'code']);
  }
  for (const [name] of book.identifiers())
    out.push([`identifiers.html#ident-${anchor(name)}`, name, '', 'identifier']);
  for (const [, id, body] of book.pages
    .find((p) => p.file === 'bibliography.html')
    .html.matchAll(/<li id="([^"]*)">([^]*?)<\/li>/g)) {
    out.push([`bibliography.html#${id}`, words(body).slice(0, 70), words(body), 'reference']);
  }
  for (const f of book.found) out.push([f.url, unesc(f.title), unesc(f.body), f.kind]);
  return `BOOK.search(${JSON.stringify(out)});\n`;
}
function sectionsOf(page) {
  return page.html
    .split(/(?=<h[1-3] id="|<section class="of" id=")/)
    .map((html) => {
      const head =
        /^<h[1-3] id="([^"]*)"[^>]*>([^]*?)<\/h[1-3]>/.exec(html) ??
        /^<section class="of" id="([^"]*)">\s*<h2>([^]*?)<\/h2>/.exec(html);
      const body = html
        .slice(head ? head[0].length : 0)
        .replace(
          /<figure class="chunk"[^]*?<\/figure>|<div class="stamp[^]*?<\/div>|<img[^>]*>|<span class="vh">[^]*?<\/span>/g,
          ' ',
        );
      return [
        page.file + (head ? `#${head[1]}` : ''),
        head ? words(head[2]) : words(page.title),
        words(body),
        '',
      ];
    })
    .filter(([, , body]) => body.length > 2);
}
// Formulas are found by the names that LaTeX has for what is in them: sqrt d.
const words = (html) =>
  unesc(
    text(
      html
        .replace(/<math data-tex="([^"]*)"[^]*?<\/math>/g, (m, tex) => esc(plainTex(unesc(tex))))
        .replace(/<math>[^]*?<\/math>/g, (m) => esc(plainTex(unesc(texOfMath(m)))))
        .replace(
          /<div class="m"[^>]*data-tex="([^"]*)"[^]*?<\/math>/g,
          (m, tex) => ` ${esc(plainTex(unesc(tex)))} `,
        )
        .replace(/<math class="on"[^]*?<\/math>/g, '')
        .replace(/<(\/p|\/li|\/td|\/div|br)[^>]*>/g, ' '),
    ),
  );
const plainTex = (tex) =>
  tex
    .replace(/\\(begin|end)\{[^}]*\}|\\[,;!]|\\q?quad\b|\\left|\\right|\\[bB]igg?[lrm]?\b|&/g, ' ')
    .replace(/\\([a-zA-Z]+) ?/g, ' $1 ')
    .replace(/[\\{}]/g, ' ')
    .replace(/ +/g, ' ');

/// The article of a page as a string, for previews and for what is unfolded elsewhere.
export function piecesData(page) {
  return `BOOK.pieces(${JSON.stringify(page.file)},${JSON.stringify(page.html)});\n`;
}

/// The code of a page's chunks: address -> [parts of its text with the addresses of the
/// chunks that they use in between, address of the next part, addresses of its files].
export function codeData(book, file) {
  const address = (c) => `${c.page}#${c.id}`;
  const first = (label) => address(book.named.get(book.chunkAt(label).first)[0]);
  const code = {};
  for (const c of book.chunks.values()) {
    if (c.page !== file) continue;
    const parts = book.named.get(c.first),
      next = parts[parts.indexOf(c) + 1];
    const body = book.chunkText(c).map((s, k) => (k % 2 ? first(s) : s));
    code[c.id] = [
      body,
      next ? address(next) : '',
      c.file ?? book.filesOf(c).map((f) => [f.file, address(f)]),
    ];
  }
  return Object.keys(code).length
    ? `BOOK.code(${JSON.stringify(file)},${JSON.stringify(code)});\n`
    : '';
}
export const noscript = (html) => esc(text(html));
