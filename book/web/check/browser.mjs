// browser.mjs: what only a browser can tell.  node browser.mjs build/web [--quick|--only=RE]
// Each page in both themes: no message, no request elsewhere, WCAG 2.2 AA and best practice
// by axe, 320 px without sideways scrolling; then what the pages do for a reader.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { check, finish } from './report.mjs';

const require = createRequire(path.resolve('build/npm/package.json'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const SITE = path.resolve(process.argv[2] ?? 'build/web'),
  quick = process.argv.includes('--quick');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
// The themes differ in nothing but colours.
const COLOURS = ['color-contrast', 'link-in-text-block'];
const QUICK = [
  'index.html',
  '02-gibbs.html',
  '02-gibbs-checks.html',
  '02-gibbs-proofs.html',
  '02-gibbs-answers.html',
  'ledger.html',
  'library.html',
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const context = await browser.newContext({
  viewport: { width: 1400, height: 900 },
  permissions: ['clipboard-read', 'clipboard-write'],
});
const page = await context.newPage(),
  noise = [];
page.setDefaultTimeout(120000);
page.on('console', (m) => {
  if (/error|warning/.test(m.type())) noise.push(`${page.url().split('/').pop()}: ${m.text()}`);
});
page.on('pageerror', (e) => noise.push(e.message));
page.on('request', (r) => {
  if (!/^(file|data|blob):/.test(r.url())) noise.push(`request ${r.url()}`);
});
const open = (name) => page.goto(`file://${path.join(SITE, name)}`);
const width = (w) => page.setViewportSize({ width: w, height: 900 });

// Every page.
const faults = [],
  sideways = [];
const only = new RegExp(process.argv.find((a) => a.startsWith('--only='))?.slice(7) ?? '');
const pages = quick
  ? QUICK
  : fs.readdirSync(SITE).filter((f) => f.endsWith('.html') && only.test(f));
async function accessible(name, scheme) {
  await page.emulateMedia({ colorScheme: scheme });
  await width(1400);
  await open(name);
  await page.evaluate(axe);
  const runOnly =
    scheme === 'light' ? { type: 'tag', values: RULES } : { type: 'rule', values: COLOURS };
  const { violations } = await page.evaluate(
    (rules) => axe.run(document, { runOnly: rules, preload: false, resultTypes: ['violations'] }),
    runOnly,
  );
  for (const v of violations)
    faults.push(
      `${name}, ${scheme}, ${v.id}: ${v.nodes.length} times, ${v.nodes[0].target} ${
        (v.nodes[0].failureSummary ?? '').split('\n')[1] ?? ''
      }`,
    );
}
async function narrow(name) {
  await width(320);
  const wide = await page.evaluate(
    () =>
      document.documentElement.scrollWidth > innerWidth &&
      [...document.querySelectorAll('main *')]
        .filter(
          (e) =>
            e.getBoundingClientRect().right > innerWidth + 1 &&
            !e.closest('pre, .m, .scroll, .drawing'),
        )
        .slice(0, 2)
        .map((e) => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`),
  );
  if (wide) sideways.push(`${name}: ${wide}`);
}
let told = 0;
for (const name of pages)
  for (const scheme of ['light', 'dark']) {
    await accessible(name, scheme);
    if (scheme === 'light') await narrow(name);
    for (const f of faults.slice(told)) console.log(`       ${f}`); // (it takes minutes)
    told = faults.length;
  }
check(
  !faults.length,
  `axe: WCAG 2.2 A, AA and best practice, ${pages.length} pages, light and dark`,
  faults,
);
check(!sideways.length, 'no page scrolls sideways at 320 px', sideways);

// What a reader does.
await page.emulateMedia({ colorScheme: 'light' });
await width(1400);
const first = fs.readdirSync(SITE).filter((f) => /^\d\d-\w+\.html$/.test(f))[2];
await open(first);
await page.keyboard.press('/');
await page.keyboard.type('partition function');
await page.waitForSelector('#hits a');
check((await page.locator('#hits a').count()) > 2, 'the search finds a word as it is typed');
await page.keyboard.press('Enter');
await page.waitForURL(/#/);
check(
  !(await page.locator('#search').evaluate((d) => d.open)),
  `Enter goes there: ${page.url().split('/').pop()}`,
);

await open(first);
const stamp = page.locator('article a.case').first();
await stamp.click();
await page.waitForSelector('.unfolded pre');
check(
  (await stamp.getAttribute('aria-expanded')) === 'true',
  'a stamp opens the code of its check',
);
await page.locator('.unfolded button', { hasText: 'Copy file' }).first().click();
await page.waitForFunction(() => navigator.clipboard.readText().then((t) => /#include/.test(t)));
const copied = await page.evaluate(() => navigator.clipboard.readText());
check(
  /BOOST_AUTO_TEST_CASE/.test(copied),
  `its file can be copied, ${copied.split('\n').length} lines`,
);
fs.writeFileSync('build/copied.cpp', copied);
await page.locator('.unfolded button', { hasText: 'Close' }).first().click();
check((await page.locator('.unfolded').count()) === 0, 'and it closes again');

const proved = page.locator('.stamp[aria-label^="proof of"] a.case').first();
await proved.click();
await page.waitForSelector('.unfolded pre');
const proof = await page.locator('.unfolded pre').first().textContent();
check(/^Proof/m.test(proof), `a stamp of a proof opens the proof, ${proof.length} characters`);
await page.locator('.unfolded button', { hasText: 'Close' }).first().click();

const details = page.locator('details.unfold').first();
await details.locator('summary').focus();
await page.keyboard.press('Enter');
await page.waitForSelector('details.unfold[open] .inside pre');
check(true, 'checks unfold in place, by the keyboard');
const inside = await page.locator('details.unfold .inside .chunk').first().getAttribute('id');
await page.goto('about:blank');
await open(`${first}#${inside}`);
await page.waitForSelector(`details.unfold[open] #${inside}`);
check(true, `and have addresses: #${inside}`);

await open(first);
const link = page.locator('article p a.ref').first();
await link.focus();
await page.keyboard.press('Shift+Tab');
await page.keyboard.press('Tab');
await page.waitForSelector('#preview');
check(true, 'what a link leads to shows on focus');
await page.keyboard.press('Escape');
check((await page.locator('#preview').count()) === 0, 'and Escape takes it away');
await page.locator('.eq .copy').first().click({ force: true });
await page.waitForFunction(() => navigator.clipboard.readText().then((t) => /\\|=/.test(t)));
check(
  true,
  `a formula is copied as LaTeX: ${(await page.evaluate(() => navigator.clipboard.readText())).slice(0, 50)}`,
);

await open('ledger.html');
const tried = page.locator('th button', { hasText: 'Tried' }).first();
await tried.click();
await tried.click();
const column = await page
  .locator('table.sortable')
  .first()
  .locator('tbody tr td:last-child')
  .allTextContents();
const sizes = column.slice(0, 20).map((s) => +s.replace(/\D/g, ''));
check(
  sizes.every((x, k) => !k || x <= sizes[k - 1]),
  `the ledger can be sorted, the most tried have ${column[0]}`,
);

await open(first);
const paint = await page.evaluate(
  () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
);
check(paint < 1000, `first paint from disk after ${Math.round(paint)} ms`);
check(!noise.length, 'console and network are quiet', [...new Set(noise)]);
await browser.close();
finish();
