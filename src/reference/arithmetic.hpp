#pragma once

// Sums, products and rearrangements of arrays, which broadcast like numpy, aligned right.
// Vaswani et al., "Attention Is All You Need", sections 3.1 (residuals) and 3.5 (positions), 2017.

#include <cstdint>
#include <functional>
#include <vector>

#include "reference/array.hpp"

namespace heed::reference {

/// The index in an array of shape `small` for the element `index` of an array of shape `full`.
/// `small` broadcasts to `full` like numpy: axes are aligned right, missing and size 1 axes repeat.
inline std::int64_t broadcast_index(std::int64_t index, const Shape& full, const Shape& small) {
  std::int64_t position = 0;
  std::int64_t stride = 1;
  for (int axis = 1; axis <= small.rank(); ++axis) {
    const std::int64_t coordinate = index % full[-axis];
    index /= full[-axis];
    if (small[-axis] != 1) position += coordinate * stride;
    stride *= small[-axis];
  }
  return position;
}

/// y = f(a, b), b broadcasting to the shape of a.
template <class Function>
Array combine(const Array& a, const Array& b, const Function& f) {
  Array y(a.shape);
  for (std::int64_t i = 0; i < a.shape.elements(); ++i)
    y[i] = f(a[i], b[broadcast_index(i, a.shape, b.shape)]);
  return y;
}

inline Array add(const Array& a, const Array& b) { return combine(a, b, std::plus<>()); }

/// Sums over the axes that broadcasting `shape` to x's shape would repeat.
inline Array sum_to(const Array& x, const Shape& shape) {
  Array y(shape);
  for (std::int64_t i = 0; i < x.shape.elements(); ++i)
    y[broadcast_index(i, x.shape, shape)] += x[i];
  return y;
}

/// y[i] is the sum of the entries of an axis up to i, or with `reverse` from i on.
inline Array cumsum(const Array& x, int axis, bool reverse) {
  Array y(x.shape);
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.shape.rank(); ++i) inner *= x.shape[i];
  const std::int64_t n = x.shape[axis];
  for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
    const std::int64_t entry = i / inner % n;
    for (std::int64_t j = reverse ? entry : 0; j < (reverse ? n : entry + 1); ++j)
      y[i] += x[i + (j - entry) * inner];
  }
  return y;
}

inline Array broadcast_to(const Array& x, const Shape& shape) {
  Array y(shape);
  for (std::int64_t i = 0; i < shape.elements(); ++i) y[i] = x[broadcast_index(i, shape, x.shape)];
  return y;
}

/// Axis i of y is axis order[i] of x: y[c_order[0], c_order[1], ...] = x[c_0, c_1, ...].
inline Array transpose(const Array& x, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t axis : order) sizes.push_back(x.shape[static_cast<int>(axis)]);
  Array y{Shape(sizes)};
  for (std::int64_t i = 0; i < x.shape.elements(); ++i) {
    std::vector<std::int64_t> coordinates(sizes.size());
    std::int64_t rest = i;
    for (int axis = x.shape.rank() - 1; axis >= 0; --axis) {
      coordinates[static_cast<std::size_t>(axis)] = rest % x.shape[axis];
      rest /= x.shape[axis];
    }
    std::int64_t place = 0;
    for (const std::int64_t axis : order)
      place = place * x.shape[static_cast<int>(axis)] + coordinates[static_cast<std::size_t>(axis)];
    y[place] = x[i];
  }
  return y;
}

/// Entries [start, start + length) of an axis.
inline Array slice(const Array& x, int axis, std::int64_t start, std::int64_t length) {
  std::vector<std::int64_t> sizes(x.shape.sizes().begin(), x.shape.sizes().end());
  sizes[static_cast<std::size_t>(axis)] = length;
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.shape.rank(); ++i) inner *= x.shape[i];
  Array y{Shape(sizes)};
  for (std::int64_t i = 0; i < y.shape.elements(); ++i) {
    const std::int64_t outer = i / (length * inner);
    const std::int64_t entry = i / inner % length + start;
    y[i] = x[(outer * x.shape[axis] + entry) * inner + i % inner];
  }
  return y;
}

/// A product of matrices, or of batches of them; b may be one matrix for all.
inline Array matmul(const Array& a, const Array& b, bool transpose_a, bool transpose_b) {
  const std::int64_t M = a.shape[transpose_a ? -1 : -2], K = a.shape[transpose_a ? -2 : -1];
  const std::int64_t N = b.shape[transpose_b ? -2 : -1];
  std::vector<std::int64_t> sizes(a.shape.sizes().begin(), a.shape.sizes().end());
  sizes[sizes.size() - 2] = M;
  sizes[sizes.size() - 1] = N;
  Array y{Shape(sizes)};
  for (std::int64_t i = 0; i < y.shape.elements(); ++i) {
    const std::int64_t n = i / (M * N), row = i / N % M, column = i % N;
    const std::int64_t right = b.shape.rank() == 2 ? 0 : n * K * N;
    for (std::int64_t k = 0; k < K; ++k)
      y[i] += a[n * M * K + (transpose_a ? k * M + row : row * K + k)] *
              b[right + (transpose_b ? column * K + k : k * N + column)];
  }
  return y;
}

}  // namespace heed::reference
