// python/xla.cpp: tangled from chapters/10b-python.nw; edit that file, not this one.
#include "attn.h"
#include "xla/ffi/api/ffi.h"
#include <cstdint>
#include <utility>
#include <vector>
namespace ffi = xla::ffi;

// see a buffer of XLA as a view
static std::int32_t type_of(ffi::DataType t) {
  switch (t) {
    case ffi::F32: return ATTN_F32;
    case ffi::F64: return ATTN_F64;
    case ffi::BF16: return ATTN_BF16;
    case ffi::F16: return ATTN_F16;
    case ffi::PRED: return ATTN_B8;
    default: return 0;
  }
}
struct Seen {
  attn_view view{};
  std::int64_t bytes = 0;  // of one of the leading indices
  std::int64_t lead() const { return view.extent[0]; }
};
static Seen see(ffi::AnyBuffer b, bool positions_first) {
  const auto n = b.dimensions();
  Seen x;

  // join the extents that lead
  std::int64_t lead = 1, last[3] = {1, 1, 1};
  for (std::size_t k = 0; k < n.size(); ++k)
    if (k + 3 < n.size()) lead *= n[k];
    else last[k + 3 - n.size()] = n[k];
  if (positions_first) std::swap(last[0], last[1]);
  const auto [h, r, c] = last;
  x.view = {b.untyped_data(), type_of(b.element_type()), 4, {lead, h, r, c},
            {h * r * c, positions_first ? c : r * c,
             positions_first ? h * c : c, 1}};
  const auto size = std::int64_t(ffi::ByteWidth(b.element_type()));
  x.bytes = h * r * c * size;
  return x;
}
static Seen see_pairs(ffi::AnyBuffer b, std::int64_t n, std::int64_t m) {
  Seen x = see(b, false);
  if (x.view.extent[2] == 1) x.view.extent[2] = n, x.view.stride[2] = 0;
  if (x.view.extent[3] == 1) x.view.extent[3] = m, x.view.stride[3] = 0;
  return x;
}

// see rows of XLA as a view
static Seen see_rows(ffi::AnyBuffer b) {
  const auto n = b.dimensions();
  Seen x;
  std::int64_t lead = 1;
  for (std::size_t k = 0; k + 2 < n.size(); ++k) lead *= n[k];
  const auto h = n[n.size() - 2], r = n[n.size() - 1];
  x.view = {b.untyped_data(), type_of(b.element_type()), 3, {lead, h, r},
            {h * r, r, 1}};
  x.bytes = h * r * std::int64_t(ffi::ByteWidth(b.element_type()));
  return x;
}

// call once for each mask
/// Calls f for each part of the leading indices that has one mask.
template <class F>
static ffi::Error for_each_mask(std::vector<Seen*> all, std::int64_t B,
                                F f) {
  std::int64_t parts = 1;
  for (const Seen* x : all)
    if (x->lead() != 1 && x->lead() != B) parts = x->lead();
  if (parts > 1 && B % parts != 0)
    return ffi::Error::InvalidArgument("attn: leading extents do not fit");

  // give each part its share of the leading indices
  std::vector<std::int64_t> step;
  for (Seen* x : all) {
    step.push_back(x->lead() == 1 ? 0 : x->lead() / parts * x->bytes);
    if (x->lead() > 1) x->view.extent[0] /= parts;
  }
  for (std::int64_t p = 0; p < parts; ++p) {
    if (f() != ATTN_OK) return ffi::Error::InvalidArgument(attn_message());
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k]->view.data = static_cast<char*>(all[k]->view.data) + step[k];
  }
  return ffi::Error::Success();
}

// make a rule of XLA's attributes
static_assert(ATTN_SCALE == 1 && ATTN_LEFT == 32 && ATTN_RIGHT == 64,
              "attn/jax.py has other bits");
struct Rule {
  attn_rule c{};
  Seen bias, keep;
  std::vector<Seen*> all{};
  Rule(ffi::RemainingArgs rest, std::int64_t arrays, std::int64_t has,
       double scale, std::int64_t left, std::int64_t right,
       std::int64_t n, std::int64_t m) {
    c.size = sizeof c, c.has = has | ATTN_OFFSET, c.scale = scale;
    c.left = left, c.right = right;
    std::size_t next = 0;

    // take an array that may be there
    const auto take = [&](Seen& x, attn_in& field) {
      const auto b = rest.get<ffi::AnyBuffer>(next++);
      if (!b.has_value()) return;
      x = see_pairs(*b, n, m), field = &x.view;
      all.push_back(&x);
    };
    if (arrays & 1) take(bias, c.bias);
    if (arrays & 2) take(keep, c.keep);
  }
};

// handle attention for XLA
static ffi::Error flash(ffi::AnyBuffer q, ffi::AnyBuffer k,
                        ffi::AnyBuffer v, ffi::RemainingArgs rest,
                        ffi::Result<ffi::AnyBuffer> o,
                        ffi::Result<ffi::AnyBuffer> l, std::int64_t arrays,
                        std::int64_t has, double scale, std::int64_t left,
                        std::int64_t right) {
  Seen Q = see(q, true), K = see(k, true), V = see(v, true);
  Seen O = see(*o, true), L = see_rows(*l);
  Rule rule(rest, arrays, has, scale, left, right, Q.view.extent[2],
            K.view.extent[2]);
  rule.all.insert(rule.all.end(), {&Q, &K, &V, &O, &L});
  return for_each_mask(rule.all, Q.lead(), [&] {
    return attn_flash(&Q.view, &K.view, &V.view, &rule.c, &O.view, &L.view);
  });
}

// handle the gradient of attention for XLA
static ffi::Error flash_vjp(
    ffi::AnyBuffer q, ffi::AnyBuffer k, ffi::AnyBuffer v, ffi::AnyBuffer o,
    ffi::AnyBuffer l, ffi::AnyBuffer do_, ffi::RemainingArgs rest,
    ffi::Result<ffi::AnyBuffer> dq, ffi::Result<ffi::AnyBuffer> dk,
    ffi::Result<ffi::AnyBuffer> dv, ffi::Result<ffi::AnyBuffer> dbias,
    std::int64_t arrays, std::int64_t has, double scale, std::int64_t left,
    std::int64_t right) {
  Seen Q = see(q, true), K = see(k, true), V = see(v, true);
  Seen O = see(o, true), L = see_rows(l), dO = see(do_, true);
  Seen dQ = see(*dq, true), dK = see(*dk, true), dV = see(*dv, true);
  Seen dB = see(*dbias, false);
  Rule rule(rest, arrays, has, scale, left, right, Q.view.extent[2],
            K.view.extent[2]);
  rule.all.insert(rule.all.end(),
                  {&Q, &K, &V, &O, &L, &dO, &dQ, &dK, &dV});
  if (arrays & 1) rule.all.push_back(&dB);
  return for_each_mask(rule.all, Q.lead(), [&] {
    return attn_flash_vjp(&Q.view, &K.view, &V.view, &rule.c, &O.view,
                          &L.view, &dO.view, nullptr, &dQ.view, &dK.view,
                          &dV.view, arrays & 1 ? &dB.view : nullptr,
                          nullptr);
  });
}

// export the handlers
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    attn_xla_flash, flash,
    ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()
        .Arg<ffi::AnyBuffer>().RemainingArgs().Ret<ffi::AnyBuffer>()
        .Ret<ffi::AnyBuffer>().Attr<std::int64_t>("arrays")
        .Attr<std::int64_t>("has").Attr<double>("scale")
        .Attr<std::int64_t>("left").Attr<std::int64_t>("right"));

// export the handler of the gradient
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    attn_xla_flash_vjp, flash_vjp,
    ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()
        .Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>()
        .Arg<ffi::AnyBuffer>().Arg<ffi::AnyBuffer>().RemainingArgs()
        .Ret<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>()
        .Ret<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>()
        .Attr<std::int64_t>("arrays").Attr<std::int64_t>("has")
        .Attr<double>("scale").Attr<std::int64_t>("left")
        .Attr<std::int64_t>("right"));
