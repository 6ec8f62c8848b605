// The smallest head: signature, level curves, and who attends to whom.
LIVE.figure('bilinear_head', (stage) => {
  const { fixed, digits } = LIVE;
  const tokens = [
    [1.2, 0.3],
    [-0.4, 1.1],
    [-0.7, -0.9],
  ];
  const number = (label, value) =>
    stage.slider({ label, min: -2, max: 2, step: 0.02, value, show: (x) => fixed(x) });
  const wQ = [number('w_Q, across', 1), number('w_Q, up', 0.2)],
    wK = [number('w_K, across', -0.3), number('w_K, up', 1)];
  const left = stage.plot({
    label: 'Where a token gives itself the score one or minus one',
    x: [-2.1, 2.1],
    y: [-2.1, 2.1],
    equal: true,
    share: 0.5,
    ticks: { x: [-2, -1, 1, 2], y: [-2, -1, 1, 2] },
  });
  left.line(
    [
      [-2.1, 0],
      [2.1, 0],
    ],
    'faint',
  );
  left.line(
    [
      [0, -2.1],
      [0, 2.1],
    ],
    'faint',
  );
  const plus = left.line([], 'c2 whole'),
    minus = left.line([], 'c4 dash'),
    arrows = [left.line([], 'c1'), left.line([], 'c1')],
    names = ['w_Q', 'w_K'].map((w) => left.text(w, [0, 0], 'c1', 'start', [11, -6]));
  const knobs = [wQ, wK].map((w) =>
    left.handle('c1', (at) => w.forEach((s, k) => (s.value = at[k]))),
  );
  const right = stage.plot({
    label: 'Weights among three tokens',
    x: [-1.3, 1.8],
    y: [-1.5, 1.6],
    equal: true,
    share: 0.5,
    frame: false,
  });
  const pairs = [
    [0, 1],
    [1, 2],
    [2, 0],
    [1, 0],
    [2, 1],
    [0, 2],
  ];
  const shafts = pairs.map(() => right.line([], 'c2 whole')),
    heads = pairs.map(() => right.line([], 'c2 whole')),
    shares = pairs.map(() => right.text('', [0, 0], 'tick'));
  tokens.forEach((t, k) => {
    right.dot('ink', 5).set(t);
    right.text(`x${'₁₂₃'[k]}`, t, '', 'middle', [0, t[1] > 0 ? -12 : 20]);
  });
  const clipped = (x) => (Math.abs(x[0]) > 2.1 || Math.abs(x[1]) > 2.1 ? [NaN, NaN] : x);
  stage.run(() => {
    const y = stage.call(
      'live_head',
      [...wQ, ...wK].map((s) => s.value),
    );
    const [positive, negative, none] = y,
      A = (i, j) => y[3 + 3 * i + j],
      quotient = y[12];
    const curve = [...Array(181).keys()].map((k) => y.slice(13 + 3 * k, 16 + 3 * k));
    plus.set(curve.map(([a, b, s]) => (s > 0 ? clipped([a, b]) : [NaN, NaN])));
    minus.set(curve.map(([a, b, s]) => (s < 0 ? clipped([a, b]) : [NaN, NaN])));
    [wQ, wK].forEach((w, k) => {
      const at = w.map((s) => s.value);
      arrows[k].set([[0, 0], at]);
      knobs[k].set(at);
      names[k].set(at);
    });
    pairs.forEach(([i, j], k) => {
      const [p, r] = [tokens[i], tokens[j]],
        d = [r[0] - p[0], r[1] - p[1]],
        n = Math.hypot(...d),
        side = [-d[1] / n, d[0] / n];
      const along = (t, out) => [p[0] + t * d[0] + out * side[0], p[1] + t * d[1] + out * side[1]];
      const w = A(i, j);
      shafts[k].set([along(0.14, 0.07), along(0.84, 0.07)]);
      heads[k].set([along(0.78, 0.14), along(0.86, 0.07), along(0.78, 0)]);
      for (const part of [shafts[k], heads[k]]) part.path.style.strokeWidth = 0.3 + 6 * w;
      shares[k].set(along(0.42, 0.24));
      shares[k].text.textContent = fixed(w);
    });
    return (
      `Signature: ${positive} positive, ${negative} negative, ${none} missing. ` +
      `The product of the weights from x₁ to x₂ to x₃ and back to x₁ is ${digits(quotient)} times that in the other sense.`
    );
  });
});
