// What a distance does: turned pairs and slopes.
LIVE.figure('variants_offsets', (stage) => {
  const { fixed, digits } = LIVE;
  const base = stage.slider({
      label: 'base of the clocks',
      min: 10,
      max: 1e6,
      value: 1e4,
      log: true,
      show: (x) => digits(x, 2),
    }),
    planes = stage.whole({ label: 'number of clocks', min: 1, max: 64, value: 32 }),
    head = stage.whole({ label: "ALiBi's head", min: 1, max: 8, value: 4 }),
    distance = stage.whole({ label: 'distance', min: 0, max: 128, value: 16 });
  const plot = stage.plot({
    label: 'What is left of a score at a distance',
    x: [0, 128],
    y: [-0.6, 1.03],
    ticks: { x: [0, 32, 64, 96, 128], y: [-0.5, 0, 0.5, 1] },
    names: { x: 'distance', y: 'relative to distance 0' },
  });
  plot.line(
    [
      [0, 0],
      [128, 0],
    ],
    'faint',
  );
  const rotary = plot.line([], 'c1'),
    alibi = plot.line([], 'c2'),
    now = plot.line([], 'grey'),
    dots = [plot.dot('c1', 4), plot.dot('c2', 4)];
  const knob = plot.handle('ink', ([x]) => {
    distance.value = Math.round(x);
  });
  stage.run(() => {
    const y = stage.call('live_offsets', [base.value, planes.value, 8, head.value]),
      t = distance.value,
      column = (k) => [...Array(129).keys()].map((i) => [i, y[2 * i + k]]);
    rotary.set(column(0));
    alibi.set(column(1));
    now.set([
      [t, -0.6],
      [t, 1],
    ]);
    knob.set([t, -0.6]);
    dots.forEach((d, k) => d.set([t, y[2 * t + k]]));
    return (
      `At distance ${t} the product of two equal vectors of ${2 * planes.value} features that were turned by their positions is ` +
      `${fixed(y[2 * t], 3)} of what it is at distance 0 (solid); ALiBi's head ${head.value} multiplies a weight by ${digits(y[2 * t + 1])} (dashed).`
    );
  });
});
