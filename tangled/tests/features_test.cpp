// tests/features_test.cpp: tangled from chapters/07-kernel-checks.nw; edit that file, not this one.
#include "prelude.hpp"
#include "verify.hpp"
#include "quality.hpp"
#include "attn/rounding.hpp"
using namespace attn;

BOOST_AUTO_TEST_SUITE(kernel)

// check random features by quadrature
/// Mean and variance of phi(x) phi(y) over one direction w in R.
template <class F>
std::pair<double, double> over_directions(F features, double x, double y) {
  const Index n = 1201;
  const Matrix<double> W = Vector<double>::LinSpaced(n, -30, 30);
  const Matrix<double> f = features(Matrix<double>{{x}, {y}}, W);
  double first = 0, second = 0;
  for (Index r = 0; r < n; ++r) {
    double term = 0;
    for (Index b = r; b < f.cols(); b += n) term += f(0, b) * f(1, b);
    term *= double(n);
    const double weight =
        0.05 * std::exp(-W(r) * W(r) / 2) / std::sqrt(2 * M_PI);
    first += weight * term;
    second += weight * term * term;
  }
  return {first, second - first * first};
}
/// Its relative error, by counting roundings.
double quadrature_error(double x, double y) {
  return gamma(1201 + Index(8 * (450 + 30 * (std::abs(x) + std::abs(y)))),
               0x1p-53);
}
BOOST_AUTO_TEST_CASE(positive_features_by_quadrature) {
  for (const double x : {-0.7, 0.0, 1.1})
    for (const double y : {-1.1, 0.2, 0.9}) {
      const auto [mean, var] = over_directions(
          [](const auto& X, const auto& W) {
            return positive_features(X, W);
          }, x, y);
      const double k = std::exp(x * y), s = (x + y) * (x + y);
      const double error = quadrature_error(x, y);
      verify(std::abs(mean / k - 1), error);
      verify(std::abs(var / (k * k) - std::expm1(s)),
             3 * error * std::exp(s));
    }
}
BOOST_AUTO_TEST_CASE(trigonometric_features_by_quadrature) {
  for (const double x : {-0.7, 0.0, 1.1})
    for (const double y : {-1.1, 0.2, 0.9}) {
      const auto [mean, var] = over_directions(
          [](const auto& X, const auto& W) {
            return trigonometric_features(X, W);
          }, x, y);
      const double k = std::exp(x * y), t = (x - y) * (x - y);
      const double error = quadrature_error(x, y);
      const double wave = 2 * std::pow(std::sinh(t / 2), 2);
      verify(std::abs(mean / k - 1), error * std::exp(t / 2));
      verify(std::abs(var / (k * k) - wave), 3 * error * std::exp(t));
    }
}

// check random features at random
BOOST_AUTO_TEST_CASE(random_features_in_mean) {
  const Index d = 4, sets = 20000;
  double orthogonal = 0, independent = 0;
  for (std::uint64_t pair = 1; pair <= 4; ++pair) {
    const Matrix<double> X = 0.4 * gaussian<double>(2, d, pair, "X");
    const double k = std::exp(X.row(0).dot(X.row(1)));
    const double s = (X.row(0) + X.row(1)).squaredNorm();
    const double t = (X.row(0) - X.row(1)).squaredNorm();
    const Matrix<double> W = gaussian<double>(sets * d, d, pair, "W");
    const Matrix<double> U =
        orthogonal_directions<double>(sets * d, d, pair + 20);

    // hold the means to their standard errors
    const auto judge_mean = [&](const Matrix<double>& F, double variance) {
      const double mean = F.row(0).dot(F.row(1));
      verify(std::abs(mean / k - 1),
             4.5 * std::sqrt(variance / double(sets * d)));
    };
    judge_mean(positive_features(X, W), std::expm1(s));
    judge_mean(positive_features(X, U), std::expm1(s));
    const double wave = 2 * std::pow(std::sinh(t / 2), 2);
    judge_mean(trigonometric_features(X, W), wave);
    judge_mean(trigonometric_features(X, U), wave);

    // compare the spread of both kinds of directions
    const auto spread = [&](const Matrix<double>& F, double variance) {
      double sum = 0;
      for (Index b = 0; b < sets; ++b) {
        double estimate = -k;
        for (Index r = b * d; r < F.cols(); r += sets * d)
          estimate += double(sets) *
              F.row(0).segment(r, d).dot(F.row(1).segment(r, d));
        sum += estimate * estimate / (k * k);
      }
      return sum / double(sets) * double(d) / variance;
    };

    // hold the spread to the predicted variance
    const auto judge_spread = [&](const Matrix<double>& F, double second,
                                  double third, double fourth) {
      const double v = second - 1, D = double(d);
      const double mu4 = fourth - 4 * third + 6 * second - 3;
      const double square = (mu4 + 3 * (D - 1) * v * v) / (D * D * D) -
                            v * v / (D * D);
      verify(std::abs(spread(F, v) - 1),
             4.5 * std::sqrt(square / double(sets)) * D / v);
    };
    judge_spread(positive_features(X, W), std::exp(s), std::exp(3 * s),
                 std::exp(6 * s));
    judge_spread(trigonometric_features(X, W), std::cosh(t),
                 (3 * std::exp(t) + std::exp(-3 * t)) / 4,
                 (3 * std::exp(2 * t) + 4 + std::exp(-6 * t)) / 8);
    const double plus = std::expm1(s);
    independent += spread(positive_features(X, W), plus) / 4;
    orthogonal += spread(positive_features(X, U), plus) / 4;
  }
  fact("reduction", orthogonal / independent);
  verify(orthogonal / independent, 1);
}
BOOST_AUTO_TEST_CASE(orthogonal_waves_far_apart) {
  const Index d = 4, sets = 200000;
  const Matrix<double> W = orthogonal_directions<double>(sets * d, d, 3);
  for (const double t : {4.0, 12.0}) {
    Matrix<double> X = Matrix<double>::Zero(2, d);
    X(0, 0) = std::sqrt(t) / 2, X(1, 0) = -X(0, 0);
    const double z = t / 2, k = std::exp(-z / 2), root = k * k;
    const double own = (1 + root * root * root * root) / 2 - root * root;
    const double both = root * (1 - z + z * z / 6) - root * root;

    // measure the variance of blocks of waves
    const Matrix<double> F = trigonometric_features(X, W);
    const RowVector<double> terms = double(sets * d) * k *
        F.row(0).cwiseProduct(F.row(1));
    Vector<double> spread(sets);
    for (Index b = 0; b < sets; ++b) {
      const double sum = terms.segment(b * d, d).sum() +
                         terms.segment((sets + b) * d, d).sum();
      spread(b) = std::pow(sum / double(d) - root, 2) * double(d);
    }
    const double error = (spread.array() / own - 1).matrix().norm() /
                         double(sets);
    verify(std::abs(spread.mean() / own - (1 + 3 * both / own)), 4.5 * error);
    BOOST_TEST(((spread.mean() > own) == (t > 9.5)));
  }
}
BOOST_AUTO_TEST_CASE(directions_are_orthogonal) {
  for (const Index d : {1, 3, 8}) {
    const Index m = 3 * d + 1;
    const Matrix<double> W = orthogonal_directions<double>(m, d, 5);
    const Matrix<double> G = gaussian<double>(m, d, 5, "directions");
    for (Index r = 0; r < m; ++r) {
      verify(std::abs(W.row(r).norm() / G.row(r).norm() - 1), 0x1p-50);
      for (Index s = r - r % d; s < r; ++s)
        verify(std::abs(W.row(r).dot(W.row(s))) /
                   (W.row(r).norm() * W.row(s).norm()),
               double(4 * d) * 0x1p-52);
    }
  }
  const Matrix<double> pairs = orthogonal_directions<double>(20000, 2, 7);
  for (Index r = 0; r < 20000; r += 2)  // some are nearly parallel at first
    verify(std::abs(pairs.row(r).normalized().dot(
               pairs.row(r + 1).normalized())), 8 * 0x1p-52);
  const Matrix<double> W = orthogonal_directions<double>(4000, 5, 6);
  verify(std::abs(W.rowwise().squaredNorm().mean() - 5),
         4.5 * std::sqrt(10.0 / 4000));
  BOOST_TEST(orthogonal_directions<double>(3, 0, 1).size() == 0);
}

// check the quality of features
BOOST_AUTO_TEST_CASE(quality) {
  Index orthogonal_wins = 0;
  std::vector<Index> won;
  for (const Index d : {4, 16, 64}) {
    const auto all = layers(256, d);
    std::map<std::string, std::vector<double>> error;
    for (const Index m : {64, 256, 1024})
      error["positive_" + std::to_string(m)] =
          over(all, [m](const Layer& x) { return x.positive(m); });
    error["orthogonal_256"] =
        over(all, [](const Layer& x) { return x.orthogonal(256); });
    error["waves_256"] =
        over(all, [](const Layer& x) { return x.waves(256); });
    error["landmarks_64"] =
        over(all, [](const Layer& x) { return x.landmarks(64); });
    error["elu"] = over(all, [](const Layer& x) { return x.elu(); });
    error["mean"] = over(all, [](const Layer& x) { return x.mean(); });

    // print a column of the table
    for (const auto& [name, x] : error) {
      const std::size_t cut = std::min(name.find('_'), name.size());
      fact(name.substr(0, cut) + "_" + std::to_string(d) + name.substr(cut),
           median(x), 2);
    }

    // hold a column to what is said of it
    const auto leads = [&](const char* a, const char* b) {
      won.push_back(wins(error[a], error[b]));
      verify(12, double(won.back()));
    };
    leads("elu", "mean");
    const Index half = wins(error["orthogonal_256"], error["positive_256"]);
    orthogonal_wins += half;
    verify(std::abs(double(half) - 7.5), 4);
    for (const auto& [name, x] : error)
      if (name.starts_with("positive") && d > 4) leads("mean", name.c_str());
    if (d > 4) verify(1, *std::ranges::min_element(error["waves_256"]));
    for (const auto& [name, x] : error)
      if (d < 64 && name != "landmarks_64") leads("landmarks_64", name.c_str());
    if (d == 64) leads("mean", "landmarks_64");
    if (d == 4) {
      verify(median(error["waves_256"]), median(error["positive_256"]));
      fact("waves_lost", wins(error["positive_256"], error["waves_256"]));
    }
    if (d == 16) {
      // give waves sixteen directions for each key
      const double waves =
          median(over(all, [](const Layer& x) { return x.waves(4096); }));
      const double positive =
          median(over(all, [](const Layer& x) { return x.positive(4096); }));
      fact("waves_16_4096", waves, 2);
      fact("positive_16_4096", positive, 2);
      verify(waves, positive);
    }
  }
  fact("orthogonal_wins", orthogonal_wins);

  // tell how clear the comparisons were
  const Index narrowest = *std::ranges::min_element(won);
  fact("compared", won.size());
  fact("unanimous", std::ranges::count(won, 15));
  fact("narrowest", narrowest);
  verify(std::abs(double(narrowest - won.front())), 0);
}
struct Noted {
  std::vector<double> error, landmarks, mean, lack;
};
Noted note_quality(const std::string& name, Index n, double T) {
  const auto all = layers(n, 16, T);
  const auto x = over(all, [n](const Layer& layer) {
    return std::log(double(n)) -
           gibbs_entropy(scores(layer.Q, layer.K)).mean();
  });
  const Noted noted{
      over(all, [](const Layer& layer) { return layer.positive(256); }),
      over(all, [](const Layer& layer) { return layer.landmarks(32); }),
      over(all, [](const Layer& layer) { return layer.mean(); }), x};
  fact(name + "_lack", median(noted.lack), 2);
  if (T >= 1) {
    // hold the entropy to half the variance of scores
    Vector<double> off(15), bias(15);
    for (Index k = 0; k < 15; ++k) {
      const Layer& layer = all[std::size_t(k)];
      const Vector<double> v = layer.Q.rowwise().squaredNorm() / (16 * T);
      off(k) = x[std::size_t(k)] - v.mean() / 2;
      bias(k) = (v.array() * v.array().exp()).mean() / double(n);
    }
    const double spread = (off.array() - off.mean()).square().sum() / 14;
    verify(std::abs(off.mean()), bias.mean() + 4.5 * std::sqrt(spread / 15));
  }
  fact(name + "_positive", median(noted.error), 2);
  fact(name + "_landmarks", median(noted.landmarks), 2);
  fact(name + "_mean", median(noted.mean), 2);
  return noted;
}
BOOST_AUTO_TEST_CASE(quality_by_entropy) {
  const Noted few = note_quality("n64", 64, 1);
  const Noted unit = note_quality("n256", 256, 1);
  const Noted many = note_quality("n1024", 1024, 1);
  const Noted hot = note_quality("T4", 256, 4);
  const Noted warm = note_quality("T2", 256, 2);
  const Noted cold = note_quality("cold", 256, 0.5);
  const auto leads = [](const auto& a, const auto& b) {
    verify(12, double(wins(a, b)));
  };
  leads(hot.error, warm.error);
  leads(warm.error, unit.error);
  leads(few.error, many.error);
  verify(median(few.error), median(unit.error));
  verify(median(unit.error), median(many.error));
  leads(hot.error, hot.mean);
  fact("warm_wins", wins(warm.error, warm.mean));
  fact("scatter", scatter(unit.error), 2);
  verify(double(wins(warm.error, warm.mean)), 11);
  for (const Noted& row : {few, unit, many, cold})
    leads(row.mean, row.error);

  // compare landmarks with exponentials
  for (const Noted& row : {few, unit, hot, warm})
    leads(row.landmarks, row.error);
  leads(few.landmarks, many.landmarks);
  for (const Noted& row : {many, cold})
    verify(double(wins(row.landmarks, row.error)), 11);
}
BOOST_AUTO_TEST_CASE(errors_fall_like_the_root_of_m) {
  const Layer layer(64, 4, 8);
  double logs[2], error = 0;
  const Index m[2] = {128, 1024};
  for (const int k : {0, 1}) {
    Vector<double> square(60);
    for (Index draw = 0; draw < 60; ++draw) {
      const Matrix<double> W = gaussian<double>(
          m[k], 4, std::uint64_t(draw), k == 0 ? "few" : "many");
      square(draw) = std::pow(
          relative(performer(layer.Q, layer.K, layer.V, W), layer.O), 2);
    }
    const double mean = square.mean();
    error += (square.array() / mean - 1).square().mean() / 60;
    logs[k] = std::log(mean);
  }
  fact("slope", (logs[1] - logs[0]) / std::log(8.0));
  verify(std::abs(logs[0] - logs[1] - std::log(8.0)),
         4.5 * std::sqrt(error) + 1 / double(m[0]));
}

// check errata about features
double median_misfit(const Matrix<double>& estimate,
                     const Matrix<double>& kernel) {
  const Matrix<double> ratio = estimate.cwiseQuotient(kernel);
  std::vector<double> r(ratio.data(), ratio.data() + ratio.size());
  const double factor = median(r);
  for (double& x : r) x = std::abs(x / factor - 1);
  return median(r);
}
BOOST_AUTO_TEST_CASE(the_three_feature_maps) {
  for (const Index d : {4, 16}) {
    const Layer x(64, d);
    const Matrix<double> kernel = scores(x.Q, x.K).array().exp();
    const double off = median_misfit(
        elu_features(x.Q) * elu_features(x.K).transpose(), kernel);
    fact("elu_" + std::to_string(d), off);
    refute(off, 0.3);
  }
  const Layer x(64, 16);
  const Matrix<double> W = gaussian<double>(64, 16, 1, "W");
  const Matrix<double> F = trigonometric_features(kernel_coordinates(x.Q), W);
  const Matrix<double> P = trigonometric_features(kernel_coordinates(x.K), W);

  // count what became negative
  const Matrix<double> kernel = F * P.transpose();
  const double negative = double((kernel.array() < 0).count()) / 4096;
  const Index sums = (kernel.rowwise().sum().array() < 0).count();
  fact("negative", negative);
  fact("negative_sums", sums);
  refute(negative, 0.1);
  refute(double(sums), 1);
  const Matrix<double> positive =
      positive_features(kernel_coordinates(x.Q), W) *
      positive_features(kernel_coordinates(x.K), W).transpose();
  verify(double((positive.array() <= 0).count()), 0);

  // measure waves over fifteen layers
  std::vector<double> error =
      over(layers(64, 16), [](const Layer& y) { return y.waves(64); });
  std::sort(error.begin(), error.end());
  fact("trigonometric_16", median(error));
  fact("trigonometric_least", error.front(), 2);
  fact("trigonometric_most", error.back());
  refute(error.front(), 1);
}
BOOST_AUTO_TEST_CASE(column_or_row) {
  double gap = 0;
  for (const Index d : {2, 3, 5}) {
    const auto seed = std::uint64_t(d);
    const Matrix<double> phi = elu_features(gaussian<double>(1, 3, seed, "q"));
    const Matrix<double> psi = elu_features(gaussian<double>(4, 3, seed, "k"));
    const Matrix<double> V = gaussian<double>(4, d, seed, "v");
    const double Z = (psi * phi.transpose()).sum();
    Matrix<double> column = Matrix<double>::Zero(d, 1);
    for (Index j = 0; j < 4; ++j)
      column += phi.row(0).dot(psi.row(j)) * V.row(j).transpose();
    column /= Z;
    const Matrix<double> row = phi * (psi.transpose() * V) / Z;
    const Matrix<double> size = phi * (psi.transpose() * V.cwiseAbs()) / Z;
    verify(row.transpose(), column,
           Matrix<double>(2 * gamma(9, 0x1p-53) * size.transpose()));
    const double off =
        largest(column.replicate(1, d) - row.replicate(d, 1));
    refute(off, 0.1);
    gap = std::max(gap, off);
  }
  fact("gap", gap);
}
BOOST_AUTO_TEST_CASE(printed_random_features) {
  const Layer x(64, 16);
  const Matrix<double> q = kernel_coordinates(x.Q);
  const Matrix<double> k = kernel_coordinates(x.K);
  const Matrix<double> W = gaussian<double>(64, 16, 1, "W");
  const Matrix<double> kernel = scores(x.Q, x.K).array().exp();
  const auto middle = [&](const Matrix<double>& estimate) {
    const Matrix<double> ratio = estimate.cwiseQuotient(kernel);
    return median({ratio.data(), ratio.data() + ratio.size()});
  };
  const Matrix<double> F = (q * W.transpose()).array().exp() / 4;
  const Matrix<double> P = (k * W.transpose()).array().exp() / 4;
  const Matrix<double> printed = F * P.transpose();
  const Matrix<double> corrected =
      positive_features(q, W) * positive_features(k, W).transpose();
  fact("factor", middle(printed));
  fact("corrected", middle(corrected));
  refute(middle(printed), 10);

  // restore the factors that were lost
  const Vector<double> a = (q.rowwise().squaredNorm() / 2).array().exp();
  const Vector<double> b = (k.rowwise().squaredNorm() / 2).array().exp();
  const Matrix<double> lost =
      Matrix<double>(a.asDiagonal() * corrected) * b.asDiagonal() * 4;
  const double size = 2 * (W.cwiseAbs() * q.cwiseAbs().transpose()).maxCoeff() +
                      2 * (W.cwiseAbs() * k.cwiseAbs().transpose()).maxCoeff();
  const double most = 2 * gamma(20, 0x1p-53) * (size + a.array().log().maxCoeff()
                      + b.array().log().maxCoeff()) + gamma(2 * 64 + 10, 0x1p-53);
  verify(printed, lost, Matrix<double>(most * printed));
}

// check the answers of the kernel chapter
BOOST_AUTO_TEST_CASE(answer_origin) {
  const Matrix<double> Q = gaussian<double>(3, 4, 1, "Q");
  const Matrix<double> K = gaussian<double>(5, 4, 1, "K");
  const RowVector<double> c = gaussian<double>(1, 4, 1, "c").row(0);
  const Matrix<double> P = Q.rowwise() + c, L = K.rowwise() + c;
  const auto unit = Metric<double>::identity(4);
  const auto plain = [&](const Matrix<double>& q, const Matrix<double>& k) {
    return softmax(gaussian_scores(q, k, unit));
  };
  const double size = 4 * std::pow(
      std::max(P.rowwise().norm().maxCoeff(), L.rowwise().norm().maxCoeff()) +
      std::max(Q.rowwise().norm().maxCoeff(), K.rowwise().norm().maxCoeff()),
      2);
  const double most = 4 * gamma(9, 0x1p-53) * size + 2 * gamma(10, 0x1p-53);
  const Matrix<double> A = softmax(scores(Q, K)), G = plain(Q, K);
  verify(distance(softmax(scores(Q, L)), A), most);
  verify(distance(plain(P, L), G), most);
  refute(distance(softmax(scores(P, K)), A), 0.01);
  const RowVector<double> odds = (K * c.transpose() / 2).transpose();
  verify(distance(softmax(Matrix<double>(scores(Q, K).rowwise() + odds)),
                  softmax(scores(P, K))), most);
  refute(distance(plain(Q, L), G), 0.01);
}
BOOST_AUTO_TEST_CASE(answer_identity) {
  const Index n = 12;
  const Matrix<double> I = Matrix<double>::Identity(n, n);
  const Matrix<double> K = gaussian<double>(n, 5, 1, "K");
  verify((linear_attention(I, I, I) - I).norm(), 0);
  for (const Index m : {1, 4, 11}) {
    const auto least = eckart_young(singular_values(I), m);
    verify(distance(least.frobenius, std::sqrt(double(n - m))),
           4 * 0x1p-53 * std::sqrt(double(n - m)));
    const Matrix<double> W = gaussian<double>(m, 5, 1, "W");
    verify(least.frobenius, (performer(K, K, I, W) - I).norm());
  }
}
BOOST_AUTO_TEST_CASE(answer_retention) {
  const Index n = 9;
  const double alpha = 0.8;
  const Matrix<double> S = gaussian<double>(n, n, 1, "S");
  const Matrix<double> V = gaussian<double>(n, 2, 1, "V");
  const Matrix<double> Phi = S.array().exp();
  const Matrix<double> Psi = Matrix<double>::Identity(n, n);
  const auto rule = decaying<double>(Vector<double>::Constant(n, alpha));
  const Matrix<double> O =
      normalise(chunked(Phi, Psi, append_ones(V), rule, 4).O);
  Matrix<double> biased = Matrix<double>::Constant(n, n, -HUGE_VAL);
  for (Index t = 0; t < n; ++t)
    for (Index s = 0; s <= t; ++s)
      biased(t, s) = S(t, s) + double(t - s) * std::log(alpha);
  const Matrix<double> truth = average(softmax(biased), V);
  const Matrix<double> size = average(softmax(biased), V.cwiseAbs());
  verify((O - truth).cwiseAbs().cwiseQuotient(size).maxCoeff(),
         gamma(8 * n + 40, 0x1p-53));
}
Matrix<double> taylor_features(const Matrix<double>& X) {
  const Index d = X.cols();
  Matrix<double> F(X.rows(), (d + 1) * (d + 2) / 2);
  for (Index i = 0; i < X.rows(); ++i) {
    Index r = 0;
    F(i, r++) = 1;
    for (Index a = 0; a < d; ++a) {
      F(i, r++) = X(i, a);
      for (Index b = 0; b <= a; ++b)
        F(i, r++) = X(i, a) * X(i, b) * (a == b ? std::sqrt(0.5) : 1);
    }
  }
  return F;
}
BOOST_AUTO_TEST_CASE(answer_taylor) {
  const Matrix<double> X = 0.8 * gaussian<double>(9, 4, 1, "X");
  const Matrix<double> Y = 0.8 * gaussian<double>(7, 4, 1, "Y");
  const Matrix<double> S = X * Y.transpose();
  const Matrix<double> T =
      taylor_features(X) * taylor_features(Y).transpose();
  const Matrix<double> size = 2 * taylor_features(X.cwiseAbs()) *
                              taylor_features(Y.cwiseAbs()).transpose();
  for (Index k = 0; k < S.size(); ++k) {
    const double t = S.data()[k], R = std::abs(t);
    const double most = gamma(24, 0x1p-53) * size.data()[k];
    verify(std::abs(T.data()[k] - (1 + t + t * t / 2)), most);
    verify(std::abs(T.data()[k] - std::exp(t)),
           R * R * R * std::exp(R) / 6 + most);
    verify(0.5, T.data()[k]);
  }
}
BOOST_AUTO_TEST_CASE(answer_antithetic) {
  const auto pairs = [](const Matrix<double>& X, const Matrix<double>& W) {
    Matrix<double> both(2, 2 * W.rows());
    both << positive_features(X, W), positive_features(X, -W);
    return Matrix<double>(both / std::sqrt(2.0));
  };
  for (const double x : {0.05, 0.4, 1.1})
    for (const double y : {-0.2, 0.3, 0.9}) {
      const double k = std::exp(x * y), t = (x + y) * (x + y);
      const double error = 3 * quadrature_error(x, y) * std::exp(t);
      const double pair = over_directions(pairs, x, y).second / (k * k);
      verify(std::abs(pair - (std::cosh(t) - 1)), error);
      const double two = std::expm1(t) / 2;
      verify(std::abs(two - pair - std::exp(-t) * two), error);
    }
}
BOOST_AUTO_TEST_CASE(answer_crossing) {
  for (const double a : {0.3, 1.0, 1.2, 3.0}) {
    const auto waves_ahead = [&](double angle) {
      const double c = 2 * a * a * std::cos(angle), u = 2 * a * a;
      return std::log(std::cosh(u - c)) < u + c;
    };
    double low = M_PI / 2, high = M_PI;
    int turns = 0;  // of a thousand steps, those at which the lead changes
    for (int k = 0; k < 1000; ++k) {
      const double step = M_PI / 1000;
      turns += waves_ahead(k * step) != waves_ahead((k + 1) * step);
    }
    BOOST_TEST((turns == 1 && waves_ahead(low) && !waves_ahead(high)));
    for (int k = 0; k < 40; ++k) {
      const double middle = (low + high) / 2;
      (waves_ahead(middle) ? low : high) = middle;
    }
    verify(-4 * a * a * std::cos(low),
           std::log(2.0) + gamma(2000, 0x1p-53));
  }
}
BOOST_AUTO_TEST_CASE(answer_kaczmarz) {
  const Matrix<double> Psi = gaussian<double>(4, 9, 1, "Psi");
  const Matrix<double> V = gaussian<double>(4, 2, 1, "V");
  const Matrix<double> gram = Psi * Psi.transpose();
  const Matrix<double> I = Matrix<double>::Identity(4, 4);
  const Matrix<double> solved =
      solve_rows(cholesky(gram), Psi.transpose());
  const Matrix<double> limit = solved * V;
  const auto rule = delta<double>(
      Psi.rowwise().squaredNorm().cwiseInverse());
  Matrix<double> M;
  double before = limit.norm();

  // bound how much a pass must gain
  const Vector<double> length = Psi.rowwise().norm();
  const Matrix<double> angles = gram.cwiseQuotient(length * length.transpose());
  const double shrink = std::sqrt(1 - angles.determinant());
  const double floor = gamma(200, 0x1p-53) * limit.norm() * gram.norm() *
                       solve_rows(cholesky(gram), I).norm();

  // gain no more than a pass must
  const Matrix<double> two{{1, 0}, {0.8, 0.6}}, start{{0}, {1}};
  const auto one = delta<double>(Vector<double>::Ones(2));
  const Matrix<double> none = Matrix<double>::Zero(2, 1);
  verify(std::abs(recurrence(two, two, none, one, start).M.norm() -
                  std::sqrt(1 - 0.36)), 0x1p-51);
  for (int pass = 0; pass < 100; ++pass) {
    M = recurrence(Psi, Psi, V, rule, M).M;
    const double now = (M - limit).norm();
    verify(now, shrink * before + floor);
    before = now;
  }
  const Matrix<double> U = orthogonal_directions<double>(4, 9, 3);
  const auto once = recurrence(
      U, U, V, delta<double>(U.rowwise().squaredNorm().cwiseInverse()));
  verify(distance(U * once.M, V), gamma(4 * 40, 0x1p-53) * V.norm() *
                                      U.norm() / U.rowwise().norm().minCoeff());
}
BOOST_AUTO_TEST_SUITE_END()
