// tests/block_test.cpp: tangled from chapters/05-multihead-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "attn/autodiff.hpp"
#include "attn/block.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(multihead)

// check the norms
/// A norm of x, or of its rows less their mean, with gain and shift.
template <class S>
Matrix<S> normed(const Matrix<S>& x, const Vector<S>& gain,
                 const Vector<S>& shift, bool centred, double epsilon) {
  const auto n = centred ? layer_norm(x, epsilon) : rms_norm(x, epsilon);
  return with_gain(n.x, gain, shift);
}
BOOST_AUTO_TEST_CASE(gradient_of_norms) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const bool centred = seed % 2;
    const double epsilon = seed % 3 ? 1e-5 : 0.25;
    const Matrix<quad> X = gaussian<quad>(3, 5, seed, "X"),
                       W = gaussian<quad>(3, 5, seed, "W");
    const Vector<quad> gain = gaussian<quad>(5, 1, seed, "gain"),
                       shift = gaussian<quad>(5, 1, seed, "shift");
    const auto n = centred ? layer_norm(X, epsilon) : rms_norm(X, epsilon);
    const auto k = with_gain_vjp<quad>(n.x, gain, shift, W);

    // differentiate a norm automatically
    const auto [dX, dgain, dshift] = gradient(
        [&](const Matrix<Var<quad>>& x, const Vector<Var<quad>>& g,
            const Vector<Var<quad>>& b) {
          const auto y = normed<Var<quad>>(x, g, b, centred, epsilon);
          Var<quad> sum(quad(0));
          for (Index e = 0; e < y.size(); ++e) sum += y.data()[e] * W.data()[e];
          return sum;
        }, X, gain, shift);
    verify(distance(norm_vjp(n, k.x), dX), 1e-30);
    verify(distance(k.gain, dgain) + distance(k.shift, dshift), 1e-30);
  }
}
BOOST_AUTO_TEST_CASE(rows_are_normalised) {
  const Matrix<quad> X = gaussian<quad>(4, 7, 1);
  const auto n = layer_norm(X), r = rms_norm(X, 0.5);
  for (Index i = 0; i < 4; ++i) {
    const quad s2 = n.s(i) * n.s(i), mean = n.x.row(i).mean();
    verify(to_double(abs(mean)), 1e-32);
    verify(to_double(abs(n.x.row(i).squaredNorm() / quad(7) -
                         (quad(1) - quad(1e-5) / s2))), 1e-32);
    const RowVector<quad> back = n.s(i) * n.x.row(i) - X.row(i);
    verify(largest((back.array() - back.mean()).matrix()), 1e-32);
    const quad mean_square = X.row(i).squaredNorm() / quad(7);
    verify(distance(r.s(i) * r.s(i), mean_square + quad(0.5)), 1e-32);
    verify(distance(r.s(i) * r.x.row(i), X.row(i)), 1e-32);
  }
}
BOOST_AUTO_TEST_CASE(norms_forget_length) {
  const Matrix<double> X = gaussian<double>(4, 7, 1, "X"),
                       dY = gaussian<double>(4, 7, 1, "dY");
  for (const double epsilon : {0.0, 0.3})
    for (const auto& n : {layer_norm(X, epsilon), rms_norm(X, epsilon)}) {
      const Matrix<double> dX = norm_vjp(n, dY);
      const Vector<double> left = n.x.cwiseProduct(dX).rowwise().mean(),
          right = epsilon * n.x.cwiseProduct(dY).rowwise().mean().array() /
                  n.s.array().cube();
      verify(distance(left, right), 0x1p-49);
      if (n.centred) verify(largest(dX.rowwise().mean()), 0x1p-49);
      if (epsilon == 0)
        verify(distance(2 * norm_vjp(n.centred ? layer_norm(2 * X, 0)
                                               : rms_norm(2 * X, 0), dY), dX),
               0x1p-49);
    }
}
BOOST_AUTO_TEST_CASE(no_gain_has_no_gradient) {
  const Matrix<double> X = gaussian<double>(3, 4, 1, "X");
  const Vector<double> one = Vector<double>::Ones(4), none;
  const auto g = with_gain_vjp(X, none, one, X),
             h = with_gain_vjp(X, one, none, X);
  BOOST_TEST((g.gain.size() == 0 && g.shift.size() == 4));
  BOOST_TEST((h.gain.size() == 4 && h.shift.size() == 0));
}
BOOST_AUTO_TEST_CASE(norms_refuse_other_shapes) {
  using bad = std::invalid_argument;
  const Matrix<double> X = gaussian<double>(3, 4, 1, "X"), Z = X.leftCols(3);
  const Vector<double> gain = Vector<double>::Ones(3), none;
  BOOST_CHECK_EXCEPTION(norm_vjp(rms_norm(X), Z), bad,
                        says("norm_vjp: dY is 3x3 but the rows are 3x4"));
  BOOST_CHECK_EXCEPTION(with_gain(X, gain, none), bad,
                        says("with_gain: 3 numbers for rows of 4"));
  BOOST_CHECK_EXCEPTION(with_gain(X, none, gain), bad,
                        says("with_gain: 3 numbers for rows of 4"));
  BOOST_CHECK_EXCEPTION(with_gain_vjp(X, none, none, Z), bad,
                        says("with_gain_vjp: dY is 3x3 but x is 3x4"));
  BOOST_CHECK_EXCEPTION(silu_vjp(X, Z), bad,
                        says("silu_vjp: dY is 3x3 but x is 3x4"));
}
BOOST_AUTO_TEST_CASE(norms_take_any_rows) {
  const Matrix<double> X = gaussian<double>(4, 7, 1);
  const Eigen::MatrixXd columns = X;
  const auto n = layer_norm(X);
  verify(distance(layer_norm(columns).x, n.x), 0);
  verify(distance(layer_norm(X + 0 * X).x, n.x), 0);
  verify(distance(norm_vjp(n, columns), norm_vjp(n, X)), 0);
  verify(distance(rms_norm(columns.topRows(2)).x, rms_norm(X.topRows(2)).x), 0);
}
BOOST_AUTO_TEST_CASE(gradient_of_the_bend) {
  Matrix<quad> x(1, 9);
  x << quad(-800), quad(-30), quad(-2), quad(-0.5), quad(0), quad(1e-9),
      quad(0.7), quad(40), quad(900);
  const Matrix<quad> dY = gaussian<quad>(1, 9, 1);
  const Matrix<quad> tape = gradient([&](const Matrix<Var<quad>>& v) {
    const Matrix<Var<quad>> y = silu(v);
    Var<quad> sum(quad(0));
    for (Index e = 0; e < 9; ++e) sum += y(0, e) * dY(0, e);
    return sum;
  }, x);
  verify(distance(silu_vjp(x, dY), tape), 1e-30);
}
BOOST_AUTO_TEST_CASE(gate_is_a_form) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const double scale = std::pow(10.0, double(seed % 9) / 2 - 3);
    const Matrix<quad> r = quad(scale) * gaussian<quad>(1, 3, seed, "x");
    const quad a = r.row(0).dot(gaussian<quad>(1, 3, seed, "u").row(0)),
               b = r.row(0).dot(gaussian<quad>(1, 3, seed, "w").row(0));
    const quad y = silu(Matrix<quad>{{a}})(0) * b;
    const double off = distance(y, a * b / quad(2));
    const double bound = to_double(quad(a * a * abs(b) / quad(4)));
    verify(off, bound * (1 + 1e-15));
    if (scale == 1e-3) refute(off / bound, 0.99);
  }
}

// check the block and the model
LanguageModel<quad> lifted_model(const LanguageModel<double>& m) {
  LanguageModel<quad> q;
  for (const auto& b : m.blocks) {
    q.blocks.emplace_back();
    q.blocks.back().attention = lifted<quad>(b.attention);
    q.blocks.back().rms = b.rms;
  }
  for_each_weight([](auto, const auto& w, auto& v) { v = lift<quad>(w); }, m,
                  q);
  return q;
}
LanguageModel<double> dressed(LanguageModel<double> m, std::uint64_t seed) {
  for (auto& b : m.blocks) {
    const Index d = b.W_1.rows(), F = b.W_1.cols();
    b.W_3 = gaussian<double>(d, F, ++seed, "W_3");
    b.gain_1 = gaussian<double>(d, 1, seed, "gain_1");
    b.gain_2 = gaussian<double>(d, 1, seed, "gain_2");
    b.rms = true;
  }
  return m;
}
BOOST_AUTO_TEST_CASE(gradient_of_the_model) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const bool tiny = seed > 6;
    const auto shape = tiny ? ModelShape{5, 1, 1, 1, 1, 1}
                            : ModelShape{5, 6, 4, 2, 2, 3};
    auto p = draw_model(shape, seed), r = draw_model(shape, seed + 99);
    if (seed % 2) p = dressed(p, seed), r = dressed(r, seed + 99);
    const auto m = lifted_model(p), d = lifted_model(r);
    const Example e = tiny ? Example{{3}, {1}}
                           : Example{{0, 3, 1, 3, 4, 2}, {-1, 1, 0, 4, -1, 2}};
    auto g = zeros_like(m);
    model_loss(m, e, quad(0.5), &g);
    quad slope(0);
    for_each_weight([&](auto, const auto& a, const auto& b) {
      slope += a.cwiseProduct(b).sum();
    }, g, d);

    // compare the slope with a central difference
    const auto at = [&](const quad& h) {
      auto w = m;
      for_each_weight([&](auto, auto& a, const auto& b) { a += h * b; }, w, d);
      return model_loss<quad>(w, e, quad(0.5), nullptr);
    };
    const quad h(0x1p-37);
    const quad difference = (at(h) - at(-h)) / (h + h);
    verify(to_double(abs(difference - slope)), 1e-17);
  }
}
BOOST_AUTO_TEST_CASE(adam_with_a_constant_gradient) {
  auto m = xavier<double>({4, 2}, 1);
  const auto before = m, g = xavier<double>({4, 2}, 2);
  Adam adam(m);
  adam.rate = 0.25;
  for (int k = 0; k < 3; ++k) adam.step(m, g);
  for_each_weight([](auto, const auto& a, const auto& b, const auto& c) {
    for (Index k = 0; k < a.size(); ++k)
      verify(std::abs(a.data()[k] - b.data()[k] +
                      std::copysign(0.75, c.data()[k])),
             0.75 * 1e-9 / std::abs(c.data()[k]) + 0x1p-48);
  }, m, before, g);
}
BOOST_AUTO_TEST_CASE(refuses_foreign_tokens) {
  const auto m = draw_model({5, 3, 4, 2, 1, 3}, 1);
  const auto bad = [&](const Example& e, const char* words) {
    BOOST_CHECK_EXCEPTION(model_loss<double>(m, e, 1, nullptr),
                          std::invalid_argument, says(words));
  };
  bad({{0, 5}, {-1, 1}}, "token 5 of 5");
  bad({{0, 1, 2, 3}, {1, 1, 1, 1}}, "4 tokens and 4 targets for 3");
  bad({{0, 1}, {1}}, "2 tokens and 1 targets");
  bad({{-1, 0}, {-1, 1}}, "token -1 of 5");
  bad({{0, 1}, {-1, 5}}, "target 5 of 5");
}
BOOST_AUTO_TEST_CASE(model_as_drawn) {
  const auto m = draw_model({5, 3, 4, 2, 2, 6}, 7);
  const auto drawn = [](const Matrix<double>& M, Index n, Index d, double sigma,
                        const std::string& name) {
    verify(distance(M, sigma * gaussian<double>(n, d, 7, name)), 0);
  };
  drawn(m.E, 5, 4, 0.5, "E");
  drawn(m.P, 3, 4, 0.5, "P");
  for (const std::size_t l : {0u, 1u}) {
    const auto& b = m.blocks[l];
    const std::string name = std::to_string(l) + ".";
    drawn(b.W_1, 4, 6, std::sqrt(0.2), name + "W_1");
    drawn(b.W_2, 6, 4, std::sqrt(0.2), name + "W_2");
    verify(distance(b.b_1, Vector<double>::Zero(6)) +
               distance(b.b_2, Vector<double>::Zero(4)), 0);
    for_each_weight([](auto, const auto& a, const auto& c) {
      verify(distance(a, c), 0);
    }, b.attention, xavier<double>({4, 2}, 7, name));
  }
  drawn(m.U, 4, 5, 0.5, "U");
  BOOST_TEST(m.blocks.size() == 2u);
}
BOOST_AUTO_TEST_CASE(every_weight_is_visited) {
  std::string names;
  for_each_weight([&](std::string name, const auto&) { names += name + ' '; },
                  draw_model({5, 3, 4, 2, 1, 6}, 7));
  BOOST_TEST(names == "E P W_Q W_K W_V W_O b_Q b_K b_V b_O "
                      "W_1 b_1 W_2 b_2 W_3 gain_1 gain_2 U ");
}
BOOST_AUTO_TEST_CASE(losses_and_batches_by_hand) {
  auto m = draw_model({5, 3, 4, 2, 1, 6}, 7);
  m.U.setZero();
  const Example e{{0, 1, 2}, {-1, 3, 4}}, f{{4}, {0}};
  const double one = std::log(5.0);
  verify(std::abs(model_loss<double>(m, e, 0.5, nullptr) - one), 0x1p-51);
  Adam adam(m);
  verify(std::abs(train_step(m, adam, {e, f}) - one), 0x1p-51);
  int made = 0;
  const auto make = [&](std::mt19937_64&) { return ++made, f; };
  BOOST_TEST(train(m, 3, make, 1).size() == 3u);
  BOOST_TEST(made == 48);
}

// check what the model learns
const ModelShape small{10, 16, 16, 1, 2, 32};
constexpr int steps = 400;

LanguageModel<double> trained(std::uint64_t seed, Index blocks,
                              std::vector<double>* losses = nullptr) {
  ModelShape shape = small;
  shape.blocks = blocks;
  auto m = draw_model(shape, seed);
  const auto curve = train(m, steps, [](std::mt19937_64& bits) {
    return induction(10, 16, bits);
  }, seed);
  if (losses) *losses = curve;
  return m;
}
BOOST_AUTO_TEST_CASE(tasks_have_known_answers) {
  std::mt19937_64 bits(7);
  std::array<int, 16> seen{};
  long wrong = 0;
  for (int k = 0; k < 200; ++k) {
    const Example e = induction(10, 16, bits), f = previous_token(10, 16, bits);
    const std::size_t p = std::size_t(
        std::find_if(e.targets.begin(), e.targets.end(),
                     [](Index t) { return t >= 0; }) - e.targets.begin());
    ++seen[p];
    for (std::size_t i = 1; i < 16; ++i) {
      for (std::size_t j = 0; j < i; ++j)
        wrong += (e.tokens[i] == e.tokens[j]) != ((i - j) % p == 0);
      wrong += i >= p && i < 15 && e.targets[i] != e.tokens[i + 1];
      wrong += f.targets[i] != f.tokens[i - 1];
    }
    wrong += f.targets[0] != -1;
    wrong += e.targets[15] != e.tokens[16 - p];
  }
  for (std::size_t p = 0; p < 16; ++p)
    wrong += (seen[p] > 0) != (5 <= p && p < 10);
  verify(double(wrong), 0);
}
BOOST_AUTO_TEST_CASE(refuses_periods_without_tokens) {
  std::mt19937_64 bits(7);
  BOOST_TEST(induction(9, 16, bits).tokens.size() == 16u);
  BOOST_CHECK_EXCEPTION(induction(8, 16, bits), std::invalid_argument,
                        says("length 16 needs 9 tokens of 8"));
  BOOST_CHECK_EXCEPTION(induction(8, 2, bits), std::invalid_argument,
                        says("induction: length 2"));
}
BOOST_AUTO_TEST_CASE(previous_token_is_learned) {
  ModelShape shape = small;
  shape.blocks = 1;
  auto m = draw_model(shape, 1);
  const auto make = [](std::mt19937_64& bits) {
    return previous_token(10, 16, bits);
  };
  const auto losses = train(m, 300, make, 1);
  std::mt19937_64 bits(99);
  std::vector<BlockTrace<double>> t;
  double least = 1;
  for (int k = 0; k < 20; ++k) {
    model_loss<double>(m, make(bits), 1, nullptr, &t);
    const auto A = stacked(t[0].heads.A);
    for (Index i = 1; i < 16; ++i) least = std::min(least, A(i, i - 1));
  }
  fact("loss", losses.back());
  fact("least", least);
  verify(1 - least, 0.4);
  verify(losses.back(), 0.02);
}
BOOST_AUTO_TEST_CASE(induction_is_learned) {
  std::vector<double> losses;
  const auto m = trained(2, 2, &losses);
  std::mt19937_64 bits(99);
  std::vector<BlockTrace<double>> t;
  double answer = 0, previous = 0, loss = 0, count = 0;
  for (int k = 0; k < 50; ++k) {
    const Example e = induction(10, 16, bits);
    loss += model_loss<double>(m, e, 1, nullptr, &t);
    const auto first = stacked(t[0].heads.A), second = stacked(t[1].heads.A);
    Index p = 0;
    while (e.targets[std::size_t(p)] < 0) ++p;
    for (Index i = p; i < 16; ++i) {
      for (Index j = 0; j < i; ++j)
        if (e.tokens[std::size_t(j)] == e.targets[std::size_t(i)])
          answer += second(i, j);
      ++count;
    }
    for (Index i = 1; i < p; ++i)
      previous += first(i, i - 1) / double(50 * (p - 1));
  }
  fact("steps", steps);
  fact("parameters", attn::parameter_count(m));
  fact("on_answer", answer / count, 2);
  fact("on_previous", previous, 2);
  fact("loss", loss / count);
  fact("first_loss", losses.front());
  verify(1 - answer / count, 0.3);
  verify(loss / count, 0.1);
}
BOOST_AUTO_TEST_CASE(one_layer_is_not_enough) {
  std::vector<double> losses;
  trained(2, 1, &losses);
  double least = losses.front();
  for (const double loss : losses) least = std::min(least, loss);
  fact("least", least);
  refute(least, 1);
}
BOOST_AUTO_TEST_CASE(training_is_deterministic) {
  const auto run = [] {
    auto m = draw_model({10, 16, 16, 1, 2, 32}, 3);
    return train(m, 20, [](std::mt19937_64& bits) {
      return induction(10, 16, bits);
    }, 5);
  };
  const auto a = run(), b = run();
  for (std::size_t k = 0; k < a.size(); ++k) verify(std::abs(a[k] - b[k]), 0);
}

// check the answers about blocks
BOOST_AUTO_TEST_CASE(answer_norm_growth) {
  const Matrix<double> X = gaussian<double>(5, 4, 1, "X"),
                       W = gaussian<double>(4, 6, 1, "W"),
                       dY = gaussian<double>(5, 6, 1, "dY");
  const auto slope = [&](const Matrix<double>& w) {
    return Matrix<double>(X.transpose() *
                          norm_vjp(rms_norm(X * w, 0), dY));
  };
  const Matrix<double> dW = slope(W);
  const double size = W.cwiseProduct(dW).cwiseAbs().sum();
  verify(std::abs(W.cwiseProduct(dW).sum()), 0x1p-47 * size);
  verify(distance(2 * slope(2 * W), dW), 0x1p-47 * size);
  verify(std::abs((W - dW).squaredNorm() / (W.squaredNorm() +
                                            dW.squaredNorm()) - 1), 0x1p-45);
}
BOOST_AUTO_TEST_CASE(answer_norm_distance) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Matrix<double> X = gaussian<double>(2, 5, seed, "X");
    X.row(1) *= std::pow(2.0, double(seed % 7) - 3);
    const double epsilon = seed % 3 ? 0 : 0.3;
    const auto stretch = [&](const Normalised<double>& n) {
      return (n.x.row(0) - n.x.row(1)).norm() * n.s.minCoeff() /
             (X.row(0) - X.row(1)).norm();
    };
    verify(stretch(rms_norm(X, epsilon)), 1 + 0x1p-48);
    verify(stretch(layer_norm(X, epsilon)), 1 + 0x1p-48);
    X.row(1) *= X.row(0).norm() / X.row(1).norm();
    verify(std::abs(stretch(rms_norm(X, epsilon)) - 1), 0x1p-48);
  }
}
BOOST_AUTO_TEST_CASE(norms_do_not_undo_collapse) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto m = xavier<double>({12, 3}, seed);
    Matrix<double> X = 0.1 * gaussian<double>(8, 12, seed, "X");
    X.rowwise() += gaussian<double>(1, 12, seed, "mean").row(0);
    for (int layer = 0; layer < 4; ++layer)
      X = rms_norm(attend(m, X), 0).x;
    verify(largest(X.rowwise() - X.row(0)), 1e-9);
    auto one = xavier<double>({1, 1}, seed);
    if (one.W_Q(0) * one.W_K(0) < 0) one.W_Q *= -1;
    const Matrix<double> two{{1e-3}, {-1e-3}}, Y = attend(one, two);
    verify(largest(Y), 1e-3 * largest(two) * largest(one.W_V * one.W_O));
    verify(std::abs(largest(rms_norm(Y, 0).x.row(0) -
                            rms_norm(Y, 0).x.row(1)) - 2), 0x1p-50);
  }
}
BOOST_AUTO_TEST_CASE(answer_fold_mean) {
  const auto b = draw_model({5, 3, 6, 2, 1, 7}, 4).blocks[0];
  const Matrix<double> X = gaussian<double>(4, 6, 4, "X");
  const Matrix<double> P = Matrix<double>::Identity(6, 6) -
                           Matrix<double>::Constant(6, 6, 1 / 6.0);
  auto folded = b;
  folded.attention.W_O = b.attention.W_O * P;
  folded.W_2 = b.W_2 * P;
  folded.rms = true;
  const auto with_mean = block_forward(b, X), without =
      block_forward(folded, X * P);
  verify(distance(with_mean.Y * P, without.Y), 0x1p-46);
  refute(distance(with_mean.Y, without.Y), 0.1);
  folded.rms = false;
  verify(distance(block_forward(folded, X * P).Y, without.Y), 0x1p-46);
}
BOOST_AUTO_TEST_SUITE_END()
