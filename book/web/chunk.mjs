// chunk.mjs: a chunk of code as weave wrote it -> what is known of it, its HTML with the
// same colours and links as in print, and its plain text.
import { closing, esc } from './util.mjs';

const TAIL = /^\\nw(indexdefn|alsodefined|used|notused|identdefs|identuses|indexuse)\{/m;
const IDENT = /\\nwixident\{((?:[^{}]|\{[^}]*\})*)\}/g;

/// The text of a name or a quotation, without TeX.
export const untex = (s) =>
  s
    .replace(/\{\\_\}/g, '_')
    .replace(/\\code\{\}|\\edoc\{\}/g, '')
    .replace(/\\([\\{}_])/g, '$1');

/// From \nwbegincode to \nwendcode.
export function readChunk(s, where) {
  const label = /^\\nwbegincode\{\d+\}\\sublabel\{([^}]*)\}/.exec(s);
  if (!label) throw new Error(`${where}: chunk without label`);
  const from = s.indexOf('\\moddef{') + 8,
    to = s.indexOf('~{\\nwtagstyle{}\\subpageref{', from);
  const start = s.indexOf('\\nwenddeflinemarkup\n') + 20,
    opening = s.slice(0, start);
  const end = TAIL.exec(s.slice(start)),
    tail = end ? s.slice(start + end.index) : '';
  const body = end ? s.slice(start, start + end.index) : s.slice(start);
  return {
    where,
    label: label[1],
    name: s.slice(from, to),
    body: body.replace(/\n$/, ''),
    first: /\\subpageref\{([^}]*)\}/.exec(s.slice(to))[1],
    usedBy: labelsIn(/\\nwusesondefline\{((?:\\\\\{[^}]*\})*)\}/.exec(opening)?.[1] ?? ''),
    ...neighbours(opening),
    ...identifiers(tail),
  };
}
const labelsIn = (s) => [...s.matchAll(/\{([^}]*)\}/g)].map((m) => m[1]);
function neighbours(opening) {
  const m = /\\nwprevnextdefs\{([^}]*)\}\{([^}]*)\}/.exec(opening);
  const there = (s) => (s && s !== '\\relax' ? s : null);
  return { prev: there(m?.[1]), next: there(m?.[2]) };
}
function identifiers(tail) {
  const defined = tail.matchAll(/\\nwindexdefn\{\\nwixident\{((?:[^{}]|\{[^}]*\})*)\}\}/g);
  const uses = tail.split('\\nwidentuses{')[1]?.split('\\nwindexuse')[0] ?? '';
  return {
    defines: [...new Set([...defined].map((m) => untex(m[1])))],
    uses: [...new Set([...uses.matchAll(IDENT)].map((m) => untex(m[1])))],
  };
}

// What stands between {\hl?{} and }: keyword, comment, preprocessor, string.
const COLOUR = {
  k: ['b', ''],
  c: ['i', ''],
  b: ['i', ''],
  p: ['span', ' class="p"'],
  s: ['span', ' class="s"'],
  r: ['span', ' class="s"'],
};

// The signs that stand in print for the words of Coq.
const SIGN = {
  to: '→', cdot: '·', le: '≤', ge: '≥', ne: '≠', in: '∈', forall: '∀', exists: '∃', mapsto: '↦',
  land: '∧', lor: '∨', lnot: '¬', Leftrightarrow: '↔', Rightarrow: '⇒', circ: '∘', '\\infty': '+∞',
  coqtranspose: 'ᵀ', coqinverse: '⁻¹', sum: '∑', prod: '∏',
  bigcup: '⋃', max: 'max', alpha: 'α', beta: 'β', gamma: 'γ', delta: 'δ', varepsilon: 'ε', eta: 'η',
  theta: 'θ', kappa: 'κ', lambda: 'λ', mu: 'μ', nu: 'ν', rho: 'ρ', sigma: 'σ', tau: 'τ', phi: 'φ',
  psi: 'ψ', omega: 'ω',
};
function sign(tex, where) {
  if (tex === '\\tfrac12') return '½';
  const bar = /^\\bar\{(.)\}$/.exec(tex);
  if (bar) return `${bar[1]}\u0304`;
  const shown = /^[A-Z]$/.test(tex) ? tex : SIGN[tex.slice(1)];
  if (!shown) throw new Error(`${where}: no sign for ${tex} in code`);
  return shown;
}

/// The HTML of a chunk's lines.  ident(text, label), use(name, label), equations(labels)
/// give that of links.
export function chunkHtml(chunk, links) {
  const s = chunk.body,
    open = [];
  let out = '',
    i = 0;
  const argument = () => {
    const from = i;
    i = closing(s, i);
    return s.slice(from + 1, i - 1);
  };
  const command = (name) => {
    if (/^[\\{}_]$/.test(name)) return esc(name);
    if (name === 'nwtight' || name === 'nwloose') return argument();
    if (name === 'nwlinkedidentc') {
      const t = untex(argument());
      return links.ident(t, argument());
    }
    if (name === 'eqtag') return links.equations(argument().split(','));
    if (name === 'coqcode') return argument();
    if (name === 'coqsign') return sign(argument(), chunk.where);
    if (name === 'coqraised') return `<sup>${argument()}</sup>`;
    if (name === 'coqproves') return links.statement(argument());
    if (name === 'coqbig') {
      const big = sign(argument(), chunk.where);
      return `${big}<sub>${chunkHtml({ where: chunk.where, body: argument() }, links)}</sub>\u2009`;
    }
    if (name === 'LA') {
      const end = s.indexOf('\\RA{}', i),
        use = readUse(s.slice(i + 2, end));
      i = end + 5;
      return links.use(use.name, use.label);
    }
    throw new Error(`${chunk.where}: \\${name} in code`);
  };
  while (i < s.length) {
    const plain = /^[^\\{}]+/.exec(s.slice(i, i + 400));
    if (plain) {
      out += esc(plain[0]);
      i += plain[0].length;
      continue;
    }
    if (s.startsWith('{\\hl', i)) {
      const [tag, attribute] = COLOUR[s[i + 4]];
      open.push(tag);
      out += `<${tag}${attribute}>`;
      i += 7;
    } else if (s[i] === '}') {
      if (!open.length) throw new Error(`${chunk.where}: } in code without {`);
      out += `</${open.pop()}>`;
      i++;
    } else if (s[i] === '\\') {
      const name = /^\\([a-zA-Z]+|[^])/.exec(s.slice(i, i + 40))[1];
      i += name.length + 1;
      out += command(name);
    } else throw new Error(`${chunk.where}: { in code`);
  }
  return out;
}
/// name~{\nwtagstyle{}\subpageref{LABEL}}
export function readUse(s) {
  const at = s.indexOf('~{\\nwtagstyle');
  return { name: s.slice(0, at), label: /\\subpageref\{([^}]*)\}/.exec(s.slice(at))[1] };
}

/// The code as it stands in the chapter; [label] of each chunk that it uses in between:
/// an array of strings, those with odd places are labels.  Of Coq print shows signs, so that
/// its text is taken from the chapter; lines(file) gives those.
export function chunkText(chunk, lines) {
  if (chunk.body.includes('\\coqcode{}')) return coqText(chunk, lines);
  const parts = chunk.body.split(/\\LA\{\}([^]*?)\\RA\{\}/);
  return parts.map((part, k) => (k % 2 ? readUse(part).label : plain(part)));
}
function coqText({ body, where }, lines) {
  const [, file, line] = /^(.*):(\d+)$/.exec(where);
  const text = lines(file).slice(+line, +line + body.split('\n').length).join('\n');
  const used = [...body.matchAll(/\\LA\{\}([^]*?)\\RA\{\}/g)].map((m) => readUse(m[1]).label);
  const bare = (part) => part.replace(/@(<<|>>)/g, '$1');
  return text.split(/(?<!@)<<([^\n]*?)>>/).map((part, k) => (k % 2 ? used.shift() : bare(part)));
}
const plain = (s) =>
  s
    .replace(/\{\\hl[a-z]\{\}/g, '')
    .replace(/\\nw(tight|loose)\{\}|\\eqtag\{[^}]*\}/g, '')
    .replace(/\\nwlinkedidentc\{((?:[^{}]|\{[^}]*\})*)\}\{[^}]*\}/g, '$1')
    .replace(/\{\\_\}/g, '_')
    .replace(/\\([\\{}_])|\}/g, (m, c) => c ?? '');
