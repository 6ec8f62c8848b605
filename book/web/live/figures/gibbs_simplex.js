// Annealing in the triangle of weights, the covariance and the level lines of the divergence.
LIVE.figure('gibbs_simplex', (stage) => {
  const { fixed, digits } = LIVE;
  const T = stage.slider({ label: 'temperature T', min: 0.3, max: 30, value: 1, log: true }),
    s = [2, 1, 0].map((value, k) =>
      stage.slider({
        label: `${['first', 'second', 'third'][k]} score`,
        min: -2,
        max: 2,
        step: 0.05,
        value,
        show: (x) => fixed(x),
      }),
    );
  const top = Math.sqrt(0.75);
  const plot = stage.plot({
    label: 'Weights over three keys as points of a triangle',
    x: [-0.12, 1.12],
    y: [-0.08, 0.95],
    equal: true,
    frame: false,
  });
  plot.line(
    [
      [0, 0],
      [1, 0],
      [0.5, top],
    ],
    'grey',
    true,
  );
  plot.text('first key', [0, 0], '', 'middle', [0, 20]);
  plot.text('second key', [1, 0], '', 'middle', [0, 20]);
  plot.text('third key', [0.5, top], '', 'middle', [0, -9]);
  const ellipse = plot.line([], 'grey fill', true),
    levels = [0, 1, 2, 3].map(() => plot.line([], 'c2 thin')),
    path = plot.line([], 'c1'),
    point = plot.dot('c1', 6);
  stage.run(() => {
    const y = stage.call('live_simplex', [s.map((x) => x.value), T.value]);
    const column = (k) =>
      [...Array(91).keys()].map((t) => [y[5 + 12 * t + 2 * k], y[6 + 12 * t + 2 * k]]);
    path.set(column(0));
    ellipse.set(column(1));
    levels.forEach((l, k) => l.set(column(2 + k)));
    point.set([y[3], y[4]]);
    return (
      `At T = ${digits(T.value)} the weights are ${[0, 1, 2].map((j) => fixed(y[j], 3)).join(', ')}. ` +
      'Solid: their way from high to low temperature; grey: the ellipse of the covariance of a draw; ' +
      'dashed: all weights at the divergences 0.02, 0.1, 0.3 and 0.8 from them.'
    );
  });
});
