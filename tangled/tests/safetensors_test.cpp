// tests/safetensors_test.cpp: tangled from chapters/09b-models-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include <unistd.h>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <random>
#include "attn/random.hpp"
#include "attn/safetensors.hpp"
using namespace attn;

// count the bytes in use
static std::size_t in_use = 0, most_in_use = 0;
void* operator new(std::size_t n) {
  auto* p = static_cast<std::size_t*>(std::malloc(n + 16));
  if (!p) throw std::bad_alloc{};
  *p = n, in_use += n, most_in_use = std::max(most_in_use, in_use);
  return p + 2;
}
void operator delete(void* p) noexcept {
  if (!p) return;
  auto* begin = static_cast<std::size_t*>(p) - 2;
  in_use -= *begin;
  std::free(begin);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

BOOST_AUTO_TEST_SUITE(models)
namespace {
// decide validity in another way
// JSON of any kind: members and elements are both in `parts`.
struct Json {
  char kind = 0;  // { [ " 0 (a number), or x for anything else
  std::string text;
  std::vector<std::pair<std::string, Json>> parts;
  const Json* at(const std::string& key) const {
    for (const auto& [k, v] : parts) if (k == key) return &v;
    return nullptr;
  }
};

// read any JSON by recursion
class JsonReader {
 public:
  explicit JsonReader(const std::string& t) : text(t) {}
  // The whole text but blanks behind, or nothing.
  std::optional<Json> all() {
    Json j;
    if (!value(j, 0)) return {};
    blank();
    return at == text.size() ? std::optional(j) : std::nullopt;
  }

 private:
  const std::string& text;
  std::size_t at = 0;
  char peek() const { return at < text.size() ? text[at] : '\1'; }
  void blank() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' ||
           peek() == '\r') ++at;
  }

  // read one value of any JSON
  bool value(Json& j, int depth) {
    blank();
    const char c = peek();
    if (depth > 50) return false;
    if (c == '"') return j.kind = '"', string(j.text);
    if (c == '{' || c == '[') {
      j.kind = c, ++at, blank();
      const char close = c == '{' ? '}' : ']';
      if (peek() == close) return ++at, true;
      for (;; ++at) {
        std::string key;
        blank();
        if (c == '{' && (!string(key) || (blank(), peek() != ':') || !++at))
          return false;
        Json part;
        if (!value(part, depth + 1)) return false;
        j.parts.emplace_back(key, part);
        blank();
        if (peek() == close) return ++at, true;
        if (peek() != ',') return false;
      }
    }

    // read a number or a word of any JSON
    const auto from = at;
    while (std::isalnum(static_cast<unsigned char>(peek())) ||
           peek() == '+' || peek() == '-' || peek() == '.') ++at;
    j.text = text.substr(from, at - from);
    const bool digits = !j.text.empty() &&
        j.text.find_first_not_of("0123456789") == std::string::npos;
    j.kind = digits && (j.text == "0" || j.text[0] != '0') ? '0' : 'x';
    return at > from;
  }

  // read a string of any JSON
  bool string(std::string& s) {
    if (peek() != '"') return false;
    for (++at; peek() != '"'; ++at) {
      const auto c = static_cast<unsigned char>(peek());
      if (at >= text.size() || c < 32) return false;
      if (c != '\\') { s += char(c); continue; }
      ++at;

      // read an escape of one letter
      static const std::map<char, char> plain{{'"', '"'}, {'\\', '\\'},
          {'/', '/'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'},
          {'t', '\t'}};
      if (const auto k = plain.find(peek()); k != plain.end()) {
        s += k->second;
        continue;
      }
      long x = unit();
      if (x / 1024 == 54) {  // the first half of a pair
        if (at + 2 >= text.size() || text[at + 1] != '\\') return false;
        at += 2;
        const long y = unit();
        if (y / 1024 != 55) return false;
        x = (x % 1024) * 1024 + y % 1024 + 65536;
      } else if (x < 0 || x / 1024 == 55) {
        return false;
      }
      spell(s, x);
    }
    return ++at, true;
  }

  // read a unit, spell a character
  // The number after u, or -1; at is left on its last digit.
  long unit() {
    if (peek() != 'u' || at + 4 >= text.size()) return -1;
    const std::string four = text.substr(at + 1, 4);
    if (four.find_first_not_of("0123456789abcdefABCDEF") != four.npos)
      return -1;
    at += 4;
    return std::stol(four, nullptr, 16);
  }
  static void spell(std::string& s, long x) {
    if (x < 128) { s += char(x); return; }
    std::string tail;
    long room = 64;  // of the first byte: five, four, three bits
    do {
      tail.insert(tail.begin(), char(128 + x % 64));
      x /= 64, room /= 2;
    } while (x >= room);
    s += char(256 - 2 * room + x), s += tail;
  }
};

// hold a file against the definition
__extension__ typedef unsigned __int128 Wide;
using Span = std::pair<Wide, Wide>;
struct Definition {
  const std::string& bytes;
  bool holds() const {
    if (bytes.size() < 8) return false;
    Wide n = 0;
    for (std::size_t k = 0; k < 8; ++k)
      n += Wide(static_cast<unsigned char>(bytes[k])) << (8 * k);
    if (n > 100000000 || 8 + n > bytes.size()) return false;
    const std::string head = bytes.substr(8, std::size_t(n));
    if (head.empty() || head[0] != '{' || !utf8(head)) return false;
    const auto j = JsonReader(head).all();
    return j && members(*j, bytes.size() - 8 - std::size_t(n));
  }

  // decide about UTF-8 by decoding
  static bool utf8(const std::string& t) {
    for (std::size_t k = 0; k < t.size();) {
      const auto c = static_cast<unsigned char>(t[k]);
      const std::size_t n = c < 128 ? 1 : c >= 240 ? 4 : c >= 224 ? 3 : 2;
      if (k + n > t.size()) return false;
      long x = n == 1 ? c : c % (128 >> n);
      for (std::size_t m = 1; m < n; ++m)
        x = 64 * x + (static_cast<unsigned char>(t[k + m]) % 64);
      const long least[] = {0, 0, 128, 2048, 65536};
      std::string again(n, '\0');
      long rest = x;
      for (std::size_t m = n; m-- > 1; rest /= 64)
        again[m] = char(128 + rest % 64);
      again[0] = char((n == 1 ? 0 : 256 - (256 >> n)) + rest);
      if (again != t.substr(k, n) || x < least[n] || x > 0x10FFFF ||
          x / 2048 == 27) return false;
      k += n;
    }
    return true;
  }

  // decide about members by painting
  static bool natural(const Json* j, Wide& x) {
    if (!j || j->kind != '0' || j->text.size() > 20) return false;
    x = 0;
    for (const char c : j->text) x = 10 * x + Wide(c - '0');
    return x >> 64 == 0;
  }
  static bool once(const Json& j) {
    std::set<std::string> names;
    for (const auto& [k, v] : j.parts)
      if (!names.insert(k).second) return false;
    return j.kind == '{';
  }

  // paint all tensors of a header
  static bool members(const Json& j, std::size_t data) {
    if (!once(j)) return false;
    std::vector<int> paint(data, 0);
    std::vector<Span> spans;
    for (const auto& [name, t] : j.parts) {
      if (!once(t)) return false;
      if (name == "__metadata__") {
        for (const auto& [k, v] : t.parts) if (v.kind != '"') return false;
        continue;
      }
      if (t.parts.size() != 3 || !painted(t, paint, spans)) return false;
    }
    for (const auto& [b, e] : spans)  // no tensor begins inside another
      for (const auto& [from, to] : spans)
        if (from < b && b < to) return false;
    return std::all_of(paint.begin(), paint.end(), [](int c) { return c == 1; });
  }

  // paint the bytes of one tensor
  static bool painted(const Json& t, std::vector<int>& paint,
                      std::vector<Span>& spans) {
    const Json *type = t.at("dtype"), *shape = t.at("shape"),
               *place = t.at("data_offsets");
    if (!type || !shape || !place || type->kind != '"' ||
        shape->kind != '[' || place->kind != '[' || place->parts.size() != 2)
      return false;
    const std::string known = " F64 8 F32 4 F16 2 BF16 2 I64 8 I32 4 I16 2 "
                              "I8 1 U8 1 BOOL 1 ";
    const auto k = known.find(" " + type->text + " ");
    if (k == known.npos || type->text.find(' ') != type->text.npos ||
        type->text[0] < 'A') return false;
    Wide size =
        Wide(known[k + type->text.size() + 2] - '0'), n, b, e;
    for (const auto& [none, extent] : shape->parts)
      if (!natural(&extent, n) || (size *= n) >> 64 != 0) return false;
    if (!natural(&place->parts[0].second, b) ||
        !natural(&place->parts[1].second, e) || e < b || e - b != size ||
        e > paint.size()) return false;
    for (auto at = std::size_t(b); at < std::size_t(e); ++at) ++paint[at];
    spans.emplace_back(b, e);
    return true;
  }
};

// ask the reader
std::optional<TensorFile> accepted(const std::string& x) {
  try {
    return tensors_from(x, "damaged");
  } catch (const std::invalid_argument& e) {
    BOOST_TEST(std::string(e.what()).starts_with("safetensors: damaged"));
    return {};
  }
}
Index numbers_in(const TensorFile& f) {
  Index n = 0;
  for (const auto& [name, t] : f.tensors)
    try {
      n += stored_matrix(f, name).size();
    } catch (const std::domain_error&) {
      const bool large = std::any_of(
          t.extents.begin(), t.extents.end(),
          [](std::uint64_t extent) { return extent >> 31 != 0; });
      BOOST_TEST((t.type == "I64" || (large && t.begin == t.end)));
    }
  return n;
}

// make valid files and damage them
std::vector<std::string> valid_files() {
  const Matrix<double> m = gaussian<double>(3, 2, 7, "m");
  std::vector<std::string> all{
      tensor_bytes({}), tensor_bytes({{"a", m}}, {{"k", "v\"\n\\"}}),
      tensor_bytes({{"a", m}, {"b/ü€\xf0\x9f\x98\x80", Matrix<double>(0, 4)},
                      {"c", m}})};
  const std::string by_hand[] = {
      R"({"x":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},)"
      R"("y":{"shape":[],"dtype":"I16","data_offsets":[8,10]}} )",
      R"({ "z" : {"data_offsets":[0,4],"dtype":"U8","shape":[4,1]},)"
      R"("\ud83d\ude00\u00e9":{"dtype":"F16","shape":[0,9],)"
      R"("data_offsets":[4,4]},"__metadata__":{"a":"\t\/"}})"};
  const std::size_t sizes[] = {10, 4};
  for (std::size_t k = 0; k < 2; ++k)
    all.push_back(detail::eight_bytes(by_hand[k].size()) + by_hand[k] +
                  std::string(sizes[k], 'd'));
  for (const std::string& x : all) BOOST_TEST(bool(accepted(x)));
  return all;
}

// damage a file
void damage(std::string& x, std::mt19937_64& bits) {
  const auto below = [&](std::size_t n) { return std::size_t(bits() % n); };
  const std::string likely = "0123456789{}[]\",:\\u e_\x80\xc3\xed\xf0";
  const std::size_t at = x.size() > 8 && below(8) ? 8 + below(x.size() - 8)
                                                  : below(x.size());
  const std::size_t before = x.size();
  const char c = below(3) ? likely[below(likely.size())] : char(bits());
  switch (below(7)) {
    case 0: case 1: x[at] = c; break;
    case 2: x.insert(at, 1, c); break;
    case 3: x.erase(at, 1 + below(3)); break;
    case 4: x.insert(at, x.substr(below(x.size()), 1 + below(70))); break;
    case 5: x.resize(at); break;
    default: x.insert(at, std::to_string(bits() >> below(64)));
  }
  if (x.size() < 8) x.resize(8, '\0');
  if (x.size() > before && below(4)) {  // the header grew
    std::uint64_t n = x.size() - before;
    for (std::size_t k = 0; k < 8; ++k, n /= 256) {
      n += static_cast<unsigned char>(x[k]);
      x[k] = char(n % 256);
    }
  }
}
}  // namespace

// check the reader against the definition
BOOST_AUTO_TEST_CASE(reader_is_the_definition) {
  const auto seeds = valid_files();
  std::mt19937_64 bits(20);
  Index tried = 0, valid = 0, differ = 0;
  Index read = 0;
  for (; tried < 100000; ++tried) {
    std::string x = seeds[std::size_t(bits() % seeds.size())];
    for (auto n = 1 + bits() % 3; n > 0; --n) damage(x, bits);
    const auto f = accepted(x);
    differ += bool(f) != Definition{x}.holds();
    if (!f) continue;
    ++valid, read += numbers_in(*f);
  }
  verify(double(differ), 0);
  BOOST_TEST(valid > 1000);
  BOOST_TEST(read > 0);
  fact("tried", tried), fact("valid", valid), fact("read", read);
}

// check lies by name
void refused(const std::string& head, std::size_t data,
             const std::string& words) {
  const std::string x =
      detail::eight_bytes(head.size()) + head + std::string(data, '\0');
  BOOST_CHECK_EXCEPTION(tensors_from(x, "f"), std::invalid_argument,
                        says(words));
}
std::string one(const std::string& type, const std::string& extents,
                const std::string& place) {
  return R"("t":{"dtype":")" + type + R"(","shape":[)" + extents +
         R"(],"data_offsets":[)" + place + "]}";
}
BOOST_AUTO_TEST_CASE(lies_are_named) {
  const std::string t = one("U8", "4", "0,4"), u = one("U8", "4", "2,6");
  refused("{" + t + "}", 3, "tensors end at 4 of 3 bytes");
  refused("{" + t + "," + t + "}", 4, "'t' stands twice");
  refused("{\"s" + u.substr(2) + "," + t + "}", 6,
          "'s' begins at 2, inside another tensor; 4 was due");
  refused("{" + u + "}", 6, "'t' begins at 2, after a hole; 0 was due");
  refused("{" + one("F32", "4", "0,4") + "}", 4, "ask for 16 bytes");
  refused("{" + one("U8", "2", "4,2") + "}", 4, "offsets 4 to 2");
  refused("{" + one("F64", "4294967296,4294967296", "0,0") + "}", 0,
          "'t' has offsets 0 to 0, its type and extents ask for 2^64");
}
BOOST_AUTO_TEST_CASE(headers_that_are_none_are_named) {
  refused("{" + one("F8", "2", "0,2") + "}", 2, "unknown type 'F8'");
  refused("{" + one("U8", "18446744073709551616", "0,2") + "}", 2,
          "number too large");
  refused("{" + one("U8", "-2", "0,2") + "}", 2, "expected a number");
  refused("{" + one("U8", "2.0", "0,2") + "}", 2, "expected ']'");
  refused("{" + one("U8", "2e0", "0,2") + "}", 2, "expected ']'");
  refused("{" + one("U8", "02", "0,2") + "}", 2, "leading zero");
  refused(std::string(100000, '['), 0, "byte 8: expected '{'");
  refused("{\"t\":" + std::string(100000, '{'), 0, "expected '\"'");
  refused("{\"\xc3\":1}", 0, "not UTF-8");
  refused("{\"__metadata__\":{\"a\":1}}", 0, "expected '\"'");
  refused("{} x", 0, "something after the object");
  refused("{\"\\ud800\":1}", 0, "half a character");
  for (const char* bad :
       {"\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5"})
    refused(std::string("{\"") + bad + "\":1}", 0, "byte 10: not UTF-8");
  const std::string giant = detail::eight_bytes(~std::uint64_t{0}) + "{}";
  BOOST_CHECK_EXCEPTION(tensors_from(giant, "f"), std::invalid_argument,
                        says("a header of 18446744073709551615 bytes"));
  BOOST_CHECK_EXCEPTION(read_tensors("no/such"), std::invalid_argument,
                        says("cannot read no/such"));
}
BOOST_AUTO_TEST_CASE(letters_and_limits_of_headers) {
  const std::string t = one("U8", "4", "0,4").substr(3);
  refused("{\"\\u00CA\"" + t + ",\"\\u00ca\"" + t + "}", 4, "stands twice");
  const auto blank = [](std::size_t n) {
    return detail::eight_bytes(n) + "{}" + std::string(n - 2, ' ');
  };
  BOOST_TEST(tensors_from(blank(100000000), "f").tensors.empty());
  BOOST_CHECK_EXCEPTION(tensors_from(blank(100000001), "f"),
                        std::invalid_argument, says("header of 100000001"));
}
BOOST_AUTO_TEST_CASE(the_smallest_example) {
  const auto file = [](const std::string& n, const std::string& end) {
    const std::string head = R"({"x":{"dtype":"BF16","shape":[)" + n +
                             R"(],"data_offsets":[0,)" + end + "]}}";
    return detail::eight_bytes(head.size()) + head + "\xc0\x3f\x40\xc0";
  };
  const std::string x = file("2", "4");
  BOOST_TEST((x.size() == 67 && x[0] == 0x37));
  const Matrix<double> m = stored_matrix(tensors_from(x, "f"), "x");
  BOOST_TEST((m == Matrix<double>{{1.5, -3}}));
  const auto lie = [](const std::string& y, const std::string& words) {
    BOOST_CHECK_EXCEPTION(tensors_from(y, "f"), std::invalid_argument,
                          says(words));
  };
  lie(file("2", "6"),
      "'x' has offsets 0 to 6, its type and extents ask for 4 bytes");
  lie(file("3", "6"), "tensors end at 6 of 4 bytes of data; truncated?");
  BOOST_TEST(tensors_from(file("3", "6") + "ab", "f").tensors.size() == 1u);
}
BOOST_AUTO_TEST_CASE(names_products_and_seams) {
  const std::string t = one("U8", "4", "0,4");
  refused("{" + t + R"(,"\u0074":{}})", 4, "'t' stands twice");
  const auto opens = [](const std::string& head, std::size_t data) {
    const std::string x = detail::eight_bytes(head.size()) + head +
                          std::string(data, '\0');
    BOOST_TEST(!tensors_from(x, "f").tensors.empty());
  };
  opens("{" + one("F64", "0,4294967296,4294967296", "0,0") + "}", 0);
  refused("{" + one("F64", "4294967296,4294967296,0", "0,0") + "}", 0,
          "ask for 2^64");
  opens("{" + one("U8", "0,18446744073709551615", "0,0") + "}", 0);
  for (const char* place : {"0,0", "4,4", "2,2"}) {
    const std::string head = "{" + t + ",\"s" +
                             one("U8", "0", place).substr(2) + "}";
    if (place[0] == '2')
      refused(head, 4, "'s' begins at 2, inside another tensor; 4 was due");
    else opens(head, 4);
  }
}

// check that numbers come back
BOOST_AUTO_TEST_CASE(numbers_come_back) {
  const std::map<std::string, Matrix<double>> some{
      {"a\"\n", gaussian<double>(4, 3, 1, "a")},
      {"none", Matrix<double>(0, 5)}, {"nothing", Matrix<double>(0, 0)},
      {"rows", Matrix<double>(3, 0)}};
  const auto f = tensors_from(tensor_bytes(some, {{"k\\", "\x01v"}}), "f");
  BOOST_TEST(f.metadata.at("k\\") == "\x01v");
  for (const auto& [name, m] : some) {
    BOOST_TEST(shape(stored_matrix(f, name)) == shape(m));
    verify(distance(stored_matrix(f, name), m), 0);
  }
  for (const auto* name : {"n", "nn", "nnn"})  // data begin at eights
    BOOST_TEST(tensor_bytes({{name, Matrix<double>(1, 1)}}).size() % 8 == 0u);
  for (const auto& bad : {"\xff", "__metadata__"})
    BOOST_CHECK_EXCEPTION(tensor_bytes({{bad, Matrix<double>(1, 1)}}),
                          std::invalid_argument, says("no file may have"));
  BOOST_CHECK_THROW(tensor_bytes({}, {{"k", "\xff"}}), std::invalid_argument);
  BOOST_CHECK_THROW(read_tensors("tests"), std::invalid_argument);
}
BOOST_AUTO_TEST_CASE(extents_become_rows_and_columns) {
  const auto taken = [](const std::string& extents) {
    const std::string head = "{" + one("U8", extents, "0,0") + "}";
    return shape(stored_matrix(
        tensors_from(detail::eight_bytes(head.size()) + head, "f"), "t"));
  };
  BOOST_TEST(taken("0") == "1x0");
  BOOST_TEST(taken("3,0") == "3x0");
  BOOST_TEST(taken("3,4,0") == "12x0");
  BOOST_TEST(taken("3,0,4") == "0x4");
  BOOST_TEST(taken("2305843009213693952,0") == "2305843009213693952x0");
  for (const char* extents : {"4611686018427387904,0",
                              "0,4611686018427387904",
                              "4294967296,1073741824,0"})
    BOOST_CHECK_THROW(taken(extents), std::domain_error);
}
BOOST_AUTO_TEST_CASE(headers_are_written_up_to_the_limit) {
  const std::size_t frame = tensor_bytes({}, {{"k", ""}}).size() - 8;
  const std::size_t bare =
      std::string("{\"__metadata__\":{\"k\":\"\"}}").size();
  BOOST_TEST(frame == (bare + 7) / 8 * 8);
  std::string text(detail::longest_header - bare, 'x');
  const std::string longest = tensor_bytes({}, {{"k", text}});
  BOOST_TEST(longest.size() == 8 + detail::longest_header);
  BOOST_TEST(tensors_from(longest, "f").metadata.at("k").size() ==
             text.size());
  text += 'x';
  BOOST_CHECK_EXCEPTION(tensor_bytes({}, {{"k", text}}),
                        std::invalid_argument, says("a header of 100000008"));
}
BOOST_AUTO_TEST_CASE(an_old_file_survives) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("attn-tensors-" + std::to_string(getpid()));
  const auto kept = [&] {
    return stored_matrix(read_tensors(path.string()), "a")(0);
  };
  const auto all = [](const std::string& name, double x) {
    return std::map<std::string, Matrix<double>>{{name, Matrix<double>{{x}}}};
  };
  for (const double x : {1.0, 2.0}) {
    write_tensors(path.string(), all("a", x));
    BOOST_TEST(kept() == x);
  }
  BOOST_CHECK_THROW(write_tensors(path.string(), all("\xff", 3)),
                    std::invalid_argument);
  BOOST_TEST(kept() == 2);
  std::filesystem::remove(path);
  for (const std::string bad : {"no/such/folder", "tests", "/dev/full"})
    if (bad[0] != '/' || std::filesystem::exists(bad))
      BOOST_CHECK_EXCEPTION(write_tensors(bad, all("a", 1)),
                            std::invalid_argument,
                            says("cannot write " + bad));
}
BOOST_AUTO_TEST_CASE(a_file_is_held_twice) {
  const auto path = (std::filesystem::temp_directory_path() /
                     ("attn-held-" + std::to_string(getpid()))).string();
  write_tensors(path, {{"a", Matrix<double>::Zero(1, 131000)}});
  const auto size = double(std::filesystem::file_size(path));
  BOOST_TEST((size < 0x1p20 && size > 0x1p20 - 1024));
  const std::size_t before = in_use;
  most_in_use = in_use;
  BOOST_TEST(read_tensors(path).tensors.size() == 1u);
  const double times = double(most_in_use - before) / size;
  std::filesystem::remove(path);
  verify(times, (0x1p20 + size + 0x1p14) / size);
  fact("times", times, 2);
}
BOOST_AUTO_TEST_CASE(whole_numbers_up_to_two_to_53) {
  const auto kept = [](std::int64_t n) {
    const std::string head =
        R"({"n":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})";
    return stored_matrix(
        tensors_from(detail::eight_bytes(head.size()) + head +
                         detail::eight_bytes(std::uint64_t(n)), "f"), "n")(0);
  };
  const std::int64_t limit = std::int64_t{1} << 53;
  for (const std::int64_t n : {limit - 1, 1 - limit, std::int64_t{0}})
    BOOST_TEST(std::int64_t(kept(n)) == n);
  for (const std::int64_t n : {limit, limit + 1, -limit, -limit - 1})
    BOOST_CHECK_EXCEPTION(kept(n), std::domain_error, says("2^53 or more"));
}
BOOST_AUTO_TEST_CASE(types_are_read_as_meant) {
  const auto number = [](const std::string& type, const std::string& bytes) {
    BOOST_TEST(bytes.size() == detail::type_size(type));
    return detail::conversion_of(type)(
        detail::stored_bits(bytes.data(), bytes.size()));
  };
  const auto is = [&](double x, double y) { BOOST_TEST(x == y); };
  is(number("F16", std::string("\x01\x00", 2)), 0x1p-24);
  is(number("F16", std::string("\x00\xbc", 2)), -1);
  is(number("F16", std::string("\xff\x7b", 2)), 65504);
  is(number("F16", std::string("\x00\xfc", 2)), -HUGE_VAL);
  BOOST_TEST(std::isnan(number("F16", std::string("\x01\x7c", 2))));
  is(number("BF16", std::string("\x40\xc0", 2)), -3);
  is(number("F32", std::string("\x00\x00\xc0\x3f", 4)), 1.5);
  is(number("F64", std::string("\0\0\0\0\0\0\xf8\xbf", 8)), -1.5);
  is(number("I32", std::string("\xfe\xff\xff\xff", 4)), -2);
  is(number("I16", std::string("\xfe\xff", 2)), -2);
  is(number("I8", std::string("\x80", 1)), -128);
  is(number("I64", std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8)), -1);
  is(number("U8", std::string("\xfe", 1)), 254);
  is(number("BOOL", std::string("\1", 1)), 1);
}

// check the answers about files
BOOST_AUTO_TEST_CASE(answer_shortest_file) {
  const std::string ten = detail::eight_bytes(2) + "{}";
  BOOST_TEST(tensors_from(ten, "ten").tensors.empty());
  for (std::size_t n = 0; n < 10; ++n)
    BOOST_CHECK_THROW(tensors_from(ten.substr(0, n), "cut"),
                      std::invalid_argument);
  BOOST_CHECK_THROW(tensors_from(detail::eight_bytes(1) + "{", "one"),
                    std::invalid_argument);
}
BOOST_AUTO_TEST_CASE(answer_cut_files) {
  std::size_t files = 0;
  for (const auto& at :
       std::filesystem::directory_iterator("tests/reference/models")) {
    if (at.path().extension() != ".safetensors") continue;
    std::ifstream in(at.path(), std::ios::binary);
    const std::string whole(std::istreambuf_iterator<char>(in), {});
    BOOST_TEST(!tensors_from(whole, "whole").tensors.empty());
    for (std::size_t n = 0; n < whole.size(); n += 1 + n / 50)
      BOOST_CHECK_THROW(tensors_from(std::string_view(whole).substr(0, n),
                                     "cut"), std::invalid_argument);
    ++files;
  }
  BOOST_TEST(files == 9u);
}
BOOST_AUTO_TEST_SUITE_END()
