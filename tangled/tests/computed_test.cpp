// tests/computed_test.cpp: tangled from chapters/92-proving-checks.nw; edit that file, not this one.
// flags: -Itests/reference
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/flash.hpp"
#include "attn/modifiers.hpp"
#include "attn/ring_cost.hpp"
#include "attn/shards.hpp"
#include <array>
using namespace attn;

BOOST_AUTO_TEST_SUITE(proving)

// read a table that Coq has computed
/// The numbers of a table, one after the other.
class Rows {
 public:
  template <std::size_t n>
  explicit Rows(const int (&table)[n]) : at(table), end(table + n) {}
  bool more() const { return at != end; }
  Index next() {
    require(more(), "Rows: the table ends within a row");
    return *at++;
  }
  void same(Index x) { verify(double(std::abs(x - next())), 0); }

 private:
  const int *at, *end;
};

// compare owners and rows with Coq's
Shards placed(Index kind, Index n, int p) {
  return kind == 0 ? contiguous(n, p)
                   : kind == 1 ? striped(n, p) : zigzag(n, p);
}
using Places2 = std::vector<std::array<Index, 2>>;  // place, row
Places2 places_in(const Shards& shards) {
  Places2 found(std::size_t(shards.total()), {-1, -1});
  for (int r = 0; r < shards.ranks(); ++r) {
    Index row = 0;
    for (const Piece& x : shards.of[std::size_t(r)])
      for (Index i = 0; i < x.n; ++i)
        found.at(std::size_t(x.first + i * x.step)) = {r, row++};
  }
  return found;
}
BOOST_AUTO_TEST_CASE(owners_as_in_the_proofs) {
  static const int table[] = {
#include "coq_owners.txt"
  };
  for (Rows x(table); x.more();) {
    const Index kind = x.next(), p = x.next(), m = x.next(), a = x.next();
    const Shards shards = placed(kind, p * m, int(p));
    const auto joined = places_in(detail::grouped(shards, int(a)));
    const auto single = places_in(shards);
    for (std::size_t i = 0; i < joined.size(); ++i)
      x.same(joined[i][0]), x.same(single[i][1]);
  }
}

// compare pairs of ranks with Coq's
BOOST_AUTO_TEST_CASE(pairs_as_in_the_proofs) {
  static const int table[] = {
#include "coq_pairs.txt"
  };
  for (Rows x(table); x.more();) {
    const Index kind = x.next(), p = x.next(), m = x.next();
    const Shards shards = placed(kind, p * m, int(p));
    for (int r = 0; r < p; ++r)
      for (int s = 0; s < p; ++s)
        x.same(count_pairs(causal_rule<double>(), shards, shards, r, s));
  }
}

// compare quotients and windows with Coq's
BOOST_AUTO_TEST_CASE(quotients_as_in_the_proofs) {
  static const int table[] = {
#include "coq_quotients.txt"
  };
  for (Rows x(table); x.more();) {
    const Index t = x.next(), a = x.next();
    x.same(detail::floor_div(a, t)), x.same(detail::ceil_div(a, t));
  }
}
BOOST_AUTO_TEST_CASE(windows_as_in_the_proofs) {
  static const int table[] = {
#include "coq_windows.txt"
  };
  for (Rows x(table); x.more();) {
    const Index t = x.next(), q0 = x.next(), k0 = x.next();
    FlashRule<double> rule;
    rule.offset = x.next(), rule.left = x.next(), rule.right = x.next();
    rule.keys = 4;
    detail::restrict_window(rule, {q0, 3, t}, {k0, 4, t});
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < *rule.keys || j < 4; ++j)
        x.same(j < *rule.keys && i + *rule.offset - *rule.left <= j &&
               j <= i + *rule.offset + *rule.right);
  }
}

// compare answers of masks with Coq's
BOOST_AUTO_TEST_CASE(masks_as_in_the_proofs) {
  static const int table[] = {
#include "coq_masks.txt"
  };
  for (Rows x(table); x.more();) {
    const Index o = x.next(), left = x.next(), right = x.next();
    const Index i0 = x.next(), i1 = x.next(), j0 = x.next(), j1 = x.next();
    const Mask mask = window(6, 6, left, right, o);
    x.same(Index(mask.covers({i0, i1, j0, j1})));
    x.same(mask.allows(i0, j0));
  }
}
Mask always(Index c) {
  return {aligned(1, 1), false, [](Index, Index) { return true; },
          [=](const Block&) { return Cover(c); }};
}
BOOST_AUTO_TEST_CASE(masks_of_masks_as_in_the_proofs) {
  static const int table[] = {
#include "coq_algebra.txt"
  };
  for (Rows x(table); x.more();) {
    const Mask a = always(x.next()), b = always(x.next());
    for (const Mask& m : {a & b, a | b, !a})
      x.same(Index(m.covers({0, 1, 0, 1})));
  }
}
BOOST_AUTO_TEST_CASE(causal_as_in_the_proofs) {
  static const int table[] = {
#include "coq_causal.txt"
  };
  for (Rows x(table); x.more();) {
    const Index nq = x.next(), nk = x.next();
    const Mask mask = causal(nq, nk);
    for (Index i = 0; i < nq; ++i)
      for (Index j = 0; j < nk; ++j) x.same(mask.allows(i, j));
  }
}

// compare buckets with Coq's
BOOST_AUTO_TEST_CASE(buckets_by_integers) {
  static const int table[] = {
#include "coq_buckets.txt"
  };
  for (Rows x(table); x.more();) {
    const Index both = x.next(), classes = x.next(), far = x.next();
    const Buckets bucket(both == 1, classes, far);
    const Index first = x.next();
    for (Index t = first; t <= -first; ++t) x.same(bucket(t));
  }
}

// compare tiles with Coq's
std::vector<Index> tiles(Index nq, Index nk, Index wide,
                         const FlashRule<double>& rule) {
  const Matrix<double> Q = Matrix<double>::Ones(nq, 1),
                       K = Matrix<double>::Ones(nk, 1);
  Matrix<double> O = Q;
  const FlashHead<double> head{view_in<double>(Q), view_in<double>(K),
                               view_in<double>(K), view_out(O), nullptr,
                               rule};
  const detail::Plan<double> plan("tiles", head);
  std::vector<Index> found;
  detail::visit_tiles(plan, 0, nq, [&](Index g, Index j, Index b) {
    found.insert(found.end(), {g, j, b});
  }, wide);
  return found;
}
BOOST_AUTO_TEST_CASE(tiles_by_definition) {
  static const int table[] = {
#include "coq_tiles.txt"
  };
  for (Rows x(table); x.more();) {
    const Index nq = x.next(), nk = x.next();
    FlashRule<double> rule;
    rule.key_block = x.next();
    const Index wide = x.next();
    rule.offset = x.next();
    if (const Index r = x.next(); r >= 0) rule.left = r;
    if (const Index r = x.next(); r >= 0) rule.right = r;
    const auto found = tiles(nq, nk, wide, rule);
    x.same(std::ssize(found));
    for (const Index n : found) x.same(n);
  }
}

// compare partners and times of rings with Coq's
BOOST_AUTO_TEST_CASE(partners_as_in_the_proofs) {
  static const int table[] = {
#include "coq_partners.txt"
  };
  for (Rows x(table); x.more();) {
    const Index c = x.next(), s = x.next(), t = x.next();
    for (Index i = 0; i < c; ++i) x.same(detail::partner(i, t, c, s));
  }
}
BOOST_AUTO_TEST_CASE(rings_as_in_the_proofs) {
  static const int table[] = {
#include "coq_rings.txt"
  };
  for (Rows x(table); x.more();) {
    const int p = int(x.next());
    const double tau = double(x.next());
    const Index a = x.next();
    const auto work = [&](int r, int t) {
      return double((a + 3 * r + 5 * t) % 4);
    };
    x.same(Index(ring_time(p, work, tau).total));
    const auto alike = [&](int, int) { return double(a); };
    x.same(Index(ring_time_back(p, alike, tau, false)));
  }
}
BOOST_AUTO_TEST_SUITE_END()
