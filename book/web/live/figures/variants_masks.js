// A mask composed of others, pair by pair and tile by tile.
LIVE.figure('variants_masks', (stage) => {
  const N = 24,
    TILE = 4;
  const width = stage.whole({
      label: 'window',
      min: -1,
      max: 12,
      value: 2,
      show: (x) => (x < 0 ? 'none' : `±${x}`),
    }),
    tokens = stage.whole({ label: 'global tokens', min: 0, max: 6, value: 2 }),
    stride = stage.whole({
      label: 'stride',
      min: 0,
      max: 8,
      value: 0,
      show: (x) => (x ? String(x) : 'none'),
    }),
    tiles = stage.whole({ label: 'random tiles a row', min: 0, max: 4, value: 2 }),
    seed = stage.whole({ label: 'which random ones', min: 1, max: 9, value: 4 }),
    length = stage.whole({ label: 'length', min: 8, max: 24, value: 24 }),
    causal = stage.tick({ label: 'and causal', value: false }),
    documents = stage.tick({ label: 'and within documents', value: false });
  const plot = stage.plot({
    label: 'Allowed pairs of queries, downwards, and keys, across',
    x: [0, N],
    y: [N, 0],
    equal: true,
    frame: false,
  });
  const shades = [...Array((N / TILE) ** 2)].map(() => plot.rect('empty')),
    cells = [...Array(N * N)].map(() => plot.rect(''));
  const outline = plot.rect('edge');
  outline.set([0, 0], [N, N]);
  shades.forEach((r, k) => {
    const [i, j] = [Math.floor(k / (N / TILE)), k % (N / TILE)];
    r.set([j * TILE, i * TILE], [(j + 1) * TILE, (i + 1) * TILE]);
  });
  cells.forEach((r, k) => {
    const [i, j] = [Math.floor(k / N), k % N];
    r.set([j + 0.12, i + 0.12], [j + 0.88, i + 0.88]);
  });
  stage.run(() => {
    const y = stage.call('live_mask', [
      ...[width, tokens, stride, tiles, seed, causal, documents, length].map((s) => s.value),
      TILE,
    ]);
    const [pairs, none, some, all] = y;
    cells.forEach((r, k) => (r.rect.style.visibility = y[4 + k] ? 'visible' : 'hidden'));
    shades.forEach((r, k) => {
      const cover = y[4 + N * N + k];
      r.rect.setAttribute(
        'class',
        cover === 0 ? 'tile none' : cover === 1 ? 'tile some' : 'tile all',
      );
    });
    const parts = [
      width.value >= 0 && `a window of ±${width.value}`,
      tokens.value && `${tokens.value} global tokens`,
      stride.value && `stride ${stride.value}`,
      tiles.value && `${tiles.value} random tiles a row`,
    ].filter(Boolean);
    const limits = [
      causal.value && 'causal',
      documents.value && 'within documents',
      length.value < N && `of length ${length.value}`,
    ].filter(Boolean);
    return (
      `${parts.length ? `The union of ${parts.join(', ')}` : 'All pairs'}${limits.length ? `, ${limits.join(', ')}` : ''}: ` +
      `${pairs} of ${N * N} pairs. Of its tiles of ${TILE} × ${TILE}, ${none} need not be visited, ${all} need no mask, ${some} may be mixed.`
    );
  });
});
