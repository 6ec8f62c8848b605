// figures.mjs: the PDFs of the figures -> SVG, one drawing in the colours of the light theme
// and one in those of the dark; what LaTeX knows and we do not is set by LuaLaTeX.
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { read } from './util.mjs';

// The colours of book/attnfonts.sty, and what they are in the dark.
const DARK = {
  '000000': 'dedad2',
  ffffff: '16171a',
  '8a2b0e': 'eb9a78',
  '0b4f6c': '7cc0e0',
  '2e6b34': '83c78a',
  '7a4b12': 'dca966',
  '5b6b5a': '98ab96',
  c9c2b8: '4a4d53',
  f8f6f1: '1d1f23',
  b3261e: 'f08a80',
};
const channels = (hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));
const hex = (rgb) =>
  rgb
    .map((x) =>
      Math.round(Math.min(255, Math.max(0, x)))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('');

/// A colour of the light theme or a tint of one (ident!30) -> the same of the dark theme.
function darken(rgb) {
  let best = null;
  for (const [light, dark] of Object.entries(DARK)) {
    if (light === 'ffffff') continue;
    const c = channels(light),
      d = channels(dark),
      paper = channels(DARK.ffffff);
    const all = 255 * 3 - c[0] - c[1] - c[2],
      t = (255 * 3 - rgb[0] - rgb[1] - rgb[2]) / all;
    if (t > 1.02) continue;
    const miss = Math.max(...rgb.map((x, k) => Math.abs(x - 255 - t * (c[k] - 255))));
    if (!best || miss < best.miss - 0.5)
      best = { miss, rgb: d.map((x, k) => paper[k] + t * (x - paper[k])) };
  }
  return hex(best && best.miss < 6 ? best.rgb : lighten(rgb));
}
/// Any other colour keeps its hue and has its lightness turned over.
function lighten(rgb) {
  const sum = Math.max(...rgb) + Math.min(...rgb);
  return rgb.map((x) => x + 255 - sum);
}

export class Figures {
  /// pdfs: the folder of the figures; kept: a folder for what is made of them.
  constructor(pdfs, kept) {
    Object.assign(this, { pdfs, kept, made: new Map() });
    fs.mkdirSync(kept, { recursive: true });
  }
  get(name, where) {
    if (!this.made.has(name))
      this.made.set(name, this.make(name, path.join(this.pdfs, `${name}.pdf`), where));
    return this.made.get(name);
  }
  make(name, pdf, where) {
    if (!fs.existsSync(pdf)) throw new Error(`${where}: no figure ${name}`);
    const light = path.join(this.kept, `${name}.svg`),
      dark = path.join(this.kept, `${name}-dark.svg`);
    if (!newer(light, pdf) || !newer(dark, pdf)) this.convert(name, pdf, light, dark);
    const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(head(light));
    return { name, width, height, files: [light, dark], ...readSource(name) };
  }
  convert(name, pdf, light, dark) {
    execFileSync('pdftocairo', ['-svg', pdf, light]);
    const svg = slim(read(light));
    fs.writeFileSync(light, svg);
    fs.writeFileSync(
      dark,
      svg
        .replace('<svg ', '<svg fill="#dedad2" ')
        .replace(/#[0-9a-f]{6}\b/g, (m) =>
          m === '#dedad2' ? m : `#${darken(channels(m.slice(1)))}`,
        ),
    );
  }
  /// An environment that only LaTeX knows, as a drawing.
  foreign(tex, where) {
    const name = `tex-${createHash('sha256').update(tex).digest('hex').slice(0, 12)}`,
      dir = this.kept;
    const pdf = path.join(dir, `${name}.pdf`);
    if (!fs.existsSync(pdf)) typeset(tex, path.join(dir, `${name}.tex`), where);
    return this.make(name, pdf, where);
  }
}
const head = (file) => read(file).slice(0, 400);
const newer = (file, than) =>
  fs.existsSync(file) && fs.statSync(file).mtimeMs > fs.statSync(than).mtimeMs;

/// What the figure's source says: "% alt: ..." in as many lines as it takes, and its data.
function readSource(name) {
  const file = `figures/${name}.tex`;
  if (!fs.existsSync(file)) return { alt: null, data: [] };
  const tex = read(file),
    alt = /^% alt: (.*(?:\n%   .*)*)/m.exec(tex)?.[1];
  return {
    alt: alt?.replace(/\n%\s+/g, ' ').trim() ?? null,
    data: [...new Set([...tex.matchAll(/figdata\{([^}]*)\}/g)].map((m) => m[1]))],
  };
}
/// Short numbers and colours, no defaults; 1.5 times as large as in print.
function slim(svg) {
  const two = (x) =>
    Math.round(x * 2.55)
      .toString(16)
      .padStart(2, '0');
  const [, w, h] = /width="([\d.]+)(?:pt)?" height="([\d.]+)(?:pt)?"/.exec(svg);
  return svg
    .replace(/<\?xml[^>]*\?>\s*/, '')
    .replace(
      /rgb\(([\d.]+)%, ?([\d.]+)%, ?([\d.]+)%\)/g,
      (m, r, g, b) => `#${two(r)}${two(g)}${two(b)}`,
    )
    .replace(/(-?\d+\.\d{2})\d+/g, '$1')
    .replace(
      /fill-rule:nonzero;|(fill|stroke)-opacity:1;|stroke-miterlimit:10;|stroke-linecap:butt;|stroke-linejoin:miter;/g,
      '',
    )
    .replace(
      /fill-rule="nonzero" |(fill|stroke)-opacity="1" ?|stroke-miterlimit="10" ?|stroke-linecap="butt" ?|stroke-linejoin="miter" ?/g,
      '',
    )
    .replace(/([MLC]) (?=-?\d)/g, '$1')
    .replace(/ ([MLCZ])/g, '$1')
    .replace(/\n\s*/g, '\n')
    .replace(
      /width="[^"]*" height="[^"]*"/,
      `width="${(w * 1.5).toFixed(0)}" height="${(h * 1.5).toFixed(0)}"`,
    );
}
function typeset(tex, file, where) {
  fs.writeFileSync(
    file,
    `\\newcommand\\thevolume{I}\\documentclass[10pt]{scrbook}\\usepackage{attnbook}\\input{book/macros}
\\usepackage[active,tightpage]{preview}\\begin{document}\\begin{preview}\\begin{minipage}{347pt}
${tex}\\end{minipage}\\end{preview}\\end{document}\n`,
  );
  const options = [
    '-interaction=nonstopmode',
    '-halt-on-error',
    `-output-directory=${path.dirname(file)}`,
    file,
  ];
  try {
    execFileSync('lualatex', options, {
      stdio: 'pipe',
      env: { ...process.env, TEXINPUTS: '.:book:build:' },
    });
  } catch (e) {
    const why = /^!.*/m.exec(String(e.stdout))?.[0] ?? 'LuaLaTeX failed';
    throw new Error(`${where}: ${why} in an environment that the web edition does not know`);
  }
}
