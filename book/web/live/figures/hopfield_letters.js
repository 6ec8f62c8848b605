// A letter, its damage, and what two memories make of it.
LIVE.figure('hopfield_letters', (stage) => {
  const { fixed, digits } = LIVE;
  const letter = stage.choice({
      label: 'letter',
      options: [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'],
      value: 0,
    }),
    p = stage.slider({
      label: 'pixels turned over',
      min: 0,
      max: 0.5,
      step: 0.01,
      value: 0.3,
      show: (x) => `${Math.round(100 * x)} %`,
    }),
    seen = stage.whole({ label: 'pixels seen', min: 0, max: 432, step: 6, value: 432 }),
    seed = stage.whole({ label: 'other damage', min: 1, max: 9, value: 1 }),
    beta = stage.slider({ label: 'β of attention', min: 0.002, max: 1, value: 1, log: true });
  const names = ['cue', 'Hopfield, settled', 'attention, one step', 'the letter'];
  const width = Math.min(8, Math.floor((stage.width / (stage.width < 480 ? 2 : 4) - 22) / 18));
  const pictures = names.map((caption) =>
    stage.pixels({ label: caption, columns: 18, rows: 24, size: width, caption }),
  );
  stage.run(() => {
    const y = stage.call('live_letters', [
      letter.value,
      p.value,
      seen.value,
      seed.value,
      beta.value,
    ]);
    const [damage, hopfield, attention, sweeps] = y;
    pictures.forEach((x, k) => x.set(y.slice(4 + 432 * k, 4 + 432 * (k + 1))));
    return (
      `Of 432 pixels the cue has ${damage} wrong. The network of Hopfield, which holds 26 letters, rests after ${sweeps} sweeps with ${hopfield} wrong; ` +
      `one step of attention at β = ${digits(beta.value)} has ${attention} wrong.`
    );
  });
});
