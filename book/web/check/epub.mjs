// epub.mjs: epubcheck finds neither errors nor warnings.  node epub.mjs build/attention.epub
import fs from 'node:fs';
import { execFileSync } from 'node:child_process';
import { check, finish } from './report.mjs';

const jar = '/usr/share/java/epubcheck.jar',
  epub = process.argv[2] ?? 'build/attention.epub';
if (!fs.existsSync(jar)) {
  console.log('epubcheck is not here (make setup-web)');
  process.exit(1);
}
let said = '';
try {
  said = execFileSync('java', ['-jar', jar, epub], { encoding: 'utf8', stdio: 'pipe' });
} catch (e) {
  said = `${e.stdout}${e.stderr}`;
}
const faults = said.split('\n').filter((l) => /^(FATAL|ERROR|WARNING)/.test(l));
check(
  /0 fatals \/ 0 errors \/ 0 warnings/.test(said),
  `epubcheck: ${/Messages:.*/.exec(said)?.[0] ?? said.slice(0, 200)}`,
  faults,
);
finish();
