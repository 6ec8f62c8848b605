// A network of 256 neurons and the patterns that it is given.
LIVE.figure('hopfield_load', (stage) => {
  const { fixed } = LIVE;
  const M = stage.whole({ label: 'patterns', min: 2, max: 60, value: 36 }),
    seed = stage.whole({ label: 'other patterns', min: 1, max: 9, value: 1 });
  const plot = stage.plot({
    label:
      'Overlap of the first patterns with themselves after settling, and the fraction that did not move',
    x: [0, 0.24],
    y: [0, 1.05],
    ticks: { x: [0, 0.05, 0.1, 0.15, 0.2], y: [0, 0.5, 1] },
    names: { x: 'load, patterns per neuron', y: 'overlap' },
  });
  plot.line(
    [
      [0.138, 0],
      [0.138, 1],
    ],
    'faint dash',
  );
  const means = plot.line([], 'c1'),
    fixedOnes = plot.line([], 'c3'),
    dots = [...Array(12)].map(() => plot.dot('c1', 4));
  const tried = new Map();
  let drawn = 0;
  const remember = (m) => {
    const y = stage.call('live_load', [m, seed.value]),
      overlaps = y.slice(1);
    tried.set(m, [overlaps.reduce((a, b) => a + b, 0) / overlaps.length, y[0]]);
    return y;
  };
  stage.run(() => {
    if (drawn !== seed.value) tried.clear();
    if (!tried.size) for (let m = 6; m <= 60; m += 6) remember(m);
    drawn = seed.value;
    const y = remember(M.value),
      load = M.value / 256,
      overlaps = y.slice(1),
      [mean] = tried.get(M.value);
    dots.forEach((d, k) => d.set([load, overlaps[k] ?? 0], k < overlaps.length ? 4 : 0));
    const list = [...tried].sort(([a], [b]) => a - b);
    means.set(list.map(([m, [o]]) => [m / 256, o]));
    fixedOnes.set(list.map(([m, [, f]]) => [m / 256, f]));
    return (
      `With ${M.value} patterns, load ${fixed(load, 3)}, the fraction ${fixed(y[0])} of them does not move at all (dash and dot); ` +
      `the first ${overlaps.length} (dots) settle with a mean overlap of ${fixed(mean, 3)} (solid, through the loads that were tried).`
    );
  });
});
