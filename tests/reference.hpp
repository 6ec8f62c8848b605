// Reads tests/reference/*.txt and compares the library with them.
#pragma once
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "counted.hpp"
#include "attn/argument.hpp"
#include "verify.hpp"

namespace attn {
// One case: matrices by name, as exact as the file gives them.
class Case {
 public:
  std::string name;
  std::map<std::string, Matrix<quad>> parts;
  bool has(const std::string& key) const { return parts.contains(key); }
  template <class S>
  Matrix<S> get(const std::string& key) const {
    require(has(key), "case ", name, " has no ", key);
    used.insert(key);
    return lift<S>(parts.at(key));
  }
  template <class S>
  Vector<S> vec(const std::string& key) const {
    return get<S>(key).reshaped();
  }
  template <class S>
  S number(const std::string& key) const { return get<S>(key)(0, 0); }
  Index integer(const std::string& key, Index k = 0) const {
    return Index(get<double>(key).reshaped()(k));
  }
  // Nothing that the generator computed may go unread.
  void finish() const {
    for (const auto& [key, m] : parts)
      BOOST_TEST(used.contains(key), name << ": " << key << " is not used");
  }

 private:
  mutable std::set<std::string> used;
};

inline quad parse(const std::string& word) {
  char* end = nullptr;
  const quad x = ::strtof128(word.c_str(), &end);
  require(!word.empty() && *end == 0, "reference: not a number: ", word);
  return x;
}

inline std::vector<Case> read_cases(const std::string& file) {
  std::ifstream in("tests/reference/" + file + ".txt");
  require(in.good(), "reference: no tests/reference/", file, ".txt");
  std::vector<Case> cases;
  for (std::string word; in >> word;) {
    if (word[0] == '#') {
      std::getline(in, word);
    } else if (word == "case") {
      in >> cases.emplace_back().name;
    } else {
      Index n = 0, m = 0;
      in >> n >> m;
      Matrix<quad> x(n, m);
      std::string entry;
      for (Index k = 0; k < x.size(); ++k) {
        in >> entry;
        x.data()[k] = parse(entry);
      }
      cases.back().parts[word] = x;
    }
  }
  return cases;
}

// Calls f(case) for each case of the file, and demands that all was used.
template <class F>
void for_cases(const std::string& file, F f) {
  const auto cases = read_cases(file);
  BOOST_REQUIRE(!cases.empty());
  for (const Case& c : cases) BOOST_TEST_CONTEXT(file << ", " << c.name) {
    f(c);
    c.finish();
  }
  fact(file, cases.size());
}

// Infinities are compared as numbers that nothing else comes near.
inline Matrix<quad> tame(const Matrix<quad>& m) {
  return m.unaryExpr([](const quad& x) {
    return isinf(x) ? (x < 0 ? quad(-0x1p1000) : quad(0x1p1000)) : x;
  });
}

// The reference, with componentwise bounds on its errors.
struct Reference {
  Matrix<quad> value;
  Matrix<double> error;
};
// Digits of mpmath, right but for their conversion to quad.
inline Reference digits(const Case& c, const std::string& key) {
  const auto x = c.get<quad>(key);
  return {x, 0x1p-113 * tame(x).unaryExpr([](const quad& y) {
            return to_double(abs(y));
          }).cwiseMax(0x1p-1000)};
}
// Doubles of JAX, whose steps `steps` took too.
template <class D>
Reference doubles(const Case& c, const std::string& key,
                  const Eigen::MatrixBase<D>& steps) {
  return {c.get<quad>(key), bound(steps)};
}

// What the library computes in quad (the values of `counted`) and in double
// is within its own bound plus that of the reference.
template <class D, class C>
void agree(const Eigen::MatrixBase<D>& ours,
           const Eigen::MatrixBase<C>& counted, const Reference& r) {
  const Matrix<quad> truth = tame(r.value);
  verify(tame(exact(counted)), truth,
         Matrix<double>(bound(counted, 0x1p-113) + r.error));
  verify(tame(lift<quad>(ours)), truth,
         Matrix<double>(bound(counted) + r.error));
}
inline void agree(double ours, const Counted& counted, const Reference& r) {
  agree(Matrix<double>{{ours}}, Matrix<Counted>{{counted}}, r);
}
}  // namespace attn
