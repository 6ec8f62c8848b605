// bench/layer_shared.cpp: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
#include "attn/layer.hpp"
#include "attn/random.hpp"
#include <map>
#include <string>
using namespace attn;

// make a layer of twelve heads
static Layer<float> twelve_heads(bool by_definition) {
  Layer<float> L{xavier<float>({768, 12}, 1)};
  L.rules.mask = causal(unlimited, unlimited);
  L.rules.by_definition = by_definition;
  L.rotary = Rotary<float>{frequencies<double>(64), Pairs::halves};
  return L;
}

// lend the layer to other languages
static const Layer<float> layer = twelve_heads(false);
static Matrix<float> X, dY;
static LayerTrace<float> trace;
static LayerGradient<float> pulled;

/// Poses the problem of n rows; the forward pass; its gradient.
extern "C" void layer_pose(Index n) {
  X = gaussian<float>(n, 768, 1, "X"), dY = gaussian<float>(n, 768, 1, "dY");
}
extern "C" void layer_attend() { trace = layer_forward(layer, X); }
extern "C" void layer_differentiate() {
  pulled = layer_vjp(layer, X, trace, dY);
}
/// The first number of what has this name, or null.
extern "C" const float* layer_numbers(const char* name) {
  const auto &w = layer.weights, &b = pulled.weights;
  const std::map<std::string, const Matrix<float>*> all{
      {"X", &X}, {"dY", &dY}, {"Y", &trace.Y}, {"dX", &pulled.X},
      {"W_Q", &w.W_Q}, {"W_K", &w.W_K}, {"W_V", &w.W_V}, {"W_O", &w.W_O},
      {"dW_Q", &b.W_Q}, {"dW_K", &b.W_K}, {"dW_V", &b.W_V},
      {"dW_O", &b.W_O}};
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second->data();
}
