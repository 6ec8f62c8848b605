// live.mjs: which figures can be moved, and what a page needs for it.  A figure can if its
// chapter has a program live/NAME.cpp that was compiled (build/live, web.mk) and there is a
// script live/figures/NAME.js that draws it; without a compiler for it no figure can, and
// the drawings stay.
import fs from 'node:fs';
import path from 'node:path';

const HERE = path.join(path.dirname(new URL(import.meta.url).pathname), 'live'),
  COMPILED = 'build/live';
const drawn = fs.readdirSync(path.join(HERE, 'figures')).map((f) => path.basename(f, '.js'));
export const movable = drawn
  .filter((name) => fs.existsSync(path.join(COMPILED, `${name}.wasm.js`)))
  .sort();

/// What goes into the head of a page.
export function liveHead(html) {
  const here = movable.filter((name) => html.includes(` id="fig-${name}"`));
  if (!here.length) return '';
  return (
    '<link rel="stylesheet" href="assets/live/live.css">\n' +
    `<script src="assets/live/live.js" data-figures="${here.join(' ')}" defer></script>\n`
  );
}
/// The files that the site has for that: [from, to].
export const liveFiles = () =>
  !movable.length
    ? []
    : [
        ...['live.js', 'live.css'].map((f) => [path.join(HERE, f), `assets/live/${f}`]),
        ...movable.flatMap((name) => [
          [path.join(HERE, 'figures', `${name}.js`), `assets/live/${name}.js`],
          [path.join(COMPILED, `${name}.wasm.js`), `assets/live/${name}.wasm.js`],
        ]),
      ];
