// Weights between softmax and sparsemax.
LIVE.figure('variants_entmax', (stage) => {
  const { fixed, digits } = LIVE;
  const alpha = stage.slider({
      label: 'α',
      min: 1,
      max: 2,
      step: 0.01,
      value: 1.5,
      show: (x) => fixed(x),
    }),
    t = stage.slider({
      label: 'first score t',
      min: -3,
      max: 3,
      step: 0.02,
      value: 0.5,
      show: (x) => fixed(x),
    });
  const plot = stage.plot({
    label: 'Weights of three scores against the first of them',
    x: [-3, 3],
    y: [-0.02, 1.03],
    ticks: { x: [-3, -2, -1, 0, 1, 2, 3], y: [0, 0.25, 0.5, 0.75, 1] },
    names: { x: 'first score t', y: 'weight' },
  });
  const kinds = ['c1', 'c2', 'c3'],
    soft = kinds.map(() => plot.line([], 'faint')),
    curves = kinds.map((kind) => plot.line([], kind)),
    now = plot.line([], 'grey'),
    dots = kinds.map((kind) => plot.dot(kind, 4));
  const knob = plot.handle('ink', ([x]) => {
    t.value = x;
  });
  const grid = [...Array(151).keys()].map((k) => -3 + k / 25);
  const curve = (a) => grid.map((x) => stage.call('live_entmax', [x, a]));
  const gibbs = curve(1);
  soft.forEach((c, j) => c.set(grid.map((x, k) => [x, gibbs[k][j]])));
  stage.run(() => {
    const table = curve(alpha.value),
      here = stage.call('live_entmax', [t.value, alpha.value]);
    kinds.forEach((_, j) => {
      curves[j].set(grid.map((x, k) => [x, table[k][j]]));
      dots[j].set([t.value, here[j]]);
    });
    now.set([
      [t.value, 0],
      [t.value, 1],
    ]);
    knob.set([t.value, 0]);
    return `For α = ${fixed(alpha.value)} the scores ${fixed(t.value)}, 0 and −0.5 have the weights ${[
      0, 1, 2,
    ]
      .map((j) => digits(here[j]))
      .join(
        ', ',
      )}: ${here[3]} of 3 keys have one. Their entropy H with this α is ${fixed(here[4], 3)}. Faint: softmax.`;
  });
});
