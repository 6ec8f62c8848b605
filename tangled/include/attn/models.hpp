// include/attn/models.hpp: tangled from chapters/09b-models.nw; edit that file, not this one.
#pragma once
#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attn/cache.hpp"
#include "attn/layer.hpp"
#include "attn/positions.hpp"
#include "attn/safetensors.hpp"

namespace attn {
// the pieces of models

// hold the weights and settings of a model
/// Weights and settings of a model by the names that its makers gave them.
/// What is asked for and missing throws std::invalid_argument.
template <class S>
struct Model {
  std::string file;
  std::map<std::string, std::string> settings;
  std::map<std::string, Matrix<S>> weights;

  bool has(const std::string& weight) const {
    return weights.contains(weight);
  }
  bool sets(const std::string& key) const { return settings.contains(key); }
  /// A setting; throws std::invalid_argument if there is none.
  std::string text(const std::string& key) const {
    require(sets(key), "Model: ", file, " does not set ", key);
    return settings.at(key);
  }
  /// A setting that is a number; throws std::invalid_argument if not.
  double number(const std::string& key) const {
    std::istringstream in(text(key));
    double x = 0;
    require(bool(in >> x) && (in >> std::ws).eof(), "Model: ", file, ": ",
            key, " is no number");
    return x;
  }
  /// A setting above zero; throws std::invalid_argument if it is not.
  double positive(const std::string& key) const {
    const double x = number(key);
    require(x > 0, "Model: ", file, ": ", key, " is ", x);
    return x;
  }
  /// A setting that is 1 or 0, for yes or no; throws
  /// std::invalid_argument if it is neither.
  bool yes(const std::string& key) const {
    const double x = number(key);
    require(x == 0 || x == 1, "Model: ", file, ": ", key, " is ", x);
    return x == 1;
  }
  /// A setting that counts something: whole, from 1 to 2^31.  Throws
  /// std::invalid_argument if it is not.
  Index integer(const std::string& key) const {
    const double x = number(key);
    require(1 <= x && x <= 0x1p31 && x == std::floor(x), "Model: ", file,
            ": ", key, " is ", x);
    return Index(x);
  }
  /// A setting that counts layers, heads or features: an integer, at most
  /// as many as all weights have numbers.  Throws std::invalid_argument.
  Index count(const std::string& key) const {
    Index most = 0;
    for (const auto& [name, w] : weights) most += w.size();
    const Index n = integer(key);
    require(n <= most, "Model: ", file, ": ", key, " is ", n,
            ", but the weights have ", most, " numbers");
    return n;
  }
};

// take a model out of a file
/// The model in a file, its weights in the scalar S.
template <class S>
Model<S> model_from(const TensorFile& f) {
  Model<S> m{f.name, f.metadata, {}};
  for (const auto& [name, t] : f.tensors)
    if (!name.starts_with("run."))
      m.weights[name] = lift<S>(stored_matrix(f, name));
  return m;
}

// remember a step and its way back
/// A step of a pass: the matrix that it computed, the cotangent that has
/// come back to it, empty if none has, and how it sends that on.
template <class S>
struct Step {
  Matrix<S> value, bar{};
  std::function<void(const Matrix<S>&)> back{};
};
/// Adds a cotangent to that of a step.
template <class S>
void give(Step<S>* x, const std::type_identity_t<Matrix<S>>& bar) {
  if (x->bar.size() == 0) x->bar = bar;
  else x->bar += bar;
}

// remember keys and values of positions before
/// Keys and values of the positions so far, layer by layer; what an
/// encoder made of the source, if there is one.
template <class S>
struct Memory {
  Index positions = 0;
  std::map<Index, KeyValueCache<S>> layers{};
  Matrix<S> encoded{};
};

// hand a matrix on to the next step
/// A matrix as the next step gets it: itself.  Who wants to see what
/// rounding does may specialise this for a scalar.
template <class S>
Matrix<S> settled(Matrix<S> m) {
  return m;
}

// remember the steps of a pass
/// One run of a model: its steps, in order.  Throws std::invalid_argument
/// for weights that are missing and for what does not fit.
template <class S>
class Pass {
 public:
  explicit Pass(const Model<S>& m) : model(m) {}
  Pass(const Pass&) = delete;
  const Model<S>& model;
  Memory<S>* memory = nullptr;  // of the positions before, if any
  bool absorbed = false;        // latent attention: thm. models-absorbed
  Step<S>* embedded = nullptr;  // the vectors of the tokens
  Step<S>* written = nullptr;   // those of a decoder's, if there is one

  Step<S>* step(Matrix<S> value,
                std::function<void(const Matrix<S>&)> back = {}) {
    steps.push_back({settled(std::move(value)), {}, std::move(back)});
    return &steps.back();
  }

  // ask for a weight, run the pass backwards
  /// The step of a weight.  Throws std::invalid_argument if there is none.
  Step<S>* weight(const std::string& name) {
    require(model.has(name), "Model: ", model.file, " lacks ", name);
    auto& leaf = leaves[name];
    if (leaf == nullptr) leaf = step(model.weights.at(name));
    return leaf;
  }
  /// Sends the cotangent bar of y back through all steps, once in the life
  /// of a pass.  Throws std::invalid_argument for another shape than y's,
  /// and if there has been a cotangent before.
  void pull(Step<S>* y, const Matrix<S>& bar) {
    require(shape(bar) == shape(y->value), "Pass: cotangent ", shape(bar),
            " of ", shape(y->value));
    require(!pulled, "Pass: pulled already");
    pulled = true;
    give(y, bar);
    for (auto s = steps.rbegin(); s != steps.rend(); ++s)
      if (s->back && s->bar.size() > 0) s->back(settled(s->bar));
  }

 private:
  bool pulled = false;
  std::deque<Step<S>> steps;
  std::map<std::string, Step<S>*> leaves;
};

// number rows, scale by the usual root
/// from, ..., from + n - 1.
inline std::vector<Index> numbers_from(Index from, Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), from);
  return all;
}
/// 1 / sqrt(d).
template <class S>
S usual_scale(Index d) {
  using std::sqrt;
  return S(1) / S(sqrt(S(double(d))));
}
namespace detail {
// refuse extents that do not fit
/// Throws std::invalid_argument unless x has so many rows and columns;
/// who: the piece that wants them.
template <class S>
void require_extents(const char* who, const Matrix<S>& x, Index n, Index d) {
  require(x.rows() == n && x.cols() == d, who, ": ", shape(x),
          " where ", n, "x", d, " is wanted");
}

// ask whether heads divide the columns
/// Throws std::invalid_argument unless queries, keys and values divide
/// among so many heads.
template <class S>
void require_heads(HeadCount H, const Matrix<S>& q, const Matrix<S>& k,
                   const Matrix<S>& v) {
  require(1 <= H.heads && H.heads <= q.cols() && 1 <= H.kv_heads &&
              q.cols() % H.heads == 0 && v.cols() % H.kv_heads == 0 &&
              q.cols() / H.heads * H.kv_heads == k.cols(),
          "heads: ", H.heads, " on ", H.kv_heads, " of keys for ", shape(q),
          ", ", shape(k), " and ", shape(v));
}
}  // namespace detail

// multiply by a weight
/// Y = X W^T.  Throws std::invalid_argument for shapes that do not fit.
template <class S>
Step<S>* product(Pass<S>& p, Step<S>* x, Step<S>* w) {
  require(x->value.cols() == w->value.cols(), "product: ",
          shape(x->value), " by the transpose of ", shape(w->value));
  return p.step(x->value * w->value.transpose(),
                [x, w](const Matrix<S>& bar) {
    give(x, bar * w->value);
    give(w, bar.transpose() * x->value);
  });
}
/// X with the row b added to each of its rows.  Throws
/// std::invalid_argument, as all pieces do, for extents that do not fit.
template <class S>
Step<S>* shifted(Pass<S>& p, Step<S>* x, Step<S>* b) {
  detail::require_extents("shifted", b->value, 1, x->value.cols());
  return p.step(x->value.rowwise() + b->value.row(0),
                [x, b](const Matrix<S>& bar) {
    give(x, bar);
    give(b, bar.colwise().sum());
  });
}

// apply a linear map, transpose
/// X W^T + b by the name of the map; b only if the model has one.
template <class S>
Step<S>* linear(Pass<S>& p, Step<S>* x, const std::string& name) {
  const auto y = product(p, x, p.weight(name + ".weight"));
  return p.model.has(name + ".bias")
             ? shifted(p, y, p.weight(name + ".bias")) : y;
}
/// The transpose.
template <class S>
Step<S>* transposed(Pass<S>& p, Step<S>* x) {
  return p.step(x->value.transpose(), [x](const Matrix<S>& bar) {
    give(x, bar.transpose());
  });
}

// take rows and columns
/// Columns from, from + stride, ...: n of them.  Throws
/// std::invalid_argument beyond those of x.
template <class S>
Step<S>* columns(Pass<S>& p, Step<S>* x, Index from, Index n,
                 Index stride = 1) {
  const Index last = n > 0 ? from + (n - 1) * stride : from - 1;
  require(from >= 0 && n >= 0 && stride >= 0 && last < x->value.cols(),
          "columns: ", from, " to ", last, " of ", shape(x->value));
  Matrix<S> y(x->value.rows(), n);
  for (Index c = 0; c < n; ++c) y.col(c) = x->value.col(from + c * stride);
  return p.step(y, [=](const Matrix<S>& bar) {
    Matrix<S> d = Matrix<S>::Zero(x->value.rows(), x->value.cols());
    for (Index c = 0; c < n; ++c) d.col(from + c * stride) += bar.col(c);
    give(x, d);
  });
}
/// The rows with these numbers, which may repeat.  Throws
/// std::invalid_argument for a number without a row.
template <class S>
Step<S>* rows(Pass<S>& p, Step<S>* x, const std::vector<Index>& which) {
  for (const Index i : which)
    require(0 <= i && i < x->value.rows(), "rows: ", i, " of ",
            shape(x->value));
  const Matrix<S> y = x->value(which, Eigen::all);
  return p.step(y, [=](const Matrix<S>& bar) {
    Matrix<S> d = Matrix<S>::Zero(x->value.rows(), x->value.cols());
    for (std::size_t i = 0; i < which.size(); ++i)
      d.row(which[i]) += bar.row(Index(i));
    give(x, d);
  });
}

// put side by side, read with other extents
/// Matrices of equal height side by side.
template <class S>
Step<S>* beside(Pass<S>& p, const std::vector<Step<S>*>& parts) {
  Index wide = 0;
  for (const auto x : parts) {
    detail::require_extents("beside", x->value, parts[0]->value.rows(),
                            x->value.cols());
    wide += x->value.cols();
  }
  Matrix<S> y(parts.front()->value.rows(), wide);
  for (Index at = 0; const auto x : parts)
    y.middleCols(at, x->value.cols()) = x->value, at += x->value.cols();
  return p.step(y, [parts](const Matrix<S>& bar) {
    for (Index at = 0; const auto x : parts)
      give(x, bar.middleCols(at, x->value.cols())), at += x->value.cols();
  });
}
/// The same numbers, row by row, in rows of n.  Throws
/// std::invalid_argument unless n divides their number.
template <class S>
Step<S>* in_rows_of(Pass<S>& p, Step<S>* x, Index n) {
  require(n >= 1 && x->value.size() % n == 0, "in_rows_of: ",
          shape(x->value), " in rows of ", n);
  const auto read = [](const Matrix<S>& m, Index cols) {
    return Matrix<S>(m.template reshaped<Eigen::RowMajor>(
        m.size() / cols, cols));
  };
  return p.step(read(x->value, n), [=](const Matrix<S>& bar) {
    give(x, read(bar, x->value.cols()));
  });
}

// add, multiply entry by entry
/// x + y.
template <class S>
Step<S>* sum(Pass<S>& p, Step<S>* x, Step<S>* y) {
  detail::require_extents("sum", y->value, x->value.rows(), x->value.cols());
  return p.step(x->value + y->value, [=](const Matrix<S>& bar) {
    give(x, bar);
    give(y, bar);
  });
}
/// x y, entry by entry.
template <class S>
Step<S>* times(Pass<S>& p, Step<S>* x, Step<S>* y) {
  detail::require_extents("times", y->value, x->value.rows(),
                          x->value.cols());
  return p.step(x->value.cwiseProduct(y->value),
                [=](const Matrix<S>& bar) {
    give(x, bar.cwiseProduct(y->value));
    give(y, bar.cwiseProduct(x->value));
  });
}

// bend each number
/// A function of one number: its value and its derivative.
template <class S>
using Bend = std::function<std::pair<S, S>(const S&)>;
/// f(x), entry by entry.
template <class S>
Step<S>* bent(Pass<S>& p, Step<S>* x,
              const std::type_identity_t<Bend<S>>& f) {
  Matrix<S> y = x->value, slope = y;
  for (Index k = 0; k < y.size(); ++k)
    std::tie(y.data()[k], slope.data()[k]) = f(x->value.data()[k]);
  return p.step(y, [=](const Matrix<S>& bar) {
    give(x, bar.cwiseProduct(slope));
  });
}

// bend as the families do
/// x / (1 + exp(-alpha x)).
template <class S>
std::pair<S, S> swish(const S& x, double alpha = 1) {
  using std::exp;
  const S s = S(1) / (S(1) + S(exp(S(-alpha) * x)));
  return {x * s, s * (S(1) + S(alpha) * x * (S(1) - s))};
}
/// x (1 + tanh(c (x + a x^3))) / 2, a = 0.044715.
template <class S>
std::pair<S, S> gelu(const S& x, double c) {
  using std::tanh;
  const S a(0.044715), q = x * x;
  const S t = tanh(S(S(c) * (x + a * q * x)));
  return {S(0.5) * x * (S(1) + t),
          S(0.5) * (S(1) + t) + S(0.5) * x * (S(1) - t * t) * S(c) *
                                    (S(1) + S(3) * a * q)};
}
/// c tanh(x / c).
template <class S>
std::pair<S, S> capped(const S& x, double c) {
  using std::tanh;
  const S t = tanh(S(x / S(c)));
  return {S(c) * t, S(1) - t * t};
}

// divide rows by their size
/// Rows divided by their s (eq. models-norm), less their mean if centred.
/// Throws std::domain_error unless epsilon >= 0.
template <class S>
Step<S>* norm(Pass<S>& p, Step<S>* x, double epsilon, bool centred) {
  using std::sqrt;
  require_domain(epsilon >= 0, "norm: epsilon ", epsilon);

  // centre each row and divide it by its size
  Matrix<S> y = x->value;
  const S n(double(y.cols()));
  Vector<S> s(y.rows());
  for (Index i = 0; i < s.size(); ++i) {
    if (centred) y.row(i).array() -= S(y.row(i).sum() / n);
    s(i) = sqrt(S(y.row(i).squaredNorm() / n + S(epsilon)));
    y.row(i) /= s(i);
  }
  return p.step(y, [=](const Matrix<S>& bar) {
    Matrix<S> d = bar;
    for (Index i = 0; i < s.size(); ++i) {
      // pull one row back through its norm
      const S along = y.row(i).cwiseProduct(bar.row(i)).sum() / n;
      d.row(i) = (bar.row(i) - along * y.row(i)) / s(i);
      if (centred) d.row(i).array() -= S(d.row(i).sum() / n);
    }
    give(x, d);
  });
}

// multiply columns by gains
/// Columns times (more + gain), plus the shift if the model has one.
template <class S>
Step<S>* gained(Pass<S>& p, Step<S>* x, const std::string& name,
                double more = 0) {
  const auto w = p.weight(name + ".weight");
  detail::require_extents("gained", w->value, 1, x->value.cols());
  const Vector<S> gain = w->value.row(0).transpose().array() + S(more);
  const auto y = p.step(x->value * gain.asDiagonal(),
                        [=](const Matrix<S>& bar) {
    give(x, bar * gain.asDiagonal());
    give(w, bar.cwiseProduct(x->value).colwise().sum());
  });
  return p.model.has(name + ".bias")
             ? shifted(p, y, p.weight(name + ".bias")) : y;
}

// say what heads do besides products
/// What the heads of a layer have besides queries, keys and values.
template <class S>
struct HeadSettings {
  HeadCount count;
  S scale;
  HeadRules rules;
  Step<S>* sink = nullptr;   // 1 x heads
  Step<S>* table = nullptr;  // buckets x heads
};
/// The same as the layer takes it.
template <class S>
HeadParts<S> parts_of_heads(const HeadSettings<S>& s) {
  HeadParts<S> x;
  x.scale = Vector<S>::Constant(1, s.scale);
  if (s.sink) {
    detail::require_extents("sinks", s.sink->value, 1, s.count.heads);
    x.sink = s.sink->value.row(0).transpose();
  }
  if (s.table) x.table = s.table->value.transpose();
  return x;
}

// attend with each head
/// Outputs of all heads side by side.  Throws std::invalid_argument for
/// extents that do not fit, std::domain_error for rules without a meaning.
template <class S>
Step<S>* heads(Pass<S>& p, Step<S>* q, Step<S>* k, Step<S>* v,
               const std::type_identity_t<HeadSettings<S>>& s) {
  const Index n = q->value.rows(), H = s.count.heads;
  detail::require_heads(s.count, q->value, k->value, v->value);
  Matrix<S> O(n, v->value.cols() / s.count.kv_heads * H);
  Vector<S> logZ(H * n);
  const HeadsView<S> view{view_in<S>(q->value), view_in<S>(k->value),
                          view_in<S>(v->value), view_out(O), logZ.data()};
  heads_forward<S>(s.count, parts_of_heads(s), s.rules, {&view, 1});
  return p.step(O, [=](const Matrix<S>& bar) mutable {
    // pull back through all heads
    Matrix<S> dQ(n, q->value.cols());
    Matrix<S> dK(k->value.rows(), k->value.cols());
    Matrix<S> dV(v->value.rows(), v->value.cols());
    const HeadsView<S> again{view_in<S>(q->value), view_in<S>(k->value),
                             view_in<S>(v->value), view_out(O), logZ.data()};
    const HeadsCotangent<S> bars{view_in<S>(bar), view_out(dQ), view_out(dK),
                                 view_out(dV)};
    const HeadParts<S> x = parts_of_heads(s);
    HeadParts<S> sum = x;
    for_each_weight([](const char*, auto& w) { w.setZero(); }, sum);
    heads_vjp<S>(s.count, x, s.rules, {&again, 1}, {&bars, 1}, sum);
    give(q, dQ), give(k, dK), give(v, dV);
    if (s.sink) give(s.sink, sum.sink.transpose());
    if (s.table) give(s.table, sum.table.transpose());
  });
}

// turn the heads by their positions
/// Each head turned by R; the first row's position is first.
template <class S>
Step<S>* turned(Pass<S>& p, Step<S>* x, const Rotary<S>& R, Index first) {
  const Places at(x->value.rows(), first);
  Matrix<S> y = x->value;
  turn_heads<S>(y, R, at);
  return p.step(y, [=](Matrix<S> bar) {
    turn_heads<S>(bar, R, at, true);
    give(x, bar);
  });
}

// remember new keys and values
/// All keys and values of a layer, if there is a memory; else k and v.
template <class S>
std::pair<Step<S>*, Step<S>*> remembered(Pass<S>& p, Index layer,
                                         Step<S>* k, Step<S>* v) {
  if (p.memory == nullptr) return {k, v};
  KeyValueCache<S>& c = p.memory->layers.try_emplace(
      layer, k->value.cols(), v->value.cols()).first->second;
  c.append(k->value, v->value);
  return {p.step(c.keys()), p.step(c.values())};
}
/// Position of the first token of a pass.
template <class S>
Index first_position(const Pass<S>& p) {
  return p.memory ? p.memory->positions : 0;
}

// the families of models

// say what a family changes
/// What a family changes in the common skeleton.
template <class S>
struct Family {
  Rotary<S> rotary{};
  S scale{1};                        // factor of the scores
  std::vector<Index> window{};       // keys that a layer sees
  std::optional<double> cap{}, last_cap{};
  double gain = 0;                   // what is added to gains
  bool sandwich = false;             // norms after, too
  S loudness{1};                     // factor of the tokens' vectors
  Bend<S> bend = [](const S& x) { return swish<S>(x); };
};

// start from the plain family
/// Rotary positions, softmax, no window: what the others start from.
template <class S>
Family<S> plain_family(const Model<S>& m) {
  Family<S> f;
  const Index d = m.count("head_dim");
  f.rotary = {frequencies<Angle<S>>(d, m.number("rope_theta")),
              Pairs::halves};
  f.scale = usual_scale<S>(d);
  f.window.assign(std::size_t(m.count("num_hidden_layers")), unlimited);
  return f;
}
/// Throws std::invalid_argument if m says of a stretched context what is
/// not in the list, which is what its family reads.
template <class S>
void require_read(const Model<S>& m, const std::set<std::string>& read) {
  const std::string at = "rope_scaling.";
  for (const auto& [key, value] : m.settings)
    require(!key.starts_with(at) || read.contains(key.substr(at.size())),
            "Model: ", m.file, ": the family does not read ", key);
}
/// The plain family without a stretched context.  Throws
/// std::invalid_argument if m asks for one.
template <class S>
Family<S> unstretched_family(const Model<S>& m) {
  const std::string key = "rope_scaling.factor";
  require_read(m, {"factor"});
  const double factor = m.sets(key) ? m.number(key) : 1;
  require(factor == 1, "Model: ", m.file, ": ", key, " is ", factor,
          ", but the family does not stretch");
  return plain_family(m);
}
/// The pairs that a layer with a window of w keys allows.
inline Mask seen(Index n_q, Index n_k, Index w) {
  return window(n_q, n_k, w - 1, 0);
}
/// The stretched context of a model, by the names of its two ends; more:
/// what else of it the family reads.  Throws std::invalid_argument if m
/// lacks one of the four, or has any others.
template <class S>
Stretch stretch_of(const Model<S>& m, const std::string& slow,
                   const std::string& fast,
                   std::set<std::string> more = {}) {
  const std::string at = "rope_scaling.", factor = "factor";
  const std::string length = "original_max_position_embeddings";
  more.insert({factor, length, slow, fast});
  require_read(m, more);
  return {m.number(at + factor), m.number(at + length),
          m.number(at + slow), m.number(at + fast)};
}

// state what Llama 3 changes
/// What Llama 3 changes: slow planes turn slower (thm. stretch).
template <class S>
Family<S> llama3(const Model<S>& m) {
  Family<S> f = plain_family(m);
  f.rotary.theta = llama3_frequencies<Angle<S>>(
      m.count("head_dim"),
      stretch_of(m, "low_freq_factor", "high_freq_factor"),
      m.number("rope_theta"));
  return f;
}

// state what Mistral changes
/// What Mistral changes: a window in every layer (prop. models-speed).
template <class S>
Family<S> mistral(const Model<S>& m) {
  Family<S> f = unstretched_family(m);
  for (Index& w : f.window) w = m.integer("sliding_window");
  return f;
}

// put windows where the file says
/// A family with its window in the layers that the file names so.
/// Throws std::invalid_argument unless it names each layer and no more.
template <class S>
Family<S> alternating(const Model<S>& m, Family<S> f) {
  std::istringstream kinds(m.text("layer_types"));
  std::string kind;
  for (Index& w : f.window) {
    const bool slides = kinds >> kind && kind == "sliding_attention";
    require(slides || (kinds && kind == "full_attention"), "Model: ",
            m.file, ": layer_types does not name each layer");
    if (slides) w = m.integer("sliding_window");
  }
  require(!(kinds >> kind), "Model: ", m.file, ": layer_types has ", kind,
          " after the last layer");
  return f;
}

// state what Qwen 3 changes
/// What Qwen 3 changes besides norms of heads: windows, if any.
template <class S>
Family<S> qwen3(const Model<S>& m) {
  return alternating(m, unstretched_family(m));
}

// state what Gemma 2 changes
/// What Gemma 2 changes: caps, windows, scale, norms, gains, loudness.
template <class S>
Family<S> gemma2_family(const Model<S>& m) {
  using std::sqrt;
  Family<S> f = alternating(m, unstretched_family(m));
  f.scale = S(1) / S(sqrt(S(m.positive("query_pre_attn_scalar"))));
  if (m.sets("attn_logit_softcapping"))
    f.cap = m.positive("attn_logit_softcapping");
  if (m.sets("final_logit_softcapping"))
    f.last_cap = m.positive("final_logit_softcapping");
  f.gain = 1, f.sandwich = true;
  f.loudness = sqrt(S(double(m.count("hidden_size"))));
  f.bend = [](const S& x) {
    return gelu<S>(x, std::sqrt(2 / std::numbers::pi));
  };
  return f;
}

// state what GPT-OSS changes
/// What GPT-OSS changes: windows, and frequencies and a gain by YaRN.
template <class S>
Family<S> gpt_oss(const Model<S>& m) {
  Family<S> f = alternating(m, plain_family(m));
  const Stretch x = stretch_of(m, "beta_slow", "beta_fast", {"truncate"});
  f.rotary.theta = yarn_frequencies<Angle<S>>(
      m.count("head_dim"), x, m.number("rope_theta"),
      m.yes("rope_scaling.truncate"));
  f.rotary.gain = Angle<S>(yarn_gain(x.factor));
  return f;
}

// state what DeepSeek V3 changes
/// What DeepSeek V3 changes: few features turn, and the scale is that of
/// keys which are not made (thm. models-absorbed).  Throws
/// std::invalid_argument for a stretched context, which the published
/// model has.
template <class S>
Family<S> deepseek_v3(const Model<S>& m) {
  Family<S> f = unstretched_family(m);
  const Index d = m.count("qk_nope_head_dim");
  const Index turning = m.count("qk_rope_head_dim");
  f.rotary = {frequencies<Angle<S>>(turning, m.number("rope_theta")),
              Pairs::neighbours};
  f.scale = usual_scale<S>(d + turning);
  return f;
}

// find the family of a model
/// What the family of m changes.  Throws std::invalid_argument.
template <class S>
Family<S> family_of(const Model<S>& m) {
  const std::string name = m.text("family");
  if (name == "llama") return llama3(m);
  if (name == "mistral") return mistral(m);
  if (name == "qwen3") return qwen3(m);
  if (name == "gemma2") return gemma2_family(m);
  if (name == "gpt_oss") return gpt_oss(m);
  require(name == "deepseek_v3", "Model: ", m.file, ": family ", name);
  return deepseek_v3(m);
}

// normalise each head
/// Each head of d columns as a row of a norm with gains, if there are any.
template <class S>
Step<S>* normed_heads(Pass<S>& p, Step<S>* x, Index d,
                      const std::string& name) {
  if (!p.model.has(name + ".weight")) return x;
  const Index wide = x->value.cols();
  const double epsilon = p.model.number("rms_norm_eps");
  const auto y = norm(p, in_rows_of(p, x, d), epsilon, false);
  return in_rows_of(p, gained(p, y, name), wide);
}

// choose the best of each row
/// Softmax over the k largest of each row, and over those that equal the
/// least of them; zero elsewhere.  Throws std::invalid_argument unless
/// there are as many.
template <class S>
Step<S>* chosen(Pass<S>& p, Step<S>* x, Index k) {
  require(1 <= k && k <= x->value.cols(), "chosen: ", k, " of ",
          x->value.cols());
  Matrix<S> scores = x->value;
  for (Index i = 0; i < scores.rows(); ++i) {
    // forbid all but the best scores
    std::vector<S> row(x->value.row(i).begin(), x->value.row(i).end());
    std::nth_element(row.begin(), row.begin() + (k - 1), row.end(),
                     std::greater<>());
    for (S& s : scores.row(i))
      if (s < row[std::size_t(k - 1)]) s = S(-HUGE_VAL);
  }
  const Matrix<S> A = gibbs(scores);
  return p.step(A, [=](const Matrix<S>& bar) {
    give(x, fisher_lower<S>(A, bar));
  });
}

// bend and clip
/// x / (1 + exp(-1.702 x)) for x < 7, its value there beyond.
template <class S>
std::pair<S, S> clipped_swish(const S& x) {
  return x < S(7) ? swish<S>(x, 1.702)
                  : std::pair(swish<S>(S(7), 1.702).first, S(0));
}
/// x + 1, with x clipped to [-7, 7].
template <class S>
std::pair<S, S> clipped_plus_one(const S& x) {
  return x < S(-7) ? std::pair(S(-6), S(0))
         : S(7) < x ? std::pair(S(8), S(0)) : std::pair(x + S(1), S(1));
}

// run one of the chosen networks
/// Network e of a layer with experts, for all rows.
template <class S>
Step<S>* expert(Pass<S>& p, Step<S>* x, const std::string& at, Index e) {
  // map by the rows of one expert
  const auto map = [&](Step<S>* y, const std::string& name) {
    const Index n = y->value.cols();
    std::vector<Index> mine(static_cast<std::size_t>(n));
    std::iota(mine.begin(), mine.end(), e * n);
    const auto w = rows(p, p.weight(at + name), mine);
    return shifted(p, product(p, y, transposed(p, w)),
                   rows(p, p.weight(at + name + "_bias"), {e}));
  };
  const auto y = map(x, "gate_up_proj");
  const Index n = y->value.cols() / 2;
  const auto gate = bent(p, columns(p, y, 0, n, 2), clipped_swish<S>);
  const auto up = bent(p, columns(p, y, 1, n, 2), clipped_plus_one<S>);
  return map(times(p, gate, up), "down_proj");
}

// send positions through their network
/// The network of each position: gated, or a weighted choice.
template <class S>
Step<S>* network(Pass<S>& p, const Family<S>& f, Step<S>* x,
                 const std::string& at) {
  if (!p.model.has(at + "router.weight"))
    return linear(p, times(p, bent(p, linear(p, x, at + "gate_proj"), f.bend),
                           linear(p, x, at + "up_proj")),
                  at + "down_proj");

  // mix the chosen networks
  const auto A = chosen(p, linear(p, x, at + "router"),
                        p.model.count("num_experts_per_tok"));
  Step<S>* total = nullptr;
  for (Index e = 0; e < A->value.cols(); ++e) {
    const auto y = expert(p, x, at + "experts.", e);
    const auto weight = columns(p, A, e, y->value.cols(), 0);
    const auto part = times(p, weight, y);
    total = total ? sum(p, total, part) : part;
  }
  return total;
}

// attend through a latent vector
/// Latent attention of layer l: by thm. models-absorbed if the pass is
/// absorbed or has a memory, else with a key and a value for each head.
template <class S>
Step<S>* latent_attention(Pass<S>& p, const Family<S>& f, Index l,
                          Step<S>* x, const std::string& at) {
  const auto size = [&](const char* key) { return p.model.count(key); };
  const Index H = size("num_attention_heads"), r = size("kv_lora_rank");
  const Index d = size("qk_nope_head_dim"), d_v = size("v_head_dim");
  const Index turning = size("qk_rope_head_dim"), first = first_position(p);
  const auto normed = [&](Step<S>* y, const char* name) {
    return gained(p, norm(p, y, 1e-6, false), at + name);
  };

  // make queries and the latent row
  const auto q = linear(p, normed(linear(p, x, at + "q_a_proj"),
                                  "q_a_layernorm"), at + "q_b_proj");
  const auto both = linear(p, x, at + "kv_a_proj_with_mqa");
  const auto new_row = beside<S>(
      p, {normed(columns(p, both, 0, r), "kv_a_layernorm"),
          turned(p, columns(p, both, r, turning), f.rotary, first)});
  const auto row =
      remembered(p, l, new_row, columns(p, new_row, 0, 0)).first;
  const auto c = columns(p, row, 0, r);
  const auto W = p.weight(at + "kv_b_proj.weight");

  // attend absorbed or not
  const bool absorb = p.absorbed || p.memory;
  std::vector<Step<S>*> Q, K, V, Z;
  for (Index h = 0; h < H; ++h) {
    const Index w = d + turning;
    const auto U = rows(p, W, numbers_from(h * (d + d_v), d));
    Z.push_back(rows(p, W, numbers_from(h * (d + d_v) + d, d_v)));
    const auto plain = columns(p, q, h * w, d);
    Q.push_back(absorb ? product(p, plain, transposed(p, U)) : plain);
    Q.push_back(turned(p, columns(p, q, h * w + d, turning), f.rotary,
                       first));
    if (absorb) continue;
    K.push_back(product(p, c, U));
    K.push_back(columns(p, row, r, turning));
    V.push_back(product(p, c, Z.back()));
  }

  // mix latent heads
  const HeadSettings<S> s{
      {H, absorb ? 1 : H}, f.scale,
      {seen(x->value.rows(), row->value.rows(), unlimited)}};
  auto o = absorb ? heads(p, beside(p, Q), row, c, s)
                  : heads(p, beside(p, Q), beside(p, K), beside(p, V), s);
  if (absorb) {
    // make each output from its latent average
    std::vector<Step<S>*> outputs;
    for (Index h = 0; h < H; ++h)
      outputs.push_back(product(p, columns(p, o, h * r, r),
                                Z[std::size_t(h)]));
    o = beside(p, outputs);
  }
  return linear(p, o, at + "o_proj");
}

// attend in the skeleton
/// Self-attention of layer l, from its input to its output.
template <class S>
Step<S>* self_attention(Pass<S>& p, const Family<S>& f, Index l,
                        Step<S>* x, const std::string& at) {
  const Model<S>& m = p.model;
  if (m.has(at + "kv_b_proj.weight"))
    return latent_attention(p, f, l, x, at);
  const Index d = m.count("head_dim"), first = first_position(p);

  // map, normalise and turn queries or keys
  const auto placed = [&](const char* part) {
    const auto y = linear(p, x, at + part + "_proj");
    return turned(p, normed_heads(p, y, d, at + part + "_norm"), f.rotary,
                  first);
  };
  const auto q = placed("q");
  const auto [k, v] =
      remembered(p, l, placed("k"), linear(p, x, at + "v_proj"));

  // mix with the settings of the family
  HeadSettings<S> s{{m.count("num_attention_heads"),
                     m.count("num_key_value_heads")}, f.scale,
                    {seen(x->value.rows(), k->value.rows(),
                          f.window[std::size_t(l)])}};
  s.rules.softcap = f.cap;
  if (m.has(at + "sinks")) s.sink = p.weight(at + "sinks");
  return linear(p, heads(p, q, k, v, s), at + "o_proj");
}

// run a block of the skeleton
/// Block l of the common skeleton.
template <class S>
Step<S>* skeleton_block(Pass<S>& p, const Family<S>& f, Index l,
                        Step<S>* x) {
  const std::string at = "model.layers." + std::to_string(l) + ".";
  const auto normed = [&](Step<S>* y, const std::string& name) {
    const double epsilon = p.model.number("rms_norm_eps");
    return gained(p, norm(p, y, epsilon, false), at + name, f.gain);
  };

  // add what attention has found
  auto y = self_attention(p, f, l, normed(x, "input_layernorm"),
                          at + "self_attn.");
  if (f.sandwich) y = normed(y, "post_attention_layernorm");
  x = sum(p, x, y);

  // add what the network makes of it
  y = normed(x, f.sandwich ? "pre_feedforward_layernorm"
                           : "post_attention_layernorm");
  y = network(p, f, y, at + "mlp.");
  if (f.sandwich) y = normed(y, "post_feedforward_layernorm");
  return sum(p, x, y);
}

// run the skeleton
/// The rows of a table that belong to tokens.  Throws
/// std::invalid_argument for a token that has none.
template <class S>
Step<S>* look_up(Pass<S>& p, const std::string& table,
                 const std::vector<Index>& tokens) {
  const auto E = p.weight(table);
  for (const Index t : tokens)
    require(0 <= t && t < E->value.rows(), "Model: token ", t, " of ",
            E->value.rows());
  return p.embedded = rows(p, E, tokens);
}
/// x times the constant c.
template <class S>
Step<S>* louder(Pass<S>& p, Step<S>* x, const S& c) {
  return p.step(x->value * c, [=](const Matrix<S>& bar) {
    give(x, bar * c);
  });
}
/// Logits of the six families that share a skeleton.
template <class S>
Step<S>* skeleton_logits(Pass<S>& p, const Family<S>& f,
                         const std::vector<Index>& tokens) {
  const std::string table = "model.embed_tokens.weight";
  auto x = louder(p, look_up(p, table, tokens), f.loudness);
  for (Index l = 0; l < p.model.count("num_hidden_layers"); ++l)
    x = skeleton_block(p, f, l, x);

  // read tokens out
  const double epsilon = p.model.number("rms_norm_eps");
  x = gained(p, norm(p, x, epsilon, false), "model.norm", f.gain);
  const bool own = p.model.has("lm_head.weight");
  const auto y = product(p, x, p.weight(own ? "lm_head.weight" : table));
  if (!f.last_cap) return y;
  return bent(p, y, [c = *f.last_cap](const S& s) {
    return capped<S>(s, c);
  });
}

// three families by themselves

// run all of GPT-2 forwards
/// Logits of GPT-2.
template <class S>
Step<S>* gpt2_logits(Pass<S>& p, const std::vector<Index>& tokens) {
  const Index D = p.model.count("n_embd"), n = std::ssize(tokens);
  const Index H = p.model.count("n_head");
  const std::string all = "transformer.";

  // the older families' norm
  const auto normed = [&](Step<S>* y, const std::string& name) {
    const double epsilon = p.model.number("layer_norm_epsilon");
    return gained(p, norm(p, y, epsilon, true), name);
  };

  // the map of GPT
  const auto map = [&](Step<S>* y, const std::string& name) {
    const auto w = transposed(p, p.weight(name + ".weight"));
    return shifted(p, product(p, y, w), p.weight(name + ".bias"));
  };
  const auto smooth = [](const S& s) {
    return gelu<S>(s, std::sqrt(2 / std::numbers::pi));
  };
  auto x = sum(p, look_up(p, all + "wte.weight", tokens),
               rows(p, p.weight(all + "wpe.weight"),
                    numbers_from(first_position(p), n)));
  for (Index l = 0; l < p.model.count("n_layer"); ++l) {
    // run one block of GPT
    const std::string at = all + "h." + std::to_string(l) + ".";
    auto y = map(normed(x, at + "ln_1"), at + "attn.c_attn");
    const auto q = columns(p, y, 0, D);
    const auto [k, v] = remembered(p, l, columns(p, y, D, D),
                                   columns(p, y, 2 * D, D));
    y = heads(p, q, k, v, {{H, H}, usual_scale<S>(D / H),
                           {seen(n, k->value.rows(), unlimited)}});
    x = sum(p, x, map(y, at + "attn.c_proj"));
    y = map(normed(x, at + "ln_2"), at + "mlp.c_fc");
    x = sum(p, x, map(bent(p, y, smooth), at + "mlp.c_proj"));
  }
  return product(p, normed(x, all + "ln_f"), p.weight(all + "wte.weight"));
}

// run all of Bloom forwards
/// Logits of Bloom: a slope for each head, and the constant of its bend.
template <class S>
Step<S>* bloom_logits(Pass<S>& p, const std::vector<Index>& tokens,
                      const std::vector<double>& slopes,
                      double c = 0.79788456) {
  const Index D = p.model.count("hidden_size");
  const Index H = p.model.count("n_head"), d = D / H;
  const std::string all = "transformer.";

  // the older families' norm
  const auto normed = [&](Step<S>* y, const std::string& name) {
    const double epsilon = p.model.number("layer_norm_epsilon");
    return gained(p, norm(p, y, epsilon, true), name);
  };
  auto x = normed(look_up(p, all + "word_embeddings.weight", tokens),
                  all + "word_embeddings_layernorm");
  for (Index l = 0; l < p.model.count("n_layer"); ++l) {
    // run a block of Bloom
    const std::string at = all + "h." + std::to_string(l) + ".";
    auto y = linear(p, normed(x, at + "input_layernorm"),
                    at + "self_attention.query_key_value");
    const auto part = [&](Index k) {
      return in_rows_of(p, columns(p, in_rows_of(p, y, 3 * d), k * d, d), D);
    };
    const auto q = part(0);
    const auto [k, v] = remembered(p, l, part(1), part(2));
    HeadSettings<S> s{{H, H}, usual_scale<S>(d),
                      {seen(std::ssize(tokens), k->value.rows(), unlimited)}};
    s.rules.slopes = slopes;
    x = sum(p, x, linear(p, heads(p, q, k, v, s), at + "self_attention.dense"));
    y = linear(p, normed(x, at + "post_attention_layernorm"),
               at + "mlp.dense_h_to_4h");
    y = bent(p, y, [c](const S& t) { return gelu<S>(t, c); });
    x = sum(p, x, linear(p, y, at + "mlp.dense_4h_to_h"));
  }
  return product(p, normed(x, all + "ln_f"),
                 p.weight(all + "word_embeddings.weight"));
}

// attend as T5 does
/// One attention of T5: x to the context, or to itself if that is null.
template <class S>
Step<S>* t5_attention(Pass<S>& p, Index l, Step<S>* x, Step<S>* context,
                      const std::string& at, const std::string& side) {
  const Index H = p.model.count("num_heads");
  const auto q = linear(p, x, at + "q");

  // make keys and values of rows or of the source
  auto k = linear(p, context ? context : x, at + "k");
  auto v = linear(p, context ? context : x, at + "v");
  const bool causal = side == "decoder" && !context;
  if (causal) std::tie(k, v) = remembered(p, l, k, v);
  const Index n = x->value.rows(), m = k->value.rows();
  HeadSettings<S> s{{H, H}, S(1),
                    {causal ? seen(n, m, unlimited) : everything(n, m)}};

  // take the table of the stack
  if (!context) {
    s.table = p.weight(side + ".block.0.layer.0.SelfAttention."
                              "relative_attention_bias.weight");
    s.rules.buckets =
        Buckets(!causal, s.table->value.rows(),
                p.model.integer("relative_attention_max_distance"));
  }
  return linear(p, heads(p, q, k, v, s), at + "o");
}

// run one stack of T5 blocks
/// The encoder, or the decoder if there is a context.
template <class S>
Step<S>* t5_stack(Pass<S>& p, Step<S>* x, Step<S>* context,
                  const std::string& side) {
  const auto normed = [&](Step<S>* y, const std::string& name) {
    const double epsilon = p.model.number("layer_norm_epsilon");
    return gained(p, norm(p, y, epsilon, false), name);
  };
  for (Index l = 0; l < p.model.count("num_layers"); ++l) {
    std::string at = side + ".block." + std::to_string(l) + ".layer.";

    // run a block of one stack
    auto y = normed(x, at + "0.layer_norm");
    x = sum(p, x, t5_attention<S>(p, l, y, nullptr,
                                  at + "0.SelfAttention.", side));
    if (context) {
      y = normed(x, at + "1.layer_norm");
      x = sum(p, x, t5_attention(p, l, y, context,
                                 at + "1.EncDecAttention.", side));
    }
    at += context ? "2." : "1.";
    y = linear(p, normed(x, at + "layer_norm"), at + "DenseReluDense.wi");
    y = bent(p, y, [](const S& t) {
      return t > S(0) ? std::pair(t, S(1)) : std::pair(S(0), S(0));
    });
    x = sum(p, x, linear(p, y, at + "DenseReluDense.wo"));
  }
  return normed(x, side + ".final_layer_norm");
}

// run both stacks of T5 in turn
/// Logits of T5: what is written so far, given the source.
template <class S>
Step<S>* t5_logits(Pass<S>& p, const std::vector<Index>& tokens,
                   const std::vector<Index>& source) {
  const std::string table = "shared.weight";

  // read the source, or remember it
  Step<S>* context = nullptr;
  if (p.memory && p.memory->encoded.size() > 0)
    context = p.step(p.memory->encoded);
  else
    context = t5_stack<S>(p, look_up(p, table, source), nullptr, "encoder");
  if (p.memory) p.memory->encoded = context->value;
  const auto read = p.embedded;
  const auto x = t5_stack<S>(p, look_up(p, table, tokens), context,
                             "decoder");
  p.written = p.embedded, p.embedded = read;
  return louder<S>(p, product(p, x, p.weight(table)),
                   usual_scale<S>(p.model.count("d_model")));
}

// run a model of any family
/// Logits of tokens, a row for each (of T5: of what is written so far,
/// given the source).  With a memory, tokens are those that are new.
/// Throws std::invalid_argument for a family that is not known.
template <class S>
Step<S>* logits(Pass<S>& p, const std::vector<Index>& tokens,
                const std::vector<Index>& source = {}) {
  const Model<S>& m = p.model;
  const std::string name = m.text("family");
  Step<S>* y = nullptr;
  if (name == "gpt2") y = gpt2_logits(p, tokens);
  else if (name == "t5") y = t5_logits(p, tokens, source);
  else if (name == "bloom")
    y = bloom_logits(p, tokens, alibi_slopes(m.count("n_head")));
  else y = skeleton_logits(p, family_of(m), tokens);
  if (p.memory) p.memory->positions += std::ssize(tokens);
  return y;
}

// continue a text greedily
/// The n tokens that m finds most likely one after the other, and by how
/// much the last logits of each prevailed.  Throws std::invalid_argument
/// if there are no tokens to continue, or none to choose from.
template <class S>
std::vector<std::pair<Index, S>> continued(
    const Model<S>& m, std::vector<Index> tokens, Index n,
    const std::vector<Index>& source = {}) {
  require(!tokens.empty(), "continued: no tokens");
  Memory<S> memory;
  std::vector<std::pair<Index, S>> said;
  while (std::ssize(said) < n) {
    Pass<S> p(m);
    p.memory = &memory;
    const Matrix<S> y = logits(p, tokens, source)->value.bottomRows(1);

    // choose the most likely token
    require(y.cols() > 0, "continued: ", m.file, " reads out no tokens");
    Index best = 0;
    const S top = y.row(0).maxCoeff(&best);
    Matrix<S> others = y;
    others(0, best) = S(-HUGE_VAL);
    said.emplace_back(best, top - others.maxCoeff());
    tokens = {best};
  }
  return said;
}
}  // namespace attn
