// live.js: figures that move under the reader's hand.  Below a figure that has a program
// stands a button; it puts controls and a drawing of its own in the place of the printed
// one, which stays as it is without this script.  What is drawn is computed by the book's
// own C++ (the chapter's live/NAME.cpp, as WebAssembly); the scripts in live/figures/ only
// draw it.  All is operated by real sliders, boxes and buttons; dragging moves sliders.
(function () {
  'use strict';
  const SVG = 'http://www.w3.org/2000/svg';
  const script = document.currentScript;
  const still = matchMedia('(prefers-reduced-motion: reduce)');
  const inSvg = /^(svg|g|path|circle|rect|text|tspan|clipPath)$/;
  /// An element with attributes and children.
  function make(name, attributes = {}, ...children) {
    const e = inSvg.test(name) ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  }

  // ------------------------------------------------------------- programs --
  const makers = {},
    codes = {},
    loading = {};
  const load = (file) =>
    (loading[file] ??= new Promise((done, failed) => {
      const src = new URL(file, script.src).href;
      document.head.append(
        Object.assign(make('script', { src }), { onload: done, onerror: failed }),
      );
    }));
  const prepare = (name) => Promise.all([load(`${name}.js`), load(`${name}.wasm.js`)]);
  const ROOM = 1 << 14;
  /// A program's functions: call(name, [numbers]) gives the numbers that it answers.
  async function start(name) {
    const bytes = Uint8Array.from(codes[name].match(/../g), (byte) => parseInt(byte, 16));
    const { instance } = await WebAssembly.instantiate(bytes, {});
    const { exports } = instance;
    exports._initialize();
    const given = exports.malloc(8 * ROOM),
      answer = exports.malloc(8 * ROOM);
    const numbers = () => new Float64Array(exports.memory.buffer);
    return (f, args) => {
      numbers().set(args.flat(), given / 8);
      const n = exports[f](given, answer);
      return numbers().slice(answer / 8, answer / 8 + n);
    };
  }
  window.LIVE = {
    figure(name, maker) {
      makers[name] = maker;
    },
    program(name, code) {
      codes[name] = code;
    },
  };

  // ----------------------------------------------------------------- text --
  const minus = (s) => s.replace(/-/g, '−');
  const power = (e) =>
    `10${[...String(e)].map((c) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]).join('')}`;
  /// A number in so many significant digits.
  const digits = (x, n = 3) => {
    if (!Number.isFinite(x)) return x === Infinity ? '∞' : x === -Infinity ? '−∞' : 'undefined';
    if (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e6)) {
      const [m, e] = x.toExponential(n - 1).split('e');
      return minus(`${m} × ${power(+e)}`);
    }
    return minus(x.toPrecision(n).includes('e') ? String(Math.round(x)) : x.toPrecision(n));
  };
  /// The number at a tick; small ones are powers of ten.
  const tick = (x) =>
    x && Math.abs(x) < 1e-3 ? power(Math.round(Math.log10(x))) : minus(String(x));
  const fixed = (x, n = 2) => minus((Math.abs(x) < 0.5 * 10 ** -n ? 0 : x).toFixed(n));

  /// w_Q -> w with a small Q below, in HTML or in a drawing.
  const lowered = (words, small) =>
    words.split(/_(\w)/).map((part, k) => (k % 2 ? make(...small, part) : part));
  const SUB = ['sub', {}],
    TSPAN = ['tspan', { dy: 4, 'font-size': '70%' }];

  // ---------------------------------------------------------------- stage --
  /// What a figure's script builds on: controls, drawings and a sentence.
  class Stage {
    constructor(box, call) {
      Object.assign(this, { box, call });
      this.width = Math.max(260, Math.min(660, box.clientWidth || 640));
      this.drawings = box.appendChild(make('div', { class: 'panels' }));
      this.controls = box.appendChild(make('div', { class: 'controls' }));
      this.words = box.appendChild(make('p', { class: 'words' }));
      this.spoken = box.appendChild(make('p', { class: 'vh', role: 'status' }));
    }
    /// draw() is called now and after each change; it returns a sentence.
    run(draw) {
      this.draw = draw;
      this.changed();
    }
    changed() {
      if (this.waiting) return;
      this.waiting = true;
      queueMicrotask(() => {
        this.waiting = false;
        this.show();
      });
    }
    show() {
      if (!this.draw) return;
      let words;
      try {
        words = this.draw();
      } catch (e) {
        if (!(e instanceof WebAssembly.RuntimeError)) throw e;
        words = 'Here this is not defined.';
      }
      this.say(words);
    }
    /// The sentence; read out when it has stood for a moment.
    say(words) {
      this.words.textContent = words;
      clearTimeout(this.speaking);
      this.speaking = setTimeout(() => {
        this.spoken.textContent = words;
      }, 400);
    }
    /// A slider; log: equal steps are equal factors.  show(value) is what is read out.
    slider({ label, min, max, value, step, log, show = (x) => digits(x) }) {
      const to = log ? Math.log : (x) => x,
        from = log ? Math.exp : (x) => x;
      const input = make('input', {
        type: 'range',
        min: to(min),
        max: to(max),
        step: step ?? 'any',
        value: to(value),
      });
      const shown = make('output');
      const self = {
        get value() {
          return Math.min(max, Math.max(min, from(+input.value)));
        },
        set value(x) {
          input.value = to(Math.min(max, Math.max(min, x)));
          say();
        },
        input,
      };
      const say = () => {
        shown.textContent = show(self.value);
        input.setAttribute('aria-valuetext', shown.textContent);
      };
      input.addEventListener('input', () => {
        say();
        this.changed();
      });
      say();
      this.controls.append(
        make('label', {}, make('span', {}, ...lowered(label, SUB)), input, shown),
      );
      return self;
    }
    whole(options) {
      return this.slider({ step: 1, show: (x) => String(x), ...options });
    }
    /// One of several words.
    choice({ label, options, value = 0 }) {
      const select = make('select');
      for (const o of options) select.append(make('option', {}, o));
      select.selectedIndex = value;
      select.addEventListener('input', () => this.changed());
      this.controls.append(make('label', {}, make('span', {}, label), select));
      return {
        get value() {
          return select.selectedIndex;
        },
        set value(k) {
          select.selectedIndex = k;
        },
      };
    }
    tick({ label, value }) {
      const input = make('input', { type: 'checkbox' });
      input.checked = value;
      input.addEventListener('input', () => this.changed());
      this.controls.append(make('label', { class: 'tick' }, input, make('span', {}, label)));
      return {
        get value() {
          return input.checked ? 1 : 0;
        },
      };
    }
    button(label, press) {
      const b = make('button', { type: 'button', class: 'small' }, label);
      b.onclick = () => {
        press(b);
        this.changed();
      };
      this.controls.append(b);
      return b;
    }
    /// A button that moves a slider on, step by step; not for who wants no motion.
    player(slider, every = 900) {
      if (still.matches) return;
      let timer = 0;
      const stop = (b) => {
        clearInterval(timer);
        timer = 0;
        b.textContent = 'Play';
      };
      const on = (b) => {
        if (!this.box.isConnected || slider.value >= +slider.input.max) return stop(b);
        slider.value += 1;
        this.changed();
      };
      this.button('Play', (b) => {
        if (timer) return stop(b);
        if (slider.value >= +slider.input.max) slider.value = +slider.input.min;
        b.textContent = 'Stop';
        timer = setInterval(() => on(b), every);
      });
    }
    plot(options) {
      return new Plot(this, options);
    }
    pixels(options) {
      return new Pixels(this, options);
    }
  }

  // ----------------------------------------------------------------- plot --
  let drawings = 0;
  /// A drawing with coordinates; x and y are [from, to]; equal: one unit for both; bare: laid
  /// over a picture of pixels.
  class Plot {
    constructor(
      stage,
      {
        label,
        x,
        y,
        height,
        share = 1,
        log = {},
        equal,
        frame = true,
        bare,
        ticks = {},
        names = {},
      },
    ) {
      const panels =
        share < 1 && stage.width >= 480 ? Math.floor(stage.width * share) - 8 : stage.width;
      const room = bare ? 0 : 8;
      const margin = frame
        ? { left: 46, right: 10, top: 10, bottom: 40 }
        : { left: room, right: room, top: room, bottom: room };
      const W = Math.min(panels, equal ? 440 : 660),
        w = W - margin.left - margin.right,
        h = equal ? w * Math.abs((y[1] - y[0]) / (x[1] - x[0])) : (height ?? 240);
      const H = h + margin.top + margin.bottom;
      const scale = (range, from, to, isLog) => {
        const f = isLog ? Math.log : (t) => t,
          [a, b] = range.map(f);
        return {
          there: (t) => from + ((f(t) - a) / (b - a)) * (to - from),
          back: (p) => (isLog ? Math.exp : (t) => t)(a + ((p - from) / (to - from)) * (b - a)),
        };
      };
      Object.assign(this, { stage, x, y, W, H });
      this.sx = scale(x, margin.left, margin.left + w, log.x);
      this.sy = scale(y, margin.top + h, margin.top, log.y);
      this.svg = make('svg', {
        viewBox: `0 0 ${W} ${H}`,
        width: W,
        height: H,
        role: 'img',
        'aria-label': label,
      });
      const id = `live-${++drawings}`;
      const { left, top } = margin;
      this.within = make('g', { 'clip-path': `url(#${id})` });
      this.svg.append(
        make('clipPath', { id }, make('rect', { x: left, y: top, width: w, height: h })),
        this.within,
      );
      if (frame) this.frame(ticks, names, margin, w, h);
      (bare ?? stage.drawings).append(this.svg);
    }
    X(t) {
      return this.sx.there(t);
    }
    Y(t) {
      return this.sy.there(t);
    }
    frame(ticks, names, margin, w, h) {
      const bottom = margin.top + h,
        add = (...a) => this.svg.append(make(...a));
      add('path', {
        class: 'axis',
        d: `M${margin.left} ${margin.top}V${bottom}H${margin.left + w}`,
      });
      for (const t of ticks.x ?? []) {
        add('path', { class: 'axis', d: `M${this.X(t)} ${bottom}v4` });
        add(
          'text',
          { class: 'tick', x: this.X(t), y: bottom + 17, 'text-anchor': 'middle' },
          tick(t),
        );
      }
      for (const t of ticks.y ?? []) {
        add('path', { class: 'axis', d: `M${margin.left} ${this.Y(t)}h-4` });
        add(
          'text',
          { class: 'tick', x: margin.left - 7, y: this.Y(t) + 4, 'text-anchor': 'end' },
          tick(t),
        );
      }
      if (names.x)
        add('text', { x: margin.left + w / 2, y: bottom + 35, 'text-anchor': 'middle' }, names.x);
      if (names.y)
        add(
          'text',
          {
            x: 12,
            y: margin.top + h / 2,
            'text-anchor': 'middle',
            transform: `rotate(-90 12 ${margin.top + h / 2})`,
          },
          names.y,
        );
    }
    /// A line through points [x, y]; a gap where they are no numbers.
    line(points, kind = 'c1', closed = false) {
      const path = make('path', { class: `line ${kind}` });
      const set = (list) => {
        let d = '',
          pen = 'M';
        for (const [a, b] of list) {
          if (!Number.isFinite(a) || !Number.isFinite(b)) pen = 'M';
          else {
            d += `${pen}${this.X(a).toFixed(2)} ${this.Y(b).toFixed(2)}`;
            pen = 'L';
          }
        }
        path.setAttribute('d', d && closed ? `${d}Z` : d);
      };
      set(points);
      this.within.append(path);
      return { set, path };
    }
    dot(kind = 'c1', r = 4) {
      const dot = make('circle', { class: `dot ${kind}`, r });
      this.svg.append(dot);
      return {
        dot,
        set: ([a, b], size = r) => {
          dot.setAttribute('cx', this.X(a).toFixed(2));
          dot.setAttribute('cy', this.Y(b).toFixed(2));
          dot.setAttribute('r', Math.max(0, size).toFixed(2));
        },
      };
    }
    text(words, [a, b], kind = '', anchor = 'middle', [right, down] = [0, 0]) {
      const text = make('text', { class: kind, 'text-anchor': anchor }, ...lowered(words, TSPAN));
      const set = ([u, v]) => {
        text.setAttribute('x', (this.X(u) + right).toFixed(2));
        text.setAttribute('y', (this.Y(v) + down).toFixed(2));
      };
      set([a, b]);
      this.svg.append(text);
      return { set, text };
    }
    rect(kind = '') {
      const rect = make('rect', { class: kind });
      this.svg.append(rect);
      return {
        rect,
        set: ([a, b], [c, d]) => {
          const [x0, x1] = [this.X(a), this.X(c)].sort((p, q) => p - q),
            [y0, y1] = [this.Y(b), this.Y(d)].sort((p, q) => p - q);
          for (const [k, v] of Object.entries({ x: x0, y: y0, width: x1 - x0, height: y1 - y0 }))
            rect.setAttribute(k, v.toFixed(2));
        },
      };
    }
    /// A point to drag; moved([x, y]) sets sliders, which are what a keyboard moves.
    handle(kind, moved) {
      const hit = make('circle', { class: 'hit', r: 24 }),
        knob = make('circle', { class: `knob ${kind}`, r: 8 }),
        both = make('g', { class: 'handle', 'aria-hidden': 'true' }, hit, knob);
      const place = (e) => {
        const r = this.svg.getBoundingClientRect();
        return [
          this.sx.back(((e.clientX - r.left) / r.width) * this.W),
          this.sy.back(((e.clientY - r.top) / r.height) * this.H),
        ];
      };
      both.addEventListener('pointerdown', (e) => {
        both.setPointerCapture(e.pointerId);
        e.preventDefault();
      });
      both.addEventListener('pointermove', (e) => {
        if (!both.hasPointerCapture(e.pointerId)) return;
        moved(place(e));
        this.stage.changed();
      });
      this.svg.append(both);
      return {
        set: ([a, b]) =>
          both.setAttribute(
            'transform',
            `translate(${this.X(a).toFixed(2)} ${this.Y(b).toFixed(2)})`,
          ),
      };
    }
  }

  // --------------------------------------------------------------- pixels --
  /// A picture of columns x rows pixels; set(values) with the ink of each, -1 to 1 or 0 to 1.
  class Pixels {
    constructor(stage, { label, columns, rows, size = 6, caption, palette = ink }) {
      const canvas = make('canvas', {
        width: columns,
        height: rows,
        role: 'img',
        'aria-label': label,
      });
      canvas.style.width = `${columns * size}px`;
      Object.assign(this, { canvas, columns, rows, palette, values: null });
      this.caption = make('figcaption', {}, caption ?? '');
      this.sheet = make('div', { class: 'sheet' }, canvas);
      stage.drawings.append(make('figure', { class: 'pixels' }, this.sheet, this.caption));
      whenThemeChanges(() => this.values && this.paint());
    }
    set(values, caption) {
      this.values = values;
      if (caption !== undefined) this.caption.textContent = caption;
      this.paint();
    }
    paint() {
      if (!this.canvas.isConnected) return;
      const c = this.canvas.getContext('2d'),
        image = c.createImageData(this.columns, this.rows);
      const colour = this.palette(getComputedStyle(this.canvas));
      for (let k = 0; k < this.columns * this.rows; k++)
        image.data.set([...colour(this.values[k]), 255], 4 * k);
      c.putImageData(image, 0, 0);
    }
  }
  const rgb = (style, name) => {
    const m = /^#(..)(..)(..)$/.exec(style.getPropertyValue(name).trim());
    return m.slice(1).map((x) => parseInt(x, 16));
  };
  const mixed = (a, b, t) => a.map((x, k) => x + (b[k] - x) * Math.min(1, Math.max(0, t)));
  /// Paper at -1, ink at 1.
  function ink(style) {
    const paper = rgb(style, '--bg'),
      dark = rgb(style, '--fg');
    return (v) => mixed(paper, dark, (v + 1) / 2);
  }
  /// One colour below zero, another above, paper at zero.
  function signs(style) {
    const paper = rgb(style, '--bg'),
      below = rgb(style, '--ident'),
      above = rgb(style, '--accent');
    return (v) => (v < 0 ? mixed(paper, below, -v) : mixed(paper, above, v));
  }
  function whenThemeChanges(f) {
    new MutationObserver(f).observe(document.documentElement, { attributeFilter: ['data-theme'] });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', f);
  }
  Object.assign(window.LIVE, { digits, fixed, signs, ink });

  // --------------------------------------------------------------- figures --
  /// The button of a figure, and what it does.
  function furnish(name) {
    const figure = document.getElementById(`fig-${name}`),
      drawing = figure?.querySelector('.drawing');
    if (!drawing) return;
    const button = make(
      'button',
      { type: 'button', class: 'small', 'aria-expanded': 'false' },
      'Move this figure',
    );
    drawing.after(make('p', { class: 'live-bar' }, button));
    let box = null;
    const close = () => {
      box.remove();
      box = null;
      drawing.hidden = false;
      button.textContent = 'Move this figure';
      button.setAttribute('aria-expanded', 'false');
    };
    const open = async () => {
      const begun = performance.now();
      await prepare(name);
      const call = await start(name);
      if (box) return;
      drawing.hidden = true;
      box = make('div', { class: 'live', role: 'group', 'aria-label': 'Figure that can be moved' });
      drawing.after(box);
      button.textContent = 'Back to the drawing';
      button.setAttribute('aria-expanded', 'true');
      makers[name](new Stage(box, call));
      await Promise.resolve();
      figure.dataset.live = (performance.now() - begun).toFixed(1);
    };
    const press = () =>
      box
        ? close()
        : open().catch((e) => {
            button.textContent = `This browser cannot move it: ${e.message ?? 'a file is missing'}`;
            button.disabled = true;
          });
    button.onclick = press;
    drawing.addEventListener('click', () => !box && press());
    const near = new IntersectionObserver(
      (seen) => {
        if (!seen.some((s) => s.isIntersecting)) return;
        near.disconnect();
        prepare(name).catch(() => {});
      },
      { rootMargin: '400px' },
    );
    near.observe(figure);
  }
  for (const name of (script.dataset.figures ?? '').split(' ').filter(Boolean)) furnish(name);
})();
