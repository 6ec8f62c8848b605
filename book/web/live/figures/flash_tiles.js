// One row of scores, read block by block.
LIVE.figure('flash_tiles', (stage) => {
  const { fixed, digits } = LIVE;
  const N = 12;
  const read = stage.whole({ label: 'blocks read', min: 0, max: 4, value: 1 }),
    block = stage.whole({ label: 'keys in a block', min: 1, max: 6, value: 3 }),
    size = stage.slider({
      label: 'size of the scores',
      min: 0.1,
      max: 4,
      step: 0.1,
      value: 1.5,
      show: (x) => fixed(x, 1),
    }),
    seed = stage.whole({ label: 'other scores', min: 1, max: 9, value: 1 });
  stage.player(read);
  const scores = stage.plot({
    label: 'Scores of twelve keys and the largest so far',
    x: [0, N],
    y: [-8, 8],
    height: 150,
    ticks: { y: [-5, 0, 5] },
    names: { y: 'score' },
  });
  const weights = stage.plot({
    label: 'Exponentials of the keys that were read, relative to the largest',
    x: [0, N],
    y: [0, 1.05],
    height: 110,
    ticks: { x: [0, 3, 6, 9, 12], y: [0, 0.5, 1] },
    names: { x: 'keys', y: 'exp(s − m)' },
  });
  const zero = scores.line(
      [
        [0, 0],
        [N, 0],
      ],
      'faint',
    ),
    bars = [...Array(N)].map(() => scores.rect('')),
    tile = scores.rect('edge'),
    top = scores.line([], 'c1 dash'),
    terms = [...Array(N)].map(() => weights.rect(''));
  stage.run(() => {
    const b = block.value,
      blocks = Math.ceil(N / b);
    read.input.max = blocks;
    if (read.value > blocks) read.value = blocks;
    const n = Math.min(read.value, blocks);
    const y = stage.call('live_online', [seed.value, b, n, size.value]);
    const before = y.slice(0, 4),
      own = y.slice(4, 8),
      now = y.slice(8, 12),
      [shrink, fit] = y.slice(12, 14),
      end = y.slice(14, 18);
    const s = y.slice(18, 30),
      p = y.slice(54, 66);
    const last = Math.min(N, n * b),
      from = Math.max(0, last - b);
    bars.forEach((r, j) => {
      r.rect.setAttribute('class', j < from ? 'c2' : j < last ? 'c1' : 'grey');
      r.set([j + 0.15, 0], [j + 0.85, Math.max(-8, Math.min(8, s[j]))]);
      terms[j].rect.setAttribute('class', j < from ? 'c2' : 'c1');
      terms[j].set([j + 0.15, 0], [j + 0.85, p[j]]);
    });
    tile.set(n ? [from, -8] : [0, 0], n ? [last, 8] : [0, 0]);
    top.set(
      n
        ? [
            [0, now[0]],
            [N, now[0]],
          ]
        : [],
    );
    if (!n) return 'No key has been read: m = −∞, ℓ = 0, o = 0.';
    const change =
      n === 1
        ? 'The first block is the state.'
        : own[0] > before[0]
          ? `The largest score rises from ${fixed(before[0])} to ${fixed(now[0])}, so what was summed before is multiplied by ${digits(shrink)}.`
          : `The largest score stays ${fixed(now[0])}, so the block's own sums are multiplied by ${digits(fit)}.`;
    return (
      `After ${last} of ${N} keys: m = ${fixed(now[0])}, ℓ = ${fixed(now[1], 3)}, output ${fixed(now[2], 4)}` +
      (last < N
        ? ` (of the whole row: ${fixed(end[2], 4)}). `
        : ', which is the output of the row. ') +
      change
    );
  });
});
