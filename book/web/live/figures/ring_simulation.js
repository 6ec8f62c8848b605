// How many ranks pay, on a machine of the reader's.
LIVE.figure('ring_simulation', (stage) => {
  const { digits, fixed } = LIVE;
  const n = stage.slider({
      label: 'positions',
      min: 1e5,
      max: 1e8,
      value: 1e6,
      log: true,
      show: (x) => digits(x, 2),
    }),
    flops = stage.slider({
      label: 'operations a second',
      min: 1e13,
      max: 1e15,
      value: 4e14,
      log: true,
      show: (x) => digits(x, 2),
    }),
    bandwidth = stage.slider({
      label: 'bytes a second',
      min: 1e9,
      max: 1e11,
      value: 5e10,
      log: true,
      show: (x) => digits(x, 2),
    }),
    alpha = stage.slider({
      label: 'latency',
      min: 1e-7,
      max: 1e-4,
      value: 5e-6,
      log: true,
      show: (x) => `${digits(1e6 * x, 2)} µs`,
    }),
    ranks = stage.whole({ label: 'ranks', min: 1, max: 9, value: 7, show: (x) => String(2 ** x) });
  const plot = stage.plot({
    label: 'Share of the ideal speed against the number of ranks',
    x: [1.6, 640],
    y: [0, 1.08],
    log: { x: true },
    ticks: { x: [2, 4, 8, 16, 32, 64, 128, 256, 512], y: [0, 0.5, 1] },
    names: { x: 'ranks p', y: 'share of the ideal speed' },
  });
  const names = ['contiguous', 'zigzag', 'grid'],
    kinds = ['c4', 'c1', 'c2'];
  const curves = kinds.flatMap((kind) => [
      plot.line([], `${kind} whole`),
      plot.line([], `${kind} dash thin`),
    ]),
    now = plot.line([], 'grey');
  names.forEach((w, k) => plot.text(w, [2, 0.32 - 0.1 * k], kinds[k], 'start', [4, 0]));
  const knob = plot.handle('ink', ([x]) => {
    ranks.value = Math.round(Math.log2(Math.max(2, x)));
  });
  stage.run(() => {
    const y = stage.call('live_speed', [n.value, flops.value, bandwidth.value, alpha.value]);
    const at = (k, scheme, back) => y[6 * k + 3 * back + scheme];
    const list = [...Array(9).keys()];
    names.forEach((_, scheme) =>
      [0, 1].forEach((back) =>
        curves[2 * scheme + back].set(list.map((k) => [2 ** (k + 1), at(k, scheme, back)])),
      ),
    );
    const k = ranks.value - 1,
      p = 2 ** ranks.value;
    now.set([
      [p, 0],
      [p, 1.05],
    ]);
    knob.set([p, 0]);
    return (
      `On ${p} ranks, forward and back, ` +
      names
        .map((w, scheme) => `${w}: ${fixed(at(k, scheme, 0))} and ${fixed(at(k, scheme, 1))}`)
        .join('; ') +
      ' of the ideal speed. Solid: forward; dashed: back.'
    );
  });
});
