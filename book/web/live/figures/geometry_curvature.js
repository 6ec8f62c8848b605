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
  let least,
    most,
    painting = 0;
  const row = (j, pixels) =>
    stage.call('live_curvature', [
      keys.flat(),
      RANGE * (1 - (2 * j) / (pixels - 1)),
      RANGE,
      pixels,
    ]);
  function paint(pixels) {
    least = Infinity;
    most = -Infinity;
    const step = (fineness - 1) / (pixels - 1);
    for (let j = 0; j < pixels; j++) {
      const y = row(j, pixels);
      for (let i = 0; i < pixels; i++) {
        least = Math.min(least, y[2 * i]);
        most = Math.max(most, y[2 * i]);
      }
      for (let v = Math.round((j - 0.5) * step); v < (j + 0.5) * step; v++)
        for (let u = 0; u < fineness; u++)
          if (v >= 0 && v < fineness) values[v * fineness + u] = y[2 * Math.round(u / step) + 1];
    }
    map.set(values);
  }
  stage.run(() => {
    const k = chosen.value;
    if (k !== last) [place[0].value, place[1].value] = keys[k];
    last = k;
    keys[k] = place.map((s) => s.value);
    keys.forEach((key, j) => knobs[j].set(key.map((x) => SCALE * x)));
    paint(21);
    clearTimeout(painting);
    painting = setTimeout(() => paint(fineness), 150);
    return (
      `Key ${k + 1} is at (${keys[k].map((x) => fixed(x)).join(', ')}). ` +
      `In the picture, q from −6 to 6 both ways, the curvature goes from ${digits(least)} to ${digits(most)}.`
    );
  });
});
