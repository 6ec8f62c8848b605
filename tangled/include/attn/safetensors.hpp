// include/attn/safetensors.hpp: tangled from chapters/09b-models.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/argument.hpp"
#include "attn/tensor.hpp"

namespace attn {
// hold the tensors of a file
/// A tensor in a file: its type as the file spells it, its extents, and
/// where in the data its bytes begin and end.
struct StoredTensor {
  std::string type;
  std::vector<std::uint64_t> extents;
  std::uint64_t begin = 0, end = 0;
};

/// A valid file of tensors (def. models-valid), and its name for errors.
struct TensorFile {
  std::string name;
  std::map<std::string, std::string> metadata;
  std::map<std::string, StoredTensor> tensors;
  std::string data;
};

// the parts of reading and writing tensors
namespace detail {
// read the small language of headers
/// Reads JSON of known shape; throws std::invalid_argument with the name
/// of the file and the byte where something else stands.
class HeaderReader {
 public:
  HeaderReader(std::string_view t, std::string n)
      : text(t), name(std::move(n)) {}
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("safetensors: " + name + ", byte " +
                                std::to_string(8 + at) + ": " + what);
  }

  // take single characters of a header
  bool ended() const { return at == text.size(); }
  void skip_blanks() {
    while (!ended() && std::strchr(" \t\r\n", text[at]) && text[at]) ++at;
  }
  bool take(char c) {
    skip_blanks();
    if (ended() || text[at] != c) return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  void end() {
    skip_blanks();
    if (!ended()) fail("something after the object");
  }

  // take numbers of a header
  std::uint64_t number() {
    skip_blanks();
    const std::size_t from = at;
    std::uint64_t x = 0;
    for (; !ended() && '0' <= text[at] && text[at] <= '9'; ++at) {
      const auto digit = std::uint64_t(text[at] - '0');
      if (x > (~std::uint64_t{0} - digit) / 10) fail("number too large");
      x = 10 * x + digit;
    }
    if (at == from) fail("expected a number");
    if (text[from] == '0' && at > from + 1) fail("leading zero");
    return x;
  }

  // take strings of a header
  std::string string() {
    expect('"');
    std::string s;
    while (!ended() && text[at] != '"') {
      const char c = text[at++];
      if (static_cast<unsigned char>(c) < 32) fail("control character");
      if (c == '\\') escape(s); else s += c;
    }
    expect('"');
    return s;
  }

  // take escapes of a header
  void escape(std::string& s) {
    const std::string from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    const char c = ended() ? '\0' : text[at++];
    if (const auto k = from.find(c); c && k != from.npos) {
      s += to[k];
    } else if (c == 'u') {
      // take a character by its number
      std::uint32_t x = four_digits();
      if (0xD800 <= x && x < 0xDC00) {
        if (text.substr(at, 2) != "\\u") fail("half a character");
        at += 2;
        const std::uint32_t y = four_digits();
        if (y < 0xDC00 || 0xDFFF < y) fail("half a character");
        x = 0x10000 + ((x - 0xD800) * 1024) + (y - 0xDC00);
      } else if (0xDC00 <= x && x < 0xE000) {
        fail("half a character");
      }
      append_utf8(s, x);
    } else {
      fail("unknown escape");
    }
  }

  // take four digits, append a character
  std::uint32_t four_digits() {
    std::uint32_t x = 0;
    for (int k = 0; k < 4; ++k) {
      const char c = ended() ? '\0' : text[at++];
      const std::string hex = "0123456789abcdef0123456789ABCDEF";
      const auto v = hex.find(c);
      if (!c || v == hex.npos) fail("expected four hexadecimal digits");
      x = 16 * x + std::uint32_t(v % 16);
    }
    return x;
  }
  static void append_utf8(std::string& s, std::uint32_t x) {
    const int more = x < 0x80 ? 0 : x < 0x800 ? 1 : x < 0x10000 ? 2 : 3;
    const std::uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    s += char(lead[more] | x >> (6 * more));
    for (int k = more - 1; k >= 0; --k)
      s += char(0x80 | (x >> (6 * k) & 0x3F));
  }

  // take objects and arrays of a header
  template <class F>
  void object(F member) {
    std::set<std::string> names;
    expect('{');
    if (take('}')) return;
    do {
      const std::string key = string();
      if (!names.insert(key).second) fail("'" + key + "' stands twice");
      expect(':');
      member(key);
    } while (take(','));
    expect('}');
  }
  template <class F>
  void array(F element) {
    expect('[');
    if (take(']')) return;
    do element(); while (take(','));
    expect(']');
  }

 private:
  std::string_view text;
  std::string name;
  std::size_t at = 0;
};

// find where UTF-8 is broken off
/// Index of the first byte at which a text is not UTF-8, or its length.
inline std::size_t end_of_utf8(std::string_view t) {
  const auto byte = [&](std::size_t k) {
    return k < t.size() ? static_cast<unsigned char>(t[k]) : 0u;
  };
  for (std::size_t at = 0, n = 0; at < t.size(); at += n) {
    const std::uint32_t c = byte(at);
    n = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3
                                                 : c < 0xF5 ? 4 : 0;
    if (n == 0) return at;
    for (std::size_t k = 1; k < n; ++k)
      if ((byte(at + k) & 0xC0) != 0x80) return at;

    // refuse spellings that are not allowed
    const std::uint32_t d = byte(at + 1);
    if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d >= 0xA0) ||
        (c == 0xF0 && d < 0x90) || (c == 0xF4 && d >= 0x90)) return at;
  }
  return t.size();
}

// say how many bytes a tensor has
/// The most bytes that a header may have.
inline constexpr std::uint64_t longest_header = 100000000;
/// Bytes of one number of a type, or 0 for a type that is not known.
inline std::uint64_t type_size(const std::string& type) {
  static const std::map<std::string, std::uint64_t> sizes{
      {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
      {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},   {"BOOL", 1}};
  const auto at = sizes.find(type);
  return at == sizes.end() ? 0 : at->second;
}
/// Bytes of a tensor, or nothing if their number has more than 64 bits.
inline std::optional<std::uint64_t> tensor_size(const StoredTensor& t) {
  std::uint64_t bytes = type_size(t.type);
  for (const std::uint64_t n : t.extents) {
    if (n != 0 && bytes > ~std::uint64_t{0} / n) return {};
    bytes *= n;
  }
  return bytes;
}

// refuse tensors that do not fill the data
/// Throws unless the tensors of f cover its data, each byte once.
inline void require_cover(const TensorFile& f) {
  using Place = std::tuple<std::uint64_t, std::uint64_t, std::string>;
  std::vector<Place> places;
  for (const auto& [name, t] : f.tensors) {
    const auto bytes = tensor_size(t);
    require(t.begin <= t.end && bytes && *bytes == t.end - t.begin,
            "safetensors: ", f.name, ": '", name, "' has offsets ",
            t.begin, " to ", t.end, ", its type and extents ask for ",
            bytes ? std::to_string(*bytes) : "2^64 or more", " bytes");
    places.emplace_back(t.begin, t.end, name);
  }
  std::sort(places.begin(), places.end());

  // walk over the data from tensor to tensor
  std::uint64_t at = 0;
  for (const auto& [begin, end, name] : places) {
    require(begin == at, "safetensors: ", f.name, ": '", name,
            "' begins at ", begin, begin < at ? ", inside another tensor"
            : ", after a hole", "; ", at, " was due");
    at = end;
  }
  require(at == f.data.size(), "safetensors: ", f.name, ": tensors end at ",
          at, " of ", f.data.size(), " bytes of data; truncated?");
}

// read one tensor of a header
/// The three members of one tensor's entry, in any order.
inline StoredTensor stored_tensor(HeaderReader& r,
                                  const std::string& name) {
  StoredTensor t;
  int seen = 0;
  r.object([&](const std::string& key) {
    // read one member of a tensor
    ++seen;
    if (key == "dtype") {
      t.type = r.string();
      if (type_size(t.type) == 0)
        r.fail("'" + name + "' is of unknown type '" + t.type + "'");
    } else if (key == "shape") {
      r.array([&] { t.extents.push_back(r.number()); });
    } else if (key == "data_offsets") {
      r.expect('['), t.begin = r.number();
      r.expect(','), t.end = r.number(), r.expect(']');
    } else {
      r.fail("'" + name + "' has a member '" + key + "'");
    }
  });
  if (seen != 3) r.fail("'" + name + "' lacks a member");
  return t;
}

// turn sixteen bits into a half
/// The IEEE half with these bits.
inline double half_number(std::uint64_t bits) {
  const int e = int(bits >> 10 & 31), f = int(bits & 1023);
  const double size = e < 31 ? std::ldexp(e > 0 ? 1024 + f : f,
                                          std::max(e, 1) - 25)
                      : f == 0 ? HUGE_VAL : std::nan("");
  return bits >> 15 ? -size : size;
}

// turn bytes into a number
/// The n bytes that begin at p as one number, the lowest first.
inline std::uint64_t stored_bits(const char* p, std::uint64_t n) {
  std::uint64_t bits = 0;
  while (n-- > 0) bits = 256 * bits + static_cast<unsigned char>(p[n]);
  return bits;
}
/// The floating-point number with these bits, those of a float or double.
inline double single_number(std::uint64_t bits) {
  return std::bit_cast<float>(std::uint32_t(bits));
}
inline double double_number(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}
/// The number of BF16 with these bits.
inline double upper_half(std::uint64_t bits) {
  return single_number(bits * 0x10000u);
}
/// The whole number of type T with these bits.
template <class T>
double whole_number(std::uint64_t bits) {
  return double(T(bits));
}
using Conversion = double (*)(std::uint64_t);
/// What makes a number of a known type of its bits.
inline Conversion conversion_of(const std::string& type) {
  static const std::map<std::string, Conversion> all{
      {"F64", double_number},
      {"F32", single_number},
      {"F16", half_number},
      {"BF16", upper_half},
      {"I64", whole_number<std::int64_t>},
      {"I32", whole_number<std::int32_t>},
      {"I16", whole_number<std::int16_t>},
      {"I8", whole_number<std::int8_t>},
      {"U8", whole_number<std::uint8_t>},
      {"BOOL", whole_number<std::uint8_t>}};
  return all.at(type);
}

// quote names, spell numbers as bytes
/// A text as a string of JSON.
inline std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 32) {
      const char* hex = "0123456789abcdef";
      s += std::string("\\u00") + hex[c / 16] + hex[c % 16];
    } else {
      if (c == '"' || c == '\\') s += '\\';
      s += c;
    }
  }
  return s + '"';
}
/// Eight bytes, the lowest first.
inline std::string eight_bytes(std::uint64_t x) {
  std::string s;
  for (int k = 0; k < 8; ++k, x /= 256) s += char(x % 256);
  return s;
}
}  // namespace detail

// read a file of tensors from its bytes
/// The file with these bytes (def. models-valid); name is for errors.
/// Throws std::invalid_argument for a file that is not valid.
inline TensorFile tensors_from(std::string_view bytes,
                               const std::string& name) {
  require(bytes.size() >= 8, "safetensors: ", name, ": only ",
          bytes.size(), " bytes");

  // read the length of the header
  std::uint64_t n = 0;
  for (int k = 7; k >= 0; --k)
    n = 256 * n + static_cast<unsigned char>(bytes[std::size_t(k)]);
  require(n <= detail::longest_header && n <= bytes.size() - 8,
          "safetensors: ", name, ": a header of ", n, " bytes in a file of ",
          bytes.size());
  const std::string_view head = bytes.substr(8, n);
  require(detail::end_of_utf8(head) == n, "safetensors: ", name,
          ", byte ", 8 + detail::end_of_utf8(head), ": not UTF-8");
  TensorFile f{name, {}, {}, std::string(bytes.substr(8 + n))};

  // read the header's members
  detail::HeaderReader r(head, name);
  if (head.substr(0, 1) != "{") r.fail("expected '{'");
  r.object([&](const std::string& key) {
    if (key == "__metadata__")
      r.object([&](const std::string& k) { f.metadata[k] = r.string(); });
    else
      f.tensors[key] = detail::stored_tensor(r, key);
  });
  r.end();
  detail::require_cover(f);
  return f;
}

// take a tensor out of a file
/// A tensor by name as a matrix, its last extent across, the others down.
/// Throws std::invalid_argument if there is none, std::domain_error for a
/// whole number of 2^53 or more in size, or without numbers but with
/// 2^62 rows or columns.
inline Matrix<double> stored_matrix(const TensorFile& f,
                                    const std::string& name) {
  const auto at = f.tensors.find(name);
  require(at != f.tensors.end(), "safetensors: ", f.name, " has no '",
          name, "'");
  const StoredTensor& t = at->second;

  // make rows and columns of the extents
  const auto cols = t.extents.empty() ? 1 : t.extents.back();
  std::uint64_t rows = 1;
  for (std::size_t k = 0; k + 1 < t.extents.size(); ++k)
    rows *= t.extents[k];
  require_domain(std::max(rows, cols) < std::uint64_t{1} << 62,
                 "safetensors: ", f.name, ": '", name, "' has ", rows,
                 " rows and ", cols, " columns");
  Matrix<double> m{Index(rows), Index(cols)};

  // read the numbers of a tensor
  const std::uint64_t bytes = detail::type_size(t.type);
  const detail::Conversion number = detail::conversion_of(t.type);
  const char* at_number = f.data.data() + t.begin;
  for (Index k = 0; k < m.size(); ++k, at_number += bytes)
    m.data()[k] = number(detail::stored_bits(at_number, bytes));
  require_domain(t.type != "I64" || (m.array().abs() < 0x1p53).all(),
                 "safetensors: ", f.name, ": '", name,
                 "' holds a whole number of 2^53 or more");
  return m;
}

// write a file of tensors
/// The bytes of a valid file that holds these matrices as F64.  Throws
/// std::invalid_argument for names or metadata that no valid file has, or
/// too long for one.
inline std::string tensor_bytes(
    const std::map<std::string, Matrix<double>>& tensors,
    const std::map<std::string, std::string>& metadata = {}) {
  std::string head = "{\"__metadata__\":{", data;

  // say what the file says of itself
  for (const auto& [key, value] : metadata)
    head += (head.back() == '{' ? "" : ",") + detail::quoted(key) + ':' +
            detail::quoted(value);
  head += '}';
  for (const auto& [name, m] : tensors) {
    // append one tensor to header and data
    const std::string begin = std::to_string(data.size());
    for (Index k = 0; k < m.size(); ++k)
      data += detail::eight_bytes(std::bit_cast<std::uint64_t>(m.data()[k]));
    head += ',' + detail::quoted(name) + ":{\"dtype\":\"F64\",\"shape\":[" +
            std::to_string(m.rows()) + ',' + std::to_string(m.cols()) +
            "],\"data_offsets\":[" + begin + ',' +
            std::to_string(data.size()) + "]}";
  }
  head += '}';
  require(detail::end_of_utf8(head) == head.size() &&
              !tensors.contains("__metadata__"),
          "tensor_bytes: a name or a text that no file may have");
  head.append((8 - head.size() % 8) % 8, ' ');
  require(head.size() <= detail::longest_header,
          "tensor_bytes: a header of ", head.size(), " bytes");
  return detail::eight_bytes(head.size()) + head + data;
}

// read and write files of tensors
/// The file at a path.  Throws std::invalid_argument if it cannot be read
/// or is not valid (def. models-valid).
inline TensorFile read_tensors(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.good(), "safetensors: cannot read ", path);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return tensors_from(std::move(bytes).str(), path);
}
/// Writes tensor_bytes to a path.  Throws as tensor_bytes, and leaves the
/// path alone then; std::invalid_argument if the file cannot be written.
inline void write_tensors(
    const std::string& path,
    const std::map<std::string, Matrix<double>>& tensors,
    const std::map<std::string, std::string>& metadata = {}) {
  const std::string bytes = tensor_bytes(tensors, metadata);
  std::ofstream out(path, std::ios::binary);
  out << bytes;
  out.close();
  require(out.good(), "safetensors: cannot write ", path);
}
}  // namespace attn
