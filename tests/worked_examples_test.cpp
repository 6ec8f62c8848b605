// The worked examples of the sources, number by number.  Falsified by a printed
// number whose verdict in tests/worked_examples.txt is not that of the exact
// value, by a row that nothing here computes, and by a value that no row prints.
// reads: tests/worked_examples.txt build/src/tests/*.cpp
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/attention.hpp"
#include "attn/positions.hpp"
#include "attn/thermodynamics.hpp"
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

namespace {
using namespace attn;
using Values = std::map<std::string, quad>;

void add(Values& v, const std::string& name, const Matrix<quad>& m) {
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j)
      v[name + (m.rows() > 1 ? " " + std::to_string(i + 1) : "") + " " +
        std::to_string(j + 1)] = m(i, j);
}
// The weights and the entropy of the scores 2, 1, 0.
void add_temperature(Values& v, const std::string& T, const RowVector<quad>& A,
                     quad H) {
  for (Index j = 0; j < 3; ++j)
    v["weight " + std::to_string(j + 1) + " at T=" + T] = A(j);
  v["entropy at T=" + T] = H;
}
// One step of retrieval from (0.9, 0.1).
void add_retrieval(Values& v, const std::string& beta, bool state) {
  const Matrix<quad> K = lift<quad>(Matrix<double>{{10, 0}, {0, 10}, {7, 7}}) /
                         quad(10);
  const RowVector<quad> q =
      lift<quad>(RowVector<double>{{9, 1}}) / quad(10);
  const RowVector<quad> A =
      gibbs(times(q, K.transpose()), quad(1) / quad(std::stod(beta)));
  for (Index j = 0; j < 3; ++j)
    v["weight " + std::to_string(j + 1) + " at beta=" + beta] = A(j);
  const Matrix<quad> x = times(A, K);
  for (Index a = 0; state && a < 2; ++a)
    v["retrieved " + std::to_string(a + 1) + " at beta=" + beta] = x(a);
}

Values computed() {
  Values v;
  const Matrix<quad> Q = lift<quad>(Matrix<double>{{1, 0}, {0, 1}});
  const Matrix<quad> K = lift<quad>(Matrix<double>{{1, 0}, {0, 1}, {1, 1}});
  const Matrix<quad> V = lift<quad>(Matrix<double>{{2, 0}, {0, 2}, {1, 1}});
  const auto layer = attention(Q, K, V);
  add(v, "S", layer.S), add(v, "A", layer.A), add(v, "O", layer.O);
  v["root 2"] = sqrt(quad(2));
  v["1/root 2"] = 1 / sqrt(quad(2));
  v["exp 1/root 2"] = exp(1 / sqrt(quad(2)));
  v["Z 1"] = exp(layer.logZ(0));
  const RowVector<quad> s = lift<quad>(RowVector<double>{{2, 1, 0}});
  for (const char* T : {"0.25", "0.5", "1", "2"})
    add_temperature(v, T, gibbs(s, quad(std::stod(T))),
                    gibbs_entropy(s, quad(std::stod(T)))(0));
  add_temperature(v, "inf", gibbs(RowVector<quad>(quad(0) * s)),
                  gibbs_entropy(RowVector<quad>(quad(0) * s))(0));
  const RowVector<quad> a = gibbs(lift<quad>(RowVector<double>{{1, 2}}));
  const Matrix<quad> J = softmax_jacobian(a);
  add(v, "softmax(1,2)", a), add(v, "J", J);
  add(v, "J row sum", J.rowwise().sum().transpose());
  const std::vector<int> counts{63, 45, 89, 52, 41};
  v["sum of the five counts"] = std::reduce(counts.begin(), counts.end());
  const Vector<quad> q = lift<quad>(Vector<double>{{1, 2, 1}});
  const Vector<quad> k = lift<quad>(Vector<double>{{2, 1, 0}});
  v["score of (1,2,1), (2,1,0)"] = inner(q, k, Metric<quad>::scaled(3));
  Vector<quad> theta(2);
  theta << quad(1), quad(1) / quad(10);
  add(v, "rotated", rotate<quad>(lift<quad>(Matrix<double>{{1, 0, 1, 0}}),
                                 Rotary<quad>{theta}, 2));
  add_retrieval(v, "1", true), add_retrieval(v, "5", false);
  return v;
}

struct Row {
  std::string source, place, quantity, printed, verdict, correction;
};
std::vector<Row> table() {
  std::ifstream in("tests/worked_examples.txt");
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Row r;
    for (std::string* field : {&r.source, &r.place, &r.quantity, &r.printed,
                               &r.verdict, &r.correction})
      std::getline(words, *field, '\t');
    rows.push_back(r);
  }
  return rows;
}

// How far x is from what is printed, in units of half the last digit of a
// decimal.  Integers are meant exactly: up to what quad rounds.
double off(const quad& x, const std::string& printed) {
  const auto dot = printed.find('.');
  const quad unit = dot == printed.npos
                        ? ldexp(quad(1), -100)
                        : pow(quad(10), quad(double(dot + 1)) -
                                            quad(double(printed.size())));
  const quad number = ::strtof128(printed.c_str(), nullptr);
  return to_double(abs(x - number) / (unit / 2));
}
}  // namespace

BOOST_AUTO_TEST_SUITE(examples)
BOOST_AUTO_TEST_CASE(printed_numbers) {
  const Values values = computed();
  std::set<std::string> seen;
  int right = 0, wrong = 0;
  for (const Row& r : table()) BOOST_TEST_CONTEXT(r.source << ", " << r.place
                                                << ": " << r.quantity) {
    if (r.verdict == "see") continue;
    BOOST_REQUIRE(values.contains(r.quantity));
    BOOST_REQUIRE((r.verdict == "right" || r.verdict == "wrong"));
    const quad x = values.at(r.quantity);
    seen.insert(r.quantity);
    if (r.verdict == "right") {
      verify(off(x, r.printed), 1);
      ++right;
    } else {
      refute(off(x, r.printed), 1);
      verify(off(x, r.correction), 1);
      ++wrong;
    }
  }
  for (const auto& [name, x] : values)
    BOOST_TEST(seen.contains(name), name << " is in no row");
  fact("right", right);
  fact("wrong", wrong);
}
// Rows that a chapter treats name a case that exists.
BOOST_AUTO_TEST_CASE(cases_of_the_chapters) {
  std::map<std::string, std::string> text;  // by suite
  for (const auto& file : std::filesystem::directory_iterator("tangled/tests")) {
    std::ifstream in(file.path());
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    const std::string mark = "BOOST_AUTO_TEST_SUITE(";
    if (const auto at = all.find(mark); at != all.npos)
      text[all.substr(at + mark.size(),
                      all.find(')', at) - at - mark.size())] += all;
  }
  int named = 0;
  for (const Row& r : table()) {
    if (r.verdict != "see") continue;
    const auto slash = r.correction.find('/');
    BOOST_REQUIRE(slash != std::string::npos);
    const std::string name =
        "BOOST_AUTO_TEST_CASE(" + r.correction.substr(slash + 1) + ")";
    const std::string& suite = text[r.correction.substr(0, slash)];
    BOOST_TEST(suite.find(name) != suite.npos, r.correction << " is no case");
    ++named;
  }
  BOOST_TEST(named > 0);
  fact("named", named);
}
BOOST_AUTO_TEST_SUITE_END()
