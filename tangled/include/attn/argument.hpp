// include/attn/argument.hpp: tangled from chapters/90-equations.nw; edit that file, not this one.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace attn {
// put a sentence together
namespace detail {
template <class... P>
std::string sentence(const P&... pieces) {
  std::ostringstream s;
  (s << ... << pieces);
  return s.str();
}
}  // namespace detail

// refuse bad arguments with a sentence
/// Throws std::invalid_argument unless ok; the message is put together
/// from the pieces only then.  Name the function and the argument first.
template <class... P>
constexpr void require(bool ok, const P&... pieces) {
  if (!ok) throw std::invalid_argument(detail::sentence(pieces...));
}
/// Throws std::domain_error unless ok: right shapes, wrong values.
template <class... P>
void require_domain(bool ok, const P&... pieces) {
  if (!ok) throw std::domain_error(detail::sentence(pieces...));
}

// print the extents of an argument
/// Extents of a matrix, vector or tensor as text: "4x3".
template <class X>
std::string shape(const X& x) {
  if constexpr (requires { x.rows(); }) {
    return std::to_string(x.rows()) + 'x' + std::to_string(x.cols());
  } else {
    std::string s;
    for (const auto n : x.dim) {
      if (!s.empty()) s += 'x';
      s += std::to_string(n);
    }
    return s.empty() ? "scalar" : s;
  }
}
}  // namespace attn
