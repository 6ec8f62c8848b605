// tests/models_test.cpp: tangled from chapters/09b-models-checks.nw; edit that file, not this one.
// include what models are checked with
#include "prelude.hpp"
#include "verify.hpp"
#include <random>
#include "attn/field.hpp"
#include "attn/models.hpp"
#include "attn/random.hpp"
namespace attn {
// shake what steps hand on
// How much, and which way next.
struct Shake {
  double size = 0;
  std::mt19937_64 coin{};
};
inline Shake shake;
template <>
inline Matrix<quad> settled(Matrix<quad> m) {
  if (shake.size > 0)
    for (Index k = 0; k < m.size(); ++k)
      m.data()[k] *= quad(1) + quad(shake.coin() % 2 ? shake.size
                                                     : -shake.size);
  return m;
}
}
using namespace attn;

BOOST_AUTO_TEST_SUITE(models)
namespace {
// read what the referees left
TensorFile file_of(const std::string& family) {
  return read_tensors("tests/reference/models/" + family + ".safetensors");
}
std::vector<Index> numbers_of(const TensorFile& f, const std::string& name) {
  const Matrix<double> m = stored_matrix(f, name);
  std::vector<Index> all;
  for (Index k = 0; k < m.size(); ++k) all.push_back(Index(m.data()[k]));
  return all;
}
// T5 writes what it has read, a step later and not to the end.
std::vector<Index> decoded(std::vector<Index> text) {
  text.insert(text.begin(), 0);
  text.resize(8);
  return text;
}
const std::vector<std::string> families{
    "llama", "mistral", "qwen3", "gemma2", "gpt_oss", "deepseek_v3",
    "t5", "bloom", "gpt2"};

// run a model with its gradient
template <class S>
struct Answer {
  Matrix<S> logits;
  std::map<std::string, Matrix<S>> gradient;
};
// What the file asks for, of a model that may be another one.
template <class S>
Answer<S> answer(const TensorFile& f, const Model<S>& m,
                 bool absorbed = false) {
  Pass<S> p(m);
  p.absorbed = absorbed;
  const auto text = numbers_of(f, "run.tokens");
  const auto y = logits(p, m.text("family") == "t5" ? decoded(text) : text,
                        text);
  p.pull(y, lift<S>(stored_matrix(f, "run.bar_logits")));
  Answer<S> a{y->value, {}};

  // collect the gradients that the file has
  for (const auto& [name, t] : f.tensors)
    if (name.starts_with("run.d.")) {
      const std::string of = name.substr(6);
      a.gradient[name] = (of == "embeddings" ? p.embedded
                          : of == "decoder_embeddings"
                              ? p.written : p.weight(of))->bar;
    }
  return a;
}

// measure distances
double farthest(const Matrix<quad>& x, const Matrix<quad>& y) {
  double most = 0;
  for (Index k = 0; k < x.size(); ++k)
    most = std::max(most, std::abs(to_double(x.data()[k] - y.data()[k])));
  return most;
}

// know the truth and its tremor
// A true matrix, and how far from it a number may be.
struct Truth {
  Matrix<quad> value{};
  double room = 0;
};
// What run() returns, matrix by matrix, and 8 tremors of each.
template <class Run>
std::vector<Truth> known(Run run) {
  std::vector<Truth> all;
  for (auto& m : run()) all.push_back({m});
  for (unsigned draw = 0; draw < 4; ++draw) {
    shake = {0x1p-53, std::mt19937_64(draw)};
    const auto moved = run();
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k].room = std::max(all[k].room,
                             8 * farthest(moved[k], all[k].value));
  }
  shake = {};
  return all;
}

// compare errors with tremors
const Matrix<quad>& exact(const Truth& t) { return t.value; }
Matrix<double> bound(const Truth& t) {
  return Matrix<double>::Constant(t.value.rows(), t.value.cols(), t.room);
}
double ratio(const Matrix<double>& x, const Truth& t) {
  return farthest(lift<quad>(x), t.value) / t.room;
}
// The largest difference, in units of twice the room.
double times_bound(const Matrix<double>& x, const Truth& t) {
  return largest(x) / (2 * t.room);
}
template <class S>
Matrix<S> logits_of(const TensorFile& f, const Model<S>& m) {
  Pass<S> p(m);
  const auto text = numbers_of(f, "run.tokens");
  return logits(p, m.text("family") == "t5" ? decoded(text) : text, text)
      ->value;
}
Truth true_logits(const TensorFile& f, const std::vector<Index>& tokens,
                  const std::vector<Index>& source) {
  const auto m = model_from<quad>(f);
  return known([&] {
    Pass<quad> p(m);
    return std::vector{Matrix<quad>(logits(p, tokens, source)->value)};
  })[0];
}
const Truth& true_logits(const std::string& family) {
  static std::map<std::string, Truth> all;
  if (const auto at = all.find(family); at != all.end()) return at->second;
  const TensorFile f = file_of(family);
  const auto m = model_from<quad>(f);
  return all[family] = known([&] {
    return std::vector{logits_of(f, m)};
  })[0];
}
struct TrueAnswer {
  Truth logits;
  std::map<std::string, Truth> gradient{};
};
TrueAnswer true_answer(const TensorFile& f, bool absorbed = false) {
  const auto m = model_from<quad>(f);
  std::vector<std::string> names;
  const auto all = known([&] {
    const auto a = answer(f, m, absorbed);
    std::vector<Matrix<quad>> y{a.logits};
    names.clear();
    for (const auto& [name, g] : a.gradient)
      names.push_back(name), y.push_back(g);
    return y;
  });
  TrueAnswer t{all[0]};
  for (std::size_t k = 0; k < names.size(); ++k)
    t.gradient[names[k]] = all[k + 1];
  return t;
}
const TrueAnswer& true_answer(const std::string& family) {
  static std::map<std::string, TrueAnswer> all;
  const auto at = all.find(family);
  return at != all.end() ? at->second
                         : all[family] = true_answer(file_of(family));
}

// plant errors in models
struct Planted {
  std::string family, what, to, note;
};
const std::vector<Planted> planted{
    {"llama", "rope_theta", "505", "base"},
    {"llama", "rope_scaling.factor", "1", "stretch"},
    {"llama", "rope_scaling.low_freq_factor", "1.1", ""},
    {"mistral", "sliding_window", "5", "window"},
    {"mistral", "sliding_window", "3", ""},
    {"qwen3", "rms_norm_eps", "1e-6", "epsilon"},
    {"qwen3", "q_norm", "gone", ""},
    {"gemma2", "attn_logit_softcapping", "gone", "cap"},
    {"gemma2", "final_logit_softcapping", "gone", ""},
    {"gemma2", "query_pre_attn_scalar", "8", ""},
    {"gemma2", "layer_types", "full_attention sliding_attention", ""},
    {"gpt_oss", "sinks", "gone", "sink"},
    {"gpt_oss", "rope_scaling.beta_slow", "2", ""},
    {"gpt_oss", "rope_scaling.truncate", "1", ""},
    {"gpt_oss", "num_experts_per_tok", "3", ""},
    {"deepseek_v3", "rope_theta", "505", "latent"},
    {"t5", "relative_attention_max_distance", "12", "table"},
    {"t5", "layer_norm_epsilon", "1e-5", ""},
    {"bloom", "word_embeddings_layernorm.bias", "gone", "shift"},
    {"gpt2", "wpe", "one later", "later"}};

// change a model
bool change(Model<double>& m, const Planted& e) {
  if (m.sets(e.what)) {
    if (e.to == "gone") m.settings.erase(e.what);
    else m.settings[e.what] = e.to;
    return true;
  }
  bool found = false;
  for (auto at = m.weights.begin(); at != m.weights.end();) {
    const auto here = at++;
    if (here->first.find(e.what) == std::string::npos) continue;
    found = true;
    Matrix<double>& w = here->second;
    if (e.to == "gone") m.weights.erase(here);
    else w.topRows(w.rows() - 1) = w.bottomRows(w.rows() - 1).eval();
  }
  return found;
}

// count the products of a sum
Index longest_sum(const Model<double>& m) {
  Index most = 0;
  for (const auto& [name, w] : m.weights) {
    if (w.rows() == 1 || name.ends_with("bias")) continue;
    const bool experts = m.has(name + "_bias");
    const bool down = experts || name.find(".c_") != name.npos;
    const Index n = experts ? m.weights.at(name + "_bias").rows() : 1;
    most = std::max(most, down ? w.rows() / n : w.cols());
  }
  return most;
}
}  // namespace

// hold a family against its referee
void referee(const std::string& family) {
  const TensorFile f = file_of(family);
  const auto ours = answer(f, model_from<double>(f));
  const TrueAnswer& truth = true_answer(family);
  double gradients = 0;
  for (const auto& [name, g] : truth.gradient) {
    verify(ours.gradient.at(name), exact(g), bound(g));
    verify(stored_matrix(f, name), exact(g), bound(g));
    gradients = std::max(gradients, ratio(stored_matrix(f, name), g));
  }
  BOOST_TEST(truth.gradient.size() > 7);
  const Matrix<double> theirs = stored_matrix(f, "run.logits");
  verify(ours.logits, exact(truth.logits), bound(truth.logits));
  verify(theirs, exact(truth.logits), bound(truth.logits));
  const double logits = ratio(theirs, truth.logits);
  BOOST_TEST((gradients < 10 * logits && logits < 10 * gradients));
  fact("gradients", gradients, 2), fact("logits", logits, 2);
  fact("ours", ratio(ours.logits, truth.logits), 2);
  fact("bound", bound(truth.logits).maxCoeff(), 2);
  fact("largest_weight", std::stod(f.metadata.at("largest_weight")), 2);
}
BOOST_AUTO_TEST_CASE(llama) { referee("llama"); }
BOOST_AUTO_TEST_CASE(mistral) { referee("mistral"); }
BOOST_AUTO_TEST_CASE(qwen3) { referee("qwen3"); }
BOOST_AUTO_TEST_CASE(gemma2) { referee("gemma2"); }
BOOST_AUTO_TEST_CASE(gpt_oss) { referee("gpt_oss"); }
BOOST_AUTO_TEST_CASE(deepseek_v3) { referee("deepseek_v3"); }
BOOST_AUTO_TEST_CASE(t5) { referee("t5"); }
BOOST_AUTO_TEST_CASE(bloom) { referee("bloom"); }
BOOST_AUTO_TEST_CASE(gpt2) { referee("gpt2"); }
BOOST_AUTO_TEST_CASE(room_that_is_used) {
  double ours = 0, theirs = 0;
  Index usual = 0, longest = 0;
  for (const std::string& family : families) {
    const TensorFile f = file_of(family);
    const auto m = model_from<double>(f);
    const auto a = answer(f, m);
    const TrueAnswer& truth = true_answer(family);
    const Matrix<double> logits = stored_matrix(f, "run.logits");
    ours = std::max(ours, ratio(a.logits, truth.logits));
    theirs = std::max(theirs, ratio(logits, truth.logits));
    for (const auto& [name, g] : truth.gradient) {
      ours = std::max(ours, ratio(a.gradient.at(name), g));
      theirs = std::max(theirs, ratio(stored_matrix(f, name), g));
    }
    Index& sum = family == "bloom" ? longest : usual;
    sum = std::max(sum, longest_sum(m));
  }
  verify(ours, 1), verify(theirs, 1);
  fact("ours", ours, 2), fact("theirs", theirs, 2);

  // tell what the longest sums would need
  BOOST_TEST(usual < longest);
  const auto errors = [](Index n) { return std::sqrt(double(n) / 2); };
  BOOST_TEST(errors(longest) < 8);
  fact("usual", usual), fact("longest", longest);
  fact("usual_errors", errors(usual), 2);
  fact("longest_errors", errors(longest), 2);
}

// check that planted errors are seen
BOOST_AUTO_TEST_CASE(planted_errors_are_seen) {
  Index n = 0;
  double least = HUGE_VAL;
  for (const Planted& error : planted) {
    const TensorFile f = file_of(error.family);
    auto m = model_from<double>(f);
    BOOST_TEST_CONTEXT(error.family << ": " << error.what) {
      BOOST_TEST_REQUIRE(change(m, error));
      const Matrix<double> theirs = stored_matrix(f, "run.logits");
      const Truth& truth = true_logits(error.family);
      const Matrix<double> wrong = logits_of(f, m);
      const double off = times_bound(wrong - theirs, truth);
      refute(off, 10);
      least = std::min(least, off), ++n;
      if (error.note.empty()) continue;
      fact(error.note, off, 2);
      fact(error.note + "_moved", largest(wrong - theirs), 2);
    }
  }
  fact("n", n), fact("least", least, 2);
}
BOOST_AUTO_TEST_CASE(digits_of_the_bend) {
  const TensorFile f = file_of("bloom");
  const auto m = model_from<double>(f);
  const Truth& truth = true_logits("bloom");
  const auto error = [&](double c, const std::vector<double>& slopes) {
    Pass<double> p(m);
    const auto y = bloom_logits(p, numbers_of(f, "run.tokens"), slopes, c);
    return Matrix<double>(y->value - stored_matrix(f, "run.logits"));
  };
  const auto off = [&](double c, const std::vector<double>& slopes) {
    return times_bound(error(c, slopes), truth);
  };
  const auto slopes = alibi_slopes<double>(3);
  const double digits =
      largest(error(std::sqrt(2 / std::numbers::pi), slopes)) /
      largest(error(0.79788456, slopes));
  verify(off(0.79788456, slopes), 1);
  refute(digits, 100);
  refute(off(0.79788456, {slopes[1], slopes[0], slopes[2]}), 10);
  refute(off(0.79788456, {0, 0, 0}), 10);
  fact("digits", digits, 2);
}
BOOST_AUTO_TEST_CASE(bends_are_clipped) {
  using Bent = std::pair<double, double>;
  BOOST_TEST((clipped_plus_one(6.5) == Bent{7.5, 1}));
  BOOST_TEST((clipped_plus_one(7.5) == Bent{8, 0}));
  BOOST_TEST((clipped_plus_one(-6.5) == Bent{-5.5, 1}));
  BOOST_TEST((clipped_plus_one(-7.5) == Bent{-6, 0}));
  BOOST_TEST((clipped_swish(6.5) == swish(6.5, 1.702)));
  BOOST_TEST((clipped_swish(7.5) == Bent{swish(7.0, 1.702).first, 0}));
}

// check that memory changes nothing
BOOST_AUTO_TEST_CASE(memory_changes_nothing) {
  double lead = HUGE_VAL;
  for (const std::string& family : families) {
    const TensorFile f = file_of(family);
    const auto m = model_from<double>(f);
    const bool t5 = family == "t5";
    const auto text = numbers_of(f, "run.tokens");
    auto all = t5 ? std::vector<Index>{0} : text;
    const auto said = continued(m, all, 6, text);
    for (const Index token : numbers_of(f, "run.said")) {
      const auto& [ours, ahead] = said[std::size_t(std::ssize(all) -
                                       (t5 ? 1 : std::ssize(text)))];
      BOOST_TEST(ours == token, family << " says " << ours);
      lead = std::min(lead, ahead), all.push_back(token);
    }

    // compare rows with a memory and without
    const Truth truth = true_logits(f, all, text);
    BOOST_TEST(lead > 2 * truth.room);
    Memory<double> memory;
    for (const auto& [from, to] : std::vector<std::pair<int, int>>{
             {0, 5}, {5, 6}, {6, 7}}) {
      const std::vector<Index> part(all.begin() + from,
                                    to == 7 ? all.end() : all.begin() + to);
      Pass<double> p(m);
      p.memory = &memory;
      const Matrix<double> y = logits(p, part, text)->value;
      verify(y, Matrix<quad>(truth.value.middleRows(from, y.rows())),
             Matrix<double>::Constant(y.rows(), y.cols(), truth.room));
    }
  }
  fact("lead", lead, 2);
}

// check that absorbed is unabsorbed
BOOST_AUTO_TEST_CASE(absorbed_equals_unabsorbed) {
  const auto q = gaussian<Fp>(5, 4, 1, "q"), c = gaussian<Fp>(7, 6, 1, "c");
  const auto U = gaussian<Fp>(4, 6, 1, "U"), Z = gaussian<Fp>(3, 6, 1, "Z");
  const auto A = gaussian<Fp>(5, 7, 1, "A");
  verify_exact(Matrix<Fp>(q * (c * U.transpose()).transpose()),
               Matrix<Fp>((q * U) * c.transpose()), 3);
  verify_exact(Matrix<Fp>(A * (c * Z.transpose())),
               Matrix<Fp>((A * c) * Z.transpose()), 3);
  const TensorFile f = file_of("deepseek_v3");
  const auto ours = answer(f, model_from<double>(f), true);
  const auto truth = true_answer(f, true);
  verify(ours.logits, exact(truth.logits), bound(truth.logits));
  verify(stored_matrix(f, "run.logits"), exact(truth.logits),
         bound(truth.logits));
  for (const auto& [name, g] : truth.gradient)
    verify(stored_matrix(f, name), exact(g), bound(g));

  // count what a position costs
  const auto m = model_from<double>(f);
  Memory<double> memory;
  Pass<double> p(m);
  p.memory = &memory;
  logits(p, numbers_of(f, "run.tokens"));
  const auto& cache = memory.layers.at(0);
  const Index latent = cache.keys().cols() + cache.values().cols();
  const Index r = m.integer("kv_lora_rank");
  const Index turning = m.integer("qk_rope_head_dim");
  const Index full = m.integer("num_attention_heads") *
                     (m.integer("qk_nope_head_dim") + turning +
                      m.integer("v_head_dim"));
  BOOST_TEST(latent == r + turning);
  fact("latent", latent), fact("full", full);
}

// check what latent vectors may be
BOOST_AUTO_TEST_CASE(latent_vectors_may_be_turned) {
  const TensorFile f = file_of("deepseek_v3");
  auto m = model_from<double>(f);
  const Truth& truth = true_logits("deepseek_v3");
  const Vector<double> v = gaussian<double>(10, 1, 3, "v").col(0);
  const Matrix<double> P = Matrix<double>::Identity(10, 10) -
                           2 / v.squaredNorm() * v * v.transpose();
  const auto change = [&](auto how) {
    for (const std::string l : {"0", "1"}) {
      const std::string at = "model.layers." + l + ".self_attn.kv_";
      how(m.weights.at(at + "a_proj_with_mqa.weight"),
          m.weights.at(at + "a_layernorm.weight"),
          m.weights.at(at + "b_proj.weight"));
    }
    return logits_of(f, m);
  };

  // move gains, a reflection and a stretch through the norm
  verify(change([](auto&, auto& gains, auto& after) {
    after = (after * gains.row(0).asDiagonal()).eval(), gains.setOnes();
  }), exact(truth), bound(truth));
  verify(change([&](auto& before, auto&, auto& after) {
    before.topRows(10) = (P * before.topRows(10)).eval();
    after = (after * P.transpose()).eval();
  }), exact(truth), bound(truth));
  const Matrix<double> other = change([](auto& before, auto&, auto& after) {
    before.row(0) *= 2, after.col(0) /= 2;
  });
  refute(times_bound(Matrix<double>(other - stored_matrix(f, "run.logits")),
                     truth), 10);
}

// check the rank of the latent form
Index rank_by_elimination(Matrix<Fp> M) {
  Index rank = 0;
  for (Index c = 0; c < M.cols() && rank < M.rows(); ++c) {
    Index pivot = rank;
    while (pivot < M.rows() && M(pivot, c) == Fp(0)) ++pivot;
    if (pivot == M.rows()) continue;
    M.row(rank).swap(M.row(pivot));
    for (Index i = rank + 1; i < M.rows(); ++i) {
      const Fp x = M(i, c) / M(rank, c);
      for (Index k = 0; k < M.cols(); ++k) M(i, k) -= x * M(rank, k);
    }
    ++rank;
  }
  return rank;
}
BOOST_AUTO_TEST_CASE(rank_of_the_latent_form) {
  for (const auto& [d, r] : std::vector<std::pair<Index, Index>>{
           {3, 8}, {8, 3}, {5, 5}}) {
    const auto W = gaussian<Fp>(d, 11, 2, "W"), U = gaussian<Fp>(d, r, 2, "U");
    const Matrix<Fp> M = W.transpose() * U;
    verify(std::abs(double(rank_by_elimination(M) - std::min(d, r))), 0);
  }
}

// check how far a window sees
BOOST_AUTO_TEST_CASE(window_has_a_speed) {
  const TensorFile f = file_of("mistral");
  const auto m = model_from<double>(f);
  Pass<double> p(m);
  const auto y = logits(p, numbers_of(f, "run.tokens"));
  Matrix<double> bar = Matrix<double>::Zero(12, y->value.cols());
  bar.row(11) = stored_matrix(f, "run.bar_logits").row(11);
  p.pull(y, bar);
  const Matrix<double> g = p.embedded->bar;
  verify(largest(g.topRows(5)), 0);
  refute(largest(g.row(5)), 1e-8);
}

// check the pieces by hand
BOOST_AUTO_TEST_CASE(pieces_by_hand) {
  const Model<double> m;
  Pass<double> twice(m), along(m), across(m);
  const auto w = twice.step(Matrix<double>{{3, 4}});
  twice.pull(product(twice, w, w), Matrix<double>{{1}});
  BOOST_TEST((w->bar == Matrix<double>{{6, 8}}));
  const auto back = [](Pass<double>& p, const Matrix<double>& bar) {
    const auto x = p.step(Matrix<double>{{3, 4}});
    p.pull(norm(p, x, 0, false), bar);
    return x->bar;
  };
  const double ten = gamma(10, unit_roundoff<double>());
  verify(largest(back(along, Matrix<double>{{3, 4}})), 4 * ten);
  const Matrix<double> off = back(across, Matrix<double>{{-4, 3}}) *
                             (5 / std::sqrt(2)) - Matrix<double>{{-4, 3}};
  verify(largest(off), 8 * ten);
  BOOST_CHECK_EXCEPTION(twice.pull(w, Matrix<double>{{1, 1}}),
                        std::invalid_argument, says("pulled already"));
  BOOST_TEST((w->bar == Matrix<double>{{6, 8}}));
  BOOST_TEST((swish(0.0).second == 0.5 && gelu(0.0, 0.8).second == 0.5));
  BOOST_TEST((swish(-720.0) == std::pair(-0.0, 0.0)));
}
BOOST_AUTO_TEST_CASE(positions_by_hand) {
  const auto m = model_from<double>(file_of("llama"));
  const auto plain = plain_family(m).rotary.theta;
  const auto slow = llama3(m).rotary.theta;
  const double turns[] = {10.19, 2.15, 0.46, 0.10};
  const double times[] = {1, 0.46, 0.125, 0.125};
  for (Index a = 0; a < 4; ++a) {
    verify(std::abs(64 * plain(a) / (2 * std::numbers::pi) - turns[a]), .005);
    verify(std::abs(slow(a) / plain(a) - times[a]), .005);
  }
  const Buckets one(false, 8, 16), both(true, 8, 16);
  const Index down[] = {0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7};
  const Index side[] = {0, 1, 2, 2, 2, 2, 3, 3};
  for (Index n = 0; n < 14; ++n) BOOST_TEST(one(-n) == down[n]);
  for (Index n = 0; n < 8; ++n) BOOST_TEST(both(-n) == side[n]);
  for (Index n = 1; n < 8; ++n) BOOST_TEST(both(n) == 4 + side[n]);
  BOOST_TEST((alibi_slopes<double>(3) ==
              std::vector<double>{1. / 16, 1. / 256, 1. / 4}));
  const auto oss = model_from<double>(file_of("gpt_oss"));
  verify(std::abs(std::pow(attn::gpt_oss(oss).rotary.gain, 2) - 1.46), .005);
  verify(std::abs(std::pow(yarn_gain(40), 2) - 1.87), .005);
}
BOOST_AUTO_TEST_CASE(gains_are_stored_less_one) {
  const auto m = model_from<double>(file_of("gemma2"));
  double stored = 0, gains = 0;
  for (const auto& [name, w] : m.weights)
    if (name.find("norm") != name.npos)
      stored += w.squaredNorm(),
          gains += (w.array() + 1).matrix().squaredNorm();
  refute(std::sqrt(gains / stored), 2);
  fact("factor", std::sqrt(gains / stored), 2);
}

// check that a bias of keys does nothing
BOOST_AUTO_TEST_CASE(bias_of_keys_does_nothing) {
  const TensorFile f = file_of("gpt2");
  auto m = model_from<double>(f);
  const auto truth = true_answer(f);
  const std::string bias = "transformer.h.0.attn.c_attn.bias";
  m.weights.at(bias).middleCols(16, 16).array() += 1;
  const Matrix<double> moved =
      lift<double>(Matrix<quad>(lift<quad>(logits_of(f, m)) -
                                truth.logits.value));
  verify(largest(moved), truth.logits.room);
  const auto& g = truth.gradient.at("run.d." + bias);
  verify(largest(lift<double>(Matrix<quad>(g.value.middleCols(16, 16)))),
         g.room * 0x1p-40);
  verify(largest(stored_matrix(f, "run.d." + bias).middleCols(16, 16)),
         g.room);
  const TensorFile oss = file_of("gpt_oss");
  auto other = model_from<double>(oss);
  other.weights.at("model.layers.0.self_attn.k_proj.bias").array() += 1;
  refute(times_bound(logits_of(oss, other) -
                         stored_matrix(oss, "run.logits"),
                     true_logits("gpt_oss")), 10);
}

// check the order of latent products
BOOST_AUTO_TEST_CASE(absorbing_is_an_order_of_factors) {
  const Index H = 2, r = 512, d = 128, d_v = 128, pairs = 64, m = 1000000;
  const auto gain = [&](Index n) {  // of making keys and values
    const Index absorbed =
        cost<R"(S^{(h)ij} = q^{(h)i}{}_a U^{(h)a}{}_\rho c^{j\rho})">(
            H, n, m, d, r) +
        cost<R"(O^{(h)ie} = A^{(h)i}{}_j c^{j\rho} Z^{(h)e}{}_\rho)">(
            H, n, d_v, m, r);
    const Index made =
        cost<R"(S^{(h)ij} = c^{j\rho} U^{(h)a}{}_\rho q^{(h)i}{}_a)">(
            H, n, m, r, d) +
        cost<R"(O^{(h)ie} = Z^{(h)e}{}_\rho c^{j\rho} A^{(h)i}{}_j)">(
            H, n, d_v, r, m);
    BOOST_TEST(absorbed + H * n * m * pairs ==
               H * (n * r * (d + d_v) + n * m * (2 * r + pairs)));
    BOOST_TEST(made + H * n * m * pairs ==
               H * (m * r * (d + d_v) + n * m * (d + pairs + d_v)));
    return absorbed - made;
  };
  BOOST_TEST((gain(1) < 0 && gain(170) < 0 && gain(171) > 0));
}

// check that extents are refused
BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  Index refused = 0, tried = 0;
  for (const std::string& family : families) {
    const TensorFile f = file_of(family);
    const auto m = model_from<double>(f);
    const auto attempt = [&](const Model<double>& changed) {
      ++tried;
      try {
        const Matrix<double> y = logits_of(f, changed);
        BOOST_TEST((y.rows() > 0 && y.allFinite()), family);
      } catch (const std::invalid_argument&) {
        ++refused;
      } catch (const std::domain_error&) {
        ++refused;
      }
    };

    // change extents and settings one at a time
    for (const auto& [name, w] : m.weights)
      for (const auto& [more, wider] :
           {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
        auto changed = m;
        Matrix<double> x = Matrix<double>::Zero(w.rows() + more, w.cols() + wider);
        const Index n = std::min(x.rows(), w.rows());
        const Index d = std::min(x.cols(), w.cols());
        x.topLeftCorner(n, d) = w.topLeftCorner(n, d);
        changed.weights[name] = x;
        attempt(changed);
      }
    for (const auto& [key, value] : m.settings)
      for (const char* other : {"", "0", "-1", "1.5", "nan", "1e300", "7x",
                                "2147483648"}) {
        auto changed = m;
        changed.settings[key] = other;
        attempt(changed);
      }
  }
  verify(double(tried) / double(refused), 1.5);
  fact("tried", tried), fact("refused", refused);
}
void refused(const std::string& family, const std::string& key,
             const std::string& value, const std::string& words) {
  const TensorFile f = file_of(family);
  auto m = model_from<double>(f);
  m.settings[key] = value;
  BOOST_TEST_CONTEXT(family << ": " << key << " is " << value)
    BOOST_CHECK_EXCEPTION(logits_of(f, m), std::logic_error, says(words));
}
BOOST_AUTO_TEST_CASE(counts_are_refuted) {
  const std::map<std::string, std::string> counts{
      {"llama", "head_dim num_hidden_layers num_attention_heads "
                "num_key_value_heads"},
      {"gemma2", "hidden_size num_hidden_layers"},
      {"gpt_oss", "num_experts_per_tok head_dim"},
      {"deepseek_v3", "qk_nope_head_dim qk_rope_head_dim v_head_dim "
                      "kv_lora_rank num_attention_heads"},
      {"t5", "num_layers num_heads d_model"},
      {"bloom", "hidden_size n_layer n_head"},
      {"gpt2", "n_embd n_layer n_head"}};
  for (const auto& [family, keys] : counts) {
    std::istringstream in(keys);
    for (std::string key; in >> key;)
      for (const char* value : {"0", "-1", "1.5", "100000", "2147483648"})
        refused(family, key, value, key + " is ");
  }
}
BOOST_AUTO_TEST_CASE(settings_without_a_meaning_are_refused) {
  for (const char* value : {"0", "-6"})
    for (const char* key : {"final_logit_softcapping",
                            "attn_logit_softcapping",
                            "query_pre_attn_scalar"})
      refused("gemma2", key, value, std::string(key) + " is ");
  for (const char* family : {"llama", "gemma2", "deepseek_v3"})
    refused(family, "rms_norm_eps", "-1e-9", "norm: epsilon");
  for (const char* family : {"t5", "bloom", "gpt2"})
    refused(family, "layer_norm_epsilon", "-1e-9", "norm: epsilon");
  const std::string two = "full_attention full_attention";
  for (const char* family : {"qwen3", "gemma2", "gpt_oss"}) {
    refused(family, "layer_types", two + " full_attention",
            "layer_types has full_attention after the last layer");
    refused(family, "layer_types", "full_attention", "name each layer");
    refused(family, "layer_types", two + "s", "name each layer");
  }
  const Model<double> m;
  Pass<double> p(m);
  const auto x = p.step(Matrix<double>::Zero(2, 6));
  for (const HeadCount H : {HeadCount{Index{1} << 31, 1}, {4, 1}, {2, 4},
                            {1, 2}, {0, 1}, {2, 0}})
    BOOST_CHECK_EXCEPTION(heads(p, x, x, x, {H, 1, {everything(2, 2)}}),
                          std::invalid_argument, says("heads: "));
}
BOOST_AUTO_TEST_CASE(stretches_are_read_or_refused) {
  const std::string at = "rope_scaling.";
  for (const char* family : {"mistral", "qwen3", "gemma2", "deepseek_v3"}) {
    refused(family, at + "factor", "40", at + "factor is 40");
    for (const char* key : {"mscale_all_dim", "attention_factor", "truncate"})
      refused(family, at + key, "1", "does not read " + at + key);
    const TensorFile f = file_of(family);
    auto m = model_from<double>(f);
    const Matrix<double> plain = logits_of(f, m);
    m.settings[at + "factor"] = "1.0";
    verify(distance(logits_of(f, m), plain), 0);
  }
  refused("llama", at + "truncate", "1", "does not read " + at + "truncate");
  refused("gpt_oss", at + "attention_factor", "1", "does not read");
  refused("gpt_oss", at + "truncate", "2", "truncate is 2");
}
BOOST_AUTO_TEST_CASE(windows_of_qwen) {
  const std::string two = "sliding_attention sliding_attention";
  refused("qwen3", "layer_types", two, "does not set sliding_window");
  const TensorFile f = file_of("qwen3");
  auto m = model_from<double>(f);
  const Matrix<double> all = logits_of(f, m);
  m.settings["layer_types"] = two, m.settings["sliding_window"] = "4";
  const Matrix<double> near = logits_of(f, m);
  verify(distance(near.topRows(4), all.topRows(4)),
         2 * true_logits("qwen3").room);
  refute(times_bound(Matrix<double>(near - all), true_logits("qwen3")), 10);
}
BOOST_AUTO_TEST_CASE(nothing_is_not_continued) {
  for (const std::string& family : families) {
    const auto m = model_from<double>(file_of(family));
    BOOST_CHECK_EXCEPTION(continued(m, {}, 1, {1, 2}), std::invalid_argument,
                          says("continued: no tokens"));
    BOOST_TEST(continued(m, {1}, 0, {1, 2}).empty());
  }
  auto silent = model_from<double>(file_of("llama"));
  silent.weights.at("lm_head.weight").resize(0, 16);
  BOOST_CHECK_EXCEPTION(continued(silent, {1}, 1), std::invalid_argument,
                        says("reads out no tokens"));
}
BOOST_AUTO_TEST_CASE(columns_within_the_matrix) {
  const Model<double> m;
  Pass<double> p(m);
  const auto x = p.step(Matrix<double>::Zero(2, 3));
  const auto refused = [&](Index from, Index n, Index stride) {
    BOOST_CHECK_EXCEPTION(columns(p, x, from, n, stride),
                          std::invalid_argument,
                          says("columns: " + std::to_string(from)));
  };
  for (const Index stride : {0, 1, 2}) {
    BOOST_TEST(shape(columns(p, x, 3, 0, stride)->value) == "2x0");
    BOOST_TEST(shape(columns(p, x, 2, 1, stride)->value) == "2x1");
    refused(4, 0, stride), refused(3, 1, stride), refused(-1, 1, stride);
    refused(1, -1, stride);
  }
  refused(1, 3, 1), refused(0, 3, 2), refused(2, 2, -1);
}

// check the answers about models
BOOST_AUTO_TEST_CASE(answer_written_again) {
  const TensorFile f = file_of("bloom");
  auto m = model_from<double>(f);
  const auto again = model_from<double>(
      tensors_from(tensor_bytes(m.weights, m.settings), "again"));
  verify(distance(answer(f, m).logits, answer(f, again).logits), 0);
}
BOOST_AUTO_TEST_CASE(answer_shared_beginning) {
  const TensorFile f = file_of("gemma2");
  const auto m = model_from<double>(f);
  const auto row = [&](Memory<double> memory, Index token) {
    Pass<double> p(m);
    p.memory = &memory;
    return Matrix<double>(logits(p, {token})->value);
  };
  const std::vector<Index> text = numbers_of(f, "run.tokens");
  Memory<double> begun;
  Pass<double> p(m);
  p.memory = &begun;
  logits(p, text);
  for (const Index token : {3, 17}) {
    auto all = text;
    all.push_back(token);
    const Truth truth = true_logits(f, all, {});
    const Matrix<double> y = row(begun, token);
    verify(y, Matrix<quad>(truth.value.bottomRows(1)),
           Matrix<double>::Constant(1, y.cols(), truth.room));
  }
}
BOOST_AUTO_TEST_CASE(answer_dull_attention) {
  const TensorFile f = file_of("llama");
  const auto moved = [&](double divisor) {
    auto m = model_from<double>(f);
    for (auto& [name, w] : m.weights)
      if (name.find("q_proj") != name.npos) w /= divisor;
    const Matrix<double> right = answer(f, m).logits;
    m.settings["rope_theta"] = "505";
    return largest(answer(f, m).logits - right);
  };
  const double sharp = moved(1), dull = moved(4);
  fact("sharp", sharp, 2), fact("dull", dull, 2);
  fact("quotient", sharp / dull, 2);
  BOOST_TEST(dull < sharp);
  const double even = moved(256) / moved(1024);
  verify(std::abs(even - 4), 0.1);
  fact("even", even, 3);
}
BOOST_AUTO_TEST_SUITE_END()
