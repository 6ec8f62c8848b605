// live/argument.hpp: tangled from chapters/90-equations-checks.nw; edit that file, not this one.
#pragma once

namespace attn {
template <class... P>
constexpr void require(bool ok, const P&...) {
  if (!ok) __builtin_trap();
}
template <class... P>
constexpr void require_domain(bool ok, const P&...) {
  if (!ok) __builtin_trap();
}
template <class X>
constexpr const char* shape(const X&) { return ""; }
}  // namespace attn
