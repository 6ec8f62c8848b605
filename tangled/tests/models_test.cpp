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
}  // namespace

// hold a family against its referee
void referee(const std::string& family) {
  const TensorFile f = file_of(family);
  const auto ours = answer(f, model_from<double>(f));
  const auto truth = true_answer(f);
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
  fact("gradients", gradients, 2);
  fact("logits", ratio(theirs, truth.logits), 2);
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

// check that extents are refused
BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  Index refused = 0, tried = 0;
  for (const std::string& family : families) {
    const TensorFile f = file_of(family);
    const auto m = model_from<double>(f);
    const auto attempt = [&](const Model<double>& changed) {
      ++tried;
      try {
        BOOST_TEST(logits_of(f, changed).rows() > 0);
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
      for (const char* other : {"", "0", "-1", "1.5", "nan", "1e300", "7x"}) {
        auto changed = m;
        changed.settings[key] = other;
        attempt(changed);
      }
  }
  verify(double(tried) / double(refused), 1.5);
  fact("tried", tried), fact("refused", refused);
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
  fact("sharp", moved(1), 2), fact("dull", moved(4), 2);
  BOOST_TEST(moved(4) < moved(1));
}
BOOST_AUTO_TEST_SUITE_END()
