// include/attn/tensor.hpp: tangled from chapters/90-equations.nw; edit that file, not this one.
#pragma once
#include <array>
#include <concepts>
#include <limits>
#include <span>
#include <type_traits>

#include <Eigen/Core>

#include "attn/argument.hpp"

namespace attn {
// name Eigen's row-major matrices and vectors
/// Number of rows, columns, entries: Eigen's signed index type.
using Index = Eigen::Index;
/// Dense matrix, one row per position, stored row by row.
template <class S>
using Matrix =
    Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// Column vector.
template <class S>
using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;
/// Row vector, for instance one row of a Matrix.
template <class S>
using RowVector = Eigen::Matrix<S, 1, Eigen::Dynamic>;

// name the two heights of a slot
/// Height of a slot: `up` as in v^a, `dn` as in g_{ab}.
enum Height { dn, up };

// multiply extents without overflow
namespace detail {
constexpr Index times_extent(Index a, Index n) {
  require(n >= 0, "an extent is negative: ", n);
  require(n == 0 || a <= std::numeric_limits<Index>::max() / n,
          "too many entries: ", a, " times ", n);
  return a * n;
}
constexpr Index volume_of(std::span<const Index> extents) {
  Index v = 1;
  for (const Index n : extents) v = times_extent(v, n);
  return v;
}
}  // namespace detail

// define the tensor with heights in its type
/// Dense tensor, row-major, with one Height per slot; rank 0 is a scalar.
/// Shapes: dim[k] is the extent of slot k; values has their product.
/// Throws std::invalid_argument if an extent is negative, if an Index does
/// not hold the number of entries, or for one slot and a matrix.
template <class S, Height... H>
struct Tensor {
  using scalar = S;
  static constexpr int rank = sizeof...(H);
  static constexpr std::array<Height, sizeof...(H)> height{H...};
  std::array<Index, sizeof...(H)> dim{};
  Vector<S> values;

  // make a tensor from extents or a number
  Tensor() : values(Vector<S>::Zero(rank == 0 ? 1 : 0)) {}

  template <std::integral... N>
    requires(sizeof...(N) == rank && rank > 0)
  explicit Tensor(N... n)
      : dim{Index(n)...},
        values(Vector<S>::Zero(detail::volume_of(dim))) {}
  Tensor(const S& x) requires(rank == 0) : values(1) { values(0) = x; }
  operator S() const requires(rank == 0) { return values(0); }

  // make a tensor from a matrix or a vector
  template <class D>
    requires(rank == 2)
  Tensor(const Eigen::MatrixBase<D>& m) : Tensor(m.rows(), m.cols()) {
    mat() = m;
  }

  template <class D>
    requires(rank == 1)
  Tensor(const Eigen::MatrixBase<D>& v) : Tensor(v.size()) {
    require(v.cols() == 1 || bool(D::IsVectorAtCompileTime),
            "Tensor: one index for a matrix of shape ", shape(v));
    vec() = v;
  }

  // find an entry of a tensor
  template <std::integral... N>
    requires(sizeof...(N) == rank)
  Index offset(N... n) const {
    Index o = 0;
    std::size_t k = 0;
    ((o = o * dim[k++] + Index(n)), ...);
    return o;
  }
  template <std::integral... N>
  S& operator()(N... n) { return values(offset(n...)); }
  template <std::integral... N>
  const S& operator()(N... n) const { return values(offset(n...)); }

  // know the strides of a tensor
  std::array<Index, sizeof...(H)> stride() const {
    std::array<Index, sizeof...(H)> s{};
    Index step = 1;
    for (std::size_t k = s.size(); k-- > 0; step *= dim[k]) s[k] = step;
    return s;
  }

  // see a tensor as an Eigen object
  auto mat() requires(rank == 2) {
    return Eigen::Map<Matrix<S>>(values.data(), dim[0], dim[1]);
  }
  auto mat() const requires(rank == 2) {
    return Eigen::Map<const Matrix<S>>(values.data(), dim[0], dim[1]);
  }
  auto vec() requires(rank == 1) {
    return Eigen::Map<Vector<S>>(values.data(), dim[0]);
  }
  auto vec() const requires(rank == 1) {
    return Eigen::Map<const Vector<S>>(values.data(), dim[0]);
  }
};

// add tensors of one type
template <class S, Height... H>
Tensor<S, H...> operator+(Tensor<S, H...> x, const Tensor<S, H...>& y) {
  require(x.dim == y.dim, "Tensor +: ", shape(x), " and ", shape(y));
  x.values += y.values;
  return x;
}
template <class S, Height... H>
Tensor<S, H...> operator-(Tensor<S, H...> x, const Tensor<S, H...>& y) {
  require(x.dim == y.dim, "Tensor -: ", shape(x), " and ", shape(y));
  x.values -= y.values;
  return x;
}
template <class S, Height... H, Height... G>
void operator+(const Tensor<S, H...>&, const Tensor<S, G...>&) = delete;
template <class S, Height... H, Height... G>
void operator-(const Tensor<S, H...>&, const Tensor<S, G...>&) = delete;

// multiply a tensor by a number
template <class S, Height... H>
Tensor<S, H...> operator*(const std::type_identity_t<S>& c,
                          Tensor<S, H...> x) {
  for (Index k = 0; k < x.values.size(); ++k) x.values(k) *= c;
  return x;
}

// say what can be viewed as a tensor
namespace detail {
template <class D, std::size_t rank>
concept Viewable =
    bool(int(D::Flags) & Eigen::DirectAccessBit) &&
    (rank == 2 || (rank == 1 && bool(D::IsVectorAtCompileTime)));
}  // namespace detail

// look at somebody else's numbers
/// A tensor of rank 1 or 2 that looks at somebody else's numbers.
/// Shapes: dim and step per slot; valid as long as what it looks at.
template <class S, Height... H>
struct TensorView {
  using scalar = S;
  static constexpr int rank = sizeof...(H);
  static constexpr std::array<Height, sizeof...(H)> height{H...};
  std::array<Index, sizeof...(H)> dim{}, step{};
  const S* first = nullptr;

  std::array<Index, sizeof...(H)> stride() const { return step; }
};

// view an Eigen object as a tensor
/// Matrix, vector, Map, Ref or block seen as a tensor, without a copy.
/// Shapes: one height for vectors, two for matrices.
template <Height... H, detail::Viewable<sizeof...(H)> D>
auto view(const Eigen::MatrixBase<D>& m) {
  // take pointer, extents and strides of $m$
  const Index inner = m.derived().innerStride();
  const Index outer = m.derived().outerStride();
  TensorView<typename D::Scalar, H...> t;
  t.first = m.derived().data();
  if constexpr (sizeof...(H) == 1) {
    t.dim = {m.size()};
    t.step = {inner};
  } else {
    t.dim = {m.rows(), m.cols()};
    t.step = {D::IsRowMajor ? outer : inner, D::IsRowMajor ? inner : outer};
  }
  return t;
}

// convert entries to another scalar
/// The same numbers in another scalar type, entry by entry.
/// Shapes: those of m.
template <class S, class D>
auto lift(const Eigen::MatrixBase<D>& m) {
  constexpr int rows = D::RowsAtCompileTime, cols = D::ColsAtCompileTime;
  constexpr int order = cols == 1 ? Eigen::ColMajor : Eigen::RowMajor;
  Eigen::Matrix<S, rows, cols, order> out(m.rows(), m.cols());
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j)
      out(i, j) = static_cast<S>(m.derived().coeff(i, j));
  return out;
}
/// The same tensor in another scalar type, entry by entry.
/// Shapes: those of x.
template <class S, class R, Height... H>
Tensor<S, H...> lift(const Tensor<R, H...>& x) {
  Tensor<S, H...> out;
  out.dim = x.dim;
  out.values = lift<S>(x.values);
  return out;
}

// multiply matrices of any scalar
/// a b, n x m and m x k, in the scalar of both.
/// Throws std::invalid_argument unless a has as many columns as b has rows.
template <class A, class B>
auto times(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  require(a.cols() == b.rows(), "times: a is ", shape(a), " but b is ",
          shape(b));
  using S = typename A::Scalar;
  if constexpr (std::is_arithmetic_v<S>)
    return Matrix<S>(a * b);
  else
    return Matrix<S>(a.lazyProduct(b));
}
/// y += a b, without a matrix in between; y is neither a nor b.
/// Throws std::invalid_argument unless the three shapes fit.
template <class Y, class A, class B>
void add_times(Y& y, const A& a, const B& b) {
  require(a.cols() == b.rows() && y.rows() == a.rows() &&
              y.cols() == b.cols(),
          "add_times: y is ", shape(y), ", a ", shape(a), ", b ", shape(b));
  if constexpr (std::is_arithmetic_v<typename A::Scalar>)
    y.noalias() += a * b;
  else
    y += a.lazyProduct(b);
}
}  // namespace attn
