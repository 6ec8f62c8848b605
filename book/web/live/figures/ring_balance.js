// The ring, step by step: who computes how much with whose keys.
LIVE.figure('ring_balance', (stage) => {
  const { fixed } = LIVE;
  const MOST = 16,
    names = ['contiguous', 'zigzag', 'striped'];
  const where = stage.choice({ label: 'placement', options: names }),
    p = stage.whole({ label: 'ranks', min: 2, max: MOST, value: 8 }),
    step = stage.whole({ label: 'step', min: 0, max: 7, value: 0 }),
    message = stage.slider({
      label: 'a message takes',
      min: 0,
      max: 2,
      step: 0.05,
      value: 0.2,
      show: (x) => `${fixed(x)} tiles`,
    });
  stage.player(step);
  const plot = stage.plot({
    label: 'Pairs to be computed, ranks downwards, steps across',
    x: [-0.5, MOST - 0.5],
    y: [MOST - 0.5, -0.5],
    equal: true,
    share: 0.62,
    ticks: {},
    names: { x: 'step', y: 'rank' },
  });
  const ring = stage.plot({
    label: 'The ranks in a ring, with the keys that each holds',
    x: [-1.65, 1.65],
    y: [-1.65, 1.65],
    equal: true,
    share: 0.38,
    frame: false,
  });
  const cells = [...Array(MOST * MOST)].map(() => plot.rect('')),
    counts = [...Array(MOST * MOST)].map(() =>
      plot.text('', [0, 0], 'tick cell', 'middle', [0, 4]),
    ),
    column = plot.rect('edge'),
    circle = ring.line(
      [...Array(61).keys()].map((k) => [
        Math.cos((k * Math.PI) / 30),
        Math.sin((k * Math.PI) / 30),
      ]),
      'faint',
    ),
    seats = [...Array(MOST)].map(() => ({
      dot: ring.dot('c1', 4),
      name: ring.text('', [0, 0], '', 'middle', [0, 5]),
    }));
  stage.run(() => {
    const n = p.value;
    step.input.max = n - 1;
    if (step.value > n - 1) step.value = n - 1;
    const t = step.value,
      y = stage.call('live_ring', [n, where.value, message.value]),
      scale = MOST / n,
      work = (r, u) => y[2 + n * r + u];
    const edge = (k) => -0.5 + scale * k;
    cells.forEach((c, k) => {
      const [r, u] = [Math.floor(k / MOST), k % MOST],
        there = r < n && u < n;
      c.rect.style.visibility = counts[k].text.style.visibility = there ? 'visible' : 'hidden';
      if (!there) return;
      c.rect.style.opacity = work(r, u) * 0.75;
      c.rect.setAttribute('class', 'c1');
      c.set([edge(u), edge(r)], [edge(u + 1), edge(r + 1)]);
      counts[k].set([edge(u + 0.5), edge(r + 0.5)]);
      counts[k].text.textContent =
        n <= 8
          ? fixed(work(r, u), 2)
              .replace(/^0/, '')
              .replace(/^\.00$/, '0')
              .replace('1.00', '1')
          : '';
    });
    column.set([edge(t), -0.5], [edge(t + 1), MOST - 0.5]);
    seats.forEach(({ dot, name }, r) => {
      const angle = (2 * Math.PI * r) / n - Math.PI / 2,
        at = [Math.cos(angle), -Math.sin(angle)];
      dot.set(at, r < n ? 3 + 9 * Math.sqrt(work(r, t)) : 0);
      name.set(at.map((x) => 1.3 * x));
      name.text.textContent = r < n ? `${r}: ${(((r - t) % n) + n) % n}` : '';
    });
    const idle = [...Array(n).keys()].filter((r) => work(r, t) === 0).length;
    return (
      `${names[where.value]}, ${n} ranks: at step ${t} rank r has the keys of rank r − ${t} (after the colon, around the ring), and ${idle} of them have nothing to do. ` +
      `The whole takes the time of ${fixed(y[0])} full tiles; no rank computes for more than ${fixed(y[1])}.`
    );
  });
});
