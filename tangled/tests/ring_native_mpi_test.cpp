// tests/ring_native_mpi_test.cpp: tangled from chapters/10-ring-checks.nw; edit that file, not this one.
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
using attn::flash;

// check the ring forward
template <class T>
void check_forward(const RingCase<T>& c, const Truth& t,
                   const Bounds<T>& bound, int p) {
  BOOST_REQUIRE((bound.left.array() > 0).all());
  on_ranks(p, [&](MPI_Comm comm, int rank) {
    const Ring ring{comm, c.queries(p), c.keys(p)};
    const auto y = ring_attention<T>(ring, part_of(c.Q, ring.queries, rank),
                                     part_of(c.K, ring.keys, rank),
                                     part_of(c.V, ring.keys, rank), c.heads());
    Worst worst;
    worst.add(y.O, part_of(t.O, ring.queries, rank),
              part_of(bound.O, ring.queries, rank));
    const auto L = part_of<quad>(t.L, ring.queries, rank);
    const auto dL = part_of<double>(bound.L, ring.queries, rank);
    for (Index i = 0; i < y.logZ.size(); ++i)
      if (is_forbidden(L(i))) worst.add(is_forbidden(y.logZ(i)) ? 0 : 1, 0);
      else worst.add(distance(y.logZ(i), L(i)), dL(i));
    return worst;
  });
}
template <class T>
void check_forward(const RingCase<T>& c, const Truth& t, int p) {
  check_forward(c, t, Bounds<T>(c, t, cuts_of(c, p)), p);
}
template <class T, class Change>
void check_rule(Change change, std::uint64_t seed = 1) {
  for (const Place place : {Place::even, Place::uneven, Place::zigzag,
                            Place::striped}) {
    RingCase<T> c = ring_case<T>(26, 31, 5, 3, seed + std::uint64_t(place));
    c.place = place;
    change(c);
    if (place == Place::striped) c.plain.slope = 0;
    const Truth t = forward_truth(c);
    for (const int p : {1, 2, 3, 4, 7}) check_forward(c, t, p);
  }
}
using D = RingCase<double>;
BOOST_AUTO_TEST_CASE(forward_plain) { check_rule<double>([](D&) {}); }
BOOST_AUTO_TEST_CASE(forward_causal) {
  check_rule<double>([](D& c) { c.plain.right = 0; });
}
BOOST_AUTO_TEST_CASE(forward_window) {
  check_rule<double>([](D& c) { c.plain.left = 4, c.plain.right = 2; });
}
BOOST_AUTO_TEST_CASE(forward_left_window) {
  check_rule<double>([](D& c) { c.plain.left = 3; });
}
BOOST_AUTO_TEST_CASE(forward_offset) {
  check_rule<double>([](D& c) { c.plain.right = 0, c.plain.offset = -6; });
}
BOOST_AUTO_TEST_CASE(forward_lengths) {
  check_rule<double>([](D& c) { c.plain.queries = 17, c.plain.keys = 12; });
}
BOOST_AUTO_TEST_CASE(forward_mask) {
  check_rule<double>([](D& c) { c.masked = true; });
}
BOOST_AUTO_TEST_CASE(forward_at_low_temperature) {
  check_rule<double>([](D& c) { c.Q *= 2000, c.plain.right = 3; });
}
BOOST_AUTO_TEST_CASE(forward_softcap) {
  check_rule<double>([](D& c) { c.plain.softcap = 1.5; });
}
BOOST_AUTO_TEST_CASE(forward_slope) {
  check_rule<double>([](D& c) { c.plain.slope = 0.25; });
}
BOOST_AUTO_TEST_CASE(forward_sink) {
  check_rule<double>([](D& c) { c.plain.sink = 0.5, c.plain.right = 1; });
}
template <class T>
void everything(RingCase<T>& c) {
  c.plain.right = 3, c.plain.left = 20, c.plain.softcap = T(2);
  c.plain.slope = T(0.125), c.plain.sink = T(-0.5), c.plain.scale = T(0.4);
  c.plain.queries = 24, c.plain.keys = 29, c.masked = true;
}
BOOST_AUTO_TEST_CASE(forward_all_at_once) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    check_rule<double>(everything<double>, 10 * seed);
}
BOOST_AUTO_TEST_CASE(forward_many_spans) {
  check_rule<double>([](D& c) { c.plain.key_block = 1, c.plain.right = 9; });
  D c = ring_case<double>(26, 70, 5, 3, 2);
  c.plain.key_block = 1;  // spans of 16 keys
  const Truth t = forward_truth(c);
  for (const int p : {1, 2}) check_forward(c, t, p);
}
BOOST_AUTO_TEST_CASE(forward_float) {
  check_rule<float>([](RingCase<float>& c) { c.plain.right = 0; });
  check_rule<float>(everything<float>, 7);
}

// check that terms of the bound are needed
/// The error of an output, and its bound with M and N counted so often.
std::pair<double, double> spans_of_one(const Matrix<float>& K,
                                       const Matrix<float>& V,
                                       double count_M, double count_N) {
  const Index n = K.rows();
  Shards keys{{{}}};
  for (Index j = 0; j < n; ++j) keys.of[0].push_back({j, 1});
  FlashHeads<float> many;
  many.rule.scale = 1.0f;
  const Matrix<float> one = Matrix<float>::Ones(1, 1);
  const auto y = ring_attention<float>(
      {MPI_COMM_SELF, contiguous(1, 1), keys}, one, K, V, many);

  // find the truth of spans of one key
  Vector<quad> S(n), A(n);
  for (Index j = 0; j < n; ++j)
    S(j) = log(quad(2)) * quad(K(j) * std::numbers::log2e_v<float>);
  const quad m = S.maxCoeff();
  for (Index j = 0; j < n; ++j) A(j) = exp(S(j) - m);
  const quad Z = A.sum(), L = m + log(Z);
  A /= Z;
  const quad O = A.dot(lift<quad>(V).col(0));

  // bound the output of spans of one key
  const double u = 0x1p-24, lambda = std::log(double(n));
  const Vector<double> a = lift<double>(A), s = lift<double>(S);
  const double M = std::max(s.cwiseAbs().maxCoeff(), to_double(abs(L)));
  const double more = 1 + 3 + 12 + count_M * M + 3 * lambda +
                      count_N * double(n);
  const Vector<double> rho = u * (more + s.maxCoeff() - s.array()).matrix();
  const double bound = a.cwiseProduct(lift<double>(V).cwiseAbs().col(0))
                           .dot((rho.array() + a.dot(rho)).matrix()) /
                       (1 - 3 * rho.maxCoeff());
  return {distance(y.O(0), O), bound};
}
/// Two keys k near 7000 whose computed scores are rounded most, down and
/// up, on their way from base two.
Matrix<float> keys_rounded_apart() {
  const auto gain = [](float k) {
    const float x = k * std::numbers::log2e_v<float>;
    const float L = x * std::numbers::ln2_v<float>;
    return double(L) - double(x) * std::numbers::ln2;
  };
  Matrix<float> K = Matrix<float>::Constant(2, 1, 7000);
  for (int i = 0; i < 2000; ++i) {
    const float k = 7000 + float(i) / 2048;
    if (gain(k) < gain(K(0))) K(0) = k;
    if (gain(k) > gain(K(1))) K(1) = k;
  }
  return K;
}
Matrix<float> values_rounded_up(Index n) {
  Matrix<float> V = Matrix<float>::Constant(n, 1, 1.5f);
  float sum = 0;
  for (Index j = 0; j < n; ++j) {
    float& v = V(j);
    const float half = std::ldexp(1.0f, std::ilogb(sum + 1.5f) - 24);
    if (half >= 0x1p-23f) v += half + 0x1p-23f;
    sum += v;
  }
  return V;
}
BOOST_AUTO_TEST_CASE(terms_that_are_needed) {
  const Matrix<float> K = keys_rounded_apart(), V{{1}, {-1}};
  const Index n = 1024;
  const Matrix<float> flat = Matrix<float>::Constant(
      n, 1, -std::log(float(n)) / 2);
  const Matrix<float> up = values_rounded_up(n);
  const auto [apart, bound] = spans_of_one(K, V, 3, 4);
  const auto [chain, longer] = spans_of_one(flat, up, 3, 4);
  verify(apart, bound), verify(chain, longer);
  refute(apart, spans_of_one(K, V, 0, 4).second);
  refute(chain, spans_of_one(flat, up, 3, 0).second);
}
BOOST_AUTO_TEST_CASE(a_logarithm_is_small) {
  for (double b = 1; b < 20; ++b)
    for (double depth = 1; depth <= 16; ++depth)
      for (double N = 1; N < 20; ++N) {
        const double lambda = std::log(N * depth * b);
        const double others = b + 3 + 6 * (depth + 1) + 1.5 * lambda + 4 * N;
        verify(3 * lambda, others / 4);
      }
}

// check the edges of the ring
BOOST_AUTO_TEST_CASE(fewer_rows_than_ranks) {
  for (const Index n_q : {0, 1, 3})
    for (const Index n_k : {0, 1, 2}) {
      D c = ring_case<double>(n_q, n_k, 2, 3, 5);
      c.plain.right = 0;
      const Truth t = forward_truth(c);
      for (const int p : {1, 4, 7}) check_forward(c, t, p);
    }
}
BOOST_AUTO_TEST_CASE(rows_without_keys) {
  on_ranks(3, [](MPI_Comm comm, int rank) {
    const Ring ring{comm, zigzag(9, 3), zigzag(4, 3)};
    const auto Q = part_of(gaussian<double>(9, 2, 1), ring.queries, rank);
    const auto K = part_of(gaussian<double>(4, 2, 2), ring.keys, rank);
    const auto y =
        ring_attention(ring, Q, K, K, {1, 1, causal_rule<double>()});
    Worst worst;
    Index row = 0;
    for (const Piece& q : ring.queries.of[std::size_t(rank)])
      for (Index i = 0; i < q.n; ++i, ++row)
        if (q.first + i < 5)
          worst.add(y.O.row(row).cwiseAbs().sum() +
                        (is_forbidden(y.logZ(row)) ? 0 : 1), 0);
    return worst;
  });
}
template <class T>
bool same_as_flash(MPI_Comm comm, Index n, const FlashRule<T>& rule) {
  const auto c = ring_case<T>(n, 400, 5, 3, 4);
  const Ring ring{comm, contiguous(n, 1), contiguous(400, 1)};
  const auto x = ring_attention<T>(ring, c.Q, c.K, c.V, {1, 1, rule});
  const auto y = flash(c.Q, c.K, c.V, rule);
  return x.O == y.O && x.logZ.transpose() == y.logZ;
}
template <class T>
Worst compare_with_flash(MPI_Comm comm) {
  const Index lane = detail::lanes<T>, sweep = FlashRule<T>{}.groups * lane;
  FlashRule<T> window = causal_rule<T>();
  window.left = 30, window.softcap = T(2);
  Worst worst;
  for (const auto& rule : {FlashRule<T>{}, causal_rule<T>(), window}) {
    int apart = 0;
    for (Index n = 0; n <= 2 * sweep + lane + 2; ++n) {
      const Index last = n % sweep;
      const bool few = n > sweep && 0 < last && 2 * last <= lane;
      const bool same = same_as_flash<T>(comm, n, rule);
      if (few) apart += !same;
      if (few && 2 * last == lane) worst.add(double(same), 0);
      if (!few) worst.add(double(!same), 0);
    }
    worst.add(double(apart < lane / 4), 0);
  }

  // compare sinks with those of the kernel
  FlashRule<T> rule = causal_rule<T>();
  rule.sink = T(0.5);
  worst.add(double(same_as_flash<T>(comm, 2 * sweep, rule)), 0);
  return worst;
}
BOOST_AUTO_TEST_CASE(one_rank_is_flash) {
  on_ranks(1, [](MPI_Comm comm, int) {
    Worst worst = compare_with_flash<float>(comm);
    worst.add(compare_with_flash<double>(comm));
    return worst;
  });
}
BOOST_AUTO_TEST_CASE(heads_travel_together) {
  const Index d = 4, e = 3, n = 21;
  const std::vector<double> slopes{0, 0.5, 0.25, 0, 1, 0.125};
  const std::vector<double> sinks{0.25, 1, -1, 0, 3, -2};
  const FlashHeads<double> many{6, 3, causal_rule<double>(), slopes, sinks};
  const auto Q = gaussian<double>(n, 6 * d, 1);
  const auto K = gaussian<double>(n, 3 * d, 2);
  const auto V = gaussian<double>(n, 3 * e, 3);
  for (const int p : {1, 2, 3, 7})
    on_ranks(p, [&](MPI_Comm comm, int rank) {
      const Ring ring{comm, zigzag(n, p), zigzag(n, p)};
      const auto mine = [&](const auto& m) -> Matrix<double> {
        return part_of<double>(Matrix<double>(m), ring.keys, rank);
      };
      const auto y = ring_attention(ring, mine(Q), mine(K), mine(V), many);
      Worst worst;

      // compare every head with a call of its own
      for (Index h = 0; h < 6; ++h) {
        const auto one = ring_attention<double>(
            ring, mine(Q.middleCols(h * d, d)), mine(K.middleCols(h / 2 * d, d)),
            mine(V.middleCols(h / 2 * e, e)), {1, 1, many.rule_of(h)});
        worst.add(distance(y.O.middleCols(h * e, e), one.O), 0);
        worst.add(distance(y.logZ.row(h), one.logZ), 0);
      }
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(same_bits_twice) {
  for (const int p : {2, 3, 4, 7})
    on_ranks(p, [&](MPI_Comm comm, int rank) {
      const D c = ring_case<double>(50, 50, 5, 3, 4);
      const Ring ring{comm, zigzag(50, p), zigzag(50, p)};
      const auto Q = part_of(c.Q, ring.queries, rank);
      const auto K = part_of(c.K, ring.keys, rank);
      const auto V = part_of(c.V, ring.keys, rank);
      FlashHeads<double> many{1, 1, causal_rule<double>()};
      many.rule.sink = 0.25;
      const auto x = ring_attention(ring, Q, K, V, many);
      std::this_thread::sleep_for(std::chrono::milliseconds(9 * (rank % 3)));
      const auto y = ring_attention(ring, Q, K, V, many);
      Worst worst;
      worst.add(distance(x.O, y.O) + distance(x.logZ, y.logZ), 0);
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(forbidden_keys_are_not_read) {
  D c = ring_case<double>(20, 24, 3, 2, 8);
  c.plain.keys = 15, c.plain.right = 0;
  const Truth t = forward_truth(c);
  const D clean = c;
  c.V.bottomRows(9).setConstant(NaN);
  c.K.bottomRows(9).setConstant(NaN);
  for (const int p : {1, 2, 4, 7})
    check_forward(c, t, Bounds<double>(clean, t, cuts_of(clean, p)), p);
}
BOOST_AUTO_TEST_CASE(a_NaN_spoils_the_rows_that_see_it) {
  for (const int p : {1, 2, 4, 7})
    on_ranks(p, [&](MPI_Comm comm, int rank) {
      D c = ring_case<double>(20, 20, 3, 2, 9);
      c.K(7, 1) = NaN, c.plain.right = 0;
      const Shards x = zigzag(20, p);
      const auto mine = [&](const auto& m) { return part_of(m, x, rank); };
      const auto y = ring_attention<double>({comm, x, x}, mine(c.Q),
                                            mine(c.K), mine(c.V), c.heads());
      const auto at = positions_of(x, rank);
      Worst worst;
      for (Index i = 0; i < std::ssize(at); ++i) {
        const bool sees = at[std::size_t(i)] >= 7;
        worst.add(double(y.O.row(i).array().isNaN().count() != 2 * sees), 0);
        worst.add(double(std::isnan(y.logZ(0, i)) != sees), 0);
      }
      return worst;
    });
}
BOOST_AUTO_TEST_CASE(blocks_beyond_the_eager_limit) {
  const D c = ring_case<double>(7, 2100, 32, 32, 3);  // 154 kB a block
  const Truth t = forward_truth(c);
  check_forward(c, t, 7);
}
BOOST_AUTO_TEST_SUITE_END()
