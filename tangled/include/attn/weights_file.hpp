// include/attn/weights_file.hpp: tangled from chapters/05-multihead.nw; edit that file, not this one.
#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "attn/argument.hpp"
#include "attn/multihead.hpp"

namespace attn {
namespace detail {
// hash bytes by the FNV-1a rule
/// 64-bit FNV-1a hash of a text.
inline std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text)
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

/// 16 hexadecimal digits.
inline std::string hex16(std::uint64_t h) {
  std::string s(16, '0');
  for (std::size_t k = 16; k-- > 0; h >>= 4) s[k] = "0123456789abcdef"[h & 15];
  return s;
}

// refuse a damaged file
/// Throws std::invalid_argument, naming the file, unless text ends with its
/// own checksum.
inline void require_checksum(std::string_view text, const std::string& name) {
  const std::size_t at = text.rfind("checksum ");
  require(at != std::string_view::npos && text.size() == at + 26 &&
              text.back() == '\n',
          "load_weights: ", name, ": no checksum at the end; truncated?");
  require(text.substr(at + 9, 16) == hex16(fnv1a(text.substr(0, at))),
          "load_weights: ", name, ": checksum does not match; damaged");
}
}  // namespace detail

// write weights as text
/// The weights as text, in the format of sec. multihead-file.
/// Throws std::domain_error naming the field if a weight is not finite.
template <std::floating_point S>
std::string weights_text(const MultiHead<S>& m) {
  static_assert(sizeof(S) <= 8, "a weights file holds float or double");
  detail::require_weights("save_weights", m);
  std::string text = "attn-weights 1\nscalar ";
  text += sizeof(S) == 4 ? "float" : "double";
  text += "\nheads " + std::to_string(m.heads) + ' ' +
          std::to_string(m.kv_heads) + '\n';
  for_each_weight([&](const std::string& name, const auto& w) {
    require_domain(w.allFinite(), "save_weights: ", name,
                   " has an entry that is not finite");
    text += name + ' ' + std::to_string(w.rows()) + ' ' +
            std::to_string(w.cols()) + '\n';
    for (Index i = 0; i < w.rows(); ++i)
      for (Index j = 0; j < w.cols(); ++j) {
        char digits[32];
        const auto end = std::to_chars(digits, digits + 32, w(i, j),
                                       std::chars_format::hex).ptr;
        text.append(digits, end) += j + 1 < w.cols() ? ' ' : '\n';
      }
  }, m);
  return text + "checksum " + detail::hex16(detail::fnv1a(text)) + '\n';
}

// read weights from text
namespace detail {
/// Reads one token at a time and knows the line it is on; throws
/// std::invalid_argument, with that line, where a token does not fit.
struct WeightsReader {
  std::string_view rest;
  std::string name;
  int line = 1;

  // take the next word of the file
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("load_weights: " + name + ", line " +
                                std::to_string(line) + ": " + what);
  }
  std::string_view word() {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\n')) {
      line += rest[0] == '\n';
      rest.remove_prefix(1);
    }
    const std::string_view w = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(w.size());
    return w;
  }
  void expect(std::string_view wanted) {
    const std::string_view w = word();
    if (w != wanted)
      fail("expected '" + std::string(wanted) + "', found '" +
           std::string(w) + "'");
  }

  // take the next number of the file
  template <class T, class... How>
  T number(How... how) {
    const std::string_view w = word();
    T x{};
    const auto [end, error] =
        std::from_chars(w.data(), w.data() + w.size(), x, how...);
    if (error != std::errc() || end != w.data() + w.size())
      fail("'" + std::string(w) + "' is not a number of this format");
    return x;
  }
  Index extent() {
    const Index n = number<Index>();
    if (n < 0 || n > Index(rest.size())) fail("extent " + std::to_string(n));
    return n;
  }
};
}  // namespace detail
/// The weights that text holds; `name` is for messages.  Throws
/// std::invalid_argument, with file and line, if it is truncated or
/// damaged, of another version or scalar, or contradicts itself.
template <std::floating_point S>
MultiHead<S> weights_from_text(std::string_view text,
                               const std::string& name) {
  static_assert(sizeof(S) <= 8, "a weights file holds float or double");
  detail::WeightsReader in{text, name};
  in.expect("attn-weights");
  in.expect("1");
  detail::require_checksum(text, name);
  in.expect("scalar");
  in.expect(sizeof(S) == 4 ? "float" : "double");
  in.expect("heads");
  MultiHead<S> m;
  m.heads = in.extent(), m.kv_heads = in.extent();
  for_each_weight([&](const char* field, auto& w) {
    in.expect(field);
    const Index rows = in.extent(), cols = in.extent();
    using W = std::decay_t<decltype(w)>;
    if ((W::ColsAtCompileTime == 1 && cols != 1) ||
        rows * cols > Index(in.rest.size()))
      in.fail(std::string(field) + " of such extents");
    w.resize(rows, cols);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j)
        w(i, j) = in.number<S>(std::chars_format::hex);
  }, m);
  in.expect("checksum");
  detail::require_weights(("load_weights: " + name).c_str(), m);
  return m;
}

// save and load weights
/// Writes the weights to a file; exact.  Throws std::domain_error for
/// weights that are not finite, std::invalid_argument if it cannot write.
template <std::floating_point S>
void save_weights(const std::string& path, const MultiHead<S>& m) {
  const std::string text = weights_text(m);
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), std::streamsize(text.size())).flush();
  require(bool(file), "save_weights: cannot write ", path);
}
/// Reads weights from a file.  Throws as weights_from_text.
template <std::floating_point S>
MultiHead<S> load_weights(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(bool(file), "load_weights: cannot read ", path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return weights_from_text<S>(text, path);
}
/// The same into m, whose shapes the file must have.
/// Throws std::invalid_argument.
template <std::floating_point S>
void load_weights(const std::string& path, MultiHead<S>& m) {
  auto read = load_weights<S>(path);
  require(read.heads == m.heads && read.kv_heads == m.kv_heads,
          "load_weights: ", path, " has ", read.heads, " and ",
          read.kv_heads, " heads, wanted ", m.heads, " and ", m.kv_heads);
  for_each_weight([&](const char* name, const auto& a, const auto& b) {
    require(a.rows() == b.rows() && a.cols() == b.cols(), "load_weights: ",
            path, " has ", name, " ", shape(a), ", wanted ", shape(b));
  }, read, m);
  m = std::move(read);
}
}  // namespace attn
