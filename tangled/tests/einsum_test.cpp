// tests/einsum_test.cpp: tangled from chapters/90-equations-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <map>
#include <set>
#include "attn/einsum.hpp"
#include "attn/field.hpp"
#include "attn/form.hpp"
#include "attn/quad.hpp"
#include "attn/random.hpp"
#include "attn/rounding.hpp"
using namespace attn;

// multiply by literal loops
template <class S>
struct Flat {
  std::vector<Index> dim;
  std::vector<S> at;
};

template <class S, class X>
Flat<S> flat(const X& x) {
  Flat<S> f{{x.dim.begin(), x.dim.end()}, {}};
  for (const auto& v : x.values) f.at.push_back(S(v));
  return f;
}
template <class S>
Flat<S> absolute(Flat<S> f) {
  for (S& v : f.at)
    if (v < S(0)) v = S(-v);
  return f;
}
template <class S>
std::vector<S> literal(const std::string& pattern,
                       const std::vector<Flat<S>>& x) {
  // split the pattern into letters and extents
  std::vector<std::string> factor(1);
  std::string left;
  bool arrow = false;
  for (const char c : pattern)
    if (c == ',') factor.emplace_back();
    else if (c == '>') arrow = true;
    else if (c != '-') (arrow ? left : factor.back()) += c;
  std::map<char, Index> extent;
  for (std::size_t f = 0; f < x.size(); ++f)
    for (std::size_t k = 0; k < factor[f].size(); ++k)
      extent[factor[f][k]] = x[f].dim[k];
  bool empty = false;
  for (const auto& [letter, n] : extent) empty = empty || n == 0;
  const auto place = [&](const std::string& letters,
                         std::map<char, Index> at, bool size) {
    Index o = size ? 1 : 0;
    for (const char c : letters)
      o = size ? o * extent[c] : o * extent[c] + at[c];
    return std::size_t(o);
  };
  std::vector<S> result(place(left, {}, true), S(0));
  if (empty) return result;
  for (std::map<char, Index> at;;) {
    S product(1);
    for (std::size_t f = 0; f < x.size(); ++f)
      product *= x[f].at[place(factor[f], at, false)];
    result[place(left, at, false)] += product;
    auto l = extent.begin();
    while (l != extent.end() && ++at[l->first] == l->second)
      at[l++->first] = 0;
    if (l == extent.end()) return result;
  }
}

// try texts in two systems of coordinates

// make up an equation
std::string made_up(detail::Bits& bits) {
  const auto below = [&](unsigned n) { return unsigned(bits() % n); };
  const unsigned label = below(9);  // 0, 1, 2: this letter; else none
  const auto factor = [&](std::string name) {
    for (unsigned k = below(3); k > 0; --k) {
      const unsigned x = below(3);
      const bool marked = x == label && below(10) > 0;
      name += below(2) == 0 ? "^" : "_";
      name += marked ? "{(" : "{";
      name += char('a' + x);
      name += marked ? ")}" : "}";
    }
    return name;
  };
  std::string s = factor("X") + " =";
  for (unsigned terms = below(3) == 0 ? 2 : 1; terms > 0; --terms) {
    for (unsigned k = below(3) + 1; k > 0; --k) s += factor(" Y");
    if (terms > 1) s += " - 2";
  }
  return s;
}

// choose a basis for each range
inline Index range_of(char letter) { return letter - 'a' + 2; }

struct Basis {
  Matrix<Fp> upper, lower;
  Basis(Index n, std::uint64_t seed) {
    const Matrix<Fp> x = uniform<Fp>(n, 1, seed, "x");
    const Matrix<Fp> y = uniform<Fp>(1, n, seed, "y");
    const Matrix<Fp> one = Matrix<Fp>::Identity(n, n), xy = times(x, y);
    upper = one + xy;
    lower = (one - xy * (Fp(1) / (Fp(1) + times(y, x)(0, 0)))).transpose();
  }
};

// change the coordinates of every slot
Flat<Fp> changed(Flat<Fp> x, const detail::Factor& f,
                 const std::map<char, Basis>& to) {
  std::size_t stride = x.at.size();
  for (const auto& s : f) {
    const auto n = std::size_t(range_of(s.letter));
    stride /= n;
    if (s.label) continue;
    const Basis& basis = to.at(s.letter);
    const Matrix<Fp>& R = s.height == up ? basis.upper : basis.lower;
    const auto old = x.at;
    for (std::size_t q = 0; q < old.size(); ++q) {
      const std::size_t p = q / stride % n, base = q - p * stride;
      x.at[q] = Fp(0);
      for (std::size_t a = 0; a < n; ++a)
        x.at[q] += R(Index(p), Index(a)) * old[base + a * stride];
    }
  }
  return x;
}

// read any text literally
std::vector<Fp> read_literally(const detail::Equation& e,
                               const std::vector<Flat<Fp>>& x) {
  std::string left = "->";
  for (const auto& s : e.left) left += s.letter;
  std::vector<Fp> sum;
  for (const auto& t : e) {
    std::string pattern;
    std::vector<Flat<Fp>> y;

    // take the factors of the term
    for (std::size_t k = 0; k < t.n; ++k) {
      pattern += ',';
      for (const auto& s : t.factor[k]) pattern += s.letter;
      y.push_back(x[t.first + k]);
    }

    // repeat the value along missing letters
    for (const auto& s : e.left)
      if (t.count(s.letter) == 0) {
        pattern += std::string(",") + s.letter;
        const Index n = range_of(s.letter);
        y.push_back({{n}, std::vector<Fp>(std::size_t(n), Fp(1))});
      }
    const auto term = literal<Fp>(pattern.substr(1) + left, y);
    sum.resize(term.size(), Fp(0));
    for (std::size_t q = 0; q < term.size(); ++q)
      sum[q] += Fp(t.num) / Fp(t.den) * term[q];
  }
  return sum;
}

// evaluate a text in both coordinates
bool twice_on_its_left(const detail::Equation& e) {
  for (const auto& s : e.left)
    if (e.left.count(s.letter) > 1) return true;
  return false;
}
struct Trial {
  std::vector<Fp> old_left, new_left;
  long degree = 3;
};
inline Flat<Fp> random_factor(const detail::Factor& f, detail::Bits& bits) {
  Flat<Fp> x{{}, {}};
  std::size_t size = 1;
  for (const auto& s : f) {
    x.dim.push_back(range_of(s.letter));
    size *= std::size_t(x.dim.back());
  }
  while (x.at.size() < size) x.at.push_back(Fp::random(bits()));
  return x;
}
Trial in_both_coordinates(const detail::Equation& e, std::uint64_t seed) {
  const std::map<char, Basis> to{
      {'a', {2, seed}}, {'b', {3, seed + 1}}, {'c', {4, seed + 2}}};
  detail::Bits bits = detail::stream(seed, "arguments");
  std::vector<Flat<Fp>> x, y;
  Trial r;
  for (const auto& t : e)
    for (const auto& f : t) {
      x.push_back(random_factor(f, bits));
      y.push_back(changed(x.back(), f, to));
      r.degree += 2 * long(f.rank);
    }
  Flat<Fp> left{{}, read_literally(e, x)};
  r.old_left = changed(left, e.left, to).at;
  r.new_left = read_literally(e, y);
  r.degree += 2 * long(e.left.rank);
  return r;
}

// make tensors to compare with
template <class X>
X ones_like(X x) {
  x.values.setOnes();
  return x;
}

template <Height... H, class... N>
Tensor<double, H...> some(std::uint64_t seed, N... n) {
  Tensor<double, H...> x(n...);
  x.values = uniform<double>(x.values.size(), 1, seed);
  return x;
}

// compare an equation with literal loops
template <Text T, class... X>
auto compare(const std::string& pattern, const X&... x) {
  const auto C = eq<T>(x...);
  using S = typename decltype(C)::scalar;
  const auto truth = literal<quad>(pattern, {flat<quad>(x)...});
  const auto size = literal<quad>(pattern, {absolute(flat<quad>(x))...});
  const auto count = literal<double>(
      pattern, {flat<double>(ones_like(x))...});
  BOOST_TEST(std::size_t(C.values.size()) == truth.size());
  for (std::size_t q = 0; q < truth.size(); ++q) {
    const double k = count[q] + double(sizeof...(X));
    verify(to_double(quad(abs(quad(C.values(Index(q))) - truth[q]))),
           gamma(Index(k), unit_roundoff<S>()) * to_double(size[q]));
  }
  return C;
}

// report a pattern of the table
template <Text T, class... X>
void pattern(int row, const std::string& classical, const X&... x) {
  compare<T>(classical, x...);
  std::string tex;
  for (const char* c = T.c; *c; ++c)
    if (*c == '^') tex += "\\sp ";
    else if (*c == '_') tex += "\\sb ";
    else tex += *c;
  const std::string number = std::to_string(row);
  fact("eq" + number, tex);
  fact("op" + number, classical);
}

// count the products of a scalar
struct Counted {
  double x = 0;
  inline static Index products = 0, sums = 0;
  Counted(double y = 0) : x(y) {}
  friend Counted operator*(Counted a, Counted b) {
    return ++products, Counted(a.x * b.x);
  }
  friend Counted operator/(Counted a, Counted b) { return a.x / b.x; }
  Counted& operator+=(Counted b) { return ++sums, x += b.x, *this; }
};

// make the counting scalar known to Eigen
template <>
struct Eigen::NumTraits<Counted> : Eigen::NumTraits<double> {
  using Real = Counted;
  using NonInteger = Counted;
  using Nested = Counted;
  enum { RequireInitialization = 1 };
};

BOOST_AUTO_TEST_SUITE(notation)

// run the cases on tensors and the reader

// check tensors and views
BOOST_AUTO_TEST_CASE(tensor_is_row_major) {
  Tensor<double, up, dn, up> t(2, 3, 4);
  t(1, 2, 3) = 5;
  BOOST_TEST(t.values(23) == 5);
  BOOST_TEST((t.stride() == std::array<Index, 3>{12, 4, 1}));
}
BOOST_AUTO_TEST_CASE(heights_are_types) {
  using namespace std;
  const Tensor<double, up> v(3);
  const Tensor<double, dn> a(3);
  using Lowered = decltype(eq<"v_a = g_{ab} v^b">(
      Tensor<double, dn, dn>(3, 3), v));
  static_assert(is_same_v<Lowered, Tensor<double, dn>>);
  static_assert(!is_convertible_v<decltype(a), decltype(v)>);
  static_assert(is_convertible_v<decltype(eq<"s = u_a v^a">(a, v)), double>);
  BOOST_TEST(double(eq<"s = u_a v^a">(a, v)) == 0);
}
BOOST_AUTO_TEST_CASE(tensor_from_matrix_and_back) {
  const Matrix<double> m = gaussian<double>(3, 4, 1);
  const Tensor<double, up, dn> t = 2 * m;
  BOOST_TEST((t.mat() == 2 * m));
  const Tensor<double, up> v = m.row(1);
  BOOST_TEST((v.vec().transpose() == m.row(1)));
  Tensor<double, up> w = m.col(2);
  w.vec()(0) = 7;
  BOOST_TEST(w(0) == 7);
}
BOOST_AUTO_TEST_CASE(rank_zero_is_a_scalar) {
  const Tensor<double> s = 3.0, zero;
  const double x = s;
  BOOST_TEST(x == 3);
  BOOST_TEST((double(zero) == 0 && zero.values.size() == 1));
  BOOST_TEST((Tensor<double, up, dn>().values.size() == 0));
  BOOST_TEST(shape(s) == "scalar");
}
BOOST_AUTO_TEST_CASE(views_do_not_copy) {
  const Matrix<double> m = gaussian<double>(6, 7, 1);
  BOOST_TEST((view<up, dn>(m).first == m.data()));
  BOOST_TEST((view<up, dn>(m.block(1, 2, 3, 3)).first == &m(1, 2)));
  BOOST_TEST((view<up, dn>(m.transpose()).step == std::array<Index, 2>{1, 7}));
  BOOST_TEST((view<up>(m.col(3)).step == std::array<Index, 1>{7}));
}
BOOST_AUTO_TEST_CASE(views_of_any_stride) {
  const Matrix<double> m = gaussian<double>(60, 70, 1);
  const Eigen::MatrixXd columns = m;
  const auto block = m.block(3, 5, 20, 30);
  const Tensor<double, up, dn> copy = block;
  const auto same = [&](const auto& A) {
    const auto x = eq<"C^i{}_j = A^i{}_k B_j{}^k">(A, view<dn, up>(block));
    const auto y = eq<"C^i{}_j = A^i{}_k B_j{}^k">(
        copy, Tensor<double, dn, up>(block));
    verify(x.mat(), lift<quad>(y.mat()),
           2 * product_bound(block, block.transpose()));
  };
  same(view<up, dn>(block));
  same(view<up, dn>(columns.block(3, 5, 20, 30)));
  const auto row = eq<"s^i = A^i{}_k x^k">(copy, view<up>(m.col(0).head(30)));
  verify(row.vec(), lift<quad>(block) * lift<quad>(m.col(0).head(30)),
         product_bound(block, m.col(0).head(30)));
}
BOOST_AUTO_TEST_CASE(matrices_and_metrics_are_arguments) {
  const Matrix<double> q = gaussian<double>(7, 4, 1, "Q");
  const Matrix<double> k = gaussian<double>(9, 4, 1, "K");
  const Matrix<double> r = gaussian<double>(4, 4, 1, "r");
  const auto g = Metric<double>::full(r * r.transpose());
  const Tensor<double, up, up> Q = q, K = k;
  const Tensor<double, dn, dn> G = g.dense();
  const auto S = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, G, K);
  BOOST_TEST((S.mat() ==
              eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, k).mat()));
  const Vector<double> v = k.row(2);
  const auto s = eq<"s^i = Q^{ia} g_{ab} k^b">(q, g, v);
  const auto t = eq<"s^i = Q^{ia} g_{ab} k^b">(Q, G, view<up>(v));
  BOOST_TEST((s.vec() == t.vec()));
  Tensor<double, up, up> out;
  eq_into<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(out, q, g, k);
  BOOST_TEST((out.mat() == S.mat()));
  BOOST_CHECK_EXCEPTION(
      (eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(q, g, r.topRows(3).leftCols(2))),
      std::invalid_argument, says("index b has extent 4 and 2"));
}
BOOST_AUTO_TEST_CASE(tensors_form_a_vector_space) {
  const auto x = some<up, dn>(1, 2, 3), y = some<up, dn>(2, 2, 3);
  BOOST_TEST(((x + y - 2 * x).mat() == x.mat() + y.mat() - 2 * x.mat()));
  const auto z = some<up, dn>(3, 3, 2);
  BOOST_CHECK_EXCEPTION(x + z, std::invalid_argument,
                        says("Tensor +: 2x3 and 3x2"));
  BOOST_CHECK_EXCEPTION(x - z, std::invalid_argument, says("Tensor -:"));
}
BOOST_AUTO_TEST_CASE(lift_keeps_numbers) {
  const auto x = some<up, dn>(1, 2, 3);
  BOOST_TEST((lift<double>(lift<quad>(x)).values == x.values));
  BOOST_TEST((lift<float>(x.mat()) == x.mat().cast<float>()));
  const Vector<quad> v = lift<quad>(x.values);
  BOOST_TEST(v.size() == 6);
}
BOOST_AUTO_TEST_CASE(products_of_any_scalar) {
  const Matrix<double> a{{1, 2, 3}}, b{{4}, {5}, {6}};
  const auto exactly = [](auto x, auto y) {
    auto sum = times(x, y);
    BOOST_TEST(double(sum(0, 0)) == 32);
    add_times(sum, x, y);
    BOOST_TEST(double(sum(0, 0)) == 64);
  };
  exactly(a, b);
  exactly(lift<quad>(a), lift<quad>(b));
  BOOST_CHECK_EXCEPTION(times(a, a), std::invalid_argument,
                        says("times: a is 1x3 but b is 1x3"));
}
BOOST_AUTO_TEST_CASE(products_to_be_added) {
  const Matrix<double> a{{1, 2, 3}, {4, 5, 6}}, b{{1, 2}, {3, 4}, {5, 6}};
  Matrix<double> y = Matrix<double>::Ones(2, 2);
  add_times(y, a, b);
  BOOST_TEST((y == Matrix<double>{{23, 29}, {50, 65}}));
  Matrix<double> row{{1, 1}};
  add_times(row, a.topRows(1), b);
  BOOST_TEST((row == Matrix<double>{{23, 29}}));
  for (const auto& [n, m] : {std::pair(1, 2), {2, 1}, {2, 3}, {3, 2}}) {
    Matrix<double> other = Matrix<double>::Ones(n, m);
    BOOST_CHECK_EXCEPTION(add_times(other, a, b), std::invalid_argument,
                          says("add_times: y is " + shape(other)));
  }
  BOOST_CHECK_EXCEPTION(add_times(y, a, a), std::invalid_argument,
                        says("add_times: y is 2x2, a 2x3, b 2x3"));
}

// check messages and random numbers
BOOST_AUTO_TEST_CASE(refusals_name_the_shapes) {
  BOOST_TEST(shape(Matrix<double>(4, 3)) == "4x3");
  BOOST_TEST(shape(Tensor<double, up, dn, dn>(2, 3, 4)) == "2x3x4");
  BOOST_CHECK_EXCEPTION(require(false, "f: K has ", 3, " columns"),
                        std::invalid_argument, says("f: K has 3 columns"));
  BOOST_CHECK_EXCEPTION(require_domain(false, "f: T = ", 0.5),
                        std::domain_error, says("f: T = 0.5"));
  require(true, "nothing");
}
BOOST_AUTO_TEST_CASE(gaussian_has_its_moments) {
  const Matrix<double> x = gaussian<double>(1000, 100, 1);
  const double n = 1e5;
  verify(std::abs(x.mean()), 5 / std::sqrt(n));
  verify(std::abs(x.squaredNorm() / n - 1), 5 * std::sqrt(2 / n));
  verify(std::abs(x.array().pow(4).mean() - 3), 5 * std::sqrt(96 / n));
  BOOST_TEST((gaussian<double>(3, 3, 1) != gaussian<double>(3, 3, 2)));
}
BOOST_AUTO_TEST_CASE(uniform_fills_its_interval) {
  const Matrix<double> x = uniform<double>(1000, 100, 1);
  verify(std::abs(x.mean()), 5 / std::sqrt(3e5));
  verify(std::abs(x.squaredNorm() / 1e5 - 1. / 3),
         5 * std::sqrt(4. / 45 / 1e5));
  BOOST_TEST(x.minCoeff() >= -1);
  BOOST_TEST(x.maxCoeff() < 1);
}
BOOST_AUTO_TEST_CASE(scalars_see_the_same_numbers) {
  const Matrix<double> x = gaussian<double>(4, 5, 9);
  BOOST_TEST((gaussian<quad>(4, 5, 9) == lift<quad>(x)));
  BOOST_TEST((gaussian<float>(4, 5, 9) == lift<float>(x)));

  // make normal numbers from the words of the generator
  std::mt19937_64 bits(9);
  const auto next = [&] { return quad(double(bits() >> 11)) / 0x1p53; };
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < 5; ++j) {
      const quad radius = sqrt(quad(-2) * log(quad(1) - next()));
      const quad truth = radius * cos(quad(2) * acos(quad(-1)) * next());
      verify(to_double(quad(abs(quad(x(i, j)) - truth))),
             20 * unit_roundoff<double>() * to_double(radius));
    }
  for (const Index n : {0, 5})  // both empty
    BOOST_TEST(gaussian<double>(n, 5 - n, 9).size() +
                   uniform<double>(n, 5 - n, 9).size() == 0);
  BOOST_CHECK_EXCEPTION(gaussian<double>(-1, 5, 9), std::invalid_argument,
                        says("gaussian: extents -1x5"));
  BOOST_CHECK_EXCEPTION(gaussian<double>(1, -5, 9), std::invalid_argument,
                        says("gaussian: extents 1x-5"));
  BOOST_CHECK_EXCEPTION(uniform<double>(1, -5, 9), std::invalid_argument,
                        says("uniform: extents 1x-5"));
}
BOOST_AUTO_TEST_CASE(promises_of_the_text) {
  const double largest_radius = std::sqrt(-2 * std::log(0x1p-53));
  BOOST_TEST(largest_radius < 8.6);
  BOOST_TEST(std::abs(std::log10(std::erfc(largest_radius / std::sqrt(2.))) +
                      17) < 0.1);
  const std::array<std::size_t, 3> places{0, 0, 1};
  const auto p = detail::shuffled(
      3, [&](std::size_t n) { return places[n - 1]; });
  BOOST_TEST((p == std::vector<Index>{1, 2, 0}));
  static_assert(5120 < sizeof(detail::Equation) &&
                sizeof(detail::Equation) < 6144);
  static_assert(detail::parsed<"s^a = u_a v^a w_a">.fault ==
                detail::Fault::too_often);
}
BOOST_AUTO_TEST_CASE(names_have_streams) {
  static_assert(detail::hashed("a") == 0xaf63dc4c8601ec8c);
  static_assert(detail::hashed("foobar") == 0x85944171f73967e8);
  std::mt19937_64 plain(7), named(0xbbdf76f73e790d21);
  const auto first = [](std::mt19937_64& bits) {
    return 2 * (double(bits() >> 11) * 0x1p-53) - 1;
  };
  BOOST_TEST(uniform<double>(1, 1, 7)(0) == first(plain));
  BOOST_TEST(uniform<double>(1, 1, 7, "Q")(0) == first(named));
  BOOST_TEST(uniform<double>(1, 1, 7, "K")(0) == -0x1.4956d4fa2c030p-1);
  BOOST_TEST((permutation(9, 7, "Q") != permutation(9, 7, "K")));
  BOOST_TEST((permutation(9, 7, "Q") == permutation(9, 7, "Q")));
}
BOOST_AUTO_TEST_CASE(streams_are_uncorrelated) {
  const Index n = 100000;
  const auto correlation = [](const auto& x, const auto& y) {
    return std::abs(x.dot(y) / (x.norm() * y.norm()));
  };
  for (const std::uint64_t seed : {0, 1, 2}) {
    const Vector<double> q = gaussian<double>(n, 1, seed, "Q");
    BOOST_TEST((q == gaussian<double>(n, 1, seed, "Q").col(0)));
    const double five = 5 / std::sqrt(double(n));
    for (const Vector<double>& k :
         {Vector<double>(gaussian<double>(n, 1, seed, "K")),
          Vector<double>(gaussian<double>(n, 1, seed + 1, "Q")),
          Vector<double>(gaussian<double>(n, 1, seed))})
      verify(correlation(q, k), five);
  }
}
BOOST_AUTO_TEST_CASE(permutations_are_equally_likely) {
  std::map<std::vector<Index>, double> count;
  for (std::uint64_t seed = 0; seed < 6000; ++seed)
    ++count[permutation(3, seed)];
  BOOST_TEST(count.size() == 6U);
  for (const auto& [p, n] : count) {
    BOOST_TEST(std::ranges::is_permutation(p, std::array<Index, 3>{0, 1, 2}));
    verify(std::abs(n - 1000), 5 * std::sqrt(6000 * 5. / 36));
  }
  BOOST_TEST(permutation(0, 1).empty());
  BOOST_CHECK_THROW(permutation(-1, 1), std::invalid_argument);
}

// check the reader
template <Text T>
constexpr const detail::Factor& first_factor() {
  return detail::parsed<T>.term[0].factor[0];
}
BOOST_AUTO_TEST_CASE(blanks_and_empty_braces_mean_nothing) {
  constexpr auto& a = first_factor<"s=A^{ij}_{ k }B_{ij}^k">();
  constexpr auto& b = first_factor<" s = A ^{ i, j}{}_k B_{ij} {}^k ">();
  static_assert(a.rank == 3 && b.rank == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    BOOST_TEST(a.slot[k].letter == b.slot[k].letter);
    BOOST_TEST(a.slot[k].height == b.slot[k].height);
  }
}
BOOST_AUTO_TEST_CASE(accents_belong_to_names) {
  constexpr auto& a = first_factor<R"(s = \bar S_{ij} X^{ij})">();
  constexpr auto& b = first_factor<R"(s = \hat{\bar S}''_{ij} X^{ij})">();
  constexpr auto& c = first_factor<R"(s = \mathbf{S}_{ij} X^{ij})">();
  static_assert(a.rank == 2 && b.rank == 2 && c.rank == 2);
  constexpr auto& e = detail::parsed<R"(x^i = \beta y^i)">;
  static_assert(e.arguments == 2);
  BOOST_TEST(e.term[0].factor[0].rank == 0U);
}
BOOST_AUTO_TEST_CASE(faults_have_smallest_texts) {
  using enum detail::Fault;
  using detail::parsed;
  static_assert(parsed<"s = u_a v_a">.fault == same_height);
  static_assert(parsed<"s = u_a v^a w_a">.fault == too_often);
  static_assert(parsed<"d^a = A^a{}_a">.fault == summed_on_left);
  static_assert(parsed<"s = v^a">.fault == dangling);
  static_assert(parsed<"v_a = w^a">.fault == height_moves);
  static_assert(parsed<"s = u^{(a)} v_{(a)}">.fault == label_summed);
  static_assert(parsed<"v^a = w^{(a)}">.fault == label_mixed);
  static_assert(parsed<"s = 12345 t">.fault == none);
  static_assert(parsed<"s = 123456 t">.fault == bad_character);
  static_assert(parsed<"s = u^a v_a">.fault == none);
  static_assert(parsed<"d^{(a)} = A^{(a)}{}_{(a)}">.fault == none);
}
detail::Fault fault_of_many(int slots, int factors, int terms) {
  std::string f = " A", t, s = "s =";
  for (int k = 0; k < slots; ++k) f += "^a";
  for (int k = 0; k < factors; ++k) t += f;
  for (int k = 0; k < terms; ++k) s += (k > 0 ? " +" : "") + t;
  return detail::Reader{s, 0, {}}.equation().fault;
}
BOOST_AUTO_TEST_CASE(limits_are_what_they_are_said_to_be) {
  using enum detail::Fault;
  BOOST_TEST((fault_of_many(8, 6, 8) == none));
  BOOST_TEST((fault_of_many(9, 1, 1) == too_large));
  BOOST_TEST((fault_of_many(1, 7, 1) == too_large));
  BOOST_TEST((fault_of_many(1, 1, 9) == too_large));
}
BOOST_AUTO_TEST_CASE(greek_indices_are_distinct) {
  const auto A = some<dn, dn>(1, 2, 3);
  const auto B =
      eq<R"(B_{\nu\mu} = A_{\mu\nu})">(A);  // eq:none
  BOOST_TEST((B.mat() == A.mat().transpose()));
  BOOST_TEST(detail::spelled(detail::parsed<
      R"(v^\omega = w^\omega)">.left.slot[0].letter) == "\\omega");
}
BOOST_AUTO_TEST_CASE(a_derivative_is_a_slot) {
  const auto dg = some<dn, dn, dn>(1, 3, 3, 3);
  const auto T = eq<R"(T_{cab} = \partial_a g_{bc})">(dg);
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < 3; ++b)
      for (Index c = 0; c < 3; ++c) BOOST_TEST(T(c, a, b) == dg(a, b, c));
}
BOOST_AUTO_TEST_CASE(coefficients_are_rational) {
  const auto A = some<dn, dn>(1, 3, 3);
  const auto S = eq<
      R"(S_{ab} = \tfrac{1}{2} A_{ab} + \frac{1}{2} A_{ba})">(A, A);
  BOOST_TEST((S.mat() == 0.5 * A.mat() + 0.5 * A.mat().transpose()));
  const auto D = eq<"D_{ab} = - 3 A_{ab} + 2 A_{ab}">(A, A);
  BOOST_TEST((D.mat() == -3 * A.mat() + 2 * A.mat()));
}

// check sums of terms
BOOST_AUTO_TEST_CASE(christoffel_symbols_are_two_equations) {
  const auto dg = some<dn, dn, dn>(1, 3, 3, 3);
  const auto gi = some<up, up>(2, 3, 3);
  const auto T =
  eq<R"(T_{dab} = \partial_a g_{bd} + \partial_b g_{ad} - \partial_d g_{ab})">(
          dg, dg, dg);
  const auto G =
      eq<R"(\Gamma^c{}_{ab} = \tfrac{1}{2} g^{cd} T_{dab})">(gi, T);

  // compare the symbols with their definition
  for (Index c = 0; c < 3; ++c)
    for (Index a = 0; a < 3; ++a)
      for (Index b = 0; b < 3; ++b) {
        quad sum = 0, size = 0;
        for (Index d = 0; d < 3; ++d) {
          const quad g = gi(c, d), x = dg(a, b, d), y = dg(b, a, d);
          const quad z = dg(d, a, b);
          sum += g * (x + y - z) / 2;
          size += abs(g) * (abs(x) + abs(y) + abs(z)) / 2;
        }
        verify(to_double(quad(abs(G(c, a, b) - sum))),
               gamma(8, 0x1p-53) * to_double(size));
      }
}
BOOST_AUTO_TEST_CASE(dummies_are_private_to_terms) {
  const auto A = some<up, dn>(1, 2, 3), C = some<up, dn>(3, 2, 5);
  const auto B = some<up, up>(2, 3, 4), D = some<up, up>(4, 5, 4);
  const auto S = eq<
      "S^{ij} = A^i{}_a B^{aj} - C^i{}_a D^{aj}">(A, B, C, D);
  verify(S.mat(), lift<quad>(A.mat()) * lift<quad>(B.mat()) -
                      lift<quad>(C.mat()) * lift<quad>(D.mat()),
         2 * (product_bound(A.mat(), B.mat()) +
              product_bound(C.mat(), D.mat())));
}
BOOST_AUTO_TEST_CASE(extents_are_checked) {
  const auto Q = some<up, up>(1, 2, 3), K = some<up, up>(2, 4, 5);
  const auto g = some<dn, dn>(3, 3, 3);
  BOOST_CHECK_EXCEPTION(
      (eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, K)),
      std::invalid_argument, says("index b has extent 3 and 5"));
  BOOST_CHECK_EXCEPTION((eq<"S^{ij} = Q^{ij} + K^{ij}">(Q, K)),
                        std::invalid_argument, says("index i has"));
  BOOST_CHECK_EXCEPTION((eq<"t = A^a{}_a">(some<up, dn>(1, 0, 3))),
                        std::invalid_argument, says("extent 0 and 3"));
  BOOST_CHECK_EXCEPTION((eq<"t = A^a{}_a">(some<up, dn>(1, 2, 3))),
                        std::invalid_argument, says("index a has"));
}

// check traces, diagonals and empty sums
BOOST_AUTO_TEST_CASE(traces_inside_products) {
  const auto R = some<up, dn, dn, dn>(1, 4, 3, 4, 3);
  const auto gi = some<up, up>(2, 3, 3);
  compare<"r_b{}^c = R^a{}_{bad} g^{dc}">("abad,dc->bc", R, gi);
  compare<"r = R^a{}_{bad} g^{bd}">("abad,bd->", R, gi);
  compare<"r = g^{bd} R^a{}_{bad}">("bd,abad->", gi, R);
}
BOOST_AUTO_TEST_CASE(labels_take_diagonals) {
  const auto A = some<up, dn>(1, 4, 4);
  const auto d = eq<"d^{(a)} = A^{(a)}{}_{(a)}">(A);
  BOOST_TEST((d.vec() == A.mat().diagonal()));
  compare<"c^{(a)i} = A^{(a)}{}_{(a)} B^{(a)i}">(
      "aa,ai->ai", A, some<up, up>(2, 4, 3));
}
BOOST_AUTO_TEST_CASE(empty_sums_are_zero) {
  const Tensor<double, up, up> Q(2, 0), K(3, 0), none(0, 4);
  const Tensor<double, dn, dn> g(0, 0);
  const auto S = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, K);
  BOOST_TEST(shape(S) == "2x3");
  verify(largest(S.values), 0.0);
  BOOST_TEST(shape(eq<"B^{ji} = A^{ij}">(none)) == "4x0");
}
template <Height... H, class... N>
Tensor<Fp, H...> exact(const char* name, N... n) {
  Tensor<Fp, H...> x(n...);
  x.values = uniform<Fp>(x.values.size(), 1, 1, name);
  return x;
}
template <Text T, class... X>
void compare_exactly(const std::string& pattern, const X&... x) {
  const auto C = eq<T>(x...);
  const auto truth = literal<Fp>(pattern, {flat<Fp>(x)...});
  using Numbers = Eigen::Map<const Vector<Fp>>;
  verify_exact(Matrix<Fp>(C.values),
               Matrix<Fp>(Numbers(truth.data(), Index(truth.size()))),
               long(sizeof...(X)));
}
BOOST_AUTO_TEST_CASE(the_fold_is_exact_over_the_field) {
  const auto R = exact<up, dn, dn, dn>("R", 4, 3, 4, 3);
  const auto g = exact<up, up>("g", 3, 3);
  const auto A = exact<up, dn>("A", 4, 4), B = exact<up, dn>("B", 4, 4);
  const auto v = exact<up>("v", 4);
  compare_exactly<"r_b{}^c = R^a{}_{bad} g^{dc}">("abad,dc->bc", R, g);
  compare_exactly<"r = g^{bd} R^a{}_{bad}">("bd,abad->", g, R);
  compare_exactly<"r^i = A^i{}_j v^j g^{bd} R^a{}_{bad}">(
      "ij,j,bd,abad->i", A, v, g, R);
  compare_exactly<"r^i = A^i{}_j B^k{}_k v^j">("ij,kk,j->i", A, B, v);
  compare_exactly<"d^{(i)k} = A^{(i)}{}_{(i)} B^k{}_j v^j">(
      "ii,kj,j->ik", A, B, v);
  compare_exactly<"s = A^i{}_j B^j{}_i">("ij,ji->", A, B);
  compare_exactly<"M^{ij} = v^i v^j">("i,j->ij", v, v);
  compare_exactly<"z^i{}_p = A^i{}_j B^j{}_k A^k{}_l B^l{}_m A^m{}_n B^n{}_p">(
      "ij,jk,kl,lm,mn,np->ip", A, B, A, B, A, B);

  // add two terms with coefficients over the field
  const auto C =
    eq<R"(C^i{}_k = 3 A^i{}_j B^j{}_k - \tfrac{1}{7} A^j{}_j B^i{}_k)">(
          A, B, A, B);
  const Matrix<Fp> AB = times(A.mat(), B.mat());
  const Fp part = A.mat().trace() / Fp(7);
  verify_exact(Matrix<Fp>(C.mat()),
               Matrix<Fp>(AB * Fp(3) - Matrix<Fp>(B.mat() * part)), 2);
}
BOOST_AUTO_TEST_CASE(six_factors_in_a_row) {
  const auto A = some<up, dn>(1, 3, 3), B = some<up, dn>(2, 3, 3);
  const auto more = [](std::uint64_t k) { return some<up, dn>(k, 3, 3); };
  compare<"z^i{}_p = A^i{}_j B^j{}_k C^k{}_l D^l{}_m E^m{}_n F^n{}_p">(
      "ij,jk,kl,lm,mn,np->ip", A, B, more(3), more(4), more(5), more(6));
  const Tensor<double> beta = 0.5;
  const auto C = eq<R"(C^i{}_j = \beta A^i{}_j)">(beta, A);
  BOOST_TEST((C.mat() == 0.5 * A.mat()));
}
BOOST_AUTO_TEST_CASE(results_are_kept_in_place) {
  const auto A = some<up, dn>(1, 8, 8), B = some<up, dn>(2, 8, 8);
  Tensor<double, up, dn> C(8, 8);
  C.values.setConstant(99);
  const double* where = C.values.data();
  eq_into<"C^i{}_j = A^i{}_k B^k{}_j">(C, A, B);
  BOOST_TEST(C.values.data() == where);
  BOOST_TEST((C.mat() == eq<"C^i{}_j = A^i{}_k B^k{}_j">(A, B).mat()));
}
BOOST_AUTO_TEST_CASE(arguments_may_be_temporaries) {
  const Matrix<double> m = gaussian<double>(3, 3, 1);
  const double t = eq<"t = A^a{}_a">(Tensor<double, up, dn>(2 * m));
  verify(std::abs(t - 2 * m.trace()), gamma(3, 0x1p-53) * 2 *
                                          m.diagonal().cwiseAbs().sum());
}

// run the cases on equations

// check that what compiles is covariant
BOOST_AUTO_TEST_CASE(what_compiles_is_covariant) {
  detail::Bits bits = detail::stream(1, "texts");
  int accepted = 0, refused = 0, unchanged = 0;
  std::set<detail::Fault> kinds;
  for (std::uint64_t k = 0; k < 20000; ++k) {
    const std::string text = made_up(bits);
    const auto e = detail::judged(detail::Reader{text, 0, {}}.equation());
    if (e.fault != detail::Fault::none && refused == 1000) continue;
    const Trial trial = in_both_coordinates(e, 3 * k);

    // hold the judgement against the trial
    using enum detail::Fault;
    const bool changes = trial.old_left != trial.new_left;
    if (e.fault == none) {
      accepted += text.find('{') != text.npos;
      for (std::size_t q = 0; q < trial.old_left.size(); ++q)
        verify_exact(trial.new_left[q], trial.old_left[q], trial.degree);
    } else if (text.find('(') == text.npos && !twice_on_its_left(e)) {
      ++refused;
      unchanged += !changes;
    }
    if (changes && e.fault != label_summed) kinds.insert(e.fault);
  }
  verify(double(unchanged), 0.0);
  BOOST_TEST(kinds.size() == 8U);
  fact("accepted", accepted);
  fact("refused", refused);
}
BOOST_AUTO_TEST_CASE(a_trace_on_the_left_is_covariant) {
  const auto trial = [](const char* text) {
    const auto e = detail::judged(detail::Reader{text, 0, {}}.equation());
    BOOST_TEST((e.fault == detail::Fault::twice_on_left));
    return in_both_coordinates(e, 1);
  };
  const Trial fill = trial("X^c{}_c = Y"), metric = trial("X_{cc} = Y");
  for (std::size_t q = 0; q < 16; ++q)
    verify_exact(fill.new_left[q], fill.old_left[q], fill.degree);
  BOOST_TEST((metric.new_left != metric.old_left));
}

// check products of random shapes
BOOST_AUTO_TEST_CASE(products_agree_with_loops) {
  for_all([] {
    const Index n = draw(0, 6), m = draw(0, 6), d = draw(0, 6);
    const Index h = draw(0, 3);
    const auto Q = some<up, up, up>(1, h, n, d);
    const auto K = some<up, up, up>(2, h, m, d);
    const auto g = some<dn, dn>(3, d, d);
    const auto W = some<dn, dn, up>(4, h, d, m);
    compare<"S^{(h)ij} = Q^{(h)ia} g_{ab} K^{(h)jb}">("hia,ab,hjb->hij",
                                                      Q, g, K);
    compare<"Y^{in} = O^{hic} W_{hc}{}^n">("hic,hcn->in", Q, W);
    compare<"P^{ji(a)} = g_{bc} Q^{bi(a)} K^{cj(a)}">(
        "bc,bia,cja->jia", some<dn, dn>(7, h, h), Q, K);
  });
}

// check every kernel
BOOST_AUTO_TEST_CASE(all_kernels_agree_with_loops) {
  const Index n = 33, m = 17, d = 41;
  const auto A = some<up, dn>(1, n, d), B = some<up, dn>(2, d, m);
  const auto At = some<dn, up>(3, d, n), Bt = some<dn, up>(4, m, d);
  compare<"C^i{}_j = A^i{}_k B^k{}_j">("ik,kj->ij", A, B);
  compare<"C^i{}_j = A^i{}_k B_j{}^k">("ik,jk->ij", A, Bt);
  compare<"C^i{}_j = A_k{}^i B^k{}_j">("ki,kj->ij", At, B);
  compare<"C^i{}_j = A_k{}^i B_j{}^k">("ki,jk->ij", At, Bt);
  compare<"C_j{}^i = A_k{}^i B_j{}^k">("ki,jk->ji", At, Bt);
  compare<"C^{(i)}{}_{(j)} = A^{(i)}{}_{(j)} B^{(i)}{}_{(j)}">(
      "ij,ij->ij", A, some<up, dn>(7, n, d));
  compare<"C^{(h)i}{}_j = A^i{}_k B^k{}_j{}^{(h)}">(
      "ik,kjh->hij", A, some<up, dn, up>(5, d, m, 3));
  compare<"C^{(h)i}{}_j = A^i{}_k{}^{(h)} B^k{}_j">(
      "ikh,kj->hij", some<up, dn, up>(6, n, d, 3), B);
}
BOOST_AUTO_TEST_CASE(kernels_follow_strides) {
  using namespace detail;
  constexpr int r = Eigen::RowMajor, c = Eigen::ColMajor;
  const auto chosen = [](Index ma, Index ka, Index kb, Index nb, Index nc,
                         Index n = 3, Index m = 2, Index mc = 3) {
    return kernel_for<double>({.m = {'i', detail::row, m, ma, 0, mc},
                               .n = {'j', column, n, 0, nb, nc},
                               .k = {'k', summed, 4, ka, kb, 0}});
  };
  const auto loops = &multiply_by_loops<double>;
  BOOST_TEST((chosen(4, 1, 3, 1, 1) == &multiply_by_gemm<double, r, r>));
  BOOST_TEST((chosen(4, 1, 1, 4, 1) == &multiply_by_gemm<double, r, c>));
  BOOST_TEST((chosen(1, 2, 3, 1, 1) == &multiply_by_gemm<double, c, r>));
  BOOST_TEST((chosen(1, 2, 1, 4, 1) == &multiply_by_gemm<double, c, c>));
  BOOST_TEST((chosen(4, 1, 2, 7, 9, 1) == &multiply_by_gemm<double, r, r>));
  BOOST_TEST((chosen(9, 2, 4, 1, 1, 3, 1) == &multiply_row<double, r>));
  BOOST_TEST((chosen(9, 2, 1, 4, 1, 3, 1) == &multiply_row<double, c>));
  BOOST_TEST((chosen(4, 1, 2, 7, 9, 1, 2, 1) == &multiply_column<double, c>));
  BOOST_TEST((chosen(1, 4, 2, 7, 9, 1, 2, 1) == &multiply_column<double, r>));
  BOOST_TEST((chosen(9, 2, 2, 7, 1, 3, 1) == loops));
  BOOST_TEST((chosen(8, 2, 3, 1, 1) == loops));
  BOOST_TEST((chosen(4, 1, 6, 2, 1) == loops));
  BOOST_TEST((chosen(1, 2, 6, 2, 1) == loops));
  BOOST_TEST((chosen(4, 1, 3, 1, 2) == loops));
}
BOOST_AUTO_TEST_CASE(unit_strides_are_picked) {
  using namespace detail;
  const auto picked = [](std::vector<Index> strides) {
    Loops loops;
    for (const Index a : strides) loops.push_back({'i', row, 2, a, 0, 0});
    const Loop l = pick(loops, row, &Loop::a);
    BOOST_TEST(loops.size() == std::max<std::size_t>(strides.size(), 1) - 1);
    return l.a;
  };
  BOOST_TEST((picked({1, 5}) == 1 && picked({5, 1}) == 1));
  BOOST_TEST((picked({4, 5}) == 5 && picked({3}) == 3 && picked({}) == 0));
}
BOOST_AUTO_TEST_CASE(one_loop_of_each_role_is_taken) {
  using namespace detail;
  const auto operand = [](auto x, std::string_view letters) {
    for (const char l : letters) x.axis[x.rank++] = {l, 2, 0};
    lay_out(x);
    return x;
  };
  const auto taken = [&](std::string_view a, std::string_view b,
                         std::string_view c) {
    const Operand<const double> none{};
    Loops loops = loops_over<double>(operand(none, a), operand(none, b),
                                     operand(Operand<double>{}, c));
    const Triple g = kernel_loops(loops);
    std::string s{g.m.letter, g.n.letter, g.k.letter, ' '};
    for (const Loop& l : loops) s += l.letter;
    return s;
  };
  BOOST_TEST(taken("hia", "hja", "hij") == "ija h");
  BOOST_TEST(taken("iab", "jba", "ij") == "ijb a");
  BOOST_TEST(taken("abi", "jba", "ij") == "ija b");
  BOOST_TEST(taken("ab", "jba", "j") == std::string("\0jb a", 5));

  // take the loops of the table of roles
  BOOST_TEST(taken("hic", "hcn", "in") == "inc h");
  BOOST_TEST(taken("im", "hma", "hia") == "iam h");
  BOOST_TEST(taken("a", "b", "ab") == std::string("ab\0 ", 4));
  BOOST_TEST(taken("a", "a", "") == std::string("\0\0a ", 4));
}
BOOST_AUTO_TEST_CASE(the_kernel_sums_the_index_with_unit_stride) {
  const auto A = lift<Counted>(some<up, up, up>(1, 2, 4, 5));
  const auto B = lift<Counted>(some<up, dn, dn>(2, 3, 5, 4));
  const auto C = lift<Counted>(some<up, up, up>(3, 4, 3, 2));
  const auto D = lift<Counted>(some<up, dn, dn>(4, 6, 3, 4));
  const auto off = [](Index products, Index k) {
    return std::abs(double(Counted::sums - products - products / k));
  };
  Counted::sums = 0;
  eq<"S^{ij} = A^{iab} B^j{}_{ba}">(A, B);
  verify(off(2 * 3 * 4 * 5, 5), 0.0);
  Counted::sums = 0;
  eq<"S^{ij} = C^{abi} D^j{}_{ba}">(C, D);
  verify(off(2 * 6 * 4 * 3, 4), 0.0);
}
BOOST_AUTO_TEST_CASE(float_obeys_its_bound) {
  for (const Index d : {1, 64, 1000}) {
    const auto Q = lift<float>(some<up, up>(1, 5, d));
    const auto K = lift<float>(some<up, dn>(2, 7, d));
    compare<"S^{ij} = Q^{ia} K^j{}_a">("ia,ja->ij", Q, K);
  }
}

// check the patterns of linear algebra
BOOST_AUTO_TEST_CASE(patterns_of_linear_algebra) {
  const auto u = some<up>(1, 5), v = some<up>(2, 5);
  const auto w = some<dn>(3, 5);
  const auto A = some<up, dn>(4, 5, 5), B = some<up, dn>(5, 5, 5);
  const auto C = some<dn, up>(6, 5, 5);
  const auto Ab = some<up, up, dn>(7, 2, 3, 4);
  const auto Bb = some<up, up, dn>(8, 2, 4, 5);
  pattern<"s = u_a v^a">(1, "a,a->", w, v);
  pattern<"M^{ab} = u^a v^b">(2, "a,b->ab", u, v);
  pattern<"B_k{}^i = A^i{}_k">(3, "ik->ki", A);
  pattern<"t = A^a{}_a">(4, "aa->", A);
  pattern<"C^i{}_j = A^i{}_k B^k{}_j">(5, "ik,kj->ij", A, B);
  pattern<"y^i = A^i{}_k x^k">(6, "ik,k->i", A, u);
  pattern<"s = A^i{}_k B_i{}^k">(7, "ik,ik->", A, C);
  pattern<"C^{(i)}{}_{(k)} = A^{(i)}{}_{(k)} B^{(i)}{}_{(k)}">(
      8, "ik,ik->ik", A, B);
  pattern<"C^{(b)i}{}_j = A^{(b)i}{}_k B^{(b)k}{}_j">(
      9, "bik,bkj->bij", Ab, Bb);
}

// check the patterns of attention
BOOST_AUTO_TEST_CASE(patterns_of_attention) {
  const auto u = some<up>(1, 4), v = some<up>(2, 4);
  const auto w = some<dn>(3, 4);
  const auto g = some<dn, dn>(4, 4, 4);
  const auto r = some<up, up>(5, 4, 4);
  const auto Q = some<up, up>(6, 3, 4), K = some<up, up>(7, 5, 4);
  const auto A = some<up, dn>(8, 3, 5);
  const auto Qb = some<up, up, up>(9, 2, 3, 4);
  const auto Kb = some<up, up, up>(10, 2, 5, 4);
  const auto Ab = some<up, up, dn>(11, 2, 3, 5);
  pattern<"v_a = g_{ab} v^b">(10, "ab,b->a", g, v);
  pattern<"v^a = g^{ab} v_b">(11, "ab,b->a", r, w);
  pattern<"s = u^a g_{ab} v^b">(12, "a,ab,b->", u, g, v);
  pattern<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(13, "ia,ab,jb->ij", Q, g, K);
  pattern<"O^{ic} = A^i{}_j V^{jc}">(14, "ij,jc->ic", A, K);
  pattern<"S^{(b)ij} = Q^{(b)ik} g_{kl} K^{(b)jl}">(
      15, "bik,kl,bjl->bij", Qb, g, Kb);
  pattern<"O^{(b)ic} = A^{(b)i}{}_j V^{(b)jc}">(
      16, "bij,bjc->bic", Ab, Kb);
}

// check the patterns of many heads
BOOST_AUTO_TEST_CASE(patterns_of_many_heads) {
  const auto X = some<up, up>(1, 3, 6);
  const auto W = some<up, dn, up>(2, 2, 6, 4);
  const auto Q = some<up, up, up>(3, 2, 3, 4);
  const auto K = some<up, up, up>(4, 2, 5, 4);
  const auto g = some<dn, dn>(5, 4, 4);
  const auto A = some<up, up, dn>(6, 2, 3, 5);
  const auto Wo = some<dn, dn, up>(7, 2, 4, 6);
  pattern<"Q^{hia} = X^{im} W^h{}_m{}^a">(17, "im,hma->hia", X, W);
  pattern<"S^{(h)ij} = Q^{(h)ia} g_{ab} K^{(h)jb}">(
      18, "hia,ab,hjb->hij", Q, g, K);
  pattern<"O^{(h)ic} = A^{(h)i}{}_j V^{(h)jc}">(
      19, "hij,hjc->hic", A, K);
  pattern<"Y^{in} = O^{hic} W_{hc}{}^n">(20, "hic,hcn->in", Q, Wo);
  pattern<"Q^{(b)hia} = X^{(b)im} W^h{}_m{}^a">(
      21, "bim,hma->bhia", some<up, up, up>(8, 2, 3, 6), W);
  pattern<"S^{(bh)ij} = Q^{(bh)ia} g_{ac} K^{(bh)jc}">(
      22, "bhia,ac,bhjc->bhij", some<up, up, up, up>(9, 2, 2, 3, 4), g,
      some<up, up, up, up>(10, 2, 2, 5, 4));
}

// check the patterns of the backward pass
BOOST_AUTO_TEST_CASE(patterns_of_the_backward_pass) {
  const auto A = some<up, dn>(1, 3, 5);
  const auto V = some<up, up>(2, 5, 4);
  const auto dO = some<dn, dn>(3, 3, 4);
  const auto dS = some<dn, dn>(4, 3, 5);
  const auto Q = some<up, up>(5, 3, 4), K = some<up, up>(6, 5, 4);
  const auto g = some<dn, dn>(7, 4, 4);
  pattern<R"(\bar V_{jc} = A^i{}_j \bar O_{ic})">(
      23, "ij,ic->jc", A, dO);
  pattern<R"(\bar A_i{}^j = \bar O_{ic} V^{jc})">(
      24, "ic,jc->ij", dO, V);
  pattern<R"(\bar Q_{ia} = \bar S_{ij} K^{jb} g_{ab})">(
      25, "ij,jb,ab->ia", dS, K, g);
  pattern<R"(\bar g^{ab} = Q^{ia} \bar S_{ij} K^{jb})">(
      26, "ia,ij,jb->ab", Q, dS, K);
}

// check the three readings
BOOST_AUTO_TEST_CASE(the_score_is_QgKt) {
  const auto Q = some<up, up>(1, 7, 5), K = some<up, up>(2, 9, 5);
  const auto g = some<dn, dn>(3, 5, 5);
  const auto S = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, K);
  const Matrix<quad> q = lift<quad>(Q.mat()), k = lift<quad>(K.mat());
  const Matrix<quad> truth = q * lift<quad>(g.mat()) * k.transpose();
  verify(S.mat(), truth,
         product_bound(Q.mat(), g.mat(), K.mat().transpose()));
}
BOOST_AUTO_TEST_CASE(the_output_and_its_cotangent) {
  const auto A = some<up, dn>(1, 7, 9);
  const auto V = some<up, up>(2, 9, 5);
  const auto dO = some<dn, dn>(3, 7, 5);
  const auto O =
      eq<"O^{ic} = A^i{}_j V^{jc}">(A, V);
  const auto dV =
      eq<R"(\bar V_{jc} = A^i{}_j \bar O_{ic})">(A, dO);  // eq:dv
  const Matrix<quad> a = lift<quad>(A.mat());
  const Matrix<quad> o = a * lift<quad>(V.mat());
  const Matrix<quad> v = a.transpose() * lift<quad>(dO.mat());
  verify(O.mat(), o, product_bound(A.mat(), V.mat()));
  verify(dV.mat(), v, product_bound(A.mat().transpose(), dO.mat()));
}
BOOST_AUTO_TEST_CASE(a_label_is_one_equation_per_head) {
  const Index H = 3, n = 4, m = 5, d = 2;
  const auto Q = some<up, up, up>(1, H, n, d);
  const auto K = some<up, up, up>(2, H, m, d);
  const auto g = some<dn, dn>(3, d, d);
  const auto S = eq<"S^{(h)ij} = Q^{(h)ia} g_{ab} K^{(h)jb}">(Q, g, K);
  for (Index h = 0; h < H; ++h) {
    const Eigen::Map<const Matrix<double>> q(&Q(h, 0, 0), n, d);
    const Eigen::Map<const Matrix<double>> k(&K(h, 0, 0), m, d);
    const auto one = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(
        view<up, up>(q), g, view<up, up>(k));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < m; ++j)
        verify(std::abs(S(h, i, j) - one(i, j)), 0.0);
  }
}
BOOST_AUTO_TEST_CASE(a_unit_is_a_choice) {
  const auto score = [](double unit) {
    const Tensor<double, up> q = Vector<double>{{1, 2 / unit}};
    const Tensor<double, up> k = Vector<double>{{3, 1 / unit}};
    const Tensor<double, dn, dn> g = Matrix<double>{{1, 0}, {0, unit * unit}};
    return std::pair(double(eq<"s = q^a g_{ab} k^b">(q, g, k)),
                     q.vec().dot(k.vec()));
  };
  BOOST_TEST((score(1) == std::pair(5.0, 5.0)));
  BOOST_TEST((score(0.5) == std::pair(5.0, 11.0)));
}

// check what the explainer says
BOOST_AUTO_TEST_CASE(explains_the_score) {
  const std::string text =
      explain<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(256, 256, 64, 64);
  BOOST_TEST(text ==
      "S^{ij} = Q^{ia} g_{ab} K^{jb}\n"
      "free: i j; summed: a b; labels: none\n"
      "product for each i b, sum over a: 1048576 multiplications\n"
      "product for each i j, sum over b: 4194304 multiplications\n"
      "total: 5242880 multiplications\n");
}
BOOST_AUTO_TEST_CASE(orders_of_a_chain) {
  for (Index p = 1; p < 6; ++p)
    for (Index q = 1; q < 6; ++q)
      for (Index r = 1; r < 6; ++r)
        for (Index s = 1; s < 6; ++s) {
          const Index left =
              cost<"D^i{}_l = A^i{}_j B^j{}_k C^k{}_l">(p, s, q, r);
          const Index right =
              cost<"D^i{}_l = C^k{}_l B^j{}_k A^i{}_j">(p, s, r, q);
          BOOST_TEST((left == p * r * (q + s) && right == q * s * (p + r)));
        }
  const std::string late =
      explain<"S^{ij} = Q^{ia} K^{jb} g_{ab}">(256, 256, 64, 64);
  BOOST_TEST(late.find("product for each i a j b, sum over none: "
                       "268435456 multiplications\n") != late.npos);
}
BOOST_AUTO_TEST_CASE(explains_without_extents) {
  const std::string text = explain<"Y^{in} = O^{hic} W_{hc}{}^n">();
  BOOST_TEST(text.find("sum over h c: n_h n_i n_c n_n") != text.npos);
  BOOST_TEST(text.find("total") == text.npos);
  const std::string labelled =
      explain<"S^{(h)ij} = Q^{(h)ia} K^{(h)j}{}_a">();
  BOOST_TEST(labelled.find("labels: h") != labelled.npos);
}
template <Text T, class... X, std::integral... N>
void count_products(const std::tuple<X...>& x, N... extents) {
  Counted::products = 0;
  std::apply([](const auto&... y) { eq<T>(lift<Counted>(y)...); }, x);
  verify(std::abs(double(Counted::products - cost<T>(extents...))), 0.0);
}
BOOST_AUTO_TEST_CASE(cost_is_what_a_counting_scalar_counts) {
  // prove that the order of factors matters
  constexpr Index n = 256, d = 64;
  static_assert(cost<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(n, n, d, d) ==
                n * d * d + n * n * d);
  static_assert(cost<"S^{ij} = Q^{ia} K^{jb} g_{ab}">(n, n, d, d) ==
                2 * n * n * d * d);
  const auto A = some<up, dn>(1, 4, 5), B = some<up, dn>(2, 5, 6);
  const auto C = some<up, dn>(3, 6, 7);
  const auto Q = some<up, up, up>(4, 2, 4, 3);
  const auto K = some<up, up, dn>(5, 2, 5, 3);
  const auto W = some<dn, dn, up>(6, 2, 3, 7);
  const auto R = some<up, dn, dn, dn>(7, 4, 3, 4, 3);
  count_products<"D^i{}_l = A^i{}_j B^j{}_k C^k{}_l">(std::tuple(A, B, C),
                                                      4, 7, 5, 6);
  count_products<"S^{(h)ij} = Q^{(h)ia} K^{(h)j}{}_a">(std::tuple(Q, K),
                                                       2, 4, 5, 3);
  count_products<"Y^{in} = Q^{hic} W_{hc}{}^n">(std::tuple(Q, W),
                                                4, 7, 2, 3);
  count_products<"r = R^a{}_{bad} g^{bd}">(
      std::tuple(R, some<up, up>(8, 3, 3)), 4, 3, 3);
  count_products<"s = u_a v^a + u_a v^a">(
      std::tuple(some<dn>(9, 5), some<up>(10, 5), some<dn>(11, 5),
                 some<up>(12, 5)), 5);
  count_products<"B^j{}_i = A_i{}^j">(std::tuple(some<dn, up>(13, 4, 5)),
                                      5, 4);
  count_products<"S^i{}_j = 2 A^i{}_j">(std::tuple(A), 4, 5);
  count_products<"S^i{}_k = -A^i{}_j B^j{}_k">(std::tuple(A, B), 4, 6, 5);
}

// check the errata of the notation
template <class T>
struct Coordinates {
  Matrix<T> Q = uniform<T>(4, 3, 1, "Q"), K = uniform<T>(5, 3, 1, "K");
  Tensor<T, up, dn> M = uniform<T>(3, 3, 1, "M");
  Tensor<T, dn, dn> g2 = uniform<T>(3, 3, 1, "g in new coordinates");
  Tensor<T, dn, up> W2 = uniform<T>(3, 2, 1, "W in new coordinates");
  Tensor<T, dn, dn> g = eq<"g_{ab} = M^c{}_a g'_{cd} M^d{}_b">(M, g2, M);
  Tensor<T, dn, up> W = eq<"W_m{}^a = M^n{}_m W'_n{}^a">(M, W2);
  Tensor<T, up, up> Q2 = eq<"Q'^{ia} = M^a{}_b Q^{ib}">(M, Q);
  Tensor<T, up, up> K2 = eq<"K'^{ja} = M^a{}_b K^{jb}">(M, K);
};
BOOST_AUTO_TEST_CASE(two_upper_indices_depend_on_coordinates) {
  const Coordinates<Fp> f;
  verify_exact(eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(f.Q2, f.g2, f.K2),
               eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(f.Q, f.g, f.K), 5);
  verify_exact(eq<"q^{ia} = X^{im} W_m{}^a">(f.Q2, f.W2),
               eq<"q^{ia} = X^{im} W_m{}^a">(f.Q, f.W), 3);
  const Coordinates<double> x;
  const Matrix<double> w = x.W.mat(), w2 = x.M.mat() * w;
  const double gap = largest(x.Q2.mat() * x.K2.mat().transpose() -
                             x.Q * x.K.transpose());
  const double projection = largest(x.Q2.mat() * w2 - x.Q * w);
  refute(gap, 0.1);
  refute(projection, 0.1);
  fact("gap", gap);
  fact("projection", projection);

  // renumber the keys of a printed output
  const Matrix<double> S = gaussian<double>(2, 3, 1, "S");
  const Matrix<double> V = gaussian<double>(3, 2, 1, "V");
  const auto printed = [&](const Matrix<double>& P) {
    Matrix<double> A = (S * P.transpose()).array().exp();
    for (Index i = 0; i < 2; ++i) A.row(i) /= A.row(i).sum();
    return Matrix<double>(A * (P * V));
  };
  const Matrix<double> here = printed(Matrix<double>::Identity(3, 3));
  const Matrix<double> next{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  const Matrix<double> turned{{0.6, 0.8, 0}, {-0.8, 0.6, 0}, {0, 0, 1}};
  verify(largest(printed(next) - here),
         2 * gamma(7, unit_roundoff<double>()) * largest(V));
  refute(largest(printed(turned) - here), 0.01);
  using detail::Fault, detail::parsed;
  static_assert(parsed<"S^{ij} = Q^{ia} K^{ja}">.fault == Fault::same_height);
  static_assert(parsed<"O^{ib} = A^{ij} V^{jb}">.fault == Fault::same_height);
  static_assert(parsed<"Q^{iha} = X^{ib} W^{hba}">.fault ==
                Fault::same_height);
}
template <class T, class Judge>
void differentiate_the_chain(const Judge& judge) {
  const Index n = 3, d = 2;
  const Matrix<T> b = uniform<T>(n, n, 1, "B"), v = uniform<T>(n, d, 1, "V");
  const Matrix<T> s = uniform<T>(n, n, 1, "S");
  const auto output = [&](const Matrix<T>& x) {
    return times(times(b, x.cwiseProduct(x)), v);
  };
  Tensor<T, up, up, dn, dn> J(n, d, n, n), D(n, n, n, n);

  // fill the two Jacobians of the chain
  for (Index k = 0; k < n; ++k)
    for (Index l = 0; l < n; ++l) {
      D(k, l, k, l) = T(2) * s(k, l);
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < d; ++c) J(i, c, k, l) = b(i, k) * v(l, c);
    }
  const auto right = eq<
      "R^{ib}{}_{mn} = J^{ib}{}_{kl} D^{kl}{}_{mn}">(J, D);
  const auto literal_i = eq<
      "R^{(i)b}{}_{mn} = J^{(i)b}{}_{(i)l} D^{(i)l}{}_{mn}">(J, D);

  // compare both readings with differences
  for (Index p = 0; p < n; ++p)
    for (Index q = 0; q < n; ++q) {
      Matrix<T> e = Matrix<T>::Zero(n, n);
      e(p, q) = T(1);
      const Matrix<T> twice = output(s + e) - output(s - e);
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < d; ++c)
          judge(T(twice(i, c) / T(2)), T(right(i, c, p, q)),
                T(literal_i(i, c, p, q)));
    }
}
BOOST_AUTO_TEST_CASE(a_chain_rule_needs_fresh_letters) {
  differentiate_the_chain<Fp>(
      [](Fp slope, Fp right, Fp) { verify_exact(right, slope, 3); });
  double gap = 0;
  differentiate_the_chain<double>([&](double slope, double, double literal) {
    gap = std::max(gap, std::abs(literal - slope));
  });
  refute(gap, 0.1);
  fact("gap", gap);
}

// check the answers on equations
template <Text T>
constexpr detail::Fault fault_of = detail::parsed<T>.fault;
BOOST_AUTO_TEST_CASE(answer_refused) {
  using enum detail::Fault;
  static_assert(fault_of<"c^i = A^i{}_j b^j + d^i"> == none);
  static_assert(fault_of<"c^i = A^i{}_j b_j"> == same_height);
  static_assert(fault_of<"c = u_a v^a w_a"> == too_often);
  static_assert(fault_of<"c^i = A^j{}_j b^i"> == none);
  static_assert(fault_of<"c^i = b_i"> == height_moves);
  static_assert(fault_of<"c^i = b^i + d"> == not_on_right);
}
BOOST_AUTO_TEST_CASE(answer_roles) {
  constexpr Index H = 8, n = 128, d = 64, D = 512;
  static_assert(cost<"O^{(h)ic} = A^{(h)i}{}_j V^{(h)jc}">(H, n, d, n) ==
                H * n * n * d);
  static_assert(cost<"Q^{hia} = X^{im} W^h{}_m{}^a">(H, n, d, D) ==
                n * H * d * D);
}
BOOST_AUTO_TEST_CASE(answer_strides) {
  const Tensor<double, up, dn, up> t(2, 3, 4);
  BOOST_TEST(t.offset(1, 2, 3) == 23);
  BOOST_TEST((t.stride() == std::array<Index, 3>{12, 4, 1}));
  const Tensor<double, up, dn, dn> R(5, 7, 5);
  detail::Extents n;
  n.fill(-1);
  const auto& e = detail::parsed<"r_a = R^b{}_{ab}">;
  const auto o = detail::bound("", e.term[0].factor[0], R, n);
  BOOST_TEST(detail::step(o, 'b') == 7 * 5 + 1);
}
BOOST_AUTO_TEST_CASE(answer_lengths) {
  const auto Q = some<up, up>(1, 9, 4);
  const auto g = some<dn, dn>(2, 4, 4);
  const auto s = eq<"s^{(i)} = Q^{(i)a} g_{ab} Q^{(i)b}">(Q, g, Q);
  const auto q = Q.mat();
  const Matrix<quad> S =
      lift<quad>(q) * lift<quad>(g.mat()) * lift<quad>(q.transpose());
  verify(s.vec(), S.diagonal(),
         product_bound(q, g.mat(), q.transpose()).diagonal());
  static_assert(cost<"s^{(i)} = Q^{(i)a} g_{ab} Q^{(i)b}">(9, 4, 4) ==
                9 * 4 * 4 + 9 * 4);
}
BOOST_AUTO_TEST_CASE(answer_sides) {
  constexpr Index m = 1000000, d = 64;
  constexpr Index first = cost<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(1, m, d, d);
  constexpr Index second = cost<"S^{ij} = K^{jb} g_{ab} Q^{ia}">(1, m, d, d);
  static_assert(first == d * d + m * d && second == m * d * d + m * d);
  verify(std::abs(double(second) / double(first) - 65), 0.01);
}
bool parity(const detail::Equation& e, const detail::Term& t) {
  long r = 0, balance = 0;
  const auto add = [&](const detail::Factor& f, int sign) {
    for (const auto& s : f) balance += s.height == up ? sign : -sign;
    r += sign * long(f.rank);
  };
  for (const auto& f : t) add(f, 1);
  add(e.left, -1);
  return r % 2 == 0 && balance == 0;
}
BOOST_AUTO_TEST_CASE(answer_parity) {
  detail::Bits bits = detail::stream(2, "texts");
  int off_without_fault = 0, off_with_fault = 0;
  for (int k = 0; k < 5000; ++k) {
    const std::string text = made_up(bits);
    if (text.find('(') != text.npos) continue;
    const auto e = detail::judged(detail::Reader{text, 0, {}}.equation());
    const bool right = e.fault == detail::Fault::none;
    for (const auto& t : e)
      if (!parity(e, t)) ++(right ? off_without_fault : off_with_fault);
  }
  verify(double(off_without_fault), 0.0);
  BOOST_TEST(off_with_fault > 0);
}
BOOST_AUTO_TEST_CASE(answer_rounding_of_the_score) {
  for (const Index d : {1, 3, 64}) {
    const auto Q = lift<float>(some<up, up>(1, 20, d));
    const auto K = lift<float>(some<up, up>(2, 30, d));
    const auto g = lift<float>(some<dn, dn>(3, d, d));
    const auto S = eq<"S^{ij} = Q^{ia} g_{ab} K^{jb}">(Q, g, K);
    const Matrix<quad> truth = lift<quad>(Q.mat()) * lift<quad>(g.mat()) *
                               lift<quad>(K.mat().transpose());
    verify(S.mat(), truth,
           product_bound<float>(Q.mat(), g.mat(), K.mat().transpose()));
  }
}
BOOST_AUTO_TEST_CASE(answer_underflow) {
  const Tensor<double> q = 1e-200, k = 1e-200, g = 1e300;
  verify(std::abs(double(eq<"s = q g k">(q, g, k)) / 1e-100 - 1),
         gamma(8, unit_roundoff<double>()));
  BOOST_TEST(double(eq<"s = q k g">(q, k, g)) == 0);
}
BOOST_AUTO_TEST_CASE(answer_hash) {
  std::set<std::uint64_t> hashes, first;
  for (char c = 'A'; c <= 'Z'; ++c)
    hashes.insert(detail::hashed(std::string("dQ") + c));
  BOOST_TEST(hashes.size() == 26U);
  for (std::uint64_t seed = 0; seed < 10000; ++seed)
    first.insert(detail::stream(seed, "Q")());
  BOOST_TEST(first.size() == 10000U);
}
Index best_chain(const std::vector<Index>& n, std::size_t i,
                 std::size_t j) {
  if (j == i + 1) return 0;
  Index best = std::numeric_limits<Index>::max();
  for (std::size_t k = i + 1; k < j; ++k)
    best = std::min(best, best_chain(n, i, k) + best_chain(n, k, j) +
                              n[i] * n[k] * n[j]);
  return best;
}
BOOST_AUTO_TEST_CASE(answer_order_of_a_chain) {
  BOOST_TEST(best_chain({10, 100, 5, 50}, 0, 3) == 7500);
  BOOST_TEST(best_chain({50, 5, 100, 10}, 0, 3) == 7500);
  BOOST_TEST((cost<"D^i{}_l = A^i{}_j B^j{}_k C^k{}_l">(10, 50, 100, 5)) ==
             7500);
  BOOST_TEST((cost<"D^i{}_l = A^i{}_j B^j{}_k C^k{}_l">(50, 10, 5, 100)) ==
             75000);
}
BOOST_AUTO_TEST_CASE(answer_values_first) {
  const auto gain = [](Index n, Index m, Index d, Index D) {
    return cost<"Y^{in} = A^i{}_j V^{jc} W_c{}^n">(n, D, m, d) -
           cost<"Y^{in} = W_c{}^n V^{jc} A^i{}_j">(n, D, d, m);
  };
  BOOST_TEST(gain(1000, 8, 64, 512) > 0);
  for (Index n = 1; n < 6; ++n)
    for (Index m = n; m < 6; ++m)
      for (Index d = 1; d < 6; ++d)
        for (Index D = d; D < 6; ++D) BOOST_TEST(gain(n, m, d, D) <= 0);
}
template <Text T>
std::string einsum() {
  const auto& e = detail::parsed<T>;
  std::string s;
  for (const auto& f : e.term[0]) {
    if (&f != e.term[0].begin()) s += ',';
    for (const auto& x : f) s += x.letter;
  }
  s += "->";
  for (const auto& x : e.left) s += x.letter;
  return s;
}
BOOST_AUTO_TEST_CASE(answer_einsum) {
  BOOST_TEST(einsum<"S^{ij} = Q^{ia} g_{ab} K^{jb}">() == "ia,ab,jb->ij");
  BOOST_TEST(einsum<"s = u_a v^a">() == "a,a->");
  BOOST_TEST(einsum<"d^{(i)} = A^{(i)}{}_{(i)}">() == "ii->i");
}
BOOST_AUTO_TEST_CASE(answer_hadamard) {
  using enum detail::Fault;
  static_assert(fault_of<"C_{ij} = A_{ij} B_{ij}"> == summed_on_left);
  static_assert(fault_of<"C_i{}^j = A_i{}^j B^i{}_j"> == summed_on_left);
  static_assert(fault_of<"d^i = A^i{}_i"> == summed_on_left);
  static_assert(fault_of<"C_{(ij)} = A_{(ij)} B_{(ij)}"> == none);
  static_assert(fault_of<"d^{(i)} = A^{(i)}{}_{(i)}"> == none);
}
BOOST_AUTO_TEST_CASE(answer_shuffle) {
  std::set<std::vector<Index>> orders;
  for (std::size_t draw = 0; draw < 24; ++draw) {
    std::size_t rest = draw;
    orders.insert(detail::shuffled(4, [&](std::size_t n) {
      const std::size_t j = rest % n;
      rest /= n;
      return j;
    }));
  }
  BOOST_TEST(orders.size() == 24U);
  const std::array<Index, 4> numbers{0, 1, 2, 3};
  for (const auto& p : orders)
    BOOST_TEST(std::ranges::is_permutation(p, numbers));
}
BOOST_AUTO_TEST_CASE(answer_fused_heads) {
  const Index H = 3, n = 4, d = 5, m = 6;
  const auto O = some<up, up, up>(1, n, H, d);
  const auto W = some<dn, dn, up>(2, H, d, m);
  const auto Y = eq<"Y^{in} = O^{ihc} W_{hc}{}^n">(O, W);
  const Eigen::Map<const Matrix<double>> o(O.values.data(), n, H * d);
  const Eigen::Map<const Matrix<double>> w(W.values.data(), H * d, m);
  verify(Y.mat(), lift<quad>(o) * lift<quad>(w), product_bound(o, w));
}
BOOST_AUTO_TEST_SUITE_END()
