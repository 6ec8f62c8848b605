// cover.mjs: the arcs of the title page, from build/cover.tex, as SVG: each chunk joined to the
// chunks that use it, fine ones to those of other chapters that use a name which it defines.
import { groups, read } from './util.mjs';

const LIGHT = ['3b3b3b', '8a2b0e', '0b4f6c', '2e6b34', 'b8862b', '6b3a6f'];
const DARK = ['b9b5ad', 'eb9a78', '7cc0e0', '83c78a', 'd9b45f', 'c492c9'];
const STYLE = {
  covernames: 'stroke-opacity=".12" stroke-width=".25"',
  coverarcs: 'stroke-opacity=".6" stroke-width=".4"',
  coverdots: 'stroke-width="1.1" stroke-linecap="round"',
};

/// {light, dark}: the two drawings.
export function coverArcs(file) {
  const tex = read(file),
    top = highest(tex);
  const draw = (colours) =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-3 ${-top - 3} 474 ${top + 6}" fill="none">${Object.keys(
      STYLE,
    )
      .map((name) => layer(tex, name, colours))
      .join('')}</svg>\n`;
  return { light: draw(LIGHT), dark: draw(DARK) };
}
function highest(tex) {
  let top = 0;
  for (const m of tex.matchAll(/\\coverarc(?:\{[^}]*\}){6}\{([\d.]+)\}/g)) top = Math.max(top, +m[1]);
  return Math.ceil(top);
}
function layer(tex, name, colours) {
  const at = tex.indexOf(`\\def\\${name}{`);
  if (at < 0) return '';
  const [body] = groups(tex, at + name.length + 5),
    paths = new Map();
  let colour = 0;
  for (const m of body.matchAll(/\\cover(color|arc|dot)((?:\{[^}]*\})+)/g)) {
    const p = groups(m[2], 0).map(Number);
    if (m[1] === 'color') [colour] = p;
    else {
      if (!paths.has(colour)) paths.set(colour, []);
      paths.get(colour).push(m[1] === 'dot' ? `M${p[0]} 0h0` : arc(p));
    }
  }
  const drawn = [...paths].flatMap(([c, arcs]) =>
    bundles(arcs).map((d) => `<path stroke="#${colours[c]}" d="${d}"/>`),
  );
  return `<g ${STYLE[name]}>${drawn.join('')}</g>`;
}
const arc = ([a, b, c, d, e, low, high]) =>
  `M${a} 0C${[a, -low, b, -high, c, -high].map(short).join(' ')} ${[d, -high, e, -low, e, 0].map(short).join(' ')}`;
/// Lines of one path do not add up where they cross: the arcs are dealt to many paths.
const bundles = (arcs) =>
  Array.from({ length: Math.min(60, arcs.length) }, (_, k, n = Math.min(60, arcs.length)) =>
    arcs.filter((a, j) => j % n === k).join(''),
  );
const short = (x) => +x.toFixed(1);
