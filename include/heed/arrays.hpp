#pragma once

// Arithmetic, products and rearrangement of arrays, which models use between their layers.

#include <cstdint>
#include <span>

#include "heed/context.hpp"
#include "heed/tensor.hpp"

namespace heed {

/// a + b; b broadcasts to the shape of a like numpy, aligned right. Throws ShapeError, DTypeError.
Tensor add(Context& context, const TensorView& a, const TensorView& b);

/// a - b, a b, a / b; as add.
Tensor subtract(Context& context, const TensorView& a, const TensorView& b);
Tensor multiply(Context& context, const TensorView& a, const TensorView& b);
Tensor divide(Context& context, const TensorView& a, const TensorView& b);

/// factor x. Throws DTypeError.
Tensor scale(Context& context, const TensorView& x, double factor);

/// Sums over the axes that broadcasting to x's shape would repeat: the gradient of a broadcast.
/// Partial sums are added in double, so accuracy does not fall with the number of terms.
/// Throws ShapeError if `shape` does not broadcast to x's, DTypeError.
Tensor sum_to(Context& context, const TensorView& x, const Shape& shape);

/// Cumulative sums along an axis: y[i] is the sum of x[0], ..., x[i] or, with `reverse`, of x[i],
/// ..., x[n - 1]. Added in double. A negative axis counts from the end. x [...] -> [...].
/// Throws OptionError, DTypeError.
Tensor cumsum(Context& context, const TensorView& x, std::int64_t axis, bool reverse = false);

/// x broadcast to a shape like numpy, aligned right. Throws ShapeError, DTypeError.
Tensor broadcast_to(Context& context, const TensorView& x, const Shape& shape);

/// Options of matmul.
struct MatmulOptions {
  /// Whether the last two axes of the array are swapped first.
  bool transpose_a = false;
  bool transpose_b = false;
};

/// a b for matrices, or batches of them: a [..., M, K], b [K, N] or [..., K, N] with the same
/// leading axes -> [..., M, N]. Throws ShapeError, DTypeError, MemoryError.
Tensor matmul(Context& context, const TensorView& a, const TensorView& b,
              const MatmulOptions& options = {});

/// The axes in another order: axis i of the result is axis order[i] of x. Any type.
/// Throws OptionError unless `order` is a permutation of the axes.
Tensor transpose(Context& context, const TensorView& x, std::span<const std::int64_t> order);

/// Entries [start, start + length) of an axis; a negative axis counts from the end. Any type.
/// Throws OptionError.
Tensor slice(Context& context, const TensorView& x, std::int64_t axis, std::int64_t start,
             std::int64_t length);

/// Joins arrays of one type along an axis. Throws ShapeError, DTypeError, OptionError.
Tensor concat(Context& context, std::span<const TensorView> parts, std::int64_t axis);

/// The maximum of each cell of a grid of `rows` x `columns` cells over the last two axes. Along an
/// axis of size R with r cells, cell i is [floor(i R / r), ceil((i + 1) R / r)). NaN where a cell
/// contains NaN. x [..., H, W] -> [..., rows, columns]. Throws ShapeError, DTypeError, OptionError.
Tensor adaptive_max_pool(Context& context, const TensorView& x, std::int64_t rows,
                         std::int64_t columns);

/// Converts to another floating type, rounding to nearest, ties to even.
/// Throws DTypeError for a type that is not floating.
Tensor cast(Context& context, const TensorView& x, DType dtype);

/// Numbers from the uniform distribution on [low, high), or from a normal distribution. Each is a
/// function of the seed and its index alone. Throws OptionError.
Tensor random_uniform(Context& context, const Shape& shape, double low, double high,
                      std::uint64_t seed);
Tensor random_normal(Context& context, const Shape& shape, double mean, double deviation,
                     std::uint64_t seed);

/// Whether every number is finite. Throws DTypeError.
bool is_finite(Context& context, const TensorView& x);

}  // namespace heed
