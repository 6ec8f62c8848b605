// c/forms.cpp: tangled from chapters/10a-doors.nw; edit that file, not this one.
#define EIGEN_DONT_PARALLELIZE
#include "views.hpp"
#include "attn/einsum.hpp"
#include "attn/fisher.hpp"
#include "attn/hopfield.hpp"
#include "attn/linear.hpp"
#include "attn/positions.hpp"
#include "attn/thermodynamics.hpp"

namespace attn::door {
// do the same for each leading index
/// Examines the arrays of a call, runs f(room, b, h) for all leading
/// indices in double precision, and delivers.
/// Throws std::invalid_argument.
template <class F>
void for_each_matrix(const Call& call, F f) {
  Index B = -1, H = -1;

  // compare the leading extents
  for (const Array& a : call.out)
    if (a.given() && B < 0) B = a.n[0], H = a.n[1];
  require(B >= 0, call.who, ": all outputs are null");
  for (const auto* list : {&call.in, &call.out})
    for (const Array& a : *list) {
      if (!a.given()) continue;
      const bool one = list == &call.in;
      require((a.n[0] == B || (one && a.n[0] == 1)) &&
                  (a.n[1] == H || (one && a.n[1] == 1)), call.who, ": ",
              a.name, " has leading extents ", a.n[0], "x", a.n[1],
              ", expected ", B, "x", H);
    }
  call.keeps_apart();
  call.in_double();
  Room<double> room;
  for (Index b = 0; b < B; ++b)
    for (Index h = 0; h < H; ++h) f(room, b, h);
  room.deliver();
}

// read a metric
using Reals = In<double>;
using Inner = Metric<double>;
Inner metric_from(Room<double>& room, const Array& g,
                  const Inner& otherwise) {
  if (!g.given()) return otherwise;
  const Reals m = room.in(g, 0, 0);
  return g.rank == 2 ? Inner::full(m) : Inner::diagonal(m.transpose());
}
Inner standard(const Reals& q) {
  return Inner::scaled(std::max<Index>(q.cols(), 1));
}

// connect the scores
void scores(attn_in Q_, attn_in K_, attn_in g_, attn_out S_) {
  Call call{"scores"};
  const Array Q = call.reads("Q", Q_), K = call.reads("K", K_);
  const Array g = call.reads("g", g_, 1, 2), S = call.writes("S", S_);
  call.needs({&Q, &K, &S});
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    const auto q = room.in(Q, b, h), k = room.in(K, b, h);
    room.fill("scores", S, b, h,
              g.given() || q.cols() > 0
                  ? attn::scores(q, k, metric_from(room, g, standard(q)))
                  : attn::scores(q, k));
  });
}

// connect Gibbs quantities
void gibbs(attn_in S_, double T_, attn_out A_, attn_out logZ_,
           attn_out H_, attn_out F_, attn_out M_) {
  Call call{"gibbs"};
  const Array S = call.reads("S", S_), A = call.writes("A", A_);
  const Array Z = call.writes("logZ", logZ_, true);
  const Array H = call.writes("H", H_, true);
  const Array F = call.writes("F", F_, true);
  const Array M = call.writes("M", M_, true);
  call.needs({&S});
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    const auto s = room.in(S, b, h);
    const double t = T_;
    const auto put = [&](const Array& a, const auto& f) {
      if (a.given()) room.fill("gibbs", a, b, h, f());
    };

    // compute the Gibbs quantities that are wanted
    put(A, [&] { return attn::gibbs(s, t); });
    put(Z, [&] { return log_partition(s, t); });
    put(H, [&] { return gibbs_entropy(s, t); });
    put(F, [&] { return free_energy(s, t); });
    put(M, [&] { return effective_states(attn::gibbs(s, t)); });
  });
}

// connect the Fisher metric
void fisher_times(attn_in A_, attn_in v_, double T_, attn_out w_) {
  Call call{"fisher_times"};
  const Array A = call.reads("A", A_), v = call.reads("v", v_);
  const Array w = call.writes("w", w_);
  call.needs({&A, &v, &w});
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    const auto p = room.in(A, b, h), x = room.in(v, b, h);
    require(p.rows() == x.rows(), "fisher_times: A is ", shape(p),
            " but v is ", shape(x));
    Matrix<double> y(p.rows(), p.cols());
    for (Index i = 0; i < y.rows(); ++i)
      y.row(i) = attn::fisher_times<double>(p.row(i), x.row(i), T_);
    require_temperature("fisher_times", T_);
    room.fill("fisher_times", w, b, h, y);
  });
}
void natural_gradient(attn_in A_, attn_in dA_, double T_, attn_out U_) {
  Call call{"natural_gradient"};
  const Array A = call.reads("A", A_), dA = call.reads("dA", dA_);
  const Array U = call.writes("U", U_);
  call.needs({&A, &dA, &U});
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    const Matrix<double> p = room.in(A, b, h), c = room.in(dA, b, h);
    room.fill("natural_gradient", U, b, h,
              attn::natural_gradient(p, c, T_));
  });
}

// connect memories
template <class F>
void memory(Call call, attn_in X_, attn_in K_, attn_in g_, attn_out Y_,
            bool vector, F f) {
  const Array X = call.reads("X", X_), K = call.reads("K", K_);
  const Array g = call.reads("g", g_, 1, 2);
  const Array Y = call.writes(vector ? "E" : "Y", Y_, vector);
  call.needs({&X, &K, &Y});
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    const auto x = room.in(X, b, h), k = room.in(K, b, h);
    room.fill(call.who, Y, b, h,
              f(x, k, metric_from(room, g, Inner::identity(x.cols()))));
  });
}
void hopfield_update(attn_in X, attn_in K, double beta, attn_in g,
                     attn_out Y) {
  memory({"hopfield_update"}, X, K, g, Y, false,
         [&](const Reals& x, const Reals& k, const Inner& m) {
           return attn::hopfield_update(x, k, beta, m);
         });
}
void hopfield_energy(attn_in X, attn_in K, double beta, attn_in g,
                     attn_out E) {
  memory({"hopfield_energy"}, X, K, g, E, true,
         [&](const Reals& x, const Reals& k, const Inner& m) {
           return attn::hopfield_energy(x, k, beta, m);
         });
}

// connect linear attention
void linear_attention(attn_in Phi_, attn_in Psi_, attn_in V_,
                      std::int32_t causal, attn_out O_) {
  Call call{"linear_attention"};
  const Array Phi = call.reads("Phi", Phi_), Psi = call.reads("Psi", Psi_);
  const Array V = call.reads("V", V_), O = call.writes("O", O_);
  call.needs({&Phi, &Psi, &V, &O});
  require(causal == 0 || causal == 1, call.who, ": causal is ", causal);
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    const auto f = room.in(Phi, b, h), k = room.in(Psi, b, h);
    const auto v = room.in(V, b, h);
    room.fill(call.who, O, b, h,
              causal ? attn::causal_linear_attention(f, k, v)
                     : attn::linear_attention(f, k, v));
  });
}
void linear_attention_vjp(attn_in Phi_, attn_in Psi_, attn_in V_,
                          std::int32_t causal, attn_in dO_,
                          attn_out dPhi_, attn_out dPsi_, attn_out dV_) {
  Call call{"linear_attention_vjp"};
  const Array Phi = call.reads("Phi", Phi_), Psi = call.reads("Psi", Psi_);
  const Array V = call.reads("V", V_), dO = call.reads("dO", dO_);
  const Array dPhi = call.writes("dPhi", dPhi_);
  const Array dPsi = call.writes("dPsi", dPsi_);
  const Array dV = call.writes("dV", dV_);
  call.needs({&Phi, &Psi, &V, &dO, &dPhi, &dPsi, &dV});
  require(causal == 0 || causal == 1, call.who, ": causal is ", causal);
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    const auto f = room.in(Phi, b, h), k = room.in(Psi, b, h);
    const auto v = room.in(V, b, h), y = room.in(dO, b, h);
    const auto d = causal ? attn::causal_linear_attention_vjp(f, k, v, y)
                          : attn::linear_attention_vjp(f, k, v, y);
    room.fill(call.who, dPhi, b, h, d.Phi);
    room.fill(call.who, dPsi, b, h, d.Psi);
    room.fill(call.who, dV, b, h, d.V);
  });
}

// connect rotations
inline Places places_of(const Reals& at) {
  std::vector<Index> p;
  for (Index i = 0; i < at.rows(); ++i) {
    const double x = at(i, 0);
    require_domain(std::abs(x) <= 0x1p52 && x == std::floor(x),
                   "rotations: position ", x, " is not whole");
    p.push_back(Index(x));
  }
  return Places(std::move(p));
}
void rotations(attn_in at_, double base, attn_out c_, attn_out s_) {
  Call call{"rotations"};
  const Array at = call.reads("at", at_, 1, 3, true);
  const Array c = call.writes("cosines", c_), s = call.writes("sines", s_);
  call.needs({&at, &c, &s});
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    const Rotary<double> R{frequencies<double>(2 * c.n[3], base)};
    const auto t = attn::rotations(R, places_of(room.in(at, b, h)));
    room.fill(call.who, c, b, h, t.cos);
    room.fill(call.who, s, b, h, t.sin);
  });
}
void rotate(attn_in X_, attn_in c_, attn_in s_, std::int32_t halves,
            std::int32_t back, attn_out Y_) {
  Call call{"rotate"};
  const Array X = call.reads("X", X_), c = call.reads("cosines", c_);
  const Array s = call.reads("sines", s_), Y = call.writes("Y", Y_);
  call.needs({&X, &c, &s, &Y}), call.in_place = true;
  require(halves == 0 || halves == 1, call.who, ": halves is ", halves);
  require(back == 0 || back == 1, call.who, ": back is ", back);
  require(c.n[3] <= X.n[3] / 2, call.who, ": ", c.n[3], " planes in ",
          X.n[3], " features");
  Rotations<double> t{halves ? Pairs::halves : Pairs::neighbours,
                      X.n[3] - 2 * c.n[3], {}, {}};
  std::pair<char*, char*> known{};
  for_each_matrix(call, [&](Room<double>& room, Index b, Index h) {
    // read the tables of a head unless they are known
    const std::pair here{c.at(b, h), s.at(b, h)};
    if (here != known || !here.first)
      t.cos = room.in(c, b, h), t.sin = room.in(s, b, h), known = here;
    room.fill(call.who, Y, b, h,
              attn::rotate<double>(room.in(X, b, h), t, back == 1));
  });
}

// connect equations
constexpr const char* sentence_of(detail::Fault f) {
  using enum detail::Fault;
  switch (f) {
    // say which symbol no program can read
    case no_equals: return "the left side is not followed by =";
    case bad_character: return "cannot read this character";
    case bad_index:
      return "an index is a lower-case letter or a Greek command";
    case no_name: return "sums and products are written without a sign";
    case unclosed: return "a brace or parenthesis is not closed";
    case no_factor: return "a term has no factor";
    case too_large: return "more than 8 slots, 6 factors or 8 terms";

    // say which rule of sums is broken
    case same_height:
      return "index summed between two slots of the same height; lower one "
             "with a metric g_{ab} or raise one with g^{ab}";
    case too_often:
      return "index occurs more than twice in a term; rename one pair";
    case summed_on_left:
      return "index is summed on the right and stands on the left as well; "
             "if no sum is meant, write it in parentheses: ^{(h)}";
    case dangling:
      return "index occurs once on the right and not on the left";
    case height_moves:
      return "free index is up on one side and down on the other";

    // say which rule of places is broken
    case not_on_right:
      return "index on the left is missing from a term on the right";
    case twice_on_left: return "index stands twice on the left";
    case label_summed:
      return "a label is not summed, so it has to stand on the left";
    case label_mixed:
      return "index is a label in one place and not in another";
    default: return "";
  }
}
inline std::string plan_of(const detail::Equation& e) {
  std::ostringstream s;
  const auto slots = [&s](const detail::Factor& f) {
    for (const detail::Slot& x : f) s << x.letter;
  };
  for (const detail::Term& t : e) {
    s << t.num;
    if (t.den != 1) s << '/' << t.den;
    for (const detail::Factor& f : t)
      s << (&f == t.begin() ? ' ' : ','), slots(f);
    s << "->", slots(e.left), s << '\n';
  }
  return s.str();
}
inline std::string where(const detail::Equation& e) {
  if (e.fault >= detail::Fault::same_height)
    return ": " + detail::spelled(e.letter);
  const bool printed = ' ' < e.letter && e.letter < 127;
  return printed ? std::string(": ") + e.letter : "";
}
void subscripts(const char* text, char* program, std::int64_t room) {
  require(text && program, "subscripts: ", text ? "program" : "text",
          " is null");
  const std::string_view all(text, ::strnlen(text, 1025));
  require(all.size() <= 1024, "subscripts: text of more than 1024 bytes");
  const auto e = detail::judged(detail::Reader{all, 0, {}}.equation());
  require(e.fault == detail::Fault::none, "eq: ", sentence_of(e.fault),
          where(e));
  const std::string plan = plan_of(e);
  require(room > std::ssize(plan), "subscripts: program of ", room,
          " bytes for ", plan.size() + 1);
  std::copy_n(plan.c_str(), plan.size() + 1, program);
}
}  // namespace attn::door
extern "C" {
// export what is compiled once
#define ATTN_FUNCTION(name, parameters, arguments)                \
  int attn_##name parameters {                                    \
    using namespace attn;                                         \
    return door::guarded([&] { door::name arguments; });          \
  }
#define ATTN_ONLY_ONCE
#include "list.h"
}
