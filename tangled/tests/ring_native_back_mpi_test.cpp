// tests/ring_native_back_mpi_test.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
// flags: -O2 -march=native -Wno-uninitialized

// include what each width of the ring checks
#include "prelude.hpp"
#include "verify.hpp"

#include <chrono>
#include <thread>

#include "attn/ring.hpp"
#include "ring_ranks.hpp"
using namespace attn;
static const World world;

BOOST_AUTO_TEST_SUITE(ring_native)

// check the ring going back
template <class T>
Worst same_on_all_ranks(MPI_Comm comm, const std::vector<T>& mine) {
  std::vector<T> first = mine;
  const std::size_t bytes = mine.size() * sizeof(T);
  MPI_Bcast(first.data(), int(bytes), MPI_BYTE, 0, comm);
  Worst worst;
  worst.add(std::memcmp(first.data(), mine.data(), bytes) != 0, 0);
  return worst;
}
template <class T>
void check_backward(const RingCase<T>& c, const BackTruth& t,
                    const BackBounds<T>& bound, int p) {
  on_ranks(p, [&](MPI_Comm comm, int r) {
    const Ring ring{comm, c.queries(p), c.keys(p)};
    const auto q = [&](const auto& m) { return part_of(m, ring.queries, r); };
    const auto k = [&](const auto& m) { return part_of(m, ring.keys, r); };
    const auto y = ring_attention<T>(ring, q(c.Q), k(c.K), k(c.V), c.heads());
    Matrix<T> dL;  // absent if it is zero
    if (!c.dL.isZero(0)) dL = q(c.dL).transpose();
    const auto g = ring_attention_vjp<T>(ring, q(c.Q), k(c.K), k(c.V), y,
                                         q(c.dO), c.heads(), dL);
    Worst worst;
    worst.add(g.Q, q(t.dQ), q(bound.dQ));
    worst.add(g.K, k(t.dK), k(bound.dK));
    worst.add(g.V, k(t.dV), k(bound.dV));
    worst.add(distance(g.sinks[0], t.dsink), bound.dsink);
    worst.add(same_on_all_ranks(comm, g.sinks));
    return worst;
  });
}
template <class T>
void check_backward(const RingCase<T>& c, const Truth& f,
                    const BackTruth& t, int p) {
  check_backward(c, t, BackBounds<T>(c, f, t, cuts_of(c, p)), p);
}
template <class T, class Change>
void check_rule_back(Change change, std::uint64_t seed = 1) {
  for (const Place place : {Place::even, Place::uneven, Place::zigzag,
                            Place::striped}) {
    RingCase<T> c = ring_case<T>(22, 27, 4, 3, seed + std::uint64_t(place));
    c.place = place;
    change(c);
    if (place == Place::striped) c.plain.slope = 0;
    const Truth f = forward_truth(c);
    const BackTruth t = backward_truth(c, f);
    for (const int p : {1, 2, 3, 4, 7}) check_backward(c, f, t, p);
  }
}
using D = RingCase<double>;
BOOST_AUTO_TEST_CASE(backward_plain) { check_rule_back<double>([](D&) {}); }
BOOST_AUTO_TEST_CASE(backward_causal) {
  check_rule_back<double>([](D& c) { c.plain.right = 0; });
}
BOOST_AUTO_TEST_CASE(backward_without_a_cotangent_of_logZ) {
  check_rule_back<double>([](D& c) { c.plain.right = 0, c.dL.setZero(); });
  check_rule_back<double>([](D& c) { c.plain.sink = 1, c.dL.setZero(); });
}
BOOST_AUTO_TEST_CASE(backward_many_spans) {
  check_rule_back<double>([](D& c) { c.plain.key_block = 2; });
}
BOOST_AUTO_TEST_CASE(backward_window) {
  check_rule_back<double>([](D& c) { c.plain.left = 4, c.plain.right = 2; });
}
BOOST_AUTO_TEST_CASE(backward_lengths) {
  check_rule_back<double>([](D& c) { c.plain.queries = 15, c.plain.keys = 9; });
}
BOOST_AUTO_TEST_CASE(backward_mask) {
  check_rule_back<double>([](D& c) { c.masked = true; });
}
BOOST_AUTO_TEST_CASE(backward_softcap) {
  check_rule_back<double>([](D& c) { c.plain.softcap = 1.5; });
}
BOOST_AUTO_TEST_CASE(backward_slope) {
  check_rule_back<double>([](D& c) { c.plain.slope = 0.25; });
}
BOOST_AUTO_TEST_CASE(backward_sink) {
  check_rule_back<double>([](D& c) { c.plain.sink = 0.5, c.plain.right = 1; });
}
template <class T>
void everything_back(RingCase<T>& c) {
  c.plain.right = 3, c.plain.left = 20, c.plain.softcap = T(2);
  c.plain.slope = T(0.125), c.plain.sink = T(-0.5), c.plain.scale = T(0.4);
  c.plain.queries = 20, c.plain.keys = 25, c.masked = true;
}
BOOST_AUTO_TEST_CASE(backward_all_at_once) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    check_rule_back<double>(everything_back<double>, 10 * seed);
}
BOOST_AUTO_TEST_CASE(backward_float) {
  check_rule_back<float>([](RingCase<float>& c) { c.plain.right = 0; });
  check_rule_back<float>([](RingCase<float>& c) { c.Q *= 30; });
  check_rule_back<float>(everything_back<float>, 7);
}
enum class Layer { sloping, level, masked, bare };
D head_of_layer(Index h, Layer kind) {
  D c = ring_case<double>(23, 19, 4, 3, std::uint64_t(40 + h));
  const D owner = ring_case<double>(23, 19, 4, 3, std::uint64_t(60 + h / 2));
  c.K = owner.K, c.V = owner.V, c.others = 23;
  if (h % 2 == 0) c.Q *= 30;  // with dominant keys
  c.plain.right = 2, c.plain.slope = kind == Layer::sloping ? 0.125 : 0;
  c.plain.sink = 0.5 * double(h) - 1;
  if (kind == Layer::bare) c.plain.sink.reset(), c.dL.setZero();
  if (kind == Layer::masked) {
    c.plain.left = 9, c.plain.offset = -3, c.plain.softcap = 30;
    c.masked = true, c.keep = ring_case<double>(23, 19, 1, 1, 7).keep;
  }
  return c;
}
Matrix<double> put_beside(const Matrix<double>& A, const Matrix<double>& B) {
  Matrix<double> AB(B.rows(), A.cols() + B.cols());
  AB << A, B;
  return AB;
}
struct LayerCase {
  FlashHeads<double> many;
  Matrix<double> Q{23, 0}, K{19, 0}, V{19, 0}, dO{23, 0};
  std::vector<D> cases;
  std::vector<Truth> out;
  std::vector<BackTruth> back;

  explicit LayerCase(Layer kind, Index H = 4) : many{H, H / 2} {
    for (Index h = 0; h < H; ++h) {
      const D c = head_of_layer(h, kind);

      // add a head to a layer
      cases.push_back(c), out.push_back(forward_truth(c));
      back.push_back(backward_truth(c, out.back()));
      if (c.plain.sink) many.sinks.push_back(*c.plain.sink);
      Q = put_beside(Q, c.Q), dO = put_beside(dO, c.dO);
      if (h % 2 == 0) K = put_beside(K, c.K), V = put_beside(V, c.V);
    }
    many.rule = cases[0].rule();
  }
  LayerCase(const LayerCase&) = delete;
};
void check_layer(const LayerCase& x, Place place, int p, int columns,
                 bool forward) {
  on_ranks(p, [&](MPI_Comm comm, int rank) {
    const Ring ring{comm, placed(place, 23, p), placed(place, 19, p)};
    const auto q = [&](const auto& m) {
      return part_of(m, ring.queries, rank);
    };
    const auto k = [&](const auto& m) { return part_of(m, ring.keys, rank); };
    const bool circle = columns == 0 || (!forward && place == Place::uneven);
    const auto cuts = [&](auto h) {
      return cuts_of(x.cases[h], ring.keys, circle, columns);
    };
    const auto y = circle
        ? ring_attention(ring, q(x.Q), k(x.K), k(x.V), x.many)
        : grid_attention(ring, columns, q(x.Q), k(x.K), k(x.V), x.many);
    Worst worst;
    if (forward)

      // compare the outputs of all heads
      for (std::size_t h = 0; h < x.cases.size(); ++h) {
        const Bounds<double> b(x.cases[h], x.out[h], cuts(h));
        worst.add(y.O.middleCols(3 * Index(h), 3), q(x.out[h].O), q(b.O));
        const Vector<quad> L = q(x.out[h].L);
        const Vector<double> most = q(b.L);
        for (Index i = 0; i < L.size(); ++i)
          if (is_forbidden(L(i)))
            worst.add(is_forbidden(y.logZ(Index(h), i)) ? 0 : 1, 0);
          else
            worst.add(distance(y.logZ(Index(h), i), L(i)), most(i));
      }
    else

      // take the heads of a layer back together
      {
        const Index H = x.many.heads;
        Matrix<double> dL;
        if (!x.cases[0].dL.isZero(0)) dL.resize(H, ring.queries.rows(rank));
        for (Index h = 0; h < dL.rows(); ++h)
          dL.row(h) = q(x.cases[std::size_t(h)].dL);
        const auto g = columns == 0
            ? ring_attention_vjp(ring, q(x.Q), k(x.K), k(x.V), y, q(x.dO), x.many,
                                 dL)
            : grid_attention_vjp(ring, columns, q(x.Q), k(x.K), k(x.V), y, q(x.dO),
                                 x.many, dL);
        worst.add(same_on_all_ranks(comm, g.sinks));
        std::vector<BackBounds<double>> bounds;
        for (std::size_t h = 0; h < std::size_t(H); ++h) {
          const auto& b = bounds.emplace_back(x.cases[h], x.out[h], x.back[h],
                                              cuts(h));
          worst.add(g.Q.middleCols(4 * Index(h), 4), q(x.back[h].dQ), q(b.dQ));
          worst.add(distance(g.sinks[h], x.back[h].dsink), b.dsink);
        }

        // compare the sums of heads that share keys
        for (std::size_t a = 0; a < x.cases.size(); a += 2) {
          const Index pair = Index(a) / 2;
          const auto &s = x.back[a], &t = x.back[a + 1];
          const auto &b = bounds[a], &c = bounds[a + 1];
          worst.add(g.K.middleCols(4 * pair, 4), k(Matrix<quad>(s.dK + t.dK)),
                    k(Matrix<double>(b.dK + c.dK)));
          worst.add(g.V.middleCols(3 * pair, 3), k(Matrix<quad>(s.dV + t.dV)),
                    k(Matrix<double>(b.dV + c.dV)));
        }
      }
    return worst;
  });
}
void check_layers(bool forward, const std::vector<std::pair<int, int>>& all) {
  const LayerCase sloping(Layer::sloping), level(Layer::level);
  const LayerCase masked(Layer::masked, 6), bare(Layer::bare, 6);
  for (const auto& [p, columns] : all) {
    for (const Place place : {Place::even, Place::uneven, Place::zigzag})
      check_layer(sloping, place, p, columns, forward);
    check_layer(level, Place::striped, p, columns, forward);
    for (const Place place : {Place::zigzag, Place::striped})
      check_layer(masked, place, p, columns, forward);
    check_layer(bare, Place::even, p, columns, forward);
  }
}
std::vector<std::pair<int, int>> all_grids() {
  std::vector<std::pair<int, int>> grids;
  for (int p = 1; p <= 8; ++p)
    for (int a = 1; a <= p; ++a)
      if (p % a == 0) grids.emplace_back(p, a);
  return grids;
}
BOOST_AUTO_TEST_CASE(backward_heads_share_keys) {
  check_layers(false, {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {7, 0}});
}
BOOST_AUTO_TEST_CASE(grid_forward) { check_layers(true, all_grids()); }
BOOST_AUTO_TEST_CASE(grid_backward) { check_layers(false, all_grids()); }

// check the edges going back round the ring
BOOST_AUTO_TEST_CASE(gradients_have_the_same_bits_twice) {
  for (const int p : {2, 3, 7})
    on_ranks(p, [&](MPI_Comm comm, int r) {
      const D c = ring_case<double>(50, 50, 5, 3, 4);
      const Ring ring{comm, zigzag(50, p), zigzag(50, p)};
      const auto at = [&](const auto& m) { return part_of(m, ring.keys, r); };
      FlashHeads<double> rule{1, 1, causal_rule<double>()};
      rule.rule.sink = 0.25;
      const auto y = ring_attention<double>(ring, at(c.Q), at(c.K), at(c.V),
                                            rule);
      const auto back = [&] {
        return ring_attention_vjp<double>(ring, at(c.Q), at(c.K), at(c.V), y,
                                          at(c.dO), rule);
      };
      const auto g = back(), h = back();
      Worst worst;
      worst.add(distance(g.Q, h.Q) + distance(g.K, h.K) +
                    distance(g.V, h.V), 0);
      worst.add(double(g.sinks != h.sinks), 0);
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(blocks_larger_than_all_keys) {
  on_ranks(3, [](MPI_Comm comm, int r) {
    const D c = ring_case<double>(30, 30, 5, 3, 4);
    const Ring ring{comm, contiguous(30, 3), contiguous(30, 3)};
    const auto at = [&](const auto& m) { return part_of(m, ring.keys, r); };
    const auto back = [&](Index most, int columns) {
      FlashHeads<double> many{1, 1, causal_rule<double>()};
      many.rule.key_block = many.rule.groups = most;
      const auto y = columns == 1
          ? ring_attention<double>(ring, at(c.Q), at(c.K), at(c.V), many)
          : grid_attention<double>(ring, 3, at(c.Q), at(c.K), at(c.V), many);
      return columns == 1
          ? ring_attention_vjp<double>(ring, at(c.Q), at(c.K), at(c.V), y,
                                       at(c.dO), many)
          : grid_attention_vjp<double>(ring, 3, at(c.Q), at(c.K), at(c.V), y,
                                       at(c.dO), many);
    };

    // compare large blocks with the largest
    Worst worst;
    for (const int columns : {1, 3}) {
      const auto g = back(30, columns);
      const auto h = back(std::numeric_limits<Index>::max(), columns);
      worst.add(distance(g.Q, h.Q) + distance(g.K, h.K) + distance(g.V, h.V), 0);
    }
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(fewer_rows_than_ranks_going_back) {
  for (const Index n_q : {0, 1, 3, 9})
    for (const Index n_k : {0, 1, 3})
      for (const bool sink : {false, true}) {
        D c = ring_case<double>(n_q, n_k, 2, 3, 5);
        c.plain.right = 0, c.place = Place::uneven;
        if (sink) c.plain.sink = 0.25;
        const Truth f = forward_truth(c);
        const BackTruth t = backward_truth(c, f);
        for (const int p : {1, 4, 7}) check_backward(c, f, t, p);
      }
}
BOOST_AUTO_TEST_CASE(no_rows_on_a_grid) {
  for (const auto& [p, columns] : {std::pair{1, 1}, {3, 3}, {4, 2}})
    for (const auto& [n_q, n_k] : {std::pair{0, 9}, {9, 0}, {0, 0}})
      on_ranks(p, [&, p = p, columns = columns, n_q = n_q, n_k = n_k](
                      MPI_Comm comm, int rank) {
        const Ring ring{comm, zigzag(n_q, p), zigzag(n_k, p)};

        // go back on a grid without rows
        const FlashHeads<double> many{2, 2, {}, {}, {0.5, 0.25}};
        const auto Q = part_of(gaussian<double>(n_q, 4, 1), ring.queries, rank);
        const auto K = part_of(gaussian<double>(n_k, 4, 2), ring.keys, rank);
        const auto y = grid_attention(ring, columns, Q, K, K, many);
        const auto g = grid_attention_vjp(ring, columns, Q, K, K, y, Q, many);
        Worst worst;
        for (const auto& [got, shape] : {std::pair{&g.Q, &Q}, {&g.K, &K}, {&g.V, &K}})
          worst.add(got->rows() == shape->rows() && got->cols() == 4
                        ? got->cwiseAbs().sum() : HUGE_VAL, 0);
        worst.add(double(g.sinks != std::vector<double>(2, 0)), 0);
        return worst;
      });
}
BOOST_AUTO_TEST_CASE(no_gradient_of_empty_rows) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    const Ring ring{comm, contiguous({4, 0, 5}), contiguous({0, 3, 0})};
    const auto Q = part_of(gaussian<double>(9, 2, 1), ring.queries, rank);
    const auto K = part_of(gaussian<double>(3, 2, 2), ring.keys, rank);
    const FlashHeads<double> rule{1, 1, causal_rule<double>()};
    const auto y = ring_attention(ring, Q, K, K, rule);
    const auto g = ring_attention_vjp(ring, Q, K, K, y, Q, rule);
    Worst worst;  // queries 0 .. 5 see no key
    const Index empty = rank == 0 ? 4 : rank == 2 ? 2 : 0;
    worst.add(g.Q.topRows(empty).cwiseAbs().sum(), 0);
    Matrix<double> dO = Q;
    dO.topRows(empty) *= 7;
    const auto h = ring_attention_vjp(ring, Q, K, K, y, dO, rule);
    worst.add(distance(g.K, h.K) + distance(g.V, h.V), 0);
    return worst;
  });
}
BOOST_AUTO_TEST_SUITE_END()
