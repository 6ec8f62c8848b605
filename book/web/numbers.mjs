// numbers.mjs: the book as it is being made: pages, targets, and the numbers of everything,
// which are counted here and compared with those that LaTeX has given.
import { parse } from './tex.mjs';
import { untex, chunkText } from './chunk.mjs';
import { anchor, by, letters, read, slug } from './util.mjs';

const PER_CHAPTER = [
  'section',
  'subsection',
  'equation',
  'theorem',
  'exercise@',
  'figure',
  'table',
];

// What Coq is told: a statement has a name, a proof has none.
const STATED = /^\s*(?:(?:Theorem|Lemma|Corollary|Proposition|Fact)\s+([\w']+)|Proof\b)/gm;

export class Numbers {
  /// given: aux, results, math, chapters, cases, bibliography, figures, source(file) -> tree
  constructor(given) {
    Object.assign(this, given);
    this.n = { chapter: -1, ...Object.fromEntries(PER_CHAPTER.map((k) => [k, 0])) };
    this.targets = new Map(); // label -> {page, id, kind, number, title}
    this.chunks = new Map(); // label -> chunk
    this.named = new Map(); // label of the first part -> its parts
    this.pages = [];
    this.contents = [];
    this.parts = [];
    this.ledger = [];
    this.unverified = [];
    this.errata = [];
    this.figureList = [];
    this.statements = [];
    this.terms = [];
    this.found = [];
    this.problems = [];
    this.answers = new Map(); // label of an exercise -> its answer
    this.ids = new Set();
  }

  // ---------------------------------------------------------------- sources --
  fail(node, what) {
    throw new Error(`${this.where(node?.at ?? 0)}: ${what}`);
  }
  /// The tree of a file, with the name of its lines while f works on it.
  within(file, f) {
    const before = this.where,
      source = this.source(file);
    this.where = source.where;
    const done = f(source.tree);
    this.where = before;
    return done;
  }
  parse(s, where) {
    return parse(s, where, (kind, what) => this.decide(kind, what));
  }
  decide(kind, what) {
    const [list, ...key] = what.split('@');
    if (kind === 'ifcsname' && list === 'res') return this.results.printed.has(key.join('@'));
    if (kind === 'ifcsname' && list === 'raw') return this.results.raw.has(key.join('@'));
    if (kind === 'ifnum' && /value\{unverified\}=0/.test(what)) return this.unverified.length === 0;
    const more = /^\\rawresult\{([^}]*)\}>(\d+)$/.exec(what);
    if (kind === 'ifnum' && more) return +(this.results.raw.get(more[1]) ?? 0) > +more[2];
    return undefined;
  }

  // ------------------------------------------------------------------ pages --
  unique(id) {
    let name = id;
    for (let k = 2; this.ids.has(name); k++) name = `${id}-${k}`;
    this.ids.add(name);
    return name;
  }
  openPage(file, about) {
    this.page = { file, html: '', linked: new Set(), ...about };
    this.pages.push(this.page);
    return this.page;
  }
  to(page, id, html, attributes = '') {
    const file = page === this.page.file ? '' : page;
    return `<a href="${file}#${id}"${attributes}>${html}</a>`;
  }

  // ---------------------------------------------------------------- numbers --
  chapterNumber() {
    return this.appendix ? String.fromCharCode(64 + this.n.chapter) : String(this.n.chapter);
  }
  step(kind) {
    const n = this.n,
      c = this.chapterNumber();
    n[kind]++;
    if (kind === 'chapter') {
      this.resetChapter();
      return this.chapterNumber();
    }
    if (kind === 'section') n.subsection = 0;
    if (kind === 'subsection') return `${c}.${n.section}.${n.subsection}`;
    return `${this.inChecks && kind === 'equation' ? 'II.' : ''}${c}.${n[kind]}`;
  }
  resetChapter() {
    for (const k of PER_CHAPTER) this.n[k] = 0;
  }
  /// A label stands here; its number must be that of the PDF.
  define(label, kind, number, node, more = {}) {
    const printed = this.aux.labels.get(label);
    if (!printed) this.problems.push(`${this.where(node.at)}: label ${label} is not in the PDF`);
    else if (number !== null && printed.number !== number) {
      this.problems.push(
        `${this.where(node.at)}: ${label} is ${number} here, ${printed.number} in the PDF`,
      );
    }
    if (this.targets.has(label)) this.fail(node, `label ${label} twice`);
    const target = { page: this.page.file, id: anchor(label), kind, number, ...more };
    this.targets.set(label, target);
    this.ids.add(target.id);
    return target;
  }
  /// The counters at a chapter's end, as LaTeX wrote them.
  compareCounters(aux) {
    for (const { file, counter, value } of this.aux.counters) {
      if (file !== aux || !PER_CHAPTER.slice(2).includes(counter) || this.n[counter] === value)
        continue;
      this.problems.push(
        `${aux}: ${counter} ends at ${value} in the PDF, at ${this.n[counter]} here`,
      );
    }
  }
  compareLabels() {
    for (const label of this.aux.labels.keys()) {
      if (/^(NW|nw@|LastPage)/.test(label) || this.targets.has(label)) continue;
      this.problems.push(`label ${label} of the PDF is not here`);
    }
  }

  // ----------------------------------------------------------------- chunks --
  /// Chunks are known before any page is made, since links lead forwards too.
  survey(nodes, state) {
    for (const node of nodes) {
      if (node.t === 'chunk') this.surveyChunk(node.chunk, state);
      else if (node.t === 'cmd') this.surveyCommand(node, state);
      else if (node.t === 'env' && node.name === 'answer')
        state.place = `x${this.printed(node.args[0])}`;
      if (node.c) this.survey(node.c, state);
    }
  }
  surveyCommand(node, state) {
    if (node.name === 'chapter') state.place = `${state.mark}${state.number}`;
    if (node.name === 'section' && !node.star)
      state.place = `${state.mark}${state.number}.${++state.section}`;
    if (node.name === 'checksof') state.place = `c${this.printed(node.args[0])}`;
  }
  surveyChunk(chunk, { page, place }) {
    if (!this.named.has(chunk.first)) this.named.set(chunk.first, []);
    this.named.get(chunk.first).push(chunk);
    const root = untex(chunk.name);
    Object.assign(chunk, { page, tag: place, file: chunk.name.includes('\\code{}') ? root : null });
    this.chunks.set(chunk.label, chunk);
  }
  /// Parts of one name in the order of tangling; an address from the name; a tag, 2.3a, 2.3b,
  /// ..., from the section in which the chunk stands.
  tagChunks() {
    for (const parts of this.named.values()) {
      parts.sort(
        by((c) =>
          c.where
            .replace(/:(\d+)$/, (m, line) => `:${line.padStart(6, '0')}`)
            .replace(/\.nw/, '-a.nw'),
        ),
      );
      const id = `chunk-${slug(untex(parts[0].name)).slice(0, 60)}`;
      parts.forEach((c, k) => {
        c.id = this.unique(k ? `${id}-${k + 1}` : id);
      });
    }
    const count = new Map();
    for (const chunk of this.chunks.values()) {
      const k = count.get(chunk.tag) ?? 0;
      count.set(chunk.tag, k + 1);
      chunk.tag += letters(k);
    }
  }
  chunkAt(label) {
    return (
      this.chunks.get(label) ??
      this.chunks.get(this.named.get(label)?.[0].label) ??
      this.fail(null, `no chunk ${label}`)
    );
  }
  /// The files into which a chunk is tangled.
  filesOf(chunk) {
    if (chunk.files) return chunk.files;
    chunk.files = []; // (a loop ends here)
    const first = this.chunks.get(chunk.first) ?? chunk;
    const users = first.usedBy.map((l) => this.chunkAt(l));
    chunk.files = first.file ? [first] : [...new Set(users.flatMap((u) => this.filesOf(u)))];
    return chunk.files;
  }
  /// Of each theorem of Coq, file/name, the chunk in which its proof begins.
  proofPlaces() {
    if (this.places) return this.places;
    this.places = new Map();
    for (const chunk of this.chunks.values()) {
      const file = /^proofs\/(\w+)\.v$/.exec(chunk.file)?.[1];
      if (file && chunk.label === chunk.first) this.findProofs(chunk, { file, open: null });
    }
    return this.places;
  }
  findProofs(first, state) {
    for (const chunk of this.named.get(first.first))
      this.chunkText(chunk).forEach((s, k) => {
        if (k % 2) return this.findProofs(this.chunkAt(s), state);
        for (const [, name] of s.matchAll(STATED)) {
          if (name) state.open = `${state.file}/${name}`;
          else if (!this.places.has(state.open)) this.places.set(state.open, chunk.label);
        }
      });
  }
  printed(label) {
    return this.aux.labels.get(label)?.number ?? '?';
  }
  /// The lines of a chapter as it was written.
  lines(file) {
    this.written ??= new Map();
    if (!this.written.has(file)) this.written.set(file, read(file).split('\n'));
    return this.written.get(file);
  }
  chunkText(chunk) {
    return chunkText(chunk, (file) => this.lines(file));
  }
}
