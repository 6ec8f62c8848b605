// tests/doors_hostile_test.cpp: tangled from chapters/10a-doors-checks.nw; edit that file, not this one.
// flags: -Ibuild/src/c -pthread -ldl -Wl,-rpath,$ORIGIN/../../c

// include little
#ifdef ATTN_ALONE
#include "alone.hpp"
#else
#include "prelude.hpp"
#include "verify.hpp"
#endif
#include "attn.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

// let memory be refused
#include <dlfcn.h>
#define REFUSE(sanitizer)                                    \
  extern "C" const char* __##sanitizer##_default_options();  \
  extern "C" const char* __##sanitizer##_default_options() { \
    return "allocator_may_return_null=1";                    \
  }
REFUSE(asan)
REFUSE(tsan)
#undef REFUSE
namespace attn {
// throw dice of known numbers
struct Dice {
  std::uint64_t k;
  Index operator()(Index n) {
    k = k * 6364136223846793005u + 1442695040888963407u;
    return Index((k >> 33) % std::uint64_t(n));
  }
};

// know which shape would fit
/// Letters of the extents that fit an argument of that name.
static std::string shape_of(const std::string& name) {
  static const std::map<std::string, std::string> known{
      {"Q", "BHnd"},    {"K", "BGmd"},     {"V", "BGme"},
      {"O", "BHne"},    {"dO", "BHne"},    {"logZ", "BHn"},
      {"dlogZ", "BHn"}, {"dQ", "BHnd"},    {"dK", "BGmd"},
      {"dV", "BGme"},   {"dbias", "BHnm"}, {"dsinks", "H"},
      {"S", "BHnm"},    {"A", "BHnm"},     {"dA", "BHnm"},
      {"U", "BHnm"},    {"v", "BHnm"},     {"w", "BHnm"},
      {"H", "BHn"},     {"F", "BHn"},      {"M", "BHn"},
      {"E", "BHn"},     {"X", "BHnd"},     {"Y", "BHnd"},
      {"Phi", "BHnd"},  {"Psi", "BGmd"},   {"dPhi", "BHnd"},
      {"dPsi", "BGmd"}, {"bias", "BHnm"},  {"keep", "BHnm"},
      {"slopes", "H"},  {"sinks", "H"},    {"at", "BHn"},
      {"cosines", "BHnw"}, {"sines", "BHnw"}};
  const auto at = known.find(name);
  return at == known.end() ? "dd" : at->second;
}

// make the arguments of one call
struct Fuzz {
  Dice roll;
  std::vector<double> arena = std::vector<double>(slots * slot);
  std::vector<double> before;
  std::map<char, Index> extents{};
  std::map<int, std::vector<double>> images{};
  int type = ATTN_F64, fault = -1, faulty = -1, made = 0;
  bool fatal = false, in_place = false;
  std::int64_t space = 0;
  std::deque<attn_view> views{};
  std::deque<std::pair<std::string, attn_view>> outputs{};
  std::deque<attn_rule> rules{};
  std::vector<std::string> names{};
  std::string text{};
  std::size_t next = 0;
  attn_cache *cache = nullptr, *born = nullptr;
  std::int64_t rows[2]{}, held[2]{};
  std::array<float, 4> told{};  // what the cache gives

  // begin and end a fuzz
  explicit Fuzz(std::uint64_t seed) : roll{seed} {
    attn_cache_new(ATTN_F32, 2, 3, 2, &cache);
  }
  Fuzz(const Fuzz&) = delete;
  ~Fuzz() { attn_cache_free(cache); }

  // begin a call of the fuzz
  static constexpr std::size_t slots = 20, slot = 2048;
  void begin(const std::string& parameters) {
    for (const char c : {'n', 'm', 'd', 'e'}) extents[c] = roll(5);
    if (roll(3)) extents['d'] = 1 + roll(3);
    extents['w'] = roll(1 + extents['d'] / 2);
    extents['B'] = 1 + roll(2), extents['H'] = 1 + roll(4);
    extents['G'] = roll(3) ? extents['H'] : 1;
    if (roll(20) == 0) extents['G'] = 1 + roll(3);
    type = roll(2) ? ATTN_F64 : ATTN_F32;
    if (parameters.find("cache,") != parameters.npos && roll(2)) fit_cache();
    fault = roll(2) ? -1 : int(roll(12)), faulty = int(roll(5));
    made = 0, fatal = false, next = 0, born = nullptr;
    in_place = parameters.find("attn_in X, attn_in cosines") == 1;
    views.clear(), outputs.clear(), rules.clear(), names.clear();
    std::istringstream words(parameters);
    for (std::string w; std::getline(words, w, ',');) {
      w.erase(std::remove(w.begin(), w.end(), ')'), w.end());
      const auto at = w.find_last_of(" *");
      names.push_back((w.find("attn_out") != w.npos ? ">" : "") +
                      w.substr(at + 1));
    }
  }
  void fit_cache() {
    type = ATTN_F32;
    extents['B'] = 1, extents['G'] = 2, extents['H'] = 2 + 2 * roll(2);
    extents['d'] = 3, extents['e'] = 2;
  }
  static Index volume(const attn_view& v) {
    Index n = 1;
    for (int k = 0; k < std::clamp(v.rank, 0, 4); ++k)
      n *= std::clamp<Index>(v.extent[k], 0, 100);
    return n;
  }
  static bool same_kind(const attn_view& a, const attn_view& b) {
    return a.type == b.type;
  }

  // make an array of the fuzz
  attn_in array(const std::string& name, bool out) {
    const bool rare = name == "dbias" || name == "dsinks";
    if (roll(rare ? 2 : 40) == 0) return nullptr;
    const std::string letters = shape_of(name);
    attn_view v{nullptr, type, 0, {}, {}};
    if (name == "keep") v.type = ATTN_B8;
    else if (type == ATTN_F32 && roll(3) == 0)
      v.type = roll(2) ? ATTN_BF16 : ATTN_F16;
    const bool skip = letters[0] == 'B' && extents['B'] == 1 && roll(3);
    for (const char c : letters.substr(skip))
      v.extent[v.rank++] = extents[c] + (roll(200) == 0);
    if (name == "g" && roll(2)) v.rank = 1;

    // give an array strides
    Index step = 1;
    const bool swapped = roll(3) == 0;
    const Index wide = roll(8);
    for (int k = 0; k < v.rank; ++k) {
      const int at = swapped ? k : v.rank - 1 - k;
      if (k == wide) step *= 2;
      v.stride[at] = roll(4) == 0 ? -step : step;
      step *= std::max<Index>(1, v.extent[at]);
      if (!out && roll(12) == 0) v.stride[at] = 0;
    }
    v.data = arena.data() + slot * std::size_t(made) + slot / 2;

    // give an array numbers
    std::vector<double>& image = images[v.type];
    if (image.empty()) image = numbers_of(v.type);
    std::copy_n(image.begin() + roll(slot), slot,
                arena.begin() + std::ptrdiff_t(slot) * made);
    if (name == "at" && roll(4))
      std::fill_n(arena.begin() + std::ptrdiff_t(slot) * made, slot, 0.0);
    if (made++ == faulty) plant(v, out);
    if (out) outputs.emplace_back(name, v);
    return &views.emplace_back(v);
  }
  std::vector<double> numbers_of(int of) {
    std::vector<double> list(2 * slot);
    const std::size_t bytes = of == ATTN_F64 ? 8 : of == ATTN_F32 ? 4 : 2;
    auto* raw = reinterpret_cast<char*>(list.data());
    for (std::size_t k = 0; k < 8 * list.size(); k += bytes) {
      const Index r = roll(1 << 20);
      double x = double(r % 2001) / 1000 - 1;
      if (r % 1009 == 0) x = r % 2 ? HUGE_VAL : r % 3 ? -HUGE_VAL : NAN;
      const auto f = float(x);
      std::uint32_t b;
      std::memcpy(&b, &f, 4);
      b = of == ATTN_B8 ? std::uint32_t(r % 2) : b >> 16;
      std::memcpy(raw + k, bytes == 8   ? static_cast<const void*>(&x)
                           : bytes == 4 ? static_cast<const void*>(&f)
                                        : &b, bytes);
    }
    return list;
  }

  // plant a fault in an array
  void plant(attn_view& v, bool out) {
    constexpr std::int64_t huge = std::int64_t(1) << 62;
    const int k = int(roll(std::max(1, v.rank)));
    const bool was = fatal;
    fatal = true;
    switch (fault) {
      case 0: v.rank = roll(2) ? 0 : 5; break;
      case 1: v.type = roll(2) ? 0 : 9; break;
      case 2: v.extent[k] = -1 - roll(3); break;
      case 3: v.extent[k] = huge; break;
      case 4: v.extent[k] = std::max<Index>(2, v.extent[k]);
              v.stride[k] = roll(2) ? huge : -huge; break;
      case 5: v.rank = -7; break;
      case 6: v.data = static_cast<char*>(v.data) + 1;
              fatal = v.type != ATTN_B8; break;

      // plant faults that depend on other arrays
      case 7:
        fatal = out && !views.empty() && same_kind(views.front(), v) &&
                volume(views.front()) > 0 && volume(v) > 0;
        if (fatal) v.data = views.front().data;
        fatal = fatal && !in_place;
        break;
      case 8:
        fatal = out && v.extent[k] > 1 && volume(v) > 0;
        if (fatal) v.stride[k] = 0;
        break;
      case 9: v.data = nullptr, fatal = volume(v) > 0; break;
      case 10: v.extent[k] += 1, fatal = false; break;
      default: fatal = was;
    }
  }

  // make a rule of the fuzz
  const attn_rule* rule() {
    if (roll(4) == 0) return nullptr;
    attn_rule& r = rules.emplace_back();
    const bool whole = roll(8);
    r.size = whole ? std::int64_t(sizeof r) : 16 + 8 * roll(7);
    if (roll(2)) r.has = roll(512);
    r.scale = 0.5, r.slope = 0.1;
    r.softcap = roll(4) ? 1 + double(roll(3)) : 0;
    r.sink = 0.25, r.offset = roll(9) - 4, r.left = roll(5);
    r.right = roll(5), r.queries = roll(4), r.keys = roll(4);
    if (whole && roll(4) == 0) r.bias = array("bias", false);
    if (whole && roll(4) == 0) r.keep = array("keep", false);
    if (whole && roll(4) == 0) r.slopes = array("slopes", false);
    if (whole && roll(4) == 0) r.sinks = array("sinks", false);
    if (fault == 11) {
      fatal = true;
      if (roll(3) == 0) r.has = 512;
      else if (roll(2)) r.size = roll(2) ? 15 : 5000;
      else r.has = ATTN_OFFSET, r.offset = INT64_MIN, r.size = sizeof r;
    }
    return &r;
  }

  // make any argument of the fuzz
  const char* equation() {
    static const char* const some[] = {
        "S^{ij} = Q^{ia} g_{ab} K^{jb}", "s = v^i w_i + 3 u",
        "x^\\mu = -\\tfrac{1}{7} A^\\mu{}_\\nu y^\\nu", "S^{ij} = Q^{ia}",
        "\\bar{\\hat{S}}^{i(h)} = \\partial_a Q^{(h)ia}"};
    text = some[roll(5)];
    if (roll(8) == 0) text.resize(std::size_t(roll(Index(text.size()))));
    if (roll(8) == 0 && !text.empty())
      text[std::size_t(roll(Index(text.size())))] = char(roll(256));
    if (roll(40) == 0) text = std::string(std::size_t(roll(2000)), '{');
    return roll(20) ? text.c_str() : (fatal = true, nullptr);
  }
  char* program() {
    space = 8 * roll(12);
    attn_view v{arena.data() + slot * (slots - 1), ATTN_F64, 1, {space / 8},
                {1}};
    outputs.emplace_back("program", v);
    return roll(20) ? static_cast<char*>(v.data) : (fatal = true, nullptr);
  }
  template <class P>
  P argument() {
    const std::string name = names[next++];
    if constexpr (std::is_same_v<P, attn_in>)
      return array(name[0] == '>' ? name.substr(1) : name, name[0] == '>');
    else if constexpr (std::is_same_v<P, const attn_rule*>) return rule();
    else if constexpr (std::is_same_v<P, attn_cache*>) return cache;
    else if constexpr (std::is_same_v<P, attn_cache**>) return &born;
    else if constexpr (std::is_same_v<P, std::int64_t*>)
      return roll(10) ? &rows[0] : nullptr;
    else if constexpr (std::is_same_v<P, const char*>) return equation();
    else if constexpr (std::is_same_v<P, char*>) return program();
    else if constexpr (std::is_same_v<P, double>) {
      const double odd[] = {0, -1, NAN, HUGE_VAL, 1e300};
      return roll(6) ? 0.5 : odd[roll(5)];
    } else {
      if (name == "room") return static_cast<P>(space);
      return static_cast<P>(roll(8) ? roll(3) : roll(3) - 100);
    }
  }
  template <class... P>
  int call(int (*f)(P...)) {
    std::tuple<P...> all{argument<P>()...};
    before = arena;
    attn_cache_rows(cache, &held[0], &held[1]);
    told = decoded();
    return std::apply(f, all);
  }
  std::array<float, 4> decoded() const {
    std::array<float, 4> O{};
    if (std::find(names.begin(), names.end(), "cache") == names.end())
      return O;
    static float Q[] = {0.3f, -0.2f, 0.1f, 0.5f, 0.4f, -0.6f};
    const attn_view q{Q, ATTN_F32, 3, {2, 1, 3}, {3, 3, 1}};
    const attn_view o{O.data(), ATTN_F32, 3, {2, 1, 2}, {2, 2, 1}};
    BOOST_TEST_REQUIRE(attn_decode(cache, &q, nullptr, &o, nullptr) == 0);
    return O;
  }
};

// look for what was written
static void forget_outputs(Fuzz& z) {
  for (const auto& [name, v] : z.outputs) {
    const Index size = v.type == ATTN_F64 ? 8 : v.type == ATTN_F32 ? 4 : 2;
    Index n[4] = {1, 1, 1, 1};
    std::copy(v.extent, v.extent + v.rank, n);
    for (Index k = 0; k < n[0] * n[1] * n[2] * n[3]; ++k) {
      Index at = 0, rest = k;
      for (int l = v.rank - 1; l >= 0; --l)
        at += rest % n[l] * v.stride[l], rest /= n[l];
      char* p = static_cast<char*>(v.data) + at * size;
      const auto from = p - reinterpret_cast<char*>(z.arena.data());
      std::memcpy(reinterpret_cast<char*>(z.before.data()) + from, p,
                  std::size_t(size));
    }
  }
}
static bool untouched(const Fuzz& z) {
  return std::memcmp(z.arena.data(), z.before.data(),
                     z.arena.size() * sizeof(double)) == 0;
}
using Four = std::array<float, 4>;
static bool same_bits(const Four& a, const Four& b) {  // NaN included
  return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}
static bool well_done(Fuzz& z, int code) {
  if (code == ATTN_OK) forget_outputs(z);
  const bool said = std::string(attn_message()).size() > 9;
  std::int64_t now[2];
  attn_cache_rows(z.cache, &now[0], &now[1]);
  const bool kept = now[0] == z.held[0] && now[1] == z.held[1] &&
                    (code == ATTN_OK || same_bits(z.told, z.decoded()));
  return code != ATTN_INTERNAL &&
         (code == ATTN_OK ? !z.fatal : said && kept) && untouched(z);
}
static void judge_call(Fuzz& z, const std::string& name, int code) {
  const bool good = well_done(z, code);
  if (!good)
    BOOST_TEST(false, name << ": " << code << ", fault " << z.fault
                           << (z.fatal ? ", fatal, " : ", ")
                           << attn_message());
  verify(good ? 0 : 1, 0);
}
static void work_with(int threads) {
  using Set = void (*)(int);
  void* f = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  if (f) reinterpret_cast<Set>(f)(threads);
}
static void work_alone() { work_with(1); }
#ifdef ATTN_ALONE
static constexpr int several = 1;
#else
static constexpr int several = 2;
#endif

// call each function once
using See = std::function<void(const char*, int)>;
static void call_each(Fuzz& z, const See& see) {
#define ATTN_OF_CACHE ATTN_FUNCTION
#define ATTN_FUNCTION(name, parameters, arguments) \
  if (std::string(#name) != "cache_free") {        \
    z.begin(#parameters);                          \
    see(#name, z.call(attn_##name));               \
    if (z.born) attn_cache_free(z.born);           \
  }
#include "list.h"
#undef ATTN_FUNCTION
#undef ATTN_OF_CACHE
}
BOOST_AUTO_TEST_SUITE(doors_hostile)

// name some refusals
BOOST_AUTO_TEST_CASE(refusals_say_why) {
  double x[12] = {};
  const attn_view Q{x, ATTN_F64, 2, {2, 3}, {3, 1}};
  const attn_view K{x, ATTN_F64, 2, {2, 2}, {3, 1}};
  double y[12] = {1};
  const attn_view O{y, ATTN_F64, 2, {2, 3}, {3, 1}};
  const auto says = [](int code, int expected, const char* words) {
    const std::string said = attn_message();
    verify(code != expected || said.find(words) == std::string::npos, 0);
  };
  says(attn_flash(&Q, &K, &Q, nullptr, &O, nullptr), ATTN_ARGUMENT,
       "flash: Q is 2x3 but K is 2x2");
  says(attn_flash(&Q, nullptr, &Q, nullptr, &O, nullptr), ATTN_ARGUMENT,
       "flash: K is null");
  says(attn_flash(&Q, &Q, &Q, nullptr, &Q, nullptr), ATTN_ARGUMENT,
       "flash: O overlaps Q");
  says(attn_gibbs(&Q, -1, &O, nullptr, nullptr, nullptr, nullptr),
       ATTN_VALUE, "temperature must be positive");

  // name refusals of rules and memory
  struct {
    attn_rule rule;
    std::int64_t more;
  } later{};
  later.rule.size = sizeof later;
  double z[12];
  const attn_view P{z, ATTN_F64, 2, {2, 3}, {3, 1}};
  BOOST_TEST(attn_flash(&Q, &Q, &Q, &later.rule, &P, nullptr) == ATTN_OK);
  attn_rule early{};
  early.size = 16;
  BOOST_TEST(attn_flash(&Q, &Q, &Q, &early, &P, nullptr) == ATTN_OK);
  early.has = ATTN_SCALE;
  says(attn_flash(&Q, &Q, &Q, &early, &O, nullptr), ATTN_ARGUMENT,
       "rule.has is 1 but rule.size is 16");
  later.more = 1;
  says(attn_flash(&Q, &Q, &Q, &later.rule, &O, nullptr), ATTN_ARGUMENT,
       "does not know");
  const attn_view wide{x, ATTN_F64, 2, {std::int64_t(1) << 45, 3}, {0, 1}};
  const attn_view small{x, ATTN_F64, 2, {1, 3}, {3, 1}};
  const attn_view one{y, ATTN_F64, 2, {1, 3}, {3, 1}};
  says(attn_flash(&small, &wide, &wide, nullptr, &one, nullptr), ATTN_MEMORY,
       "memory");

  // pass numbers that are not meant
  attn_rule vague{};
  vague.size = sizeof vague;
  vague.scale = vague.softcap = vague.slope = vague.sink = NAN;
  vague.offset = vague.left = vague.right = INT64_MIN;
  vague.queries = vague.keys = INT64_MAX;
  BOOST_TEST(attn_flash(&Q, &Q, &Q, &vague, &P, nullptr) == ATTN_OK);
  BOOST_TEST(y[0] == 1);
}

// change extents by one
struct Shaped {
  std::map<std::string, attn_view> views{};
  std::deque<std::vector<double>> rooms{};
  Shaped(const std::string& names, bool batch, std::int64_t G) {
    const std::map<char, std::int64_t> sizes{
        {'B', 3}, {'H', 4}, {'G', G}, {'n', 3}, {'m', 5}, {'d', 4},
        {'e', 6}, {'w', 2}};
    std::istringstream words(names);
    for (std::string w; words >> w;) {
      std::string s = shape_of(w);
      if (!batch && s[0] == 'B') s.erase(0, 1);
      attn_view v{nullptr, w == "keep" ? ATTN_B8 : ATTN_F64, int(s.size()),
                  {}, {}};
      std::int64_t step = 1;
      for (int k = v.rank - 1; k >= 0; --k) {
        v.extent[k] = sizes.at(s[std::size_t(k)]), v.stride[k] = step;
        step *= v.extent[k] + 1;
      }
      v.data = rooms.emplace_back(std::size_t(step)).data();
      views[w] = v;
    }
  }
  attn_in operator()(const char* name) { return &views.at(name); }
};
template <class F>
void refuse_other_extents(const char* names, F call, const char* fixed,
                          bool batch = true, std::int64_t G = 2,
                          char free = ' ') {
  Shaped x(names, batch, G);
  BOOST_TEST(call(x) == ATTN_OK, names << ": " << attn_message());
  for (auto& [name, v] : x.views)
    for (int k = 0; k < v.rank; ++k)
      for (const int more : {-1, 1}) {
        if (shape_of(name)[std::size_t(k)] == free) continue;
        v.extent[k] += more;
        const bool bad = call(x) != ATTN_ARGUMENT;
        if (bad) BOOST_TEST(false, names << ": " << name << k << more);
        verify(bad, 0), v.extent[k] -= more;
      }

  // change a letter in all arrays
  for (const char letter : std::string("BHGnmdew")) {
    Shaped y = x;
    for (auto& [name, v] : y.views)
      for (int k = 0; k < v.rank; ++k)
        v.extent[k] += shape_of(name)[std::size_t(
                           k + (!batch && shape_of(name)[0] == 'B'))] == letter;
    const bool right = std::strchr(fixed, letter) == nullptr;
    const bool good = call(y) == (right ? ATTN_OK : ATTN_ARGUMENT);
    if (!good) BOOST_TEST(false, names << ": all " << letter);
    verify(!good, 0);
  }
}
static attn_rule rule_with(Shaped& x, bool pairs) {
  attn_rule rule{};
  rule.size = sizeof rule;
  if (pairs) rule.bias = x("bias"), rule.keep = x("keep");
  rule.slopes = x("slopes"), rule.sinks = x("sinks");
  return rule;
}
BOOST_AUTO_TEST_CASE(wrong_extents_are_refused) {
  refuse_other_extents("Q K V bias keep slopes sinks O logZ", [](Shaped& x) {
    const attn_rule r = rule_with(x, true);
    return attn_flash(x("Q"), x("K"), x("V"), &r, x("O"), x("logZ"));
  }, "HG");
  refuse_other_extents("Q K V bias keep slopes sinks O logZ dO dlogZ dQ dK "
                       "dV dbias dsinks", [](Shaped& x) {
    const attn_rule r = rule_with(x, true);
    return attn_flash_vjp(x("Q"), x("K"), x("V"), &r, x("O"), x("logZ"),
                          x("dO"), x("dlogZ"), x("dQ"), x("dK"), x("dV"),
                          x("dbias"), x("dsinks"));
  }, "HG");

  // change extents for a cache
  attn_cache* cache = nullptr;
  BOOST_TEST(attn_cache_new(ATTN_F64, 2, 4, 6, &cache) == ATTN_OK);
  refuse_other_extents("K V", [cache](Shaped& x) {
    return attn_cache_append(cache, x("K"), x("V"));
  }, "Gde", false);
  refuse_other_extents("Q slopes sinks O logZ", [cache](Shaped& x) {
    const attn_rule r = rule_with(x, false);
    return attn_decode(cache, x("Q"), &r, x("O"), x("logZ"));
  }, "Hde", false);
  attn_cache_free(cache);

  // change extents of what is compiled once
  const auto once = [](const char* names, auto call, const char* fixed = "",
                       char free = ' ') {
    refuse_other_extents(names, call, fixed, true, 4, free);
  };
  once("Q K S", [](Shaped& x) {
    return attn_scores(x("Q"), x("K"), nullptr, x("S")); }, "HG");
  once("S A logZ H F M", [](Shaped& x) {
    return attn_gibbs(x("S"), 1, x("A"), x("logZ"), x("H"), x("F"), x("M"));
  });
  once("A v w", [](Shaped& x) {
    return attn_fisher_times(x("A"), x("v"), 1, x("w")); });
  once("A dA U", [](Shaped& x) {
    return attn_natural_gradient(x("A"), x("dA"), 1, x("U")); });
  once("X K Y", [](Shaped& x) {
    return attn_hopfield_update(x("X"), x("K"), 1, nullptr, x("Y")); },
       "HG", 'm');
  once("X K E", [](Shaped& x) {
    return attn_hopfield_energy(x("X"), x("K"), 1, nullptr, x("E")); },
       "HG", 'm');
  once("at cosines sines", [](Shaped& x) {
    return attn_rotations(x("at"), 100, x("cosines"), x("sines")); });
  once("X cosines sines Y", [](Shaped& x) {
    return attn_rotate(x("X"), x("cosines"), x("sines"), 0, 0, x("Y")); },
       "w");

  // change extents of linear attention
  once("Phi Psi V O", [](Shaped& x) {
    return attn_linear_attention(x("Phi"), x("Psi"), x("V"), 0, x("O")); },
       "HG");
  once("Phi Psi V dO dPhi dPsi dV", [](Shaped& x) {
    return attn_linear_attention_vjp(x("Phi"), x("Psi"), x("V"), 0, x("dO"),
                                     x("dPhi"), x("dPsi"), x("dV")); },
       "HG");
}

// check the answers about doors
BOOST_AUTO_TEST_CASE(answer_nested) {
  static double x[64], y[64];
  const auto as_output = [](attn_view v) {
    v.data = y + 32;
    const attn_view s{x, ATTN_F64, 2, {v.extent[0], v.extent[1]},
                      {v.extent[1], 1}};
    return attn_gibbs(&s, 1, &v, nullptr, nullptr, nullptr, nullptr);
  };
  const auto view = [](std::int64_t m, std::int64_t s, std::int64_t t) {
    return attn_view{nullptr, ATTN_F64, 2, {4, m}, {s, t}};
  };
  BOOST_TEST(as_output(view(5, 5, 1)) == ATTN_OK);
  BOOST_TEST(as_output(view(5, 1, 4)) == ATTN_OK);
  BOOST_TEST(as_output(view(5, 4, 1)) == ATTN_ARGUMENT);
  BOOST_TEST(as_output(view(5, -10, 2)) == ATTN_OK);
  BOOST_TEST(as_output(view(5, 5, 0)) == ATTN_ARGUMENT);
  BOOST_TEST(as_output(view(1, 1, 0)) == ATTN_OK);
}
BOOST_AUTO_TEST_CASE(answer_layout) {
  BOOST_TEST(sizeof(attn_view) == 80U);
  BOOST_TEST(offsetof(attn_view, extent) == 16U);
  BOOST_TEST(offsetof(attn_view, stride) == 48U);
  BOOST_TEST(sizeof(attn_rule) == 120U);
  BOOST_TEST(offsetof(attn_rule, offset) == 48U);
  BOOST_TEST(offsetof(attn_rule, bias) == 88U);
  BOOST_TEST(ATTN_KEYS == 256);
  BOOST_TEST(ATTN_B8 == 5);
}
BOOST_AUTO_TEST_CASE(answer_window) {
  static double Q[300], V[300], O[300];
  V[100] = 1;
  const attn_view q{Q, ATTN_F64, 2, {300, 1}, {1, 1}};
  const attn_view v{V, ATTN_F64, 2, {300, 1}, {1, 1}};
  const attn_view o{O, ATTN_F64, 2, {300, 1}, {1, 1}};
  attn_rule rule{};
  rule.size = sizeof rule, rule.has = ATTN_LEFT | ATTN_RIGHT;
  rule.left = 127;
  BOOST_TEST(attn_flash(&q, &q, &v, &rule, &o, nullptr) == ATTN_OK);
  for (int i = 0; i < 300; ++i) {
    const double seen = i < 100 || i > 227 ? 0 : 1.0 / std::min(i + 1, 128);
    verify(std::abs(O[i] - seen), 128 * 0x1p-53);
  }
}
BOOST_AUTO_TEST_CASE(answer_broadcast) {
  static double Q[24], K[6], one[24], two[24], dK[6], L[12];
  for (int i = 0; i < 24; ++i) Q[i] = std::sin(i);
  for (int i = 0; i < 6; ++i) K[i] = std::cos(i);
  const attn_view q{Q, ATTN_F64, 3, {4, 3, 2}, {6, 2, 1}};
  const attn_view k{K, ATTN_F64, 3, {1, 3, 2}, {6, 2, 1}};
  const attn_view all{K, ATTN_F64, 3, {4, 3, 2}, {0, 2, 1}};
  const attn_view a{one, ATTN_F64, 3, {4, 3, 2}, {6, 2, 1}};
  const attn_view b{two, ATTN_F64, 3, {4, 3, 2}, {6, 2, 1}};
  const attn_view l{L, ATTN_F64, 2, {4, 3}, {3, 1}};
  BOOST_TEST(attn_flash(&q, &k, &k, nullptr, &a, &l) == ATTN_OK);
  BOOST_TEST(attn_flash(&q, &all, &all, nullptr, &b, nullptr) == ATTN_OK);
  verify(std::memcmp(one, two, sizeof one) != 0, 0);
  const attn_view d{dK, ATTN_F64, 3, {4, 3, 2}, {0, 2, 1}};
  static double dQ[24], dV[24];
  const attn_view x{dQ, ATTN_F64, 3, {4, 3, 2}, {6, 2, 1}};
  const attn_view y{dV, ATTN_F64, 3, {4, 3, 2}, {6, 2, 1}};
  BOOST_TEST(attn_flash_vjp(&q, &all, &all, nullptr, &a, &l, &q, nullptr,
                            &x, &d, &y, nullptr, nullptr) == ATTN_ARGUMENT);

  // add up the gradients of heads that share keys
  static double each[24], sum[6], shared[6], shared_v[6];
  const attn_view e{each, ATTN_F64, 3, {4, 3, 2}, {6, 2, 1}};
  const attn_view s{shared, ATTN_F64, 3, {1, 3, 2}, {6, 2, 1}};
  const attn_view w{shared_v, ATTN_F64, 3, {1, 3, 2}, {6, 2, 1}};
  BOOST_TEST(attn_flash_vjp(&q, &all, &all, nullptr, &a, &l, &q, nullptr, &x,
                            &e, &y, nullptr, nullptr) == ATTN_OK);
  BOOST_TEST(attn_flash_vjp(&q, &k, &k, nullptr, &a, &l, &q, nullptr, &x, &s,
                            &w, nullptr, nullptr) == ATTN_OK);
  for (int i = 0; i < 24; ++i) sum[i % 6] += each[i];
  verify(std::memcmp(sum, shared, sizeof sum) != 0, 0);
}
BOOST_AUTO_TEST_CASE(answer_short_sums) {
  static float x[2] = {40.12f, 0}, v[2] = {1, -1}, O[1], q[1] = {1}, L[1];
  static float g[1] = {1}, dq[1], dk[2], dv[2];
  const auto view = [](void* p, int type, std::int64_t n) {
    return attn_view{p, type, 2, {n, 1}, {1, 1}};
  };
  const auto Q = view(q, 1, 1), K = view(x, 1, 2), V = view(v, 1, 2);
  const auto o = view(O, 1, 1), c = view(g, 1, 1), a = view(dq, 1, 1);
  const auto b = view(dk, 1, 2), d = view(dv, 1, 2);
  attn_view l{L, ATTN_F32, 1, {1}, {1}};
  BOOST_TEST(attn_flash(&Q, &K, &V, nullptr, &o, &l) == ATTN_OK);
  static std::uint16_t cut[1];
  std::uint32_t bits;
  std::memcpy(&bits, L, 4);
  cut[0] = std::uint16_t((bits + 0x8000) >> 16);
  const attn_view s{cut, ATTN_BF16, 1, {1}, {1}};
  const auto back = [&](const attn_view& sums) {
    BOOST_TEST(attn_flash_vjp(&Q, &K, &V, nullptr, &o, &sums, &c, nullptr,
                              &a, &b, &d, nullptr, nullptr) == ATTN_OK);
    return double(dv[0]);
  };
  verify(std::abs(back(l) - 1), 4 * 42 * 0x1p-24);
  refute(std::abs(back(s) - 1), 0.05);
}

// call everything with anything
BOOST_AUTO_TEST_CASE(fuzz) {
  Fuzz z(1);
  work_alone();
  long calls = 0, codes[6] = {}, fatal = 0;
  std::map<std::string, long> good, values;
  for (int round = 0; calls < 100000; ++round) {
    call_each(z, [&](const char* name, int code) {
      ++calls, ++codes[code], fatal += z.fatal;
      good[name] += code == ATTN_OK, values[name] += code == ATTN_VALUE;
      judge_call(z, name, code);
    });
    if (round % 50 == 0) attn_cache_forget_before(z.cache, 20 * round);
  }

  // note what came of the calls
  fact("calls", calls), fact("succeeded", codes[ATTN_OK]);
  fact("arguments", codes[ATTN_ARGUMENT]), fact("values", codes[ATTN_VALUE]);
  fact("fatal", fatal);
  long least = calls;
  for (const auto& [name, n] : good) least = std::min(least, n);
  fact("least", least);
  BOOST_TEST(least > 50);
  BOOST_TEST(codes[ATTN_OK] > 5000);
  BOOST_TEST(codes[ATTN_VALUE] > 100);
  BOOST_TEST(codes[ATTN_INTERNAL] == 0);
  BOOST_TEST(fatal > 10000);

  // compare refused values with what comments say
  std::ifstream file("tangled/c/list.h");
  const std::string list{std::istreambuf_iterator<char>(file), {}};
  for (const auto& [name, n] : values) {
    const auto at = list.find("(" + name + ",");
    const auto from = list.rfind("/**", at);
    BOOST_TEST_REQUIRE(from < at);
    const auto comment = list.substr(from, at - from);
    const bool says = comment.find("ATTN_VALUE") != comment.npos;
    if (says != (n > 0)) BOOST_TEST(false, name << " refused values: " << n);
    verify(says != (n > 0), 0);
  }
}

// call from many threads
static std::size_t story(std::uint64_t seed) {
  Fuzz z(seed);
  std::size_t told = 0;
  const auto tell = [&told](std::string_view s) {
    told = told * 1000003 + std::hash<std::string_view>{}(s);
  };
  const See see = [&](const char*, int code) {
    tell(code == ATTN_OK ? "" : attn_message());
    tell({reinterpret_cast<const char*>(z.arena.data()),
          z.arena.size() * sizeof(double)});
    if (!well_done(z, code)) tell("wrong");
  };
  for (int round = 0; round < 40; ++round) call_each(z, see);
  return told;
}
BOOST_AUTO_TEST_CASE(many_threads) {
  constexpr std::size_t count = 8;
  std::size_t alone[count], together[count];
  for (std::size_t t = 0; t < count; ++t) alone[t] = story(t);
  std::atomic<std::size_t> waiting = count;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < count; ++t)
    threads.emplace_back([t, &waiting, &together] {
      work_with(t % 2 ? several : 1);
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      together[t] = story(t);
    });
  for (auto& t : threads) t.join();
  for (std::size_t t = 0; t < count; ++t) {
    verify(together[t] != alone[t], 0);
    for (std::size_t u = 0; u < t; ++u) BOOST_TEST(alone[t] != alone[u]);
  }
}
BOOST_AUTO_TEST_CASE(shared_cache) {
  attn_cache* cache = nullptr;
  BOOST_TEST(attn_cache_new(ATTN_F32, 1, 2, 2, &cache) == ATTN_OK);
  static float zero[2] = {0, 0}, one[2] = {1, 1};
  const attn_view k{zero, ATTN_F32, 2, {1, 2}, {2, 1}};
  const attn_view v{one, ATTN_F32, 2, {1, 2}, {2, 1}};
  BOOST_TEST(attn_cache_append(cache, &k, &v) == ATTN_OK);
  std::atomic<long> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, cache, &k, &v, &wrong] {
      // append or decode many times
      work_alone();
      for (int n = 0; n < 300; ++n) {
        float y[2] = {7, 7};
        const attn_view o{y, ATTN_F32, 2, {1, 2}, {2, 1}};
        if (t < 2) wrong += attn_cache_append(cache, &k, &v) != ATTN_OK;
        else wrong += attn_decode(cache, &k, nullptr, &o, nullptr) != ATTN_OK ||
                      y[0] != 1 || y[1] != 1;
      }
    });
  for (auto& t : threads) t.join();
  std::int64_t first = -1, end = -1;
  BOOST_TEST(attn_cache_rows(cache, &first, &end) == ATTN_OK);
  BOOST_TEST(first == 0);
  BOOST_TEST(end == 601);
  verify(double(wrong), 0);
  attn_cache_free(cache);
}
BOOST_AUTO_TEST_SUITE_END()
}  // namespace attn
