// mutations.mjs: spoils what the build reads, one thing at a time, and wants it refused with
// the line of the chapter; a foreign environment is drawn.  node mutations.mjs
import fs from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { read } from '../util.mjs';
import { check, finish } from './report.mjs';

const CHAPTER = read('build/chapters.tex').match(/\\include\{tex\/(02-[^}]*)\}/)[1];
const TEX = `build/tex/${CHAPTER}.tex`,
  AUX = `build/attention/tex/${CHAPTER}.aux`,
  RESULTS = 'build/results.tex';
const tex = read(TEX),
  lineOf = (s) => tex.slice(0, tex.indexOf(s)).split('\n').length;
const stamp = /\\verifiedby\{([^},]*)/.exec(tex),
  result = /\\result\{([^}]*)\}/.exec(tex);
const claim = /\\coqproves\{([^}]*)\}/.exec(tex);
const label = /\\newlabel\{(def:[^}@]*)\}\{\{(\d+)\.(\d+)\}/.exec(read(AUX));
const at = (s) => `chapters/${CHAPTER}.nw:${lineOf(s)}`;

/// A folder with the book in it, of which one file is another.
function spoiled(file, change) {
  const dir = fs.mkdtempSync('/tmp/web-mutation-');
  for (const top of ['book', 'figures', 'chapters'])
    fs.symlinkSync(path.resolve(top), path.join(dir, top));
  mirror('build', path.join(dir, 'build'), file);
  fs.writeFileSync(path.join(dir, file), change(read(file)));
  return dir;
}
function mirror(from, to, except) {
  fs.mkdirSync(to);
  for (const f of fs.readdirSync(from)) {
    const one = path.join(from, f);
    if (f === 'web') continue;
    if (except.startsWith(`${one}/`)) mirror(one, path.join(to, f), except);
    else if (one !== except) fs.symlinkSync(path.resolve(one), path.join(to, f));
  }
}
function build(dir) {
  const run = spawnSync('node', [path.resolve('book/web/build.mjs'), '--quiet', '--out', 'site'], {
    cwd: dir,
    encoding: 'utf8',
  });
  return { refused: run.status !== 0, said: run.stderr };
}
function refused(what, file, change, wants) {
  const dir = spoiled(file, change),
    { refused: no, said } = build(dir);
  check(
    no && wants.every((w) => said.includes(w)),
    `${what}: ${said.split('\n')[0].slice(0, 120)}`,
    [said.slice(0, 300)],
  );
  fs.rmSync(dir, { recursive: true });
}

const PLACE = '\\section{'; // something new stands before the first section
const insert = (s) => (all) => all.replace(PLACE, () => `${s}\n${PLACE}`);
const here = `chapters/${CHAPTER}.nw:${lineOf(PLACE)}`;
refused(
  'a number that is another in the PDF',
  AUX,
  (s) => s.replaceAll(`{${label[1]}}{{${label[2]}.${label[3]}}`, `{${label[1]}}{{${label[2]}.99}`),
  [at(`\\label{${label[1]}}`).replace(/\d+$/, ''), label[1], '99'],
);
refused(
  'a result that nothing reported',
  RESULTS,
  (s) =>
    s
      .split('\n')
      .filter((l) => !l.startsWith(`\\resdef{${result[1]}}`))
      .join('\n'),
  [at(result[0]), `unknown result ${result[1]}`],
);
refused(
  'a check that failed',
  RESULTS,
  (s) =>
    s.replace(
      `\\resdef{${stamp[1]}/status}{passed}{passed}`,
      `\\resdef{${stamp[1]}/status}{failed}{failed}`,
    ),
  [`chapters/${CHAPTER}.nw:`, stamp[1], 'has not passed'],
);
refused(
  'a check that nobody ran',
  RESULTS,
  (s) => s.replaceAll(`\\resdef{${stamp[1]}/`, '\\resdef{other/'),
  [stamp[1], 'unknown check'],
);
refused(
  'a proof of which there is no record',
  'build/proved.tex',
  (s) =>
    s
      .split('\n')
      .filter((l) => !l.startsWith(`\\proveddef{${claim[1]}}`))
      .join('\n'),
  [`chapters/${CHAPTER}.nw:`, `no proof of ${claim[1]}`],
);
refused('a label that is lost', TEX, (s) => s.replace(`\\label{${label[1]}}`, ''), [label[1]]);
refused('a formula that is none', TEX, insert('$\\frac{1}{$'), [here.replace(/\d+$/, '')]);
refused('a macro that is none', TEX, insert('$\\foo$'), [here, '\\foo']);
refused('a command from elsewhere', TEX, insert('\\foo{1}'), [here, 'unknown command \\foo']);
refused('one equation more', TEX, insert('\\begin{equation}1=1\\end{equation}'), ['equation']);
if (!process.argv.includes('--quick')) {
  const dir = spoiled(TEX, insert('\\begin{tikzpicture}\\draw (0,0) -- (1,1);\\end{tikzpicture}')),
    { refused: no, said } = build(dir);
  const drawn =
    !no && /class="light" src="fig\/tex-/.test(read(path.join(dir, `site/${CHAPTER}.html`)));
  check(drawn, 'an environment from elsewhere is drawn', [said.slice(0, 300)]);
  fs.rmSync(dir, { recursive: true });
}
finish();
