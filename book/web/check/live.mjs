// live.mjs: do the live figures show the numbers of the native program?
//   node live.mjs            (make check-site has compiled both)
// Each function of book/web/live/functions is called in WebAssembly and natively with the
// same arguments; numbers may differ by 1e-12 of themselves, or by 1e-12 if they are below
// a thousandth.  Each module exports what is listed, imports nothing, and is small.
import fs from 'node:fs';
import zlib from 'node:zlib';
import { spawnSync } from 'node:child_process';
import { check, finish } from './report.mjs';

const LIMIT = 1e-12,
  SMALL = 1e-3,
  KILOBYTES = 60,
  ROOM = 1 << 14;
const listed = fs
  .readFileSync('book/web/live/functions', 'utf8')
  .split('\n')
  .filter((l) => l && !l.startsWith('#'))
  .map((l) => {
    const [name, f, calls, ...bounds] = l.split(/\s+/);
    return { name, f, calls: +calls, draws: bounds.flatMap(draw) };
  });

// Numbers that do not look drawn (xorshift), the same in each run.
let state = 88172645463325252n;
const MASK = (1n << 64n) - 1n;
function random() {
  state ^= (state << 13n) & MASK;
  state ^= state >> 7n;
  state ^= (state << 17n) & MASK;
  return Number(state >> 11n) / 2 ** 53;
}
/// 3*-2:2 -> three functions that draw an argument.
function draw(bounds) {
  const [, times, low, kind, high] = /^(?:(\d+)\*)?(.+?)(:|~|\.\.)(.+)$/.exec(bounds);
  const [a, b] = [+low, +high];
  const one = {
    ':': () => a + (b - a) * random(),
    '~': () => a * (b / a) ** random(),
    '..': () => Math.min(b, a + Math.floor((b - a + 1) * random())),
  }[kind];
  return Array(+(times ?? 1)).fill(one);
}

const read = (name) => fs.readFileSync(`build/live/${name}.wasm.js`);
const modules = new Map();
async function moduleOf(name) {
  if (!modules.has(name)) {
    const bytes = Buffer.from(/', '(.*)'\)/.exec(read(name).toString())[1], 'hex');
    const module = await WebAssembly.compile(bytes);
    const { exports } = await WebAssembly.instantiate(module, {});
    exports._initialize();
    modules.set(name, {
      module,
      exports,
      given: exports.malloc(8 * ROOM),
      answer: exports.malloc(8 * ROOM),
    });
  }
  return modules.get(name);
}
/// The answers in WebAssembly, each behind its length.
function called({ exports, given, answer }, f, args) {
  const out = [];
  for (const x of args) {
    new Float64Array(exports.memory.buffer).set(x, given / 8);
    const n = exports[f](given, answer);
    out.push(n, ...new Float64Array(exports.memory.buffer, answer, n));
  }
  return Float64Array.from(out);
}
function native(name, f, args) {
  const input = Buffer.from(Float64Array.from(args.flat()).buffer);
  const run = spawnSync(
    'build/live/native/call',
    [`build/live/native/${name}.so`, f, String(args[0].length)],
    { input, maxBuffer: 1 << 30 },
  );
  if (run.status !== 0) throw new Error(`${f}: ${run.stderr}`);
  const copy = new Uint8Array(run.stdout);
  return new Float64Array(copy.buffer, 0, copy.length / 8);
}
/// By how much two lists differ: relatively, or absolutely near zero.
function apart(ours, theirs) {
  if (ours.length !== theirs.length) return { worst: Infinity, equal: 0 };
  let worst = 0,
    equal = 0;
  ours.forEach((a, k) => {
    const b = theirs[k];
    if (Object.is(a, b) || a === b) return equal++;
    const off = Math.abs(a - b) / (Math.abs(b) > SMALL ? Math.abs(b) : 1);
    worst = Math.max(worst, Number.isNaN(off) ? Infinity : off);
  });
  return { worst, equal };
}

let calls = 0;
for (const { name, f, draws, calls: n } of listed) {
  const module = await moduleOf(name),
    args = Array.from({ length: n }, () => draws.map((d) => d()));
  const start = performance.now(),
    ours = called(module, f, args),
    micro = ((performance.now() - start) / n) * 1000,
    theirs = native(name, f, args),
    { worst, equal } = apart(ours, theirs);
  calls += n;
  check(
    worst <= LIMIT,
    `${name}, ${f}: ${n} calls, ${ours.length - n} numbers, ${ours.length - equal} not the same bits, ` +
      `worst ${worst.toExponential(1)}; ${micro.toFixed(micro < 10 ? 1 : 0)} µs a call`,
  );
  // what this check would see
  const k = ours.findLastIndex((x) => Math.abs(x) > SMALL && Number.isFinite(x));
  ours[k] *= 1 + 2.5 * LIMIT;
  if (apart(ours, theirs).worst <= LIMIT)
    check(false, `${name}, ${f}: a change of 2.5e-12 is not seen`);
}
check(calls >= 1e5, `${calls} calls`);

for (const [name, { module }] of modules) {
  const names = WebAssembly.Module.exports(module).map((e) => e.name),
    wanted = [
      'memory',
      '_initialize',
      'malloc',
      ...listed.filter((l) => l.name === name).map((l) => l.f),
    ],
    imports = WebAssembly.Module.imports(module);
  check(
    [...names].sort().join() === [...wanted].sort().join() && !imports.length,
    `${name} exports what is listed and imports nothing`,
    [names.join(' '), ...imports.map((i) => i.name)],
  );
  const script = fs.readFileSync(`book/web/live/figures/${name}.js`);
  const unused = listed.filter((l) => l.name === name && !script.includes(`'${l.f}'`));
  check(
    !unused.length,
    `its script calls all of it`,
    unused.map((l) => l.f),
  );
  const kB =
    (zlib.gzipSync(read(name), { level: 9 }).length + zlib.gzipSync(script, { level: 9 }).length) /
    1000;
  check(kB <= KILOBYTES, `${name}: ${kB.toFixed(1)} kB compressed`);
}
const drawn = fs
  .readdirSync('book/web/live/figures')
  .map((f) => f.replace('.js', ''))
  .sort();
check(
  drawn.join() === [...modules.keys()].sort().join(),
  `${drawn.length} figures, each with a program and a script`,
);
const core = fs.readFileSync('book/web/live/live.js');
check(
  true,
  `their common script: ${(zlib.gzipSync(core, { level: 9 }).length / 1000).toFixed(1)} kB`,
);
finish();
