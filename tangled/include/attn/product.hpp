// include/attn/product.hpp: tangled from chapters/91-checking.nw; edit that file, not this one.
#pragma once
#include <Eigen/Core>

// multiply row by column where blocks are of no use
namespace attn {
/// True for numbers whose matrices are multiplied row by column.
template <class S>
inline constexpr bool by_coefficient = false;
}  // namespace attn
namespace Eigen::internal {
template <class L, class R>
  requires attn::by_coefficient<typename L::Scalar>
struct generic_product_impl<L, R, DenseShape, DenseShape, GemmProduct>
    : generic_product_impl<L, R, DenseShape, DenseShape,
                           CoeffBasedProductMode> {};
template <class L, class R>
  requires attn::by_coefficient<typename L::Scalar>
struct generic_product_impl<L, R, DenseShape, DenseShape, GemvProduct>
    : generic_product_impl<L, R, DenseShape, DenseShape,
                           CoeffBasedProductMode> {};
}  // namespace Eigen::internal
