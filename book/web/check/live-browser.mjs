// live-browser.mjs: the live figures in a browser.  node live-browser.mjs build/web [SHOTS]
// Each is opened by the keyboard, moved by each of its controls and by each point that can be
// dragged, looked at by axe in both themes and at 320 px, and closed again; with a folder
// SHOTS, pictures are left there.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { check, finish } from './report.mjs';

const require = createRequire(path.resolve('build/npm/package.json'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const SITE = path.resolve(process.argv[2] ?? 'build/web'),
  SHOTS = process.argv[3],
  ONLY = process.argv[4];
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const HALF_A_SECOND = 500;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const noise = [];
async function newPage(options) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(180000);
  page.on('console', (m) => {
    if (/error|warning/.test(m.type())) noise.push(`${page.url().split('/').pop()}: ${m.text()}`);
  });
  page.on('pageerror', (e) => noise.push(e.message));
  page.on('request', (r) => {
    if (!/^(file|data|blob):/.test(r.url())) noise.push(`request ${r.url()}`);
  });
  return page;
}
const page = await newPage({});
const calm = await newPage({ reducedMotion: 'reduce' });
const address = (file, name) => `file://${path.join(SITE, file)}#fig-${name}`;
const live = (name) => `#fig-${name} .live`;

/// Opens a figure by its button and Enter; how many ms until it was drawn.
async function open(where, file, name) {
  await where.goto('about:blank');
  await where.goto(address(file, name));
  const button = where.locator(`#fig-${name} .live-bar button`);
  await button.focus();
  await where.keyboard.press('Enter');
  await where.waitForSelector(`#fig-${name}[data-live]`);
  return +(await where.locator(`#fig-${name}`).getAttribute('data-live'));
}
const words = (name) => page.locator(`${live(name)} .words`).textContent();
/// Controls that change neither the words nor the drawing.
async function idle(name) {
  const dead = [];
  const controls = page.locator(`${live(name)} :is(input, select)`);
  const drawn = () =>
    page.locator(live(name)).evaluate((e) => {
      const pixels = [...e.querySelectorAll('canvas')].map((c) => c.toDataURL());
      return e.querySelector('.words').textContent + e.querySelector('.panels').innerHTML + pixels;
    });
  for (let k = 0; k < (await controls.count()); k++) {
    const control = controls.nth(k),
      before = await drawn(),
      type = await control.evaluate((e) => e.type),
      value = await control.evaluate((e) => (e.type === 'checkbox' ? e.checked : e.value));
    await control.focus();
    if (type === 'range') {
      const upper = await control.evaluate((e) => +e.value > (+e.min + +e.max) / 2);
      await page.keyboard.press(upper ? 'Home' : 'End');
    } else await page.keyboard.press(type === 'checkbox' ? ' ' : 'ArrowDown');
    await page.waitForTimeout(30);
    if ((await drawn()) === before)
      dead.push(await control.evaluate((e) => e.labels[0]?.textContent));
    await control.evaluate((e, old) => {
      if (e.type === 'checkbox') e.checked = old;
      else e.value = old;
      e.dispatchEvent(new Event('input'));
    }, value);
  }
  return dead;
}
/// Points that do not follow the mouse, or whose sliders do not follow them.
async function stuck(name) {
  const dead = [];
  const handles = page.locator(`${live(name)} .handle`);
  const sliders = () =>
    page
      .locator(live(name))
      .evaluate((e) => [...e.querySelectorAll('output')].map((o) => o.textContent).join());
  for (let k = 0; k < (await handles.count()); k++) {
    const knob = handles.nth(k).locator('.knob');
    await knob.scrollIntoViewIfNeeded();
    const before = await sliders(),
      { x, y, width, height } = await knob.boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 - 45, y + height / 2 - 25, { steps: 3 });
    await page.mouse.up();
    await page.waitForTimeout(30);
    const after = await knob.boundingBox();
    if ((await sliders()) === before || (after.x === x && after.y === y))
      dead.push(`point ${k + 1} cannot be dragged`);
  }
  return dead;
}
async function accessible(name, scheme) {
  await page.emulateMedia({ colorScheme: scheme });
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(
    ([selector, rules]) =>
      axe.run(document.querySelector(selector), {
        runOnly: rules,
        preload: false,
        resultTypes: ['violations'],
      }),
    [`#fig-${name}`, RULES],
  );
  return violations.map(
    (v) =>
      `${scheme}, ${v.id}: ${v.nodes.length} times, ${v.nodes[0].target} ${v.nodes[0].failureSummary?.split('\n')[1] ?? ''}`,
  );
}
async function sideways() {
  await page.setViewportSize({ width: 320, height: 900 });
  await page.waitForTimeout(50);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  await page.setViewportSize({ width: 1400, height: 900 });
  return wide ? ['it scrolls sideways at 320 px'] : [];
}
async function shots(file, name) {
  for (const [device, width, scheme] of [
    ['desktop', 1400, 'light'],
    ['desktop', 1400, 'dark'],
    ['phone', 390, 'light'],
    ['phone', 390, 'dark'],
  ]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await open(page, file, name);
    await page.waitForTimeout(600);
    await page
      .locator(`#fig-${name}`)
      .screenshot({ path: path.join(SHOTS, `${name}-${device}-${scheme}.png`) });
  }
  await page.setViewportSize({ width: 1400, height: 900 });
}

let count = 0;
for (const file of fs.readdirSync(SITE).filter((f) => f.endsWith('.html'))) {
  const here = /assets\/live\/live\.js" data-figures="([^"]*)"/.exec(
    fs.readFileSync(path.join(SITE, file), 'utf8'),
  );
  for (const name of (here?.[1] ?? '')
    .split(' ')
    .filter((n) => n && (!ONLY || ONLY.split(',').includes(n)))) {
    count++;
    if (SHOTS) await shots(file, name);
    await page.emulateMedia({ colorScheme: 'light' });
    const first = await open(page, file, name);
    const faults = [];
    if (first > HALF_A_SECOND) faults.push(`drawn after ${first} ms`);
    await page.waitForFunction((box) => {
      const [words, spoken] = ['.words', '[role=status]'].map(
        (part) => document.querySelector(`${box} ${part}`).textContent,
      );
      return words.length > 20 && words === spoken;
    }, live(name));
    faults.push(...(await idle(name)).map((label) => `${label} moves nothing`));
    faults.push(...(await stuck(name)));
    if (/NaN|undefined|Infinity/.test(await words(name)))
      faults.push(`it says ${await words(name)}`);
    for (const scheme of ['light', 'dark']) faults.push(...(await accessible(name, scheme)));
    faults.push(...(await sideways()));
    await page.locator(`#fig-${name} .live-bar button`).click();
    if (!(await page.locator(`#fig-${name} .drawing`).isVisible()))
      faults.push('the drawing does not come back');
    await open(calm, file, name);
    if (await calm.locator(`${live(name)} button`, { hasText: 'Play' }).count())
      faults.push('it plays for who wants no motion');
    check(
      !faults.length,
      `${name}: live after ${first.toFixed(0)} ms, moved by its controls and points`,
      faults,
    );
  }
}
check(ONLY || count >= 12, `${count} live figures`);
check(!noise.length, 'console and network are quiet', [...new Set(noise)]);
await browser.close();
finish();
