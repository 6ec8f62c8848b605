// include/attn/input.hpp: tangled from chapters/05-multihead.nw; edit that file, not this one.
#pragma once
#include <new>
#include <type_traits>

#include "attn/tensor.hpp"

namespace attn {
namespace detail {
// name a map with two strides
template <class S>
using Strided =
    Eigen::Map<const Matrix<S>, 0,
               Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
}  // namespace detail

// look at the rows of somebody else
/// Rows of numbers, n x d, read where they lie: a matrix, by rows or by
/// columns, a block, a map with any strides.  They must outlive this.
/// What is not yet computed is computed once, and kept here.
template <class S>
class GivenRows : public detail::Strided<S> {
 public:
  GivenRows() : detail::Strided<S>(nullptr, 0, 0, {0, 0}) {}

  // look, or compute first
  template <class D>
    requires std::is_same_v<typename D::Scalar, S>
  GivenRows(const Eigen::MatrixBase<D>& m) : GivenRows() {
    if constexpr (detail::Viewable<D, 2>) look(view<up, up>(m));
    else own = m, look(view<up, up>(own));
  }
  GivenRows(const GivenRows& x) : detail::Strided<S>(x), own(x.own) {
    if (own.size() > 0) look(view<up, up>(own));
  }

 private:
  void look(const TensorView<S, up, up>& v) {
    new (static_cast<detail::Strided<S>*>(this)) detail::Strided<S>(
        v.first, v.dim[0], v.dim[1], {v.step[0], v.step[1]});
  }
  Matrix<S> own;
};
/// Rows of features as an argument; S is not deduced here.
template <class S>
using Input = std::type_identity_t<GivenRows<S>>;
}  // namespace attn
