// noted.mjs: what LaTeX and the run have noted: labels and citations from the .aux files of
// both volumes, the results of the checks, the macros of mathematics, the list of chapters.
import fs from 'node:fs';
import { by, groups, read } from './util.mjs';

const bare = (s) => s.replace(/^\{(.*)\}$/, '$1');

/// Labels, citations and, per chapter, the counters at its end.
export function readAux(files) {
  const noted = { labels: new Map(), cites: new Map(), counters: [], chunks: new Map() };
  for (const file of files) {
    const volume = /companion/.test(file) ? 'II' : 'I';
    for (const line of read(file).split('\n')) readLine(noted, line, file, volume);
  }
  return noted;
}
function readLine(noted, line, file, volume) {
  if (line.startsWith('\\newlabel{')) return readLabel(noted, line, volume);
  if (line.startsWith('\\bibcite{')) return readCite(noted, line);
  if (line.startsWith('\\newsublabel{')) {
    const [key, value] = groups(line, 12);
    noted.chunks.set(key, { volume, page: groups(value, 0)[1] });
  }
  const m = /^\\setcounter\{(.+?)\}\{(-?\d+)\}/.exec(line);
  if (m) noted.counters.push({ file, counter: m[1], value: +m[2] });
}
function readLabel(noted, line, volume) {
  const [key, value] = groups(line, 9),
    parts = groups(value, 0);
  if (!key.endsWith('@cref')) {
    noted.labels.set(key, { number: bare(parts[0]), page: parts[1], volume });
    return;
  }
  const label = noted.labels.get(key.slice(0, -5));
  if (label) label.type = /^\[([^\]]*)\]/.exec(parts[0])?.[1];
}
function readCite(noted, line) {
  const [key, value] = groups(line, 8),
    [, year, short, full] = groups(value, 0).map(bare);
  noted.cites.set(key, { year: year.replace(/[{}]/g, ''), short: bare(short), full: bare(full) });
}

/// build/results.tex and the like: how each result is printed, and its bare value.
export function readResults(...files) {
  const results = { printed: new Map(), raw: new Map(), benches: [] };
  for (const line of files.flatMap((file) => read(file).split('\n'))) {
    if (line.startsWith('\\resdef{')) {
      const [key, printed, raw] = groups(line, 7);
      results.printed.set(key, printed);
      results.raw.set(key, raw);
    } else if (line.startsWith('\\def\\benchlist{')) {
      results.benches = groups(line, 14)[0]
        .split('\\benchline')
        .slice(1)
        .map((s) => groups(s, 0));
    }
  }
  return results;
}

/// build/proved.tex: of each label the theorems by which Coq knows it; a draft has others too.
export function readProofs(file) {
  const proofs = new Map();
  for (const line of read(file).split('\n')) {
    const what = /^\\(un)?proveddef/.exec(line);
    if (!what) continue;
    const [label, theorem, version, group, except] = groups(line, what[0].length);
    if (!proofs.has(label)) proofs.set(label, []);
    proofs.get(label).push({ theorem, version, group, except, refused: what[1] === 'un' });
  }
  return proofs;
}

/// book/macros.tex, one definition a line.
export function readMacros(file) {
  const macros = {};
  for (const line of read(file).split('\n')) {
    let m = /^\\newcommand\{?(\\[a-zA-Z]+)\}?(?:\[\d\])?\{(.*)\}\s*$/.exec(line);
    if (m) macros[m[1]] = m[2];
    m = /^\\DeclareMathOperator(\*?)\{?(\\[a-zA-Z]+)\}?\{(.*)\}\s*$/.exec(line);
    if (m) macros[m[2]] = `\\operatorname${m[1]}{${m[3]}}`;
  }
  return macros;
}

/// build/chapters.tex: the chapters in the order of reading, with their labels.
export function readChapters(file) {
  const all = read(file);
  return [...all.matchAll(/\\onechapter\{([^}]*)\}\{([^}]*)\}/g)].map(([, name, label]) => ({
    name,
    label,
    checks:
      fs.existsSync(`build/tex/${name}-checks.tex`) && all.includes(`\\checkschapter{${name}}`),
  }));
}

/// build/cases.tex: the chunk in which each check is written.
export function readCases(file) {
  return new Map(
    [...read(file).matchAll(/\\casedef\{([^}]*)\}\{([^}]*)\}/g)].map((m) => [m[1], m[2]]),
  );
}

/// The entries of some .bbl files, each once, by author.
export function readBibliography(files) {
  const entries = new Map();
  for (const item of files.flatMap((f) => read(f).split('\\bibitem[').slice(1))) {
    const m = /\]\{([^}]*)\}\s*/.exec(item),
      label = item
        .slice(0, m.index)
        .replace(/[{}\\]/g, '')
        .toLowerCase();
    const body = item.slice(m.index + m[0].length).replace(/\\end\{thebibliography\}[^]*/, '');
    const tex = body
      .replace(/\\newblock/g, ' ')
      .replace(/\{\\em\s+/g, '\\emph{')
      .trim();
    entries.set(m[1], { key: m[1], label, tex });
  }
  return [...entries.values()].sort(by((e) => e.label));
}
