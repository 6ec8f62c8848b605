// include/attn/version.hpp: tangled from chapters/90-equations.nw; edit that file, not this one.
#pragma once
#include <string_view>

namespace attn {
/// The library's version: major.minor.patch, by semantic versioning.
inline constexpr std::string_view version = "1.0.0";
}  // namespace attn
