// Three ways between two distributions whose ends are dragged, in the triangle and on the octant.
LIVE.figure('geometry_geodesics', (stage) => {
  const { fixed } = LIVE;
  const log = (x) => Math.log(x);
  const number = (label, value) =>
    stage.slider({ label, min: -5, max: 5, step: 0.02, value, show: (x) => fixed(x) });
  const p = [
      number('p, first score', log(0.85 / 0.05)),
      number('p, second score', log(0.1 / 0.05)),
    ],
    q = [number('q, first score', log(0.02 / 0.8)), number('q, second score', log(0.18 / 0.8))];
  const triangle = stage.plot({
    label: 'Three ways in the triangle of weights',
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
      [0.5, Math.sqrt(0.75)],
    ],
    'grey',
    true,
  );
  const octant = stage.plot({
    label: 'The same ways on the octant of a sphere',
    x: [-1.05, 1.05],
    y: [-0.8, 1.2],
    equal: true,
    share: 0.5,
    frame: false,
  });
  const edges = stage.call('live_edges', []);
  for (const a of [0, 1, 2])
    octant.line(
      [...Array(31).keys()].map((k) => {
        const at = 4 * (31 * a + k);
        return [edges[at + 2], edges[at + 3]];
      }),
      'grey',
    );
  const kinds = ['c1', 'c2', 'c3'],
    ways = kinds.map((kind) => [triangle.line([], kind), octant.line([], kind)]);
  triangle.text('1', [1, 0], '', 'middle', [0, 20]);
  triangle.text('2', [0.5, Math.sqrt(0.75)], '', 'middle', [0, -8]);
  triangle.text('3', [0, 0], '', 'middle', [0, 20]);
  const drag = (ends) => (at) => {
    const y = stage.call('live_grasp', at);
    ends.forEach((s, k) => (s.value = y[k]));
  };
  const ends = [q, p].map((e, k) => ({
    knob: triangle.handle(k ? 'c1' : 'ink', drag(e)),
    name: triangle.text(k ? 'p' : 'q', [0, 0], '', 'middle', [0, 25]),
    dot: octant.dot('ink', 4),
  }));
  stage.run(() => {
    const y = stage.call(
      'live_ways',
      [...p, ...q].map((s) => s.value),
    );
    const column = (way, octant_) =>
      [...Array(41).keys()].map((t) => {
        const at = 9 + 12 * t + 4 * way + 2 * octant_;
        return [y[at], y[at + 1]];
      });
    ways.forEach(([a, b], k) => {
      a.set(column(k, 0));
      b.set(column(k, 1));
    });
    [column(0, 0).at(-1), column(0, 0)[0]].forEach((at, k) => {
      ends[k].knob.set(at);
      ends[k].name.set(at);
    });
    [column(0, 1).at(-1), column(0, 1)[0]].forEach((at, k) => ends[k].dot.set(at));
    const weights = (k) => [0, 1, 2].map((j) => fixed(y[k + j], 3)).join(', ');
    return (
      `From p = (${weights(0)}) to q = (${weights(3)}): the distance of Fisher and Rao is ${fixed(y[6], 3)}, ` +
      `KL(p‖q) = ${fixed(y[7], 3)}, KL(q‖p) = ${fixed(y[8], 3)} nats. Solid: Fisher–Rao; dashed: e-geodesic; dash and dot: m-geodesic.`
    );
  });
});
