// Curvature of the space of queries, with five keys to drag.
LIVE.figure('geometry_curvature', (stage) => {
  const { fixed, signs, digits } = LIVE;
  const RANGE = 6,
    SCALE = 3;
  const corner = (k) => [
    Math.cos((2 * Math.PI * k) / 5 + Math.PI / 2),
    Math.sin((2 * Math.PI * k) / 5 + Math.PI / 2),
  ];
  const keys = [0, 1, 2, 3, 4].map(corner);
  const fineness = 61;
  const map = stage.pixels({
    label: 'Curvature at each query: one colour where it is negative, another where it is positive',
    columns: fineness,
    rows: fineness,
    size: 6,
    caption: 'blue: negative, red: positive, paper: flat',
    palette: signs,
  });
  // the keys are drawn over the picture, enlarged
  const plot = stage.plot({
    label: 'The five keys',
    x: [-RANGE, RANGE],
    y: [-RANGE, RANGE],
    equal: true,
    frame: false,
    bare: map.sheet,
  });
  const chosen = stage.choice({ label: 'key', options: ['1', '2', '3', '4', '5'] });
  const number = (label) =>
    stage.slider({ label, min: -1.5, max: 1.5, step: 0.02, value: 0, show: (x) => fixed(x) });
  const place = [number('its place, across'), number('its place, up')];
  let last = -1;
  const knobs = keys.map((_, k) =>
    plot.handle('ink', ([a, b]) => {
      chosen.value = k;
      last = k;
      place[0].value = a / SCALE;
      place[1].value = b / SCALE;
    }),
  );
  const values = new Float64Array(fineness * fineness);
  let round = 0;
  /// Paints the picture from so many pixels a side, some lines at a time, until a newer
  /// round begins; then says what was found.
  function paint(pixels, mine, done) {
    const step = (fineness - 1) / (pixels - 1),
      range = [Infinity, -Infinity];
    const row = (j) => {
      const up = RANGE * (1 - (2 * j) / (pixels - 1)),
        y = stage.call('live_curvature', [keys.flat(), up, RANGE, pixels]);
      for (let i = 0; i < pixels; i++) {
        range[0] = Math.min(range[0], y[2 * i]);
        range[1] = Math.max(range[1], y[2 * i]);
      }
      const from = Math.max(0, Math.round((j - 0.5) * step)),
        to = Math.min(fineness, (j + 0.5) * step);
      for (let v = from; v < to; v++)
        for (let u = 0; u < fineness; u++)
          values[v * fineness + u] = y[2 * Math.round(u / step) + 1];
    };
    const some = (j) => {
      if (mine !== round) return;
      const begun = performance.now();
      while (j < pixels && performance.now() - begun < 12) row(j++);
      map.set(values);
      if (j < pixels) setTimeout(() => some(j), 0);
      else done(range);
    };
    some(0);
  }
  stage.run(() => {
    const k = chosen.value;
    if (k !== last) [place[0].value, place[1].value] = keys[k];
    last = k;
    keys[k] = place.map((s) => s.value);
    keys.forEach((key, j) => knobs[j].set(key.map((x) => SCALE * x)));
    const mine = ++round,
      where = `Key ${k + 1} is at (${keys[k].map((x) => fixed(x)).join(', ')}).`;
    const say = ([least, most]) =>
      stage.say(
        `${where} In the picture, q from −6 to 6 both ways, the curvature goes from ${digits(least)} to ${digits(most)}.`,
      );
    paint(13, mine, () => paint(fineness, mine, say));
    return `${where} The picture is being computed.`;
  });
});
