// statements.mjs: definitions and theorems with their stamps, exercises, errata, tables.
import { Blocks } from './blocks.mjs';
import { anchor, capital, esc, slug, text } from './util.mjs';

const SEVERITY = { W: 'wrong', I: 'imprecise', X: 'inconsistent', G: 'gap' };
const PROPER = new Set(
  `ALiBi Cauchy Cholesky Christoffel Dobrushin Fisher Gibbs Hebbian Hessian Jacobian
  Jacobians Jensen K Legendre Levi Newton Nystr Riemannian Schwartz Sinkhorn Woodbury`.split(/\s+/),
);
const isCommand = (n, name) => n?.t === 'cmd' && n.name === name;
/// suite/case or file/theorem, which may be broken into lines.
const named = (key) => `<code>${esc(key).replace(/([_/])/g, '$1<wbr>')}</code>`;

export class Statements extends Blocks {
  env_theorem(n) {
    return this.statement(n);
  }
  env_proposition(n) {
    return this.statement(n);
  }
  env_lemma(n) {
    return this.statement(n);
  }
  env_corollary(n) {
    return this.statement(n);
  }
  env_definition(n) {
    return this.statement(n);
  }
  env_convention(n) {
    return this.statement(n);
  }
  env_remark(n) {
    return this.statement(n);
  }
  env_example(n) {
    return this.statement(n);
  }

  /// Labels and stamps apart from the words.
  peel(nodes) {
    const labels = [],
      stamps = [],
      rest = [];
    for (const n of nodes) {
      if (isCommand(n, 'label')) labels.push(n.args[0]);
      else if (isCommand(n, 'verifiedby') || isCommand(n, 'unverified')) stamps.push(n);
      else rest.push(n);
    }
    return { labels, stamps, rest };
  }
  statement(n) {
    const kind = n.name,
      number = this.step('theorem'),
      { labels, stamps, rest } = this.peel(n.c);
    const id = labels[0] ? anchor(labels[0]) : this.unique(`${kind}-${slug(number)}`);
    for (const l of labels) this.define(l, kind, number, n);
    const what = {
      kind,
      number,
      page: this.page.file,
      id,
      note: n.opt[0] ? this.inline(n.opt[0]) : '',
    };
    this.statements.push(what);
    const head = `<span class="head">${capital(kind)} ${number}</span>${
      what.note && ` <span class="note">(${what.note})</span>`
    }<span class="head">.</span> ${this.indexName(n.opt[0], what.note)}`;
    what.proofs = labels.flatMap((l) => this.proofs.get(l) ?? []);
    const stamp = stamps.map((s) => this.stamp(s, what)).join('') + this.stampProved(what, n);
    what.html = this.blocks(rest);
    return `<section class="stmt ${kind}" id="${id}" aria-label="${capital(kind)} ${number}">${stamp}${this.lead(
      what.html,
      head,
    )}</section>\n`;
  }
  /// What a statement is called is in the index as well.
  indexName(nodes, note) {
    if (!nodes || /class="cite"/.test(note)) return '';
    const name = this.plain(nodes).replace(/^The /, '');
    const proper = PROPER.has(/^[A-Za-z]+/.exec(name)?.[0]);
    return `<span id="${this.term(proper ? name : name[0].toLowerCase() + name.slice(1))}"></span>`;
  }

  // ----------------------------------------------------------------- stamps --
  stamp(n, what) {
    return n.name === 'unverified' ? this.stampOpen(n, what) : this.stampVerified(n, what);
  }
  stampOpen(n, what) {
    const why = this.inline(n.args[0]);
    this.unverified.push({ ...what, why });
    return `<div class="stamp open" role="note"><p><b>not verified:</b> ${why}</p></div>`;
  }
  stampVerified(n, what) {
    const keys = n.args[0].split(',').map((s) => s.trim());
    for (const key of keys) this.mustHavePassed(key, n);
    if (what.kind === 'erratum') this.mustRefute(keys, what, n);
    const word = what.kind === 'definition' ? 'computed by' : 'verified by';
    const items = keys.map((key) => {
      this.ledger.push({ ...what, key });
      return `<li>${this.caseLink(key)} <span>${this.measured(key)}</span></li>`;
    });
    return `<div class="stamp" role="note" aria-label="stamp"><p><b>${word}</b></p> <ul>${items.join(
      ' ',
    )}</ul></div>`;
  }
  /// The second stamp: what Coq has read, on which axioms, and what it leaves to the check.
  stampProved({ kind, number, proofs }, n) {
    if (!proofs.length) return '';
    const said = (key) => [...new Set(proofs.map((p) => p[key]).filter(Boolean))];
    const names = proofs.map((p) => `<li>${this.proofLink(p.theorem, n)}</li>`).join(' ');
    const open = `<div class="stamp`,
      about = `role="note" aria-label="proof of ${kind} ${number}"`;
    if (proofs.some((p) => p.refused)) {
      this.missing(n, `${kind} ${number} is not known to be proved`);
      return `${open} open" ${about}><p><b>not proved</b></p> <ul>${names}</ul></div>`;
    }
    const except = said('except').map((s) => this.inline(this.parse(s, this.where)));
    return `${open}" ${about}><p><b>proved</b></p> <ul>${names}</ul> <span>Coq ${said('version')}, ${said(
      'group',
    ).join('; ')}</span>${except.length ? ` <span><em>except: ${except.join('; ')}</em></span>` : ''}</div>`;
  }
  /// The name of a theorem of Coq; it opens the proof.
  proofLink(theorem, n) {
    const label =
      this.proofPlaces().get(theorem) ?? this.fail(n, `nowhere is the proof of ${theorem}`);
    return `<a class="case" href="${this.chunkHref(label)}">${named(theorem)}</a>`;
  }
  mustHavePassed(key, n) {
    const status = this.raw(`${key}/status`),
      measured = this.raw(`${key}/n`) ?? this.raw(`${key}/refuted/n`);
    if (status === undefined) this.missing(n, `statement names unknown check ${key}`);
    else if (status !== 'passed')
      this.missing(n, `statement rests on ${key}, which has not passed`);
    else if (!measured) this.missing(n, `statement rests on ${key}, which measured nothing`);
  }
  /// What is printed must fail, and the correction hold.
  mustRefute(keys, what, n) {
    const some = (what_) => keys.some((k) => this.raw(`${k}/${what_}`) !== undefined);
    if (what.severity !== 'G' && !some('refuted/n'))
      this.missing(n, 'erratum: no check refutes what is printed');
    if (!some('n')) this.missing(n, 'erratum: no check shows that the correction holds');
  }
  /// The name of a check; it opens the code of the check.
  caseLink(key) {
    const label = this.cases.get(key);
    return label ? `<a class="case" href="${this.chunkHref(label)}">${named(key)}</a>` : named(key);
  }
  measured(key) {
    const said = [];
    if (this.raw(`${key}/n`) !== undefined) said.push(this.error(key));
    if (this.raw(`${key}/refuted/n`) !== undefined)
      said.push(`printed form off by ${this.soft(`${key}/refuted/err`)}`);
    return said.join('; ');
  }
  error(key) {
    const of = (what) => this.soft(`${key}/${what}`),
      n = +this.raw(`${key}/n`);
    if (this.raw(`${key}/kind`) === 'exact')
      return `exact at ${of('n')} points, <var>p</var> &lt; ${of('bound')}`;
    return `error ${this.size(key, of)}${n > 1 ? `, worst of ${of('n')}` : ''}`;
  }
  /// Error, bound and their ratio; where they are no small numbers, the ratio alone.
  size(key, of) {
    const err = +this.raw(`${key}/err`),
      bound = +this.raw(`${key}/bound`),
      both = `${of('err')} ≤ ${of('bound')}`;
    if (Number.isNaN(err) || Number.isNaN(bound)) return both;
    if (err === 0 && bound === 0) return 'none';
    const whole = Number.isInteger(err) && Number.isInteger(bound) && bound < 1e6;
    if (err === 0 || whole) return both;
    return bound > 10 ? `${of('ratio')} of its bound` : `${both}, ${of('ratio')} of it`;
  }

  // ---------------------------------------------- exercises, answers, errata --
  env_exercise(n, grade, kind) {
    const number = this.step('exercise@'),
      { labels, rest } = this.peel(n.c);
    const id = labels[0] ? anchor(labels[0]) : this.unique(`exercise-${slug(number)}`);
    for (const l of labels) this.define(l, 'exercise@', number, n);
    const word = this.inline(kind),
      html = this.blocks(rest);
    this.statements.push({
      kind: 'exercise',
      number,
      page: this.page.file,
      id,
      note: word,
      grade,
      html,
    });
    const head = `<span class="head">Exercise ${number}.</span> <span class="grade" role="img" aria-label="grade ${
      grade
    } of 3">${grade}</span> <em class="kind">${word}</em> `;
    const answer = labels.map((l) => `<!--answer:${l}-->`).join('');
    return `<section class="stmt exercise" id="${id}" aria-label="Exercise ${number}">${this.lead(html, head)}${answer}</section>\n`;
  }
  env_answer(n, label) {
    const id = `answer-${anchor(label)}`;
    this.answers.set(label, { page: this.page.file, id });
    return `<section class="answer" id="${id}">${this.lead(
      this.blocks(n.c),
      `<span class="head">${this.cref(label, n)}.</span> `,
    )}</section>\n`;
  }
  env_erratum(n, name, severity, where) {
    const place = this.inline(where),
      { labels, stamps, rest } = this.peel(n.c),
      id = this.unique(`erratum-${anchor(name)}`);
    const what = { kind: 'erratum', number: name, page: this.page.file, id, severity, note: '' };
    for (const l of labels) {
      this.define(l, 'erratum', null, n);
      this.targets.get(l).id = id;
    }
    const stamp = stamps.map((s) => this.stamp(s, what)).join(''),
      html = this.blocks(rest);
    this.errata.push({ ...what, word: SEVERITY[severity], place, html });
    const head = `<span class="head">${name}</span> <em>${SEVERITY[severity]};</em> <small>${place}.</small> `;
    return `<section class="stmt erratum" id="${id}" aria-label="Erratum ${name}">${stamp}${this.lead(html, head)}</section>\n`;
  }

  // ----------------------------------------------------------------- tables --
  env_table(n) {
    const number = this.step('table'),
      label = n.c.find((x) => isCommand(x, 'label'))?.args[0];
    const caption = n.c.find((x) => isCommand(x, 'caption')),
      id = label ? anchor(label) : `table-${slug(number)}`;
    if (label) this.define(label, 'table', number, n);
    const inner = n.c.filter(
      (x) => !isCommand(x, 'label') && !isCommand(x, 'caption') && !isCommand(x, 'centering'),
    );
    const words = caption ? this.inline(caption.args[0]) : '';
    this.captioned = `${id}-c`;
    const body = this.blocks(inner);
    this.captioned = null;
    return `<figure class="float table" id="${id}"><figcaption id="${id}-c"><span class="num">Table ${number}.</span> ${
      words
    }</figcaption>${body}</figure>\n`;
  }
  env_tabular(n) {
    return this.tabular(n);
  }
  env_longtable(n) {
    this.step('table'); // LaTeX counts it, caption or not
    return this.tabular(n);
  }
  tabular(n) {
    const columns = readColumns(n.args.at(-1)),
      { rows, head } = readRows(n.c);
    const made = rows.map((row, k) => this.row(row, k < head ? 'th' : 'td', columns));
    const name = this.captioned
      ? `aria-labelledby="${this.captioned}"`
      : `aria-label="table ${(this.tables = (this.tables ?? 0) + 1)}"`;
    const thead = head ? `<thead>${made.slice(0, head).join('')}</thead>` : '';
    return `<div class="scroll" tabindex="0" role="region" ${name}><table>${thead}<tbody>${made
      .slice(head)
      .join('\n')}</tbody></table></div>\n`;
  }
  row(cells, tag, columns) {
    let at = 0;
    const made = cells.map((cell) => {
      const { html, span } = this.cell(cell, tag, columns[at]);
      at += span;
      return html;
    });
    return `<tr>${made.join('')}</tr>`;
  }
  cell(nodes, tag, column) {
    const merged = nodes.find((x) => isCommand(x, 'multicolumn'));
    const span = merged ? +merged.args[0] : 1;
    const align = merged ? readColumns(merged.args[1])[0].align : (column?.align ?? 'l');
    let html = this.inline(merged ? merged.args[2] : nodes).trim();
    if (column?.code && html && tag === 'td' && !merged) html = `<code>${html}</code>`;
    if (column?.before && !merged) html = `<span class="sep">${esc(column.before)}</span> ${html}`;
    const el = tag === 'th' && !html ? 'td' : tag;
    const scope = el === 'th' ? ` scope="${span > 1 ? 'colgroup' : 'col'}"` : '';
    const hidden = el === 'th' && onlyFormula(html) ? `<span class="vh">${text(html)}</span>` : '';
    return {
      span,
      html: `<${el}${scope}${span > 1 ? ` colspan="${span}"` : ''} class="${align}">${hidden}${html}</${el}>`,
    };
  }
}

const onlyFormula = (html) =>
  /<math/.test(html) && !/[a-z]/i.test(text(html.replace(/<math[^]*?<\/math>/g, '')));
/// l, r, c, p{..}, with @{..} and >{..}: {align, code, before} a column.
function readColumns(spec) {
  const columns = [];
  let next = {};
  for (const m of spec.matchAll(
    /([@><!])\{((?:[^{}]|\{(?:[^{}]|\{[^}]*\})*\})*)\}|p\{[^}]*\}|[lrc]/g,
  )) {
    if (m[1] === '>') next.code = /ttfamily/.test(m[2]);
    else if (m[1] === '@') next.before = /^[\s\w:=]*[\w=]/.test(m[2]) ? m[2].trim() : '';
    else if (!m[1]) {
      columns.push({ align: m[0][0] === 'p' ? 'l' : m[0], ...next });
      next = {};
    }
  }
  return columns;
}
const RULE = /^(toprule|midrule|bottomrule|cmidrule|endhead|endfoot|hline|addlinespace)$/;
const empty = (cells) =>
  cells.length === 1 &&
  cells[0].every(
    (x) => x.t === 'par' || (x.t === 'text' && /^\s*$/.test(x.s)) || isCommand(x, 'small'),
  );
/// Rows of cells; how many come before the first rule inside.
function readRows(nodes) {
  const rows = [[[]]];
  let head = 0;
  for (const x of nodes) {
    if (isCommand(x, '\\')) rows.push([[]]);
    else if (x.t === 'amp') rows.at(-1).push([]);
    else if (x.t === 'cmd' && RULE.test(x.name)) {
      if (!head && /^(midrule|endhead)$/.test(x.name)) head = rows.filter((r) => !empty(r)).length;
    } else rows.at(-1).at(-1).push(x);
  }
  for (const row of rows) dropSpacing(row[0]);
  return { rows: rows.filter((r) => !empty(r)), head };
}
/// \\*[1pt]: what follows the end of a row belongs to no cell.
function dropSpacing(cell) {
  const first = cell[0];
  if (first?.t === 'text') first.s = first.s.replace(/^\*/, '');
  while (
    cell.length &&
    cell[0].t === 'text' &&
    /^\s*\[?-?[\d.]*(pt|em)?\]?\s*$/.test(cell[0].s) &&
    /[[\]*]|pt/.test(cell[0].s)
  )
    cell.shift();
}
