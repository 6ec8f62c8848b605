// c/width.cpp: tangled from chapters/10a-doors.nw; edit that file, not this one.
#define EIGEN_DONT_PARALLELIZE
#include "views.hpp"
#include "attn/cache.hpp"
#include "attn/flash.hpp"
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <variant>

extern "C" const attn_table ATTN_TABLE;
namespace attn::door {
static const attn_table& table = ATTN_TABLE;

// hold the functions of the kernel

// copy as much of a rule as both sides know
/// The rule at r, of which null is the plain one.  Throws
/// std::invalid_argument.
inline attn_rule known(const char* who, const attn_rule* r) {
  attn_rule mine{};
  if (!r) return mine;
  const std::int64_t size = r->size;
  require(16 <= size && size <= 4096 && size % 8 == 0, who,
          ": rule.size is ", size);
  const auto* bytes = reinterpret_cast<const char*>(r);
  std::memcpy(&mine, bytes, std::min(std::size_t(size), sizeof mine));

  // refuse what a rule asks and nobody can do
  for (auto k = sizeof mine; k < std::size_t(size); ++k)
    require(bytes[k] == 0, who, ": the rule asks for something that ",
            "this version does not know");
  const auto numbers = std::min<std::int64_t>(9, (size - 16) / 8);
  require(0 <= mine.has && mine.has < std::int64_t(1) << numbers, who,
          ": rule.has is ", mine.has, " but rule.size is ", size);
  return mine;
}

// translate the numbers of a rule
/// The numbers of a rule as ch. flash has them.
template <class T>
FlashRule<T> numbers_of(const char* who, const attn_rule& r) {
  constexpr std::int64_t far = std::int64_t(1) << 52;
  FlashRule<T> y;
  const auto has = [&r](int bit) { return (r.has & bit) != 0; };
  const std::pair<int, std::int64_t> positions[] = {
      {ATTN_OFFSET, r.offset}, {ATTN_LEFT, r.left}, {ATTN_RIGHT, r.right}};
  for (const auto& [bit, x] : positions)
    require(!has(bit) || (-far <= x && x <= far), who, ": a position of ",
            x);
  if (has(ATTN_SCALE)) y.scale = static_cast<T>(r.scale);
  if (has(ATTN_SOFTCAP)) y.softcap = static_cast<T>(r.softcap);
  if (has(ATTN_SLOPE)) y.slope = static_cast<T>(r.slope);
  if (has(ATTN_SINK)) y.sink = static_cast<T>(r.sink);
  if (has(ATTN_OFFSET)) y.offset = r.offset;
  if (has(ATTN_LEFT)) y.left = r.left;
  if (has(ATTN_RIGHT)) y.right = r.right;
  if (has(ATTN_QUERIES)) y.queries = r.queries;
  if (has(ATTN_KEYS)) y.keys = r.keys;
  return y;
}

// hold the arrays of a rule
/// A rule with its arrays, examined.
struct Ruled {
  const char* who;
  attn_rule rule;
  Array bias{}, keep{}, slopes{}, sinks{};
  Ruled(Call& call, const attn_rule* r)
      : who(call.who), rule(known(call.who, r)) {
    bias = call.reads("bias", rule.bias);
    keep = call.reads("keep", rule.keep);
    slopes = call.reads("slopes", rule.slopes, 1, 1);
    sinks = call.reads("sinks", rule.sinks, 1, 1);
    require(!keep.given() || keep.type == ATTN_B8, who,
            ": keep is not of the type ATTN_B8");
  }
};

// find the rule of a head in C
/// Copies of what heads are masked and biased with, by their addresses.
template <class T>
struct Copies {
  std::map<const char*, Matrix<T>> bias{};
  std::map<const char*, Matrix<bool>> keep{};
};
template <class T>
FlashRule<T> rule_of_head(const Ruled& r, Copies<T>& copies, Room<T>& room,
                          Index b, Index h) {
  FlashRule<T> y = numbers_of<T>(r.who, r.rule);
  if (r.slopes.given()) y.slope = room.in(r.slopes, 0, 0)(0, h);
  if (r.sinks.given()) y.sink = room.in(r.sinks, 0, 0)(0, h);
  if (r.bias.given()) {
    auto& B = copies.bias[r.bias.at(b, h)];
    if (B.size() == 0) B = room.in(r.bias, b, h);
    y.bias = &B;
  }

  // copy the mask of a head
  if (r.keep.given()) {
    auto& M = copies.keep[r.keep.at(b, h)];
    if (M.size() == 0) {
      M.resize(r.keep.n[2], r.keep.n[3]);
      each_element(r.keep, b, h, [&M](const auto& e, Index i, Index j) {
        M(i, j) = converted<float>(e) != 0;
      });
    }
    y.keep = &M;
  }
  return y;
}

// demand heads that fit
/// Throws std::invalid_argument unless leading extents fit those of Q.
inline void fit(const Call& call, const Array& Q, const Array& K,
                const Ruled& r) {
  const Index B = Q.n[0], H = Q.n[1], G = K.n[1];
  require(G > 0 ? H > 0 && H % G == 0 : H == 0, call.who, ": ", H,
          " heads on ", G, " of keys");
  for (const auto* list : {&call.in, &call.out})
    for (const Array& a : *list) {
      if (!a.given() || a.name == "slopes" || a.name == "sinks" ||
          a.name == "dsinks")
        continue;
      const bool keys = a.name == "K" || a.name == "V" ||
                        a.name == "dK" || a.name == "dV";
      const bool rule = a.name == "bias" || a.name == "keep" ||
                        a.name == "dbias";

      // demand leading extents that fit
      const Index heads = keys ? G : H;
      require((a.n[0] == B || (rule && a.n[0] == 1)) &&
                  (a.n[1] == heads || (rule && a.n[1] == 1)), call.who, ": ",
              a.name, " has leading extents ", a.n[0], "x", a.n[1],
              ", expected ", B, "x", heads);
    }
  for (const Array* a : {&r.slopes, &r.sinks})
    require(!a->given() || a->n[3] == H, call.who, ": ", a->name,
            " has ", a->n[3], " entries for ", H, " heads");

  // demand a rule for each pair
  for (const Array* a : {&r.bias, &r.keep})
    require(!a->given() || (a->n[2] == Q.n[2] && a->n[3] == K.n[2]), call.who,
            ": ", a->name, " is ", a->n[2], "x", a->n[3], ", expected ",
            Q.n[2], "x", K.n[2]);
}

// give a column of an output
/// n numbers of an output with one for each row, or null.
template <class T>
T* column(Room<T>& room, const Array& a, Index b, Index h) {
  if (!a.given()) return nullptr;
  if (a.type == Room<T>::type && a.step[2] == Index(sizeof(T)))
    return reinterpret_cast<T*>(a.at(b, h));
  Matrix<T>& m = room.kept.emplace_back(Matrix<T>::Zero(a.n[2], 1));
  room.pending.push_back({a, b, h, &m});
  return m.data();
}

// find room for the kernel
/// A room in which rows that lie apart come from stacks, if there are many.
template <class T>
struct KernelRoom : Room<T> {
  bool many = false;
  template <class V>
  using Stacks =
      std::map<std::pair<const Array*, Index>, attn::detail::HeadRows<V>>;
  Stacks<In<T>> read{};
  Stacks<Out<T>> written{};
  explicit KernelRoom(const Array& Q)
      : many(Q.n[2] >= attn::detail::stack_from) {}

  // see whether heads are stacked
  bool stacked(const Array& a) const {
    return many && Room<T>::direct(a) && a.n[1] > 1 && a.step[1] != 0 &&
           Room<T>::stride(a) > a.n[3];
  }
  /// The heads of member b, as they lie.
  template <class V>
  attn::detail::HeadRows<V> lying(const Array& a, Index b) const {
    const Eigen::OuterStride<> stride(Room<T>::stride(a));
    return {V(reinterpret_cast<T*>(a.at(b, 0)), a.n[2], a.n[3], stride),
            a.n[1], a.step[1] / Index(sizeof(T))};
  }

  // take a head from a stack
  In<T> in(const Array& a, Index b, Index h) {
    if (!stacked(a)) return Room<T>::in(a, b, h);
    const Index own = a.step[0] == 0 ? 0 : b;
    const auto [at, first] =
        read.try_emplace({&a, own}, lying<In<T>>(a, own));
    if (first) at->second.fetch();
    return at->second(h);
  }
  Out<T> out(const Array& a, Index b, Index h) {
    if (!stacked(a)) return Room<T>::out(a, b, h);
    const auto [at, first] =
        written.try_emplace({&a, b}, lying<Out<T>>(a, b));
    if (first) at->second.make_room();
    return at->second(h);
  }

  // deliver from stacks
  void deliver() {
    for (auto& [a, rows] : written) rows.put_back();
    Room<T>::deliver();
  }
};

// connect flash attention
template <class T>
void run_flash(const Ruled& rule, const Array& Q, const Array& K,
               const Array& V, const Array& O, const Array& logZ) {
  KernelRoom<T> room(Q);
  Copies<T> copies;
  std::vector<FlashHead<T>> heads;

  // list the heads of a call
  const Index G = K.n[1], share = G > 0 ? Q.n[1] / G : 0;
  for (Index b = 0; b < Q.n[0]; ++b)
    for (Index g = 0; g < G; ++g) {
      const In<T> keys = room.in(K, b, g), values = room.in(V, b, g);
      for (Index h = g * share; h < (g + 1) * share; ++h)
        heads.push_back({room.in(Q, b, h), keys, values,
                         room.Room<T>::out(O, b, h), column(room, logZ, b, h),
                         rule_of_head(rule, copies, room, b, h)});
    }

  // demand room for the results of rows
  require(!logZ.given() || logZ.n[2] == Q.n[2], "flash: logZ has ",
          logZ.n[2], " entries for ", Q.n[2], " queries");
  if (O.size() == 0 && (!logZ.given() || logZ.size() == 0))
    for (const auto& h : heads) detail::Plan<T>("flash", h);
  else
    flash_forward<T>(heads);
  room.deliver();
}
void flash(attn_in Q_, attn_in K_, attn_in V_, const attn_rule* r,
           attn_out O_, attn_out logZ_) {
  Call call{"flash"};
  const Array Q = call.reads("Q", Q_), K = call.reads("K", K_);
  const Array V = call.reads("V", V_);
  const Ruled rule(call, r);
  const Array O = call.writes("O", O_);
  const Array logZ = call.writes("logZ", logZ_, true);
  call.needs({&Q, &K, &V, &O});
  fit(call, Q, K, rule);
  call.keeps_apart();
  if (call.in_double()) run_flash<double>(rule, Q, K, V, O, logZ);
  else run_flash<float>(rule, Q, K, V, O, logZ);
}

// take a column of an input
template <class T>
T* column_in(Room<T>& room, const Array& a, Index b, Index h) {
  if (!a.given()) return nullptr;
  if (a.type == Room<T>::type && a.step[2] == Index(sizeof(T)))
    return reinterpret_cast<T*>(a.at(b, h));
  Matrix<T>& m = room.kept.emplace_back(a.n[2], 1);
  each_element(a, b, h, [&m](const auto& e, Index i, Index) {
    m(i, 0) = converted<T>(e);
  });
  return m.data();
}

// hold the arrays of a gradient
/// The arrays of flash_vjp.
struct Backward {
  Array Q, K, V, O, logZ, dO, dlogZ, dQ, dK, dV, dbias, dsinks;
  Index share() const {
    return std::max<Index>(1, Q.n[1] / std::max<Index>(1, K.n[1]));
  }
  void demand_shapes() const {
    const Index n = Q.n[2], m = K.n[2], d = Q.n[3], e = V.n[3];
    const auto is = [](const Array& a, Index rows, Index cols) {
      require(!a.given() || (a.n[2] == rows && a.n[3] == cols),
              "flash_vjp: ", a.name, " is ", a.n[2], "x", a.n[3],
              ", expected ", rows, "x", cols);
    };
    is(K, m, d), is(V, m, e), is(O, n, e), is(dO, n, e);
    is(logZ, n, 1), is(dlogZ, n, 1);
    is(dQ, n, d), is(dK, m, d), is(dV, m, e), is(dbias, n, m);
    is(dsinks, 1, Q.n[1]);
  }
};

// connect the gradient of flash attention
template <class T>
void run_flash_vjp(const Ruled& rule, const Backward& x) {
  KernelRoom<T> room(x.Q);
  Copies<T> copies;
  std::vector<FlashHead<T>> heads;
  std::vector<FlashCotangent<T>> bars;
  const auto count = std::size_t(x.Q.n[0] * x.Q.n[1]);
  std::vector<T> dsink(count);
  std::vector<Matrix<T>> dbias(count);
  std::optional<In<T>> K, V;
  std::optional<Out<T>> dK, dV;

  // list the heads and their cotangents
  for (Index b = 0; b < x.Q.n[0]; ++b)
    for (Index h = 0; h < x.Q.n[1]; ++h) {
      const Index g = h / x.share();
      const In<T> O = room.in(x.O, b, h);
      if (h % x.share() == 0) {
        K.emplace(room.in(x.K, b, g)), V.emplace(room.in(x.V, b, g));
        dK.emplace(room.out(x.dK, b, g)), dV.emplace(room.out(x.dV, b, g));
      }
      heads.push_back({room.in(x.Q, b, h), *K, *V,
                       Out<T>(const_cast<T*>(O.data()), O.rows(), O.cols(),
                              Eigen::OuterStride<>(O.outerStride())),
                       column_in(room, x.logZ, b, h),
                       rule_of_head(rule, copies, room, b, h)});
      const auto k = heads.size() - 1;
      bars.push_back({room.in(x.dO, b, h), column_in(room, x.dlogZ, b, h),
                      room.out(x.dQ, b, h), *dK, *dV, &dsink[k],
                      x.dbias.given() ? &dbias[k] : nullptr});
    }
  flash_backward<T>(heads, bars, x.share());
  for (Index b = 0; b < x.Q.n[0]; ++b)
    for (Index h = 0; h < x.Q.n[1]; ++h) {
      const auto k = std::size_t(b * x.Q.n[1] + h);
      if (x.dbias.given()) room.add(x.dbias, b, h, dbias[k]);
    }

  // sum the cotangents of sinks
  if (x.dsinks.given()) {
    Matrix<T> sum = Matrix<T>::Zero(1, x.Q.n[1]);
    for (std::size_t k = 0; k < count; ++k)
      sum(0, Index(k) % x.Q.n[1]) += dsink[k];
    room.add(x.dsinks, 0, 0, sum);
  }
  room.deliver();
}
void flash_vjp(attn_in Q, attn_in K, attn_in V, const attn_rule* r,
               attn_in O, attn_in logZ, attn_in dO, attn_in dlogZ,
               attn_out dQ, attn_out dK, attn_out dV, attn_out dbias,
               attn_out dsinks) {
  Call call{"flash_vjp"};
  Backward x{call.reads("Q", Q), call.reads("K", K), call.reads("V", V),
             call.reads("O", O), call.reads("logZ", logZ, 1, 3, true),
             call.reads("dO", dO), call.reads("dlogZ", dlogZ, 1, 3, true),
             call.writes("dQ", dQ), call.writes("dK", dK),
             call.writes("dV", dV), call.writes("dbias", dbias), {}};
  const Ruled rule(call, r);
  call.out.push_back(examined(call.who, "dsinks", dsinks, 1, 1));
  x.dsinks = call.out.back();
  call.needs({&x.Q, &x.K, &x.V, &x.O, &x.logZ, &x.dO, &x.dQ, &x.dK,
              &x.dV});
  fit(call, x.Q, x.K, rule);

  // demand a bias for its gradient
  for (std::size_t k = 0; x.dbias.given() && k < 2; ++k)
    require(rule.bias.given() && (x.dbias.n[k] == x.Q.n[k] ||
                                  x.dbias.n[k] == rule.bias.n[k]),
            "flash_vjp: dbias has leading extents ", x.dbias.n[0], "x",
            x.dbias.n[1], ", which are not those of a bias");
  x.demand_shapes(), call.keeps_apart();
  if (call.in_double()) run_flash_vjp<double>(rule, x);
  else run_flash_vjp<float>(rule, x);
}

// hold the state of a cache
/// The state of an attn_cache: G heads of keys of d numbers, values of e.
struct State {
  std::variant<KeyValueCache<float>, KeyValueCache<double>> rows;
  Index G, d, e;
  std::shared_mutex mutex{};
};
/// The state behind an opaque address.  Throws std::invalid_argument.
inline State& state_of(attn_cache* cache) {
  require(cache != nullptr, "attn: the cache is null");
  return *static_cast<State*>(cache->state);
}

// connect the life of a cache
void cache_new(std::int32_t type, std::int64_t G, std::int64_t d,
               std::int64_t e, attn_cache** made) {
  require(made != nullptr, "cache_new: made is null");
  require(bytes_of(type) > 1, "cache_new: type ", type);
  constexpr std::int64_t most = 1 << 20;
  require(0 < G && G <= most && 0 < d && d <= most && 0 < e && e <= most,
          "cache_new: ", G, " heads of ", d, " and ", e, " numbers");
  auto cache = std::make_unique<attn_cache>(&table);
  if (type == ATTN_F64)
    cache->state = new State{KeyValueCache<double>(G * d, G * e), G, d, e};
  else
    cache->state = new State{KeyValueCache<float>(G * d, G * e), G, d, e};
  *made = cache.release();
}
void cache_free(attn_cache* cache) {
  if (!cache) return;
  delete static_cast<State*>(cache->state);
  delete cache;
}

// connect appending to a cache
template <class T>
Matrix<T> side_by_side(const Array& a, Room<T>& room) {
  Matrix<T> m(a.n[2], a.n[1] * a.n[3]);
  for (Index g = 0; g < a.n[1]; ++g)
    m.middleCols(g * a.n[3], a.n[3]) = room.in(a, 0, g);
  return m;
}
void cache_append(attn_cache* cache, attn_in K_, attn_in V_) {
  State& state = state_of(cache);
  Call call{"cache_append"};
  const Array K = call.reads("K", K_), V = call.reads("V", V_);
  call.needs({&K, &V});

  // demand rows that fit the cache
  const bool wide = state.rows.index() == 1;
  require(call.in_double() == wide, call.who, ": the cache is of ",
          wide ? "doubles" : "floats");
  for (const Array* a : {&K, &V}) {
    const Index d = a == &K ? state.d : state.e;
    require(a->n[0] == 1 && a->n[1] == state.G && a->n[3] == d &&
                a->n[2] == K.n[2], call.who, ": ", a->name, " is ", a->n[1],
            "x", a->n[2], "x", a->n[3], ", expected ", state.G, "x",
            K.n[2], "x", d);
  }
  std::visit([&]<class T>(KeyValueCache<T>& rows) {
    Room<T> room;
    const auto k = side_by_side(K, room), v = side_by_side(V, room);
    const std::unique_lock lock(state.mutex);
    rows.append(k, v);
  }, state.rows);
}

// connect the rows of a cache
void cache_rows(attn_cache* cache, std::int64_t* first,
                std::int64_t* end) {
  State& state = state_of(cache);
  require(first && end, "cache_rows: an address is null");
  const std::shared_lock lock(state.mutex);
  std::visit([&](const auto& rows) {
    *first = rows.first(), *end = rows.end();
  }, state.rows);
}
void cache_forget_before(attn_cache* cache, std::int64_t row) {
  State& state = state_of(cache);
  require(row >= 0, "cache_forget_before: row ", row);
  const std::unique_lock lock(state.mutex);
  std::visit([row](auto& rows) { rows.forget_before(row); }, state.rows);
}

// gather the queries that share keys
/// Rows of the heads g s .. g s + s - 1 of Q, position by position.
template <class T>
Matrix<T> queries_of_group(const Array& Q, Index g, Index s,
                           Room<T>& room) {
  Matrix<T> q(Q.n[2] * s, Q.n[3]);
  for (Index k = 0; k < s; ++k) {
    const auto head = room.in(Q, 0, g * s + k);
    for (Index i = 0; i < Q.n[2]; ++i) q.row(i * s + k) = head.row(i);
  }
  return q;
}

// connect decoding
template <class T>
std::vector<T> numbers_in(const Array& a, Room<T>& room) {
  if (!a.given()) return {};
  const RowVector<T> row = room.in(a, 0, 0);
  return {row.begin(), row.end()};
}
template <class T>
void run_decode(State& state, const KeyValueCache<T>& rows,
                const Ruled& r, const Array& Q, const Array& O,
                const Array& logZ) {
  Room<T> room;
  const std::vector<T> slopes = numbers_in(r.slopes, room),
                       sinks = numbers_in(r.sinks, room);
  const std::shared_lock lock(state.mutex);
  const auto K = rows.keys(), V = rows.values();
  const Index s = Q.n[1] / state.G;
  std::vector<Matrix<T>> queries;
  for (Index g = 0; g < state.G; ++g)
    queries.push_back(queries_of_group(Q, g, s, room));

  // attend to a cache with all groups
  std::vector<std::vector<Online<T>>> states(queries.size());
  std::vector<std::exception_ptr> wrong(queries.size());
  const auto attend = [&](Index g, int) {
    try {
      // attend to a cache with one group
      const Page<T> page{
          In<T>(K.data() + g * state.d, K.rows(), state.d,
                Eigen::OuterStride<>(K.outerStride())),
          In<T>(V.data() + g * state.e, V.rows(), state.e,
                Eigen::OuterStride<>(V.outerStride()))};
      FlashRule<T> rule = numbers_of<T>(r.who, r.rule);
      rule.share = s;
      if (rule.offset) *rule.offset -= rows.first();
      const auto at = std::size_t(g * s), count = std::size_t(s);
      if (!slopes.empty()) rule.slopes = std::span(slopes).subspan(at, count);
      if (!sinks.empty()) rule.sinks = std::span(sinks).subspan(at, count);
      states[std::size_t(g)] =
          attn::decode<T>(queries[std::size_t(g)], {&page, 1}, rule);
    } catch (...) {
      wrong[std::size_t(g)] = std::current_exception();
    }
  };
  if (K.rows() < 8192 * state.G)
    attn::detail::in_parallel(state.G, [] { return 0; }, attend);
  else
    for (Index g = 0; g < state.G; ++g) attend(g, 0);
  for (const auto& e : wrong)
    if (e) std::rethrow_exception(e);
  for (Index g = 0; g < state.G; ++g) {
    // keep the states of one group
    for (Index k = 0; k < s; ++k) {
      Matrix<T> o(Q.n[2], state.e), z(Q.n[2], 1);
      for (Index i = 0; i < Q.n[2]; ++i) {
        const auto& x = states[std::size_t(g)][std::size_t(i * s + k)];
        o.row(i) = x.output(), z(i, 0) = x.logZ();
      }
      room.fill("decode", O, 0, g * s + k, o);
      if (logZ.given()) room.fill("decode", logZ, 0, g * s + k, z);
    }
  }
  room.deliver();
}
void decode(attn_cache* cache, attn_in Q_, const attn_rule* r_,
            attn_out O_, attn_out logZ_) {
  State& state = state_of(cache);
  Call call{"decode"};
  const Array Q = call.reads("Q", Q_, 2, 3);
  const Ruled r(call, r_);
  const Array O = call.writes("O", O_);
  const Array logZ = call.writes("logZ", logZ_, true);
  call.needs({&Q, &O});

  // demand queries that fit the cache
  require(!r.bias.given() && !r.keep.given() &&
              !(r.rule.has & (ATTN_QUERIES | ATTN_KEYS)), call.who,
          ": a rule with bias, keep or lengths");
  require(Q.n[1] % state.G == 0 && Q.n[3] == state.d, call.who, ": Q is ",
          Q.n[1], "x", Q.n[2], "x", Q.n[3], ", the cache has ", state.G,
          " heads of ", state.d);
  for (const Array* a : {&r.slopes, &r.sinks})
    require(!a->given() || a->n[3] == Q.n[1], call.who, ": ", a->name,
            " has ", a->n[3], " entries for ", Q.n[1], " heads");
  require(O.n[0] == 1 && O.n[1] == Q.n[1] && (!logZ.given() ||
          (logZ.n[0] == 1 && logZ.n[1] == Q.n[1])), call.who,
          ": O or logZ has other heads than Q");
  call.keeps_apart();
  const bool wide = state.rows.index() == 1;
  require(call.in_double() == wide, call.who, ": the cache is of ",
          wide ? "doubles" : "floats");
  std::visit([&]<class T>(const KeyValueCache<T>& rows) {
    run_decode<T>(state, rows, r, Q, O, logZ);
  }, state.rows);
}
}  // namespace attn::door

// fill the table of this processor
namespace guard {
#define ATTN_FUNCTION(name, parameters, arguments)          \
  static int name parameters noexcept {                     \
    using namespace attn;                                   \
    return door::guarded([&] { door::name arguments; });    \
  }
#define ATTN_OF_CACHE ATTN_FUNCTION
#define ATTN_ONLY_KERNEL
#include "list.h"
#undef ATTN_ONLY_KERNEL
#undef ATTN_OF_CACHE
#undef ATTN_FUNCTION
}  // namespace guard
extern "C" {
extern const attn_table ATTN_TABLE;
const attn_table ATTN_TABLE{
#define ATTN_FUNCTION(name, parameters, arguments) guard::name,
#define ATTN_OF_CACHE ATTN_FUNCTION
#define ATTN_ONLY_KERNEL
#include "list.h"
#undef ATTN_ONLY_KERNEL
#undef ATTN_OF_CACHE
#undef ATTN_FUNCTION
};
}
