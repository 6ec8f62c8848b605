// inline.mjs: what stands within a line: text, formulas, results, references, citations.
import { Numbers } from './numbers.mjs';
import { readUse, untex } from './chunk.mjs';
import { anchor, by, capital, esc, ligatures, slug, text } from './util.mjs';

const NAMES = {
  chapter: 'Chapter',
  section: 'Section',
  subsection: 'Section',
  appendix: 'Appendix',
  equation: 'Equation',
  figure: 'Figure',
  table: 'Table',
  theorem: 'Theorem',
  proposition: 'Proposition',
  lemma: 'Lemma',
  corollary: 'Corollary',
  definition: 'Definition',
  convention: 'Convention',
  remark: 'Remark',
  example: 'Example',
  'exercise@': 'Exercise',
};
const PLURAL = { Corollary: 'Corollaries', Appendix: 'Appendices' };

// Commands that become an element round their argument; a text; nothing.
const ELEMENT = { emph: 'em', textit: 'em', textbf: 'strong', apiname: 'strong' };
const CLASS = { textsf: 'sf', textsc: 'sc', textup: 'up' };
const SWITCH = { ttfamily: 'code', itshape: 'em', bfseries: 'strong' };
const TEXT = {
  LaTeX: 'LaTeX',
  TeX: 'TeX',
  S: '§',
  dots: '…',
  ldots: '…',
  textbackslash: '\\',
  textasciicircum: '^',
  textasciitilde: '~',
  ',': '\u202f',
  ' ': ' ',
  '\n': ' ',
  quad: ' ',
  qquad: ' ',
  enspace: ' ',
  ';': '\u2005',
  ':': '\u2005',
  _: '_',
  '&': '&amp;',
  '%': '%',
  '#': '#',
  $: '$',
  '{': '{',
  '}': '}',
  nwlbrace: '{',
  nwrbrace: '}',
};
const SILENT = new Set(
  `printhere printlater noindent centering small footnotesize scriptsize
  normalfont upshape raggedright arraybackslash nwenddocs nwdocspar nwbegindocs nwfilename
  eqalone allowbreak fullpages textpages raggedcolumns relax mainmatter clearpage
  phantomsection nouses plainspacing medskip smallskip bigskip nwendquote par toprule midrule
  bottomrule cmidrule addlinespace \\ ! / -`.split(/\s+/),
);

export class Inline extends Numbers {
  inline(nodes) {
    let out = '';
    for (let k = 0; k < nodes.length; k++) {
      const element = nodes[k].t === 'cmd' && SWITCH[nodes[k].name];
      if (element) return `${out}<${element}>${this.inline(nodes.slice(k + 1))}</${element}>`;
      const html = this.one(nodes[k]);
      out = nodes[k].t === 'text' && out.endsWith('</math>') ? glued(out, html) : out + html;
    }
    return out;
  }
  one(n) {
    switch (n.t) {
      case 'text':
        return ligatures(esc(n.s));
      case 'par':
        return ' ';
      case 'verb':
        return `<code>${esc(n.s)}</code>`;
      case 'math':
        return n.display ? this.display(n) : this.formula(n.s, n);
      case 'amp':
        return '&amp;';
      case 'group':
        return this.group(n);
      case 'use':
        return this.mention(n);
      case 'cmd':
        return this.command(n);
      default:
        return this.fail(n, `no place for ${n.name ?? n.t} within a line`);
    }
  }
  group(n) {
    if (n.c[0]?.t !== 'cmd' || n.c[0].name !== 'Tt') return this.inline(n.c);
    if (n.c.some((x) => x.t === 'use')) return this.inline(n.c.slice(1));
    return `<code>${straight(this.inline(n.c.slice(1)))}</code>`;
  }
  command(n) {
    const { name, args } = n;
    if (name in TEXT) return TEXT[name];
    if (SILENT.has(name)) return '';
    if (ELEMENT[name]) return `<${ELEMENT[name]}>${this.inline(args[0])}</${ELEMENT[name]}>`;
    if (CLASS[name]) return `<span class="${CLASS[name]}">${this.inline(args[0])}</span>`;
    if (/^[Cc]ite/.test(name)) return this.cite(n);
    return (
      this[`inline_${name}`]?.(n, ...args) ?? this.fail(n, `no rule for \\${name} within a line`)
    );
  }
  inline_texttt(n, a) {
    return `<code>${straight(this.inline(a))}</code>`;
  }
  inline_mbox(n, a) {
    return this.inline(a);
  }
  inline_makebox(n, a) {
    return this.inline(a);
  }
  inline_ensuremath(n, a) {
    return this.inline(a);
  }
  inline_text(n, a) {
    return this.inline(a);
  }
  inline_Tt() {
    return '';
  }
  inline_aside(n, a) {
    return `<small class="aside" role="note">${this.inline(a)}</small>`;
  }
  inline_capital(n, a) {
    return capital(this.inline(a));
  }
  inline_url(n, a) {
    return `<a href="${esc(a)}">${esc(a)}</a>`;
  }
  inline_href(n, a, b) {
    return `<a href="${esc(a)}">${this.inline(b)}</a>`;
  }
  inline_doi(n, a) {
    return `<a href="https://doi.org/${esc(a)}">${esc(a)}</a>`;
  }
  inline_natexlab(n, a) {
    return esc(a);
  }
  inline_breakable(n, a) {
    return esc(a).replace(/([_/])/g, '$1<wbr>');
  }
  inline_verifiedby(n) {
    return this.fail(n, '\\verifiedby outside a statement');
  }
  inline_unverified(n) {
    return this.fail(n, '\\unverified outside a statement');
  }
  inline_label(n, a) {
    return this.fail(n, `label ${a} where nothing has a number`);
  }

  // --------------------------------------------------------------- formulas --
  formula(tex, n, display = false) {
    const known = tex
      .replace(/\\(result|recorded)\{([^}]*)\}/g, (m, kind, key) =>
        this.result((kind === 'recorded' ? 'rec/' : '') + key.trim(), n).replace(
          /\\ensuremath/g,
          '',
        ),
      )
      .replace(/\\(ratio|recordedratio)\{([^}]*)\}\{([^}]*)\}/g, (m, kind, a, b) =>
        this.quotient(kind === 'ratio' ? '' : 'rec/', a, b, n),
      )
      .replace(/\\sb(?![a-zA-Z]) ?/g, '_')
      .replace(/\\sp(?![a-zA-Z]) ?/g, '^')
      .replace(/\\eqref\{([^}]*)\}/g, (m, label) => `(${this.printed(label)})`);
    try {
      return this.math.html(known, display);
    } catch (e) {
      return this.fail(n, `formula: ${e.message.replace(/\s+/g, ' ')} in ${known.slice(0, 80)}`);
    }
  }

  // ---------------------------------------------------------------- results --
  lookup(list, key, n) {
    return this.results[list].get(key) ?? this.missing(n, `unknown result ${key}`, '??');
  }
  /// In a draft something else stands in its place.
  missing(n, what, other) {
    if (!this.draft) this.fail(n, what);
    this.problems.push(`${this.where(n.at)}: ${what}`);
    return other;
  }
  noted(label, n) {
    return (
      this.aux.labels.get(label) ??
      this.missing(n, `undefined reference ${label}`, { number: '??', type: 'section' })
    );
  }
  result(key, n) {
    return this.lookup('printed', key, n);
  }
  inline_result(n, key) {
    return this.value(this.result(key, n));
  }
  inline_recorded(n, key) {
    return this.value(this.result(`rec/${key}`, n));
  }
  inline_ratio(n, a, b) {
    return this.quotient('', a, b, n);
  }
  inline_recordedratio(n, a, b) {
    return this.quotient('rec/', a, b, n);
  }
  inline_percent(n, a, b) {
    return `${this.quotient('', a, b, n, 0, 100)}\u202f%`;
  }
  inline_recordedmachine() {
    return `on ${this.soft('rec/machine/cpu')}`;
  }
  inline_recordedcolophon() {
    const [cpu, date, commit, compiler] = ['cpu', 'date', 'commit', 'compiler'].map((k) =>
      this.soft(`rec/machine/${k}`),
    );
    return `The reference run that the text quotes beside it was recorded on ${cpu}, ${date},
      commit ${commit}, ${compiler}.`;
  }
  /// A result, or ? where there is none.
  soft(key) {
    const p = this.results.printed.get(key);
    return p === undefined ? '?' : this.value(p);
  }
  raw(key) {
    return this.results.raw.get(key);
  }
  /// What results.awk wrote for LaTeX, as text: numbers need no MathML.
  value(tex) {
    const number = (s) =>
      s
        .replace(/\\infty/, '∞')
        .replace(/\\,/g, '\u202f')
        .replace(/^-/, '−')
        .replace(
          /\\times10\^\{(-?)(\d+)\}/,
          (m, sign, e) => `\u202f×\u202f10<sup>${sign ? '−' : ''}${e}</sup>`,
        );
    return tex
      .replace(/\\ensuremath\{((?:[^{}]|\{[^}]*\})*)\}/g, (m, s) => number(s))
      .replace(/\\,/g, '\u202f')
      .replace(/\\([_&%#$])/g, '$1');
  }
  /// As LaTeX rounds it: halves to even.
  quotient(prefix, a, b, n, digits = 2, scale = 1) {
    const x = (scale * +this.lookup('raw', prefix + a, n)) / +this.lookup('raw', prefix + b, n);
    const y = x * 10 ** digits,
      whole = Math.floor(y);
    const rounded = y - whole === 0.5 ? whole + (whole % 2) : Math.round(y);
    return String(rounded / 10 ** digits);
  }

  // ------------------------------------------------------------------ index --
  /// An entry of the index leads here.
  term(entry) {
    const id = this.unique(`ix-${slug(entry.replace(/!/g, '-')).slice(0, 50)}`);
    this.terms.push({ entry: entry.replace(/\s+/g, ' '), page: this.page, id });
    return id;
  }
  inline_term(n, a) {
    return `<dfn id="${this.term(this.plain(n.opt[0] ?? a))}">${this.inline(a)}</dfn>`;
  }
  inline_index(n, a) {
    return `<span id="${this.term(a)}"></span>`;
  }
  plain(nodes) {
    const word = (n) => {
      if (n.t === 'text') return n.s;
      if (n.t === 'math') return `$${n.s}$`;
      if (n.t === 'group') return this.plain(n.c);
      return Array.isArray(n.args?.[0]) ? this.plain(n.args[0]) : '';
    };
    return nodes.map(word).join('').replace(/\s+/g, ' ');
  }

  // ------------------------------------------------------------- references --
  inline_ref(n, label) {
    return this.ref(label, (s) => s, n);
  }
  inline_eqref(n, label) {
    return this.ref(label, (s) => `(${s})`, n);
  }
  inline_nameref(n, label) {
    return this.ref(label, () => `<!--title:${label}-->`, n);
  }
  inline_cref(n, labels) {
    return this.cref(labels, n);
  }
  inline_Cref(n, labels) {
    return this.cref(labels, n);
  }
  /// Where print has a page, a screen has what stands there.
  inline_pageref(n, label) {
    const type = this.aux.labels.get(label)?.type ?? 'section';
    const named = (s) =>
      type === 'equation'
        ? `(${s})`
        : /section/.test(type)
          ? `§\u202f${s}`
          : `${(NAMES[type] ?? type).toLowerCase()} ${s}`;
    return this.ref(label, named, n);
  }
  inline_subpageref(n, label) {
    return this.chunkLink(label);
  }
  ref(label, show, n) {
    const noted = this.noted(label, n);
    return `<a class="ref" href="ref:${label}">${show(noted.number)}</a>`;
  }
  /// As cleveref writes it: Theorems 2.1 to 2.3 and Equation (4.2).
  cref(list, n) {
    const groups = new Map();
    for (const label of list.split(',').map((s) => s.trim())) {
      const item = this.crefItem(label, n);
      if (!groups.has(item.name)) groups.set(item.name, []);
      groups.get(item.name).push(item);
    }
    const parts = [...groups].map(([name, items]) => this.crefGroup(name, items, n));
    return parts.length < 3
      ? parts.join(' and ')
      : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
  }
  crefItem(label, n) {
    const noted = this.noted(label, n);
    const name = NAMES[noted.type] ?? this.fail(n, `no name for ${noted.type} (${label})`);
    const rank = (x) => (/^[A-Z]+$/.test(x) ? 1000 + x.charCodeAt(0) : +x);
    return { label, name, parts: noted.number.split('.').map(rank) };
  }
  crefGroup(name, items, n) {
    const one = (item, before = '') =>
      this.ref(item.label, (s) => before + (name === 'Equation' ? `(${s})` : s), n);
    if (items.length === 1) return one(items[0], `${name}\u00a0`);
    items.sort((a, b) => compareNumbers(a.parts, b.parts));
    const runs = [];
    for (let i = 0; i < items.length; ) {
      let j = i;
      while (j + 1 < items.length && follows(items[j].parts, items[j + 1].parts)) j++;
      if (j - i < 2) runs.push(one(items[i++]));
      else {
        runs.push(`${one(items[i])} to\u00a0${one(items[j])}`);
        i = j + 1;
      }
    }
    const joined =
      runs.length < 2 ? runs.join('') : `${runs.slice(0, -1).join(', ')} and ${runs.at(-1)}`;
    return `${PLURAL[name] ?? `${name}s`}\u00a0${joined}`;
  }

  // -------------------------------------------------------------- citations --
  cite(n) {
    const items = n.args
      .at(-1)
      .split(',')
      .map((s) => this.citeItem(s.trim(), n));
    const note = (k) => (n.opt.length ? this.inline(n.opt[k]) : '');
    const before = n.opt.length > 1 ? `${note(0)} ` : '',
      after = note(n.opt.length - 1);
    if (!/^[Cc]itet$/.test(n.name)) items.sort(by((i) => i.who + i.year));
    return this[`cite_${n.name.toLowerCase()}`](items, before, after && `, ${after}`);
  }
  citeItem(key, n) {
    const noted =
      this.aux.cites.get(key) ??
      this.missing(n, `undefined citation ${key}`, { year: '??', short: key });
    return { key, ...noted, who: this.inline(this.parse(noted.short, () => 'bibliography')) };
  }
  citeLink(item, html) {
    return `<a class="cite" href="ref:cite.${item.key}">${html}</a>`;
  }
  cite_citeauthor(items) {
    return items.map((i) => this.citeLink(i, i.who)).join('; ');
  }
  cite_citeyear(items) {
    return items.map((i) => this.citeLink(i, i.year)).join(', ');
  }
  cite_citeyearpar(items) {
    return `(${this.cite_citeyear(items)})`;
  }
  cite_citet(items, before, after) {
    return sameAuthors(items)
      .map(
        (group, k, all) =>
          `${this.citeLink(group[0], group[0].who)} (${
            k === 0 ? before : ''
          }${this.years(group)}${k === all.length - 1 ? after : ''})`,
      )
      .join('; ');
  }
  cite_citep(items, before, after) {
    return `(${this.cite_citealp(items, before, after)})`;
  }
  cite_citealt(items, before, after) {
    return this.cite_citealp(items, before, after, ' ');
  }
  cite_citealp(items, before, after, between = ', ') {
    const parts = sameAuthors(items).map(
      (g) => `${this.citeLink(g[0], g[0].who)}${between}${this.years(g)}`,
    );
    return before + parts.join('; ') + after;
  }
  years(group) {
    // 2019a,b
    return group
      .map((item, k) => {
        const last = group[k - 1],
          same = last && last.year.slice(0, 4) === item.year.slice(0, 4);
        const year = same && item.year.length > 4 ? item.year.slice(4) : item.year;
        return (k ? (same ? ',' : ', ') : '') + this.citeLink(item, year);
      })
      .join('');
  }

  // ----------------------------------------------------------------- chunks --
  chunkHref(label) {
    const chunk = this.chunkAt(label);
    return `${chunk.page === this.page.file ? '' : chunk.page}#${chunk.id}`;
  }
  chunkLink(label) {
    return `<a class="where" href="${this.chunkHref(label)}">${this.chunkAt(label).tag}</a>`;
  }
  chunkName(tex) {
    if (tex.includes('\\code{}')) return `<code>${esc(untex(tex))}</code>`;
    return this.inline(this.parse(tex, this.where ?? (() => 'chunk')));
  }
  /// A chunk that a sentence names.
  mention(n) {
    const { name, label } = readUse(n.s);
    return `<a class="use" href="${this.chunkHref(label)}">⟨${this.chunkName(name)}⟩</a>`;
  }
  inline_nwlinkedidentq(n, a, label) {
    return `<a class="id" href="${this.chunkHref(label)}">${this.inline(a)}</a>`;
  }
  /// The text of some HTML with the comments that stand for later things left out.
  words(html) {
    return text(html.replace(/<!--[^>]*-->/g, ''));
  }
  anchorOf(label) {
    return anchor(label);
  }
}

/// Quotation marks and dashes as they are typed in code.
const straight = (html) =>
  html
    .replace(/[“”]/g, '&quot;')
    .replace(/[‘’]/g, "'")
    .replace(/–/g, '--')
    .replace(/—/g, '---');
/// No line begins with the mark, or the rest of the word, that follows a formula.
function glued(before, html) {
  const mark = /^(?:[.,;:!?)\]’”\p{L}]+|[-–])/u.exec(html)?.[0],
    at = before.lastIndexOf('<math');
  if (!mark) return before + html;
  return `${before.slice(0, at)}<span class="nb">${before.slice(at)}${mark}</span>${html.slice(mark.length)}`;
}
function compareNumbers(p, q) {
  for (let k = 0; k < Math.max(p.length, q.length); k++) {
    const d = (p[k] ?? -1) - (q[k] ?? -1);
    if (d) return d;
  }
  return 0;
}
const follows = (p, q) =>
  p.length === q.length &&
  q.at(-1) === p.at(-1) + 1 &&
  p.slice(0, -1).join() === q.slice(0, -1).join();
function sameAuthors(items) {
  const groups = [];
  for (const item of items) {
    if (groups.at(-1)?.[0].who === item.who) groups.at(-1).push(item);
    else groups.push([item]);
  }
  return groups;
}
