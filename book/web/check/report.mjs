// report.mjs: a line for each check, and what the program ends with.
let failed = 0,
  passed = 0;
export function check(ok, what, details = []) {
  if (ok) passed++;
  else failed++;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}`);
  if (!ok) for (const d of [...details].slice(0, 8)) console.log(`       ${d}`);
}
export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
