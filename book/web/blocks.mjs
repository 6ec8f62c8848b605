// blocks.mjs: paragraphs, headings, displayed formulas, figures, chunks, lists.
import { Inline } from './inline.mjs';
import { chunkHtml, untex } from './chunk.mjs';
import { anchor, esc, slug, text } from './util.mjs';

const LEVEL = { chapter: 1, section: 2, subsection: 3, paragraph: 4 };
const QED = '<span class="qed" role="img" aria-label="end of proof"></span>';
const isCommand = (n, name) => n?.t === 'cmd' && n.name === name;
const SPACE = new Set(
  `nwenddocs nwfilename nwdocspar nwbegindocs par printhere printlater noindent
  small footnotesize raggedcolumns relax medskip bigskip smallskip`.split(/\s+/),
);
const blank = (n) =>
  n.t === 'par' || (n.t === 'text' && /^\s*$/.test(n.s)) || (n.t === 'cmd' && SPACE.has(n.name));
const attribute = (tex) => esc(tex.replace(/\s+/g, ' ').trim());

export class Blocks extends Inline {
  /// The HTML of some nodes that are to stand as blocks.
  blocks(nodes) {
    const before = this.out;
    this.out = '';
    this.flow(nodes);
    const html = this.out;
    this.out = before;
    return html;
  }
  emit(html) {
    this.out += html;
  }
  flow(nodes) {
    let line = [];
    const flush = () => {
      this.paragraph(line);
      line = [];
    };
    for (let i = 0; i < nodes.length; i++) {
      const n = nodes[i];
      if (isCommand(n, 'par') || n.t === 'par') flush();
      else if (n.t === 'cmd' && n.name in LEVEL) {
        flush();
        i = this.headingWithLabels(nodes, i);
      } else if (n.t === 'cmd' && this[`block_${n.name}`]) {
        flush();
        this[`block_${n.name}`](n, ...n.args);
      } else if (n.t === 'group' && this.hasBlocks(n.c)) {
        flush();
        this.flow(n.c);
      } else if (this.isBlock(n)) {
        flush();
        this.emit(this.block(n));
      } else line.push(n);
    }
    flush();
  }
  isBlock(n) {
    return n.t === 'chunk' || n.t === 'env' || n.t === 'foreign' || (n.t === 'math' && n.display);
  }
  hasBlocks(nodes) {
    return nodes.some(
      (n) =>
        this.isBlock(n) ||
        n.t === 'par' ||
        isCommand(n, 'par') ||
        (n.t === 'cmd' && this[`block_${n.name}`]) ||
        (n.t === 'group' && this.hasBlocks(n.c)),
    );
  }
  block(n) {
    if (n.t === 'math') return this.display(n);
    if (n.t === 'chunk') return this.chunk(n.chunk, n);
    if (n.t === 'foreign') return this.foreign(n);
    return (
      this[`env_${n.name}`]?.(n, ...n.args) ?? this.fail(n, `no rule for environment ${n.name}`)
    );
  }
  paragraph(nodes) {
    while (nodes.length && blank(nodes[0])) nodes.shift();
    while (nodes.length && blank(nodes.at(-1))) nodes.pop();
    if (nodes.every((n) => isCommand(n, 'makebox') || blank(n))) return; // heads of tables in print
    const html = this.inline(nodes).trim();
    if (html) this.emit(`<p>${html}</p>\n`);
  }
  /// Put something before the first words of a block.
  lead(html, head) {
    return /^\s*<p>/.test(html)
      ? html.replace('<p>', () => `<p>${head}`)
      : `<p>${head}</p>\n${html}`;
  }

  // --------------------------------------------------------------- headings --
  headingWithLabels(nodes, i) {
    const labels = [];
    let last = i;
    for (let k = i + 1; k < nodes.length; k++) {
      if (isCommand(nodes[k], 'label')) {
        labels.push(nodes[k].args[0]);
        last = k;
      } else if (!(nodes[k].t === 'text' && /^\s*$/.test(nodes[k].s))) break;
    }
    this.heading(nodes[i], labels);
    return last;
  }
  heading(n, labels) {
    const level = LEVEL[n.name];
    const counts = !n.star && level < 4 && !(level === 1 && this.backmatter);
    this.closeSections(level);
    const number = counts ? this.step(n.name) : null;
    if (level === 1) this.onChapter(n, labels, number); // opens a page
    const title = this.inline(n.args[0]),
      words = this.words(title);
    const id = labels[0]
      ? anchor(labels[0])
      : this.unique(`s-${slug(words).slice(0, 50) || 'section'}`);
    const kind = this.appendix && level === 1 ? 'appendix' : n.name;
    for (const l of labels) this.define(l, kind, number, n, { title }).id = id;
    if (level < 4) this.contents.push({ level, number, title, id, page: this.page.file });
    this.openSections?.push({ level, labels });
    this.emit(this.headingHtml(level, id, this.headingNumber(level, number), title));
  }
  headingHtml(level, id, number, title) {
    const h = level === 1 ? 1 : Math.min(level, (this.page.deepest ?? 1) + 1); // none is skipped
    this.page.deepest = h;
    return `<h${h} id="${id}">${number}${title}</h${h}>\n`;
  }
  headingNumber(level, number) {
    if (number === null) return '';
    const word = level > 1 ? '' : this.appendix ? 'Appendix ' : 'Chapter ';
    return `<span class="num">${word}${number}</span> `;
  }
  /// A section has ended: its checks can be unfolded here.
  closeSections(level) {
    while (this.openSections?.length && this.openSections.at(-1).level >= level) {
      for (const label of this.openSections.pop().labels)
        this.emit(this.checksOf(label) + this.proofsOf(label));
    }
  }
  checksOf(label) {
    const title = `Checks and programs of §\u202f${this.printed(label)}`;
    return this.companionOf('checks', label, `checks-${anchor(label)}`, title);
  }
  /// Those of the whole chapter, at its end.
  proofsOf(label) {
    const title = `Proofs of chapter ${this.printed(label)}, in Coq`;
    return this.companionOf('proofs', `proofs of ${label}`, `proofs-${anchor(label)}`, title);
  }
  companionOf(what, key, id, title) {
    const page = this.page.file.replace('.html', `-${what}.html`);
    const one = ({ chunks }, k) => {
      const note = `${chunks} ${chunks === 1 ? 'piece' : 'pieces'} of code`;
      return chunks ? this.unfolding(page, k ? `${id}-${k + 1}` : id, title, note) : '';
    };
    return (this.checkCounts.get(key) ?? []).map(one).join('');
  }
  /// What stands on another page and can be opened here.
  unfolding(page, id, title, note = '') {
    const small = note && ` <small>${note}</small>`;
    return (
      `<details class="unfold" data-page="${page}" data-id="${id}"><summary>${title}${small}</summary>` +
      `<p><a href="${page}#${id}">On a page of its own</a></p></details>\n`
    );
  }
  block_part(n, title) {
    this.parts.push({ title: this.inline(title), before: this.n.chapter + 1 });
  }

  // --------------------------------------------------------------- formulas --
  block_codeequation(n, label, tex, more) {
    const number = this.step('equation');
    const others = [...more.matchAll(/\\label\{([^}]*)\}/g)].map((m) => m[1]);
    this.emit(this.equation([label, ...others], number, tex, n, ' runs'));
  }
  equation(labels, number, tex, n, kind = '') {
    for (const l of labels) this.define(l, 'equation', number, n);
    const id = labels.length ? anchor(labels[0]) : this.unique(`eq-${slug(number)}`);
    for (const l of labels.slice(1)) this.targets.get(l).id = id;
    return (
      `<div class="eq${kind}" id="${id}">${this.framed(tex, n, `equation ${number}`)}` +
      `<a class="no" href="#${id}"><span class="vh">equation </span>(${number})</a></div>\n`
    );
  }
  framed(tex, n, name) {
    return `<div class="m" tabindex="0" role="group" aria-label="${name}" data-tex="${attribute(tex)}">${this.formula(
      tex,
      n,
      true,
    )}</div>`;
  }
  display(n) {
    const env = n.env.replace('*', ''),
      numbered = !/\*$|\[/.test(n.env);
    const labels = [...n.s.matchAll(/\\label\{([^}]*)\}/g)].map((m) => m[1]);
    const qed = n.s.includes('\\qedhere') ? QED : '';
    if (qed) this.qed = false;
    const tex = n.s.replace(/\\qedhere/g, '');
    if (numbered && env === 'equation')
      return this.equation(labels, this.step('equation'), bare(tex), n);
    if (numbered) return this.aligned(env, tex, n);
    const inner = { align: 'aligned', gather: 'gathered', multline: 'gathered' }[env];
    const whole = inner ? `\\begin{${inner}}${bare(tex)}\\end{${inner}}` : bare(tex);
    return `<div class="eq">${this.framed(whole, n, 'formula')}${qed}</div>\n`;
  }
  /// Rows with numbers of their own.
  aligned(env, tex, n) {
    const anchors = [],
      numbers = [];
    const rows = splitRows(tex).map((row) => {
      if (/\\(nonumber|notag)/.test(row)) return row.replace(/\\(nonumber|notag)/, '');
      const number = this.step('equation');
      numbers.push(number);
      for (const [, label] of row.matchAll(/\\label\{([^}]*)\}/g)) {
        anchors.push(`<span id="${this.define(label, 'equation', number, n).id}"></span>`);
      }
      return `${bare(row)}\\tag{${number}}`;
    });
    const whole = `\\begin{${env}}${rows.join('\\\\')}\\end{${env}}`;
    return `<div class="eq rows">${anchors.join('')}${this.framed(whole, n, `equations ${numbers.join(', ')}`)}</div>\n`;
  }

  // ------------------------------------------------------- figures, tables --
  block_bookfig(n, name, caption) {
    const wide = n.opt[0] && this.plain(n.opt[0]) === 'wide',
      number = this.step('figure');
    const id = `fig-${anchor(name)}`,
      figure = this.figures(name, this.where(n.at));
    this.define(`fig:${name}`, 'figure', number, n).id = id;
    const words = this.inline(caption);
    this.figureList.push({ number, caption: words, page: this.page.file, id, name });
    const data = figure.data.map((d) => `<a href="data/${d}.csv" download>${d}.csv</a>`).join(', ');
    this
      .emit(`<figure class="float${wide ? ' wide' : ''}" id="${id}">${this.drawing(name, figure, words)}
<figcaption><span class="num">Figure ${number}.</span> ${words}${
      data && ` <small class="data">Data: ${data}</small>`
    }</figcaption></figure>\n`);
  }
  /// Two drawings, of which the theme shows one.
  drawing(name, figure, caption) {
    const alt = figure.alt ?? `Drawing: ${this.words(caption.replace(/<math[^]*?<\/math>/g, '…'))}`;
    const image = (kind, file) =>
      `<img class="${kind}" src="fig/${file}.svg" alt="${esc(alt)}"` +
      ` width="${figure.width}" height="${figure.height}" loading="lazy">`;
    return `<div class="drawing" tabindex="0" role="group" aria-label="drawing">${image(
      'light',
      name,
    )}${image('dark', `${name}-dark`)}</div>`;
  }
  foreign(n) {
    const figure = this.figures.foreign(n.s, this.where(n.at));
    const source = n.s
      .replace(/\\(begin|end)\{[^}]*\}/g, '')
      .replace(/\s+/g, ' ')
      .trim();
    return this.drawing(figure.name, { ...figure, alt: `${n.name}: ${source.slice(0, 600)}` }, '');
  }

  // ----------------------------------------------------------------- chunks --
  chunk(chunk, n) {
    const name = this.chunkName(chunk.name),
      { id } = chunk;
    const more = chunk.prev || chunk.label !== chunk.first ? '+' : '';
    const part = (label, mark, what) =>
      label
        ? `<a href="${this.chunkHref(label)}" aria-label="${what} part">${mark}</a>`
        : '';
    const tag = `<span class="tag">${chunk.tag}</span>`;
    const nav = `<span class="nav">${part(chunk.prev, '◂', 'previous')}${part(chunk.next, '▸', 'next')}</span>`;
    return (
      `<figure class="chunk" id="${id}"><figcaption><a class="name" href="#${id}">⟨${name}⟩\u2060${more}≡</a> ${tag}${nav}</figcaption>` +
      `<pre tabindex="0" role="group" aria-label="code"><code>${this.code(chunk, n)}</code></pre>${this.notes(chunk)}</figure>\n`
    );
  }
  code(chunk, n) {
    // a name is a link where it stands first
    return chunkHtml(chunk, {
      ident: (words, label) => {
        if (this.page.linked.has(words)) return esc(words);
        this.page.linked.add(words);
        return `<a class="id" href="${this.chunkHref(label)}">${esc(words)}</a>`;
      },
      use: (name, label) =>
        `<a class="use" href="${this.chunkHref(label)}">⟨${this.chunkName(name)}⟩</a>`,
      statement: (label) => {
        if (!this.proofs.has(label)) this.missing(n, `no proof of ${label} is recorded`);
        return this.cref(label, n);
      },
      equations: (labels) =>
        `<span class="eqtag">${labels
          .map(
            (l) => `<a href="ref:${l}"><span class="vh">equation </span>(${this.printed(l)})</a>`,
          )
          .join(' ')}</span>`,
    });
  }
  notes(chunk) {
    const links = (labels) => labels.map((l) => this.chunkLink(l)).join(', ');
    const parts = this.named.get(chunk.first).filter((c) => c !== chunk),
      notes = [];
    // the first part lists the others; those are led from one to the next by their captions
    if (parts.length) {
      const first = chunk.label === chunk.first;
      notes.push(
        first
          ? `Other parts: ${links(parts.map((c) => c.label))}`
          : `First part: ${links([chunk.first])}`,
      );
      if (!first) chunk = { ...chunk, usedBy: [] };
    }
    if (chunk.usedBy.length) notes.push(`Used in ${links(chunk.usedBy)}`);
    if (chunk.defines.length) {
      notes.push(
        `Defines ${chunk.defines
          .map((d) => `<a class="id" href="ref:ident.${d}"><code>${esc(d)}</code></a>`)
          .join(', ')}`,
      );
    }
    return notes.length ? `<p class="notes">${notes.join('. ')}.</p>` : '';
  }
  /// In the companion: the checks of a section of the text.
  block_checksof(n, label) {
    const target = this.targets.get(label) ?? this.fail(n, `no section ${label}`);
    const id = this.unique(`checks-${anchor(label)}`),
      number = this.printed(label);
    this.page.deepest = 2;
    this.contents.push({ level: 2, number, title: target.title, id, page: this.page.file });
    this.emit(
      `</section>\n<section class="of" id="${id}"><h2><span class="num">${
        number
      }</span> <a href="${target.page}#${target.id}">${target.title}</a></h2>\n`,
    );
  }

  /// In the companion: the proofs of a chapter, the whole of their page.
  block_proofsection() {
    const id = `proofs-${anchor(this.page.chapter)}`;
    this.contents.push({ level: 2, number: '', title: 'Proofs', id, page: this.page.file });
  }

  // ------------------------------------------------------------------ lists --
  env_enumerate(n) {
    return `<ol>${this.items(n)}</ol>\n`;
  }
  env_itemize(n) {
    return `<ul>${this.items(n)}</ul>\n`;
  }
  items(n) {
    const items = [];
    for (const x of n.c) {
      if (isCommand(x, 'item')) items.push([]);
      else if (items.length) items.at(-1).push(x);
    }
    return items.map((i) => `<li>${unwrap(this.blocks(i))}</li>`).join('\n');
  }
  env_proof(n) {
    this.qed = true;
    const body = this.blocks(n.c),
      end = this.qed ? QED : '';
    this.qed = false;
    const head = `<em class="proof-head">${n.opt[0] ? this.inline(n.opt[0]) : 'Proof'}.</em> `;
    const whole = this.lead(body, head);
    const closed = /<\/p>\s*$/.test(whole)
      ? whole.replace(/<\/p>\s*$/, `${end}</p>\n`)
      : whole + end;
    return `<div class="proof">${closed}</div>\n`;
  }
  env_question(n) {
    return `<div class="question">${this.blocks(n.c)}</div>\n`;
  }
  env_center(n) {
    return `<div class="center">${this.blocks(n.c)}</div>\n`;
  }
  env_flushright(n) {
    return `<div class="right">${this.blocks(n.c)}</div>\n`;
  }
  env_quote(n) {
    return `<blockquote>${this.blocks(n.c)}</blockquote>\n`;
  }
  env_multicols(n) {
    return `<div class="columns">${this.blocks(n.c)}</div>\n`;
  }
  env_apireference(n) {
    this.page.kind = 'back api';
    return this.blocks(n.c);
  }
  env_document(n) {
    return this.blocks(n.c);
  }
}

const bare = (tex) => tex.replace(/\\label\{[^}]*\}/g, '');
function unwrap(html) {
  const m = /^<p>((?:(?!<p>)[^])*)<\/p>\s*$/.exec(html.trim());
  return m ? m[1] : html;
}
/// Split at \\ outside of braces and inner environments.
function splitRows(s) {
  const rows = [''];
  let depth = 0;
  for (const piece of s.match(/\\begin\{[^}]*\}|\\end\{[^}]*\}|\\[^]|[{}]|[^\\{}]+/g) ?? []) {
    if (piece.startsWith('\\begin') || piece === '{') depth++;
    if (piece.startsWith('\\end') || piece === '}') depth--;
    if (piece === '\\\\' && depth === 0) rows.push('');
    else rows[rows.length - 1] += piece;
  }
  return rows.filter((r, k) => k < rows.length - 1 || r.trim());
}
