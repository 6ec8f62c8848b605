// tex.mjs: the book's dialect of LaTeX -> a tree.  Line n of a woven file is line n of its
// chapter, so that every complaint can name chapters/NN-name.nw:LINE.  The nodes:
//   {t:'text',s} {t:'par'} {t:'amp'} {t:'verb',s} {t:'math',s,display,env} {t:'group',c}
//   {t:'chunk',chunk} {t:'cmd',name,star,opt,args} {t:'env',name,opt,args,c}
//   {t:'foreign',name,s}: an environment that is not known; each with `at', an offset.
import { closing } from './util.mjs';
import { readChunk } from './chunk.mjs';

// The arguments of the commands.  s: a star; o: optional; m: LaTeX; v: left as it stands.
const COMMANDS = {};
const known = (spec, names) =>
  names
    .trim()
    .split(/\s+/)
    .forEach((n) => {
      COMMANDS[n] = spec;
    });
known(
  'm',
  `emph textbf textit texttt textsf textsc text textup mbox underline enspacebox aside
  capital uppercase ensuremath question unverified apiname reftext named difficulty`,
);
known(
  'v',
  `label ref eqref cref Cref pageref subpageref nameref input result recorded
  verifiedby include bibliography bibliographystyle templatepart index citeauthor citealt
  citeyear citeyearpar url doi natexlab phantom nwbegindocs nwfilename breakable nwsorted
  checksof`,
);
known('om', 'caption term part');
known('vm', 'href refentry');
known('oov', 'citet citep citealp Citet');
known('som', 'chapter section subsection paragraph');
known('vv', 'ratio recordedratio percent setcounter addtocounter');
known('vvv', 'codeequation');
known('ovm', 'bookfig');
known('vvm', 'multicolumn');
known('mm', 'refmember refusal refheader');
known('mv', 'nwlinkedidentq');
known('o', '\\ addlinespace');
known(
  '',
  `printhere printlater par noindent centering small footnotesize scriptsize normalfont
  itshape upshape bfseries ttfamily raggedright arraybackslash toprule midrule bottomrule hline
  endhead endfoot item appendix backmatter mainmatter frontmatter clearpage phantomsection
  LaTeX TeX S dots ldots textbackslash textasciicircum textasciitilde quad qquad enspace
  medskip smallskip bigskip relax eqalone allowbreak fullpages textpages raggedcolumns Tt
  nwendquote nwenddocs nwdocspar printindex listoffigures listofledger listoferrata
  listofunverified listofproofs proofsection recordedmachine recordedcolophon benchlist allanswers allchecks nouses
  plainspacing eachchapter nwlbrace nwrbrace nwtagstyle LA RA tableofcontents
  , ; : ! / - _ & % # $ { } @`,
);
COMMANDS[' '] = COMMANDS['\n'] = '';

const ENVIRONMENTS = {
  exercise: 'vm',
  answer: 'v',
  erratum: 'vvm',
  tabular: 'ov',
  longtable: 'v',
  multicols: 'v',
  figure: 'o',
  table: 'o',
};
for (const e of `theorem proposition lemma corollary definition convention remark example
  proof`.split(/\s+/))
  ENVIRONMENTS[e] = 'o';
for (const e of `question center flushright enumerate itemize description quote back
  apireference thenowebchunks thenowebindex document titlepage`.split(/\s+/))
  ENVIRONMENTS[e] = '';
const MATH = new Set(
  'equation equation* align align* gather gather* multline multline*'.split(' '),
);

// Commands that say nothing on a screen: how many arguments they have, of which kind.
const IGNORED = { fontsize: 2, addcontentsline: 3, markboth: 2, selectfont: 0, setlength: 2 };
const ACCENT = {
  "'": '\u0301',
  '"': '\u0308',
  '`': '\u0300',
  '^': '\u0302',
  '~': '\u0303',
  '=': '\u0304',
  '.': '\u0307',
  c: '\u0327',
  v: '\u030c',
  u: '\u0306',
  H: '\u030b',
  k: '\u0328',
  r: '\u030a',
};
const LETTER = {
  i: 'i',
  j: 'j',
  o: 'ø',
  O: 'Ø',
  l: 'ł',
  L: 'Ł',
  ss: 'ß',
  ae: 'æ',
  AE: 'Æ',
  aa: 'å',
  AA: 'Å',
};

// The same expression, which begins with ^, tried at one place of a longer string.
const stickies = new Map();
function sticky(re) {
  if (!stickies.has(re.source)) stickies.set(re.source, new RegExp(re.source.slice(1), 'y'));
  return stickies.get(re.source);
}
const uncomment = (s) => s.replace(/(^|[^\\])%[^\n]*\n[ \t]*/g, '$1');
export class TexError extends Error {}

/// Parse one woven file.  where(offset) names the line; decide(kind, what) a conditional.
export const parse = (s, where, decide) => new Parser(s, where, decide).nodes();

class Parser {
  constructor(s, where, decide) {
    Object.assign(this, { s, where, decide, i: 0 });
  }
  fail(what, at = this.i) {
    throw new TexError(`${this.where(at)}: ${what}`);
  }
  starts(t) {
    return this.s.startsWith(t, this.i);
  }
  match(re) {
    // and step over what matched
    const here = sticky(re);
    here.lastIndex = this.i;
    const m = here.exec(this.s);
    if (m) this.i += m[0].length;
    return m;
  }
  space() {
    // also over comments, but not an empty line
    for (;;) {
      const c = this.s[this.i];
      if (c === ' ' || c === '\t' || (c === '\n' && this.s[this.i + 1] !== '\n')) this.i++;
      else if (c === '%') this.comment();
      else return;
    }
  }
  comment() {
    while (this.i < this.s.length && this.s[this.i] !== '\n') this.i++;
    this.i++;
    while (/[ \t]/.test(this.s[this.i] ?? '')) this.i++;
  }
  raw(open = '{', close = '}') {
    // the text of {...} or [...]
    if (this.s[this.i] !== open) this.fail(`wants ${open}`);
    const from = this.i;
    try {
      this.i = open === '{' ? closing(this.s, from) : this.bracket(from);
    } catch {
      this.fail(`no ${close} for this ${open}`, from);
    }
    return this.s.slice(from + 1, this.i - 1);
  }
  bracket(i) {
    // the place after ], which braces hide
    for (i++; i < this.s.length; i++) {
      if (this.s[i] === '\\') i++;
      else if (this.s[i] === '{') i = closing(this.s, i) - 1;
      else if (this.s[i] === ']') return i + 1;
    }
    throw new Error('no ]');
  }
  argument() {
    // {...} or one token, as a tree
    if (this.s[this.i] === '{') {
      this.i++;
      return this.nodes('}');
    }
    if (this.s[this.i] === '\\') return [this.command(this.i)];
    return [{ t: 'text', s: this.s[this.i++], at: this.i }];
  }
  rawArgument() {
    return this.s[this.i] === '{' ? this.raw().replace(/\s+/g, ' ') : this.s[this.i++];
  }
  arguments(spec, node) {
    for (const kind of spec) {
      if (kind === 's') {
        if (this.s[this.i] === '*') {
          this.i++;
          node.star = true;
        }
      } else if (kind === 'o') this.optional(node);
      else {
        this.space();
        node.args.push(kind === 'v' ? this.rawArgument() : this.argument());
      }
    }
    return node;
  }
  optional(node) {
    const before = this.i;
    this.space();
    if (this.s[this.i] !== '[') {
      this.i = before;
      return;
    }
    this.i++;
    node.opt.push(this.nodes(']'));
  }

  command(at) {
    this.i = at + 1;
    const name = this.match(/^([a-zA-Z@]+|[^])/)[1];
    if (/^if/.test(name)) return this.conditional(name, at);
    if (this[`on_${name}`]) return this[`on_${name}`](at);
    if (name === '[') {
      return { t: 'math', display: true, env: '[', s: uncomment(this.upTo('\\]', at)), at };
    }
    if (ACCENT[name]) return this.accent(ACCENT[name], at);
    if (LETTER[name]) {
      this.match(/^ /);
      return { t: 'text', s: LETTER[name], at };
    }
    if (name in IGNORED) return this.ignore(IGNORED[name]);
    if (!(name in COMMANDS)) this.fail(`unknown command \\${name}`, at);
    const node = this.arguments(COMMANDS[name], { t: 'cmd', name, opt: [], args: [], at });
    if (COMMANDS[name] === '' && /^[a-zA-Z]/.test(name)) this.match(/^(\{\}| *\n?(?!\s*\n) *)/);
    return node;
  }
  accent(mark, at) {
    const x = this.argument()[0]?.s ?? this.fail('accent on nothing', at);
    return { t: 'text', s: (x.slice(0, 1) + mark).normalize('NFC') + x.slice(1), at };
  }
  ignore(count) {
    for (; count > 0; count--) {
      if (this.s[this.i] === '[') this.raw('[', ']');
      else if (this.s[this.i] === '{') this.raw();
      else this.match(/^\\[a-zA-Z]+/);
    }
    return null;
  }
  on_verb(at) {
    const mark = this.s[this.i],
      end = this.s.indexOf(mark, this.i + 1);
    const s = this.s.slice(this.i + 1, end);
    this.i = end + 1;
    return { t: 'verb', s, at };
  }
  on_char(at) {
    return { t: 'text', s: String.fromCharCode(+this.match(/^(\d+) ?/)[1]), at };
  }
  on_nwbegincode(at) {
    const end = this.s.indexOf('\\nwendcode{}', at);
    this.i = end + '\\nwendcode{}'.length;
    return { t: 'chunk', chunk: readChunk(this.s.slice(at, end), this.where(at)), at };
  }
  on_penalty() {
    this.match(/^\s*\d*\s?/);
    return null;
  }
  on_kern() {
    this.match(/^-?[\d.]*(pt|em)/);
    return null;
  }
  on_vskip() {
    this.match(/^\s*-?[\d.]*(pt|em)/);
    return null;
  }
  on_hspace() {
    this.match(/^\*/);
    this.raw();
    return null;
  }
  on_vspace() {
    return this.on_hspace();
  }
  on_def() {
    this.i = this.s.indexOf('{', this.i);
    this.raw();
    return null;
  }
  on_newcommand() {
    this.space();
    return this.on_renewcommand();
  }
  on_renewcommand() {
    if (this.s[this.i] === '{') this.raw();
    else this.match(/^\\[a-zA-Z]+/);
    while (this.s[this.i] === '[') this.raw('[', ']');
    this.raw();
    return null;
  }
  on_cmidrule(at) {
    this.match(/^\([^)]*\)/);
    return { t: 'cmd', name: 'cmidrule', opt: [], args: [this.raw()], at };
  }
  on_makebox(at) {
    this.space();
    while (this.s[this.i] === '[') this.raw('[', ']');
    return { t: 'cmd', name: 'makebox', opt: [], args: [this.argument()], at };
  }
  on_LA(at) {
    // a chunk that the prose names
    const end = this.s.indexOf('\\RA{}', this.i),
      s = this.s.slice(this.i, end).replace(/^\{\}/, '');
    this.i = end + 5;
    return { t: 'use', s, at };
  }
  on_begin(at) {
    const name = this.raw(),
      end = `\\end{${name}}`;
    if (MATH.has(name)) {
      return { t: 'math', display: true, env: name, s: uncomment(this.before(end, at)), at };
    }
    if (!(name in ENVIRONMENTS)) {
      return { t: 'foreign', name, s: `\\begin{${name}}${this.before(end, at)}${end}`, at };
    }
    const node = this.arguments(ENVIRONMENTS[name], { t: 'env', name, opt: [], args: [], at });
    node.c = this.nodes(end);
    return node;
  }
  before(end, at) {
    const to = this.s.indexOf(end, this.i),
      s = this.s.slice(this.i, to);
    if (to < 0) this.fail(`no ${end}`, at);
    this.i = to + end.length;
    return s;
  }
  upTo(end, at) {
    // a mark that no brace hides
    const from = this.i;
    for (let depth = 0; this.i < this.s.length; this.i++) {
      if (depth <= 0 && this.starts(end)) {
        this.i += end.length;
        return this.s.slice(from, this.i - end.length);
      }
      const c = this.s[this.i];
      if (c === '\\') this.i++;
      else if (c === '{') depth++;
      else if (c === '}') depth--;
    }
    return this.fail(`no ${end}`, at);
  }
  conditional(name, at) {
    // of TeX's only those of the back matter
    const number = /^(?:(\\rawresult\{[^}]*\}>\d+)\s|([^]*?)\\relax)/,
      test = name === 'ifcsname' ? /^([^\\]*)\\endcsname/ : number;
    const m = this.match(test);
    const yes = m ? this.decide(name, (m[1] ?? m[2]).trim()) : undefined;
    if (yes === undefined) this.fail(`\\${name} that I cannot decide`, at);
    const [then, how] = this.branch(at),
      other = how === 'else' ? this.branch(at)[0] : [];
    return { t: 'group', c: yes ? then : other, at };
  }
  branch(at) {
    const c = [];
    for (;;) {
      if (this.i >= this.s.length) this.fail('no \\fi', at);
      const m = this.match(/^\\(fi|else)(?![a-zA-Z])\s?(\{\})?/);
      if (m) return [c, m[1]];
      const node = this.node();
      if (node) c.push(node);
    }
  }

  node() {
    const at = this.i,
      c = this.s[at];
    switch (c) {
      case '\\':
        return this.command(at);
      case '%':
        this.comment();
        return null;
      case '{':
        this.i++;
        return { t: 'group', c: this.nodes('}'), at };
      case '$':
        this.i++;
        return { t: 'math', display: false, s: uncomment(this.upTo('$', at)), at };
      case '\n':
        return this.newline(at);
      case '&':
        this.i++;
        return { t: 'amp', at };
      case '~':
        this.i++;
        return { t: 'text', s: '\u00a0', at };
      case '}':
        return this.fail('} without {');
      default: {
        const s = this.match(/^[^\\%{}$&~\n\]]+/)?.[0];
        if (s === undefined) this.i++;
        return { t: 'text', s: s ?? c, at };
      }
    }
  }
  newline(at) {
    const blank = /[ \t\n]*/y;
    blank.lastIndex = at;
    const s = blank.exec(this.s)[0];
    this.i = at + s.length;
    return s.indexOf('\n', 1) > 0 ? { t: 'par', at } : { t: 'text', s: ' ', at };
  }
  nodes(end) {
    const out = [],
      from = this.i;
    while (this.i < this.s.length) {
      if (end && this.starts(end)) {
        this.i += end.length;
        return out;
      }
      if (this.starts('\\end{')) {
        this.fail(
          `${this.s.slice(this.i, this.i + 30).split('\n')[0]} where ${end ?? 'nothing'} should end`,
        );
      }
      const node = this.node();
      if (node) out.push(node);
    }
    if (end) this.fail(`no ${end}`, from);
    return out;
  }
}
