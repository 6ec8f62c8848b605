// What mutants need inside Eigen's DenseBase: the wrong extent, and no transpose.
EIGEN_DEVICE_FUNC Index mutant_rows(int k) const {
  return mutant::on(k) ? derived().cols() : derived().rows();
}
EIGEN_DEVICE_FUNC Index mutant_cols(int k) const {
  return mutant::on(k) ? derived().rows() : derived().cols();
}
auto mutant_transpose(int k) const {
  auto t = derived().transpose().eval();
  constexpr bool square = int(RowsAtCompileTime) == int(ColsAtCompileTime);
  if constexpr (square) {
    if (mutant::on(k)) t = derived();
  } else {
    mutant::on(k, false);
  }
  return t;
}
