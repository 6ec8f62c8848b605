// One query, six keys, and a ruler to turn and stretch.
LIVE.figure('bilinear_metrics', (stage) => {
  const { fixed, digits } = LIVE;
  const keys = [
    [1.5, 0.55],
    [1.05, -0.7],
    [0.1, -1.25],
    [-0.9, -0.35],
    [-0.5, 0.9],
    [0.5, 1.2],
  ];
  const number = (label, value, min = -2, max = 2) =>
    stage.slider({ label, min, max, step: 0.01, value, show: (x) => fixed(x) });
  const q = [number('query, across', 0.9), number('query, up', -0.25)],
    axes = [number('first half axis', 1, 0.3, 2), number('second half axis', 1, 0.3, 2)],
    angle = stage.slider({
      label: 'turned by',
      min: -180,
      max: 180,
      step: 1,
      value: 0,
      show: (x) => `${x.toFixed(0)}°`,
    });
  const plot = stage.plot({
    label: 'A query, six keys, and the curve of all vectors of length one',
    x: [-2.1, 2.1],
    y: [-2.1, 2.1],
    equal: true,
    ticks: { x: [-2, -1, 1, 2], y: [-2, -1, 1, 2] },
  });
  plot.line(
    [
      [-2.1, 0],
      [2.1, 0],
    ],
    'faint',
  );
  plot.line(
    [
      [0, -2.1],
      [0, 2.1],
    ],
    'faint',
  );
  const ball = plot.line([], 'c2 whole', true),
    level = plot.line([], 'c4'),
    arrow = plot.line([], 'c1'),
    ring = plot.dot('ring', 9),
    dots = keys.map(() => plot.dot('ink', 4)),
    names = keys.map((k) => plot.text('', k, 'tick', 'start', [9, 4]));
  const knobs = [0, 1].map((k) =>
    plot.handle('c2', ([a, b]) => {
      const turned = (Math.atan2(b, a) * 180) / Math.PI - 90 * k;
      axes[k].value = Math.hypot(a, b);
      angle.value = ((turned + 540) % 360) - 180;
    }),
  );
  const tip = plot.handle('c1', (at) => q.forEach((s, k) => (s.value = at[k])));
  stage.run(() => {
    const t = (angle.value * Math.PI) / 180,
      at = q.map((s) => s.value),
      [a, b] = axes.map((s) => s.value);
    const y = stage.call('live_ruler', [at, keys.flat(), a, b, t]);
    const S = y.slice(0, 6),
      A = y.slice(6, 12),
      [l1, l2, length] = y.slice(16, 19);
    const best = S.indexOf(Math.max(...S)),
      win = keys[best];
    ball.set([...Array(91).keys()].map((k) => [y[19 + 2 * k], y[20 + 2 * k]]));
    level.set(
      [-9, 9].map((r) => {
        const n = Math.hypot(l1, l2) || 1;
        return [win[0] - (r * l2) / n, win[1] + (r * l1) / n];
      }),
    );
    arrow.set([[0, 0], at]);
    tip.set(at);
    ring.set(win);
    keys.forEach((k, j) => {
      dots[j].set(k, 2 + 8 * Math.sqrt(A[j]));
      names[j].text.textContent = fixed(S[j]);
    });
    knobs[0].set([a * Math.cos(t), a * Math.sin(t)]);
    knobs[1].set([-b * Math.sin(t), b * Math.cos(t)]);
    return (
      `The metric is g = (${digits(y[12])}, ${digits(y[13])}; ${digits(y[14])}, ${digits(y[15])}), the query has the length ${fixed(length)}. ` +
      `Key ${best + 1} at (${win.map((x) => fixed(x)).join(', ')}) wins with the score ${fixed(S[best])} and the weight ${fixed(A[best], 3)}.`
    );
  });
});
