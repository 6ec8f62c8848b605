// Kernel regression: the bandwidth, and what the data say about it.
LIVE.figure('kernel_boundary', (stage) => {
  const { digits, fixed } = LIVE;
  const h = stage.slider({ label: 'bandwidth h', min: 0.02, max: 0.5, value: 0.08, log: true }),
    noise = stage.slider({
      label: 'noise',
      min: 0,
      max: 0.5,
      step: 0.01,
      value: 0.15,
      show: (x) => fixed(x),
    });
  const plot = stage.plot({
    label: 'Noisy values, the curve from which they come, and two estimates of it',
    x: [-0.02, 1.02],
    y: [-1.7, 1.7],
    height: 280,
    ticks: { x: [0, 0.2, 0.4, 0.6, 0.8, 1], y: [-1, 0, 1] },
    names: { x: 'key, query', y: 'value' },
  });
  const points = [...Array(150)].map(() => plot.dot('grey', 2)),
    truth = plot.line([], 'grey dash'),
    mean = plot.line([], 'c2'),
    line = plot.line([], 'c1');
  let best = null;
  stage.run(() => {
    const y = stage.call('live_regression', [h.value, noise.value]);
    const column = (k) => [...Array(101).keys()].map((i) => [i / 100, y[1 + 3 * i + k]]);
    truth.set(column(0));
    mean.set(column(1));
    line.set(column(2));
    points.forEach((p, j) => p.set([y[304 + j], y[454 + j]]));
    if (best?.noise !== noise.value) best = { noise: noise.value, error: Infinity };
    if (y[0] < best.error) Object.assign(best, { error: y[0], h: h.value });
    return (
      `With h = ${digits(h.value)} a value predicted from the others is off by ${digits(y[0])} in the mean square` +
      (best.h === h.value
        ? ''
        : `; the best that was tried here is h = ${digits(best.h)} with ${digits(best.error)}`) +
      '. Dashed: weighted mean; solid: weighted line; grey: the truth.'
    );
  });
});
