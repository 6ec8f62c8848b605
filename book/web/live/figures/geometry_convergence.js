// Descent to a target in the triangle: plain and natural steps.
LIVE.figure('geometry_convergence', (stage) => {
  const { fixed, digits } = LIVE;
  const number = (label, value) =>
    stage.slider({ label, min: -3, max: 3, step: 0.02, value, show: (x) => fixed(x) });
  const target = [number('target, first score', 1.6), number('target, second score', -0.8)],
    kappa = stage.slider({ label: 'stretched by κ', min: 1, max: 30, value: 6, log: true }),
    steps = stage.whole({ label: 'steps', min: 0, max: 40, value: 40 });
  stage.player(steps, 350);
  const top = Math.sqrt(0.75);
  const triangle = stage.plot({
    label: 'Two descents in the triangle of weights',
    x: [-0.08, 1.08],
    y: [-0.12, 0.98],
    equal: true,
    share: 0.5,
    frame: false,
  });
  triangle.line(
    [
      [0, 0],
      [1, 0],
      [0.5, top],
    ],
    'grey',
    true,
  );
  const losses = stage.plot({
    label: 'Divergence from the target against the number of steps',
    x: [0, 40],
    y: [1e-7, 3],
    log: { y: true },
    height: 210,
    share: 0.5,
    ticks: { x: [0, 10, 20, 30, 40], y: [1e-6, 1e-4, 1e-2, 1] },
    names: { x: 'steps', y: 'KL' },
  });
  const kinds = ['c1', 'c2'],
    paths = kinds.map((kind) => triangle.line([], kind)),
    ends = kinds.map((kind) => triangle.dot(kind, 5)),
    curves = kinds.map((kind) => losses.line([], kind));
  const knob = triangle.handle('ink', (at) => {
    const y = stage.call('live_grasp', at);
    target.forEach((s, k) => (s.value = y[k]));
  });
  stage.run(() => {
    const y = stage.call('live_descent', [target.map((s) => s.value), kappa.value]);
    knob.set([y[3], y[4]]);
    const n = steps.value,
      at = (how, k) => y.slice(6 + 124 * how + 3 * k, 9 + 124 * how + 3 * k);
    const arrived = [0, 1].map((how) => y[5 + 124 * how]);
    kinds.forEach((_, how) => {
      const list = [...Array(n + 1).keys()].map((k) => at(how, k));
      paths[how].set(list.map(([a, b]) => [a, b]));
      ends[how].set(at(how, n));
      curves[how].set(
        list.slice(0, arrived[how] + 1).map(([, , loss], k) => [k, Math.max(loss, 1e-7)]),
      );
    });
    const words = (how) =>
      arrived[how] <= n && at(how, n)[2] <= 1e-6
        ? `has arrived after ${arrived[how]}`
        : `is ${digits(at(how, n)[2])} nats away after ${n}`;
    return `The natural descent (solid) ${words(0)} steps, the plain one (dashed) ${words(1)}. Stretching the second feature changes the second only.`;
  });
});
