// lists.mjs: what stands at the back: answers, checks, ledger, errata, reference, indexes,
// bibliography; and the pages that only the web edition has, a list for each kind of statement.
import { Statements } from './statements.mjs';
import { anchor, by, capital, esc, read, slug, text } from './util.mjs';

const LISTS = [
  ['definitions', 'Definitions', ['definition', 'convention']],
  ['theorems', 'Theorems', ['theorem', 'proposition', 'lemma', 'corollary']],
  ['examples', 'Examples and remarks', ['example', 'remark']],
  ['exercises', 'Exercises', ['exercise']],
];

export class Lists extends Statements {
  block_appendix() {
    this.appendix = true;
    this.n.chapter = 0;
  }
  block_backmatter() {
    this.backmatter = true;
  }
  block_input(n, name) {
    this.within(name.endsWith('.tex') ? name : `${name}.tex`, (tree) => this.flow(tree));
  }
  block_tableofcontents() {}
  block_nwsorted() {}

  /// A table of links; the heads of a sortable one become buttons.
  list(head, rows, name, kind = '') {
    const row = (cells) => `<tr>${cells.map((c) => `<td>${c}</td>`).join('')}</tr>`;
    const heads = head.map((h) => `<th scope="col">${h}</th>`).join('');
    return (
      `<div class="scroll" tabindex="0" role="region" aria-label="${name}"><table class="list ${kind}">` +
      `<thead><tr>${heads}</tr></thead><tbody>\n${rows.map(row).join('\n')}\n</tbody></table></div>\n`
    );
  }
  plainList(items, kind = '') {
    return `<ul class="plain ${kind}">${items.map((i) => `<li>${i}</li>`).join('\n')}</ul>\n`;
  }
  /// Make a page while another one is being made.
  aside(file, about, make) {
    const { page, out, openSections } = this;
    this.openPage(file, about);
    this.openSections = null;
    this.page.html = make();
    Object.assign(this, { page, out, openSections });
  }

  // -------------------------------------------------------- answers, checks --
  block_allanswers() {
    const items = this.chapters.map((c) => this.answersOf(c)).filter(Boolean);
    this.emit(this.plainList(items));
  }
  answersOf({ name, label }) {
    const file = `build/tex/answers-${name}.tex`,
      page = `${name}-answers.html`,
      t = this.targets.get(label);
    if (!this.source(file).tree.some((x) => x.t === 'env')) return '';
    const about = { title: `Answers to chapter ${t.number}`, kind: 'answers', of: t };
    this.aside(
      page,
      about,
      () =>
        `<h1><span class="num">Answers</span> <a href="${t.page}">${t.number}\u2002${t.title}</a></h1>\n${this.within(
          file,
          (tree) => this.blocks(tree),
        )}`,
    );
    return `<a href="${page}">${t.number}\u2002${t.title}</a>`;
  }
  /// The companion's part on a chapter, its proofs on a page of their own; its equations are
  /// numbered apart.
  checksPage({ name, label }) {
    const t = this.targets.get(label),
      counters = { ...this.n };
    this.resetChapter();
    this.inChecks = true;
    const page = (file, what, short, id, part) => {
      const title = `${short} of chapter ${t.number}: ${this.words(t.title)}`;
      this.aside(file, { title, kind: 'checks', chapter: label, of: t }, () => {
        const html = this.within(`build/tex/${name}-checks.tex`, (tree) =>
          this.blocks(this.atProofs(tree)[part]),
        );
        return (
          `<h1><span class="num">${what}</span> <a href="${t.page}">${t.number}\u2002${t.title}</a></h1>\n` +
          `<section class="of" id="${id}-${anchor(label)}">\n${html}</section>\n`
        );
      });
    };
    page(`${name}-checks.html`, 'Checks and programs', 'Checks', 'checks', 0);
    if (this.checkCounts.has(`proofs of ${label}`))
      page(`${name}-proofs.html`, 'Proofs, in Coq', 'Proofs', 'proofs', 1);
    this.inChecks = false;
    this.n = counters;
  }
  /// What is written before the proofs of a chapter, and they.
  atProofs(tree) {
    const at = tree.findIndex((n) => n.t === 'cmd' && n.name === 'proofsection');
    return at < 0 ? [tree, []] : [tree.slice(0, at), tree.slice(at)];
  }

  // ----------------------------------------------------------------- ledger --
  block_listofledger() {
    const rows = this.ledger.map((l) => [
      this.to(l.page, l.id, `${capital(l.kind)}\u00a0${l.number}`),
      this.caseLink(l.key),
      this.measured(l.key)
        .replace(/^error /, '')
        .replace(/, worst of.*?(?=;|$)/, ''),
      this.soft(this.tried(l.key)),
    ]);
    this.emit(
      this.list(['Statement', 'Check', 'Error and bound', 'Tried'], rows, 'ledger', 'sortable'),
    );
  }
  block_listofproofs() {
    const rows = this.statements
      .filter((s) => s.proofs?.length)
      .map((s) => [
        this.to(s.page, s.id, `${capital(s.kind)}\u00a0${s.number}`),
        s.proofs.map((p) => this.proofLink(p.theorem)).join('<br>'),
        [...new Set(s.proofs.map((p) => p.group))].join('; '),
        [...new Set(s.proofs.map((p) => p.except).filter(Boolean))]
          .map((e) => this.inline(this.parse(e, this.where)))
          .join('; '),
      ]);
    this.emit(this.list(['Statement', 'Theorem', 'Rests on', 'Except'], rows, 'proofs'));
  }
  tried(key) {
    return `${key}${this.raw(`${key}/n`) === undefined ? '/refuted/n' : '/n'}`;
  }
  block_listoferrata() {
    this.emit(
      this.plainList(
        this.errata.map((e) => `${this.to(e.page, e.id, e.number)} ${e.place} (${e.word})`),
      ),
    );
  }
  block_listofunverified() {
    this.emit(
      this.plainList(
        this.unverified.map(
          (u) => `${this.to(u.page, u.id, `${capital(u.kind)} ${u.number}`)}: ${u.why}`,
        ),
      ),
    );
  }
  /// The table of mutants, chapter by chapter.
  block_eachchapter() {
    const of = (key) => (this.results.printed.has(key) ? this.soft(key) : '');
    const rows = this.chapters
      .filter((c) => of(`rec/mutants/${c.name}/made`))
      .map(({ name, label }) => {
        const t = this.targets.get(label),
          counts = ['made', 'caught', 'equivalent'].map((k) => of(`rec/mutants/${name}/${k}`));
        return [
          this.to(t.page, t.id, `${t.number}\u2002${t.title}`),
          ...counts,
          of(`rec/coverage/${name}/percent`),
        ];
      });
    this.emit(
      this.list(
        ['Chapter', 'Mutants', 'Caught', 'The same', 'Lines run, %'],
        rows,
        'mutants',
        'sortable',
      ),
    );
  }

  // -------------------------------------------------------------- reference --
  block_refheader(n, file, chapter) {
    const name = this.inline(file),
      id = this.unique(`header-${slug(this.plain(file))}`);
    this.emit(
      `<h2 id="${id}"><code>${name}</code> <small>chapter ${this.inline(chapter)}</small></h2>\n`,
    );
  }
  block_refentry(n, label, declaration) {
    const html = this.inline(declaration),
      name = text(/<strong>(.*?)<\/strong>/.exec(html)?.[1] ?? 'x');
    const id = this.unique(`api-${name.replace(/\W+/g, '-')}`);
    this.found.push({
      url: `${this.page.file}#${id}`,
      title: name,
      body: text(html),
      kind: 'function',
    });
    this.emit(
      `<p class="sig" id="${id}"><code>${html}</code> <a class="where" href="${this.chunkHref(label)}">` +
        `<span class="vh">source of ${esc(name)}, </span>${this.chunkAt(label).tag}</a></p>\n`,
    );
  }
  block_reftext(n, a) {
    this.emit(`<p class="doc">${this.inline(a)}</p>\n`);
  }
  block_refmember(n, a, b) {
    this.emit(`<p class="doc"><code>${this.inline(a)}</code> ${this.inline(b)}</p>\n`);
  }
  block_refusal(n, a, b) {
    this.emit(`<p class="refusal"><em>${this.inline(a)}</em> <code>${this.inline(b)}</code></p>\n`);
  }
  block_templatepart(n, k) {
    const lines = read(`build/tex/template-${k}.txt`).replace(/\n$/, '');
    this.emit(
      `<pre tabindex="0" role="group" aria-label="template, part ${k}"><code>${esc(lines)}</code></pre>\n`,
    );
  }
  block_benchlist() {
    const rows = this.results.benches.map(([name, ...values]) => [
      `<code>${this.value(name)}</code>`,
      ...values.map((v) => this.value(v)),
    ]);
    this.emit(
      this.list(['Benchmark', 'Here', 'Recorded', 'Ratio'], rows, 'benchmarks', 'sortable'),
    );
  }

  // ---------------------------------------------------------------- indexes --
  block_listoffigures() {
    this.aside(
      'figures.html',
      { title: 'Figures', kind: 'back' },
      () =>
        `<h1>Figures</h1>\n${this.plainList(
          this.figureList.map((f) => `${this.to(f.page, f.id, f.number)} ${firstSentence(f)}`),
        )}`,
    );
  }
  block_bibliography() {
    const item = ({ key, tex }) =>
      `<li id="cite-${anchor(key)}">${this.inline(this.parse(tex, () => `bibliography, ${key}`))}</li>`;
    this.aside(
      'bibliography.html',
      { title: 'Bibliography', kind: 'back' },
      () =>
        `<h1>Bibliography</h1>\n<ul class="bib">${this.bibliography.map(item).join('\n')}</ul>\n`,
    );
  }
  /// The index of terms.
  block_printindex() {
    const entries = new Map();
    const entry = (map, name) => {
      if (!map.has(name)) map.set(name, { at: [], sub: new Map() });
      return map.get(name);
    };
    for (const t of this.terms) {
      const [a, b] = t.entry.split('!'),
        main = entry(entries, a);
      (b ? entry(main.sub, b) : main).at.push(t);
    }
    const sorted = (map) =>
      [...map].sort(by(([name]) => name.replace(/[$\\{}]/g, '').toLowerCase()));
    const item = ([name, e]) =>
      `<li>${this.inline(this.parse(name, () => 'index'))} ${this.termPlaces(e.at)}${
        e.sub.size ? `<ul>${sorted(e.sub).map(item).join('')}</ul>` : ''
      }</li>`;
    this.aside(
      'terms.html',
      { title: 'Index', kind: 'back' },
      () =>
        `<h1>Index</h1>\n<ul class="plain index">${sorted(entries).map(item).join('\n')}</ul>\n`,
    );
  }
  termPlaces(terms) {
    return terms
      .map((t) => this.to(t.page.file, t.id, t.page.number ?? t.page.of?.number ?? 'preface'))
      .join(', ');
  }
  env_thenowebchunks() {
    const chunks = [...this.named.values()].sort(
      by(([c]) => c.name.replace(/\\code\{\}/, '\u0000').toLowerCase()),
    );
    return this.plainList(
      chunks.map((parts) => {
        const users = [...new Set(parts.flatMap((c) => c.usedBy))];
        const places = parts
          .map((c) => `<b>${this.chunkLink(c.label)}</b>`)
          .concat(users.map((l) => this.chunkLink(l)));
        return `⟨${this.chunkName(parts[0].name)}⟩ ${places.join(', ')}`;
      }),
    );
  }
  env_thenowebindex() {
    return `<ul class="plain columns">${this.identifiers()
      .map(
        ([name, { defined, used }]) =>
          `<li id="ident-${anchor(name)}"><code>${esc(name)}</code> ${defined
            .map((l) => `<b>${this.chunkLink(l)}</b>`)
            .concat(used.map((l) => this.chunkLink(l)))
            .join(', ')}</li>`,
      )
      .join('\n')}</ul>\n`;
  }
  /// Each name, where it is defined, and where the text uses it; not the checks.
  identifiers() {
    const all = new Map();
    for (const c of this.chunks.values())
      for (const d of c.defines) {
        if (!all.has(d)) all.set(d, { defined: [], used: [] });
        all.get(d).defined.push(c.label);
      }
    for (const c of this.chunks.values())
      if (!/-(checks|proofs|answers)\.html$/.test(c.page)) {
        for (const u of c.uses)
          if (all.has(u) && !all.get(u).defined.includes(c.label)) all.get(u).used.push(c.label);
      }
    return [...all].sort(by(([name]) => name.toLowerCase()));
  }

  // ------------------------------------------------- lists of statements --
  statementLists() {
    for (const [file, title, kinds] of LISTS) {
      const mine = this.statements.filter((s) => kinds.includes(s.kind));
      this.aside(
        `${file}.html`,
        { title, kind: 'list' },
        () => `<h1>${title}</h1>\n${this.byChapter(mine)}`,
      );
    }
    this.aside(
      'errata.html',
      { title: 'Errata of the sources', kind: 'list' },
      () =>
        `<h1>Errata of the sources</h1>\n${this.errata.map((e) => this.listed(e, `${e.number} <em>${e.word};</em> ${e.place}`)).join('')}`,
    );
  }
  byChapter(statements) {
    const out = [];
    let page = null;
    for (const s of statements) {
      if (s.page !== page) {
        page = s.page;
        const { number, title } = this.pages.find((p) => p.file === page) ?? {};
        out.push(
          `<h2 id="in-${slug(page)}"><span class="num">${number ?? ''}</span> ${title ?? ''}</h2>\n`,
        );
      }
      const note = s.grade ? ` (${s.grade}, ${s.note})` : s.note && ` (${s.note})`;
      out.push(this.listed(s, `${capital(s.kind)} ${s.number}${note}`));
    }
    return out.join('');
  }
  listed(s, head) {
    const words = withoutIds(s.html).replace(/href="#/g, `href="${s.page}#`);
    return `<section class="stmt ${s.kind}">${this.lead(words, `${this.to(s.page, s.id, head, ' class="head"')}. `)}</section>\n`;
  }
}
const firstSentence = (f) =>
  f.caption
    .split(/\.\s/)[0]
    .replace(/\.$/, '')
    .replace(/href="#/g, `href="${f.page}#`);
const withoutIds = (html) =>
  html
    .replace(/ id="[^"]*"/g, '')
    .replace(/<span><\/span>/g, '')
    .replace(/<details class="unfold"[^]*?<\/details>/g, '');
