// One cue, any temperature, step by step.
LIVE.figure('hopfield_melting', (stage) => {
  const { fixed, digits } = LIVE;
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const beta = stage.slider({ label: 'β', min: 0.004, max: 0.2, value: 0.03, log: true }),
    steps = stage.whole({ label: 'steps', min: 1, max: 60, value: 60 }),
    letter = stage.choice({ label: 'letter', options: [...alphabet], value: 17 }),
    p = stage.slider({
      label: 'pixels turned over',
      min: 0,
      max: 0.5,
      step: 0.01,
      value: 0.2,
      show: (x) => `${Math.round(100 * x)} %`,
    }),
    seed = stage.whole({ label: 'other damage', min: 1, max: 9, value: 4 });
  stage.player(steps, 150);
  const size = stage.width < 480 ? 7 : 8;
  const cue = stage.pixels({ label: 'cue', columns: 18, rows: 24, size, caption: 'cue' }),
    state = stage.pixels({ label: 'state', columns: 18, rows: 24, size, caption: 'state' });
  const bars = stage.plot({
    label: 'Weight of each letter',
    x: [0, 26],
    y: [0, 1],
    height: 140,
    share: stage.width < 480 ? 1 : 0.52,
    ticks: { y: [0, 0.5, 1] },
    names: { y: 'weight' },
  });
  const rects = [...alphabet].map((c, k) => {
    bars.text(c, [k + 0.5, 0], 'tick', 'middle', [0, 16]);
    return bars.rect('c2');
  });
  stage.run(() => {
    const y = stage.call('live_melting', [
      letter.value,
      p.value,
      432,
      seed.value,
      beta.value,
      steps.value,
    ]);
    const A = y.slice(1, 27);
    rects.forEach((r, k) => r.set([k + 0.1, 0], [k + 0.9, A[k]]));
    state.set(y.slice(27, 459), `after ${steps.value} steps`);
    cue.set(y.slice(459));
    const top = A.indexOf(Math.max(...A));
    return (
      `At β = ${digits(beta.value)}, after ${steps.value} steps, ${fixed(y[0], 2)} letters share the weight, as many as equal ones would; ` +
      `${alphabet[top]} has the most of it, ${fixed(A[top], 3)}.`
    );
  });
});
