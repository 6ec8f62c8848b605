// Weights of three scores against temperature.
LIVE.figure('gibbs_weights', (stage) => {
  const { digits, fixed } = LIVE;
  const T = stage.slider({ label: 'temperature T', min: 0.1, max: 31.6, value: 1, log: true });
  const scores = [2, 1, 0].map((value, k) =>
    stage.slider({
      label: `${['first', 'second', 'third'][k]} score`,
      min: -3,
      max: 3,
      step: 0.05,
      value,
      show: (x) => fixed(x),
    }),
  );
  const plot = stage.plot({
    label: 'Weights of three scores against temperature',
    x: [0.1, 31.6],
    y: [0, 1.02],
    log: { x: true },
    ticks: { x: [0.1, 0.25, 0.5, 1, 2, 5, 10, 20], y: [0, 0.2, 0.4, 0.6, 0.8, 1] },
    names: { x: 'temperature T', y: 'weight' },
  });
  const third = plot.line(
    [
      [0.1, 1 / 3],
      [31.6, 1 / 3],
    ],
    'faint dash',
  );
  const kinds = ['c1', 'c2', 'c3'],
    curves = kinds.map((kind) => plot.line([], kind)),
    now = plot.line([], 'grey'),
    dots = kinds.map((kind) => plot.dot(kind, 4)),
    names = kinds.map((kind) => plot.text('', [0.1, 0], kind, 'start', [7, -4]));
  const knob = plot.handle('ink', ([t]) => {
    T.value = t;
  });
  const grid = [...Array(151).keys()].map((k) => 10 ** (-1 + (2.5 * k) / 150));
  stage.run(() => {
    const s = scores.map((x) => x.value),
      at = (t) => stage.call('live_weights', [s, t]);
    const table = grid.map((t) => [t, at(t)]),
      here = at(T.value);
    kinds.forEach((_, j) => {
      curves[j].set(table.map(([t, A]) => [t, A[j]]));
      dots[j].set([T.value, here[j]]);
      names[j].set([Math.min(T.value, 16), here[j]]);
      names[j].text.textContent = fixed(here[j], 3);
    });
    now.set([
      [T.value, 0],
      [T.value, 1],
    ]);
    knob.set([T.value, 0]);
    const [, , , H, U, F, C] = here;
    return (
      `At T = ${digits(T.value)} the weights are ${fixed(here[0], 3)}, ${fixed(here[1], 3)} and ${fixed(here[2], 3)}; ` +
      `entropy H = ${fixed(H, 3)} nats, mean energy U = ${fixed(U, 3)}, ` +
      `free energy U − TH = ${fixed(F, 3)}, heat capacity ${digits(C)}.`
    );
  });
});
