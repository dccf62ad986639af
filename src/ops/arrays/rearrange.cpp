// Operations that move elements of any type and compute nothing.

#include <algorithm>

#include "heed/arrays.hpp"
#include "ops/arrays/axes.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

using Axis = kernels::TransposeAxis;

/// Bytes in a piece of work.
constexpr std::int64_t kPiece = 64 * 1024;
/// Below this many bytes one thread finishes before a second one wakes up.
constexpr std::int64_t kFewBytes = 1024 * 1024;

std::int64_t bytes_in(const TensorView& x) { return static_cast<std::int64_t>(x.bytes().size()); }

/// Copies `count` runs of `size` bytes.
void copy_runs(Context& context, std::int64_t count, std::int64_t size, const std::byte* from,
               std::int64_t from_stride, std::byte* to, std::int64_t to_stride) {
  if (size == 0) return;
  const std::int64_t step = std::max<std::int64_t>(1, kPiece / size);
  Context::Runtime& runtime = context.runtime();
  runtime.pool().run(ops::divide_up(count, step), count * size < kFewBytes,
                     [&](std::int64_t piece, int) {
                       const std::int64_t first = piece * step;
                       runtime.kernels().arrays.copy_runs(from + first * from_stride, from_stride,
                                                          std::min(step, count - first), size,
                                                          to + first * to_stride, to_stride);
                     });
}

}  // namespace

Tensor transpose(Context& context, const TensorView& x, std::span<const std::int64_t> order) {
  const Shape& shape = x.shape();
  const auto rank = static_cast<std::size_t>(shape.rank());
  std::array<bool, Shape::kMaxRank> seen{};
  bool is_order = order.size() == rank;
  for (std::size_t i = 0; is_order && i < rank; ++i) {
    const std::int64_t axis = order[i];
    is_order = axis >= 0 && axis < shape.rank() && !seen[static_cast<std::size_t>(axis)];
    if (is_order) seen[static_cast<std::size_t>(axis)] = true;
  }
  if (!is_order) {
    std::string got = "[";
    for (const std::int64_t axis : order)
      got.append(got.size() > 1 ? ", " : "").append(std::to_string(axis));
    ops::refuse<OptionError>("order", "each axis of " + to_string(shape) + " once", got + "]");
  }

  std::array<std::int64_t, Shape::kMaxRank> sizes{};
  for (std::size_t i = 0; i < rank; ++i) sizes[i] = shape[static_cast<int>(order[i])];
  Tensor y(Shape(std::span<const std::int64_t>(sizes.data(), rank)), x.dtype());
  if (shape.elements() == 0) return y;

  // Innermost first; axes that are adjacent in both arrays are merged.
  kernels::Transpose t{.element = static_cast<std::int64_t>(size_of(x.dtype())),
                       .from = x.bytes().data(),
                       .to = ops::mutable_bytes(y)};
  int axis_count = 0;
  std::int64_t stride = 1;
  for (std::size_t i = rank; i-- > 0;) {
    const std::int64_t size = sizes[i];
    if (size == 1) continue;
    const std::int64_t from = ops::elements_after(shape, static_cast<int>(order[i]));
    Axis* const last = axis_count > 0 ? &t.axes[axis_count - 1] : nullptr;
    if (last && last->from * last->size == from)
      last->size *= size;
    else
      t.axes[axis_count++] = {size, from, stride};
    stride *= size;
  }
  if (axis_count == 0) t.axes[axis_count++] = {1, 1, 1};

  // If the same axis is innermost in the result and in x, runs of it are copied. Otherwise both
  // innermost axes form a matrix that is transposed.
  const auto remove = [&](Axis* axis) {
    const Axis removed = *axis;
    std::copy(axis + 1, t.axes + axis_count--, axis);
    return removed;
  };
  t.inner = remove(t.axes);
  t.x_inner = {1, 0, 0};
  if (t.inner.from != 1)
    t.x_inner = remove(
        std::find_if(t.axes, t.axes + axis_count, [](const Axis& axis) { return axis.from == 1; }));
  t.axis_count = axis_count;
  t.step = std::clamp<std::int64_t>(kPiece / (t.element * t.inner.size) / 16 * 16, 16,
                                    t.x_inner.size + 16);
  // Pieces are ranges of units: see kernels::Transpose.
  std::int64_t units = ops::divide_up(t.x_inner.size, t.step);
  for (int i = 0; i < axis_count; ++i) units *= t.axes[i].size;
  const std::int64_t unit_bytes = t.element * t.inner.size * std::min(t.step, t.x_inner.size);
  const std::int64_t units_per_piece = std::max<std::int64_t>(1, kPiece / unit_bytes);
  Context::Runtime& runtime = context.runtime();
  runtime.pool().run(ops::divide_up(units, units_per_piece), bytes_in(x) < kFewBytes,
                     [&](std::int64_t piece, int) {
                       runtime.kernels().arrays.transpose(
                           t, piece * units_per_piece,
                           std::min(units, (piece + 1) * units_per_piece));
                     });
  return y;
}

Tensor slice(Context& context, const TensorView& x, std::int64_t axis, std::int64_t start,
             std::int64_t length) {
  const Shape& shape = x.shape();
  const int at = ops::checked_axis(axis, shape.rank());
  const std::int64_t size = shape[at];
  if (start < 0 || start > size)
    ops::refuse<OptionError>("start", {"a place in an axis of ", size}, start);
  if (length < 0 || length > size - start)
    ops::refuse<OptionError>(
        "length", {"entries from " + std::to_string(start) + " in an axis of ", size}, length);
  Tensor y(ops::with_size(shape, at, length), x.dtype());
  if (y.shape().elements() == 0) return y;
  const std::int64_t entry =
      ops::elements_after(shape, at) * static_cast<std::int64_t>(size_of(x.dtype()));
  copy_runs(context, ops::elements_before(shape, at), length * entry,
            x.bytes().data() + start * entry, size * entry, ops::mutable_bytes(y), length * entry);
  return y;
}

Tensor concat(Context& context, std::span<const TensorView> parts, std::int64_t axis) {
  if (parts.empty()) ops::refuse<OptionError>("parts", "one or more arrays", "none");
  const Shape& first = parts.front().shape();
  const int at = ops::checked_axis(axis, first.rank());
  std::int64_t size = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string name = "parts[" + std::to_string(i) + "]";
    const Shape& shape = parts[i].shape();
    ops::require_dtype(name.c_str(), parts[i], parts.front().dtype());
    if (shape.rank() != first.rank() ||
        ops::with_size(shape, at, 0) != ops::with_size(first, at, 0))
      ops::refuse<ShapeError>(name.c_str(),
                              to_string(first) + " but for axis " + std::to_string(at), shape);
    size += shape[at];
  }
  Tensor y(ops::with_size(first, at, size), parts.front().dtype());
  if (y.shape().elements() == 0) return y;
  const std::int64_t entry =
      ops::elements_after(first, at) * static_cast<std::int64_t>(size_of(y.dtype()));
  auto* to = ops::mutable_bytes(y);
  for (const TensorView& part : parts) {
    const std::int64_t bytes = part.shape()[at] * entry;
    copy_runs(context, ops::elements_before(first, at), bytes, part.bytes().data(), bytes, to,
              size * entry);
    to += bytes;
  }
  return y;
}

}  // namespace heed
