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
constexpr std::int64_t kPieceBytes = 64 * 1024;
/// Copying a byte takes as long as this many floating-point operations.
constexpr double kByteOperations = 2.0;

/// Copies `count` runs of `size` bytes.
void copy_runs(Context& context, std::int64_t count, std::int64_t size, const std::byte* from,
               std::int64_t from_stride, std::byte* to, std::int64_t to_stride) {
  if (size == 0) return;
  const std::int64_t step = std::max<std::int64_t>(1, kPieceBytes / size);
  Context::Runtime& runtime = context.runtime();
  runtime.pool().run(ops::divide_up(count, step),
                     kByteOperations * static_cast<double>(count * size),
                     [&](std::int64_t piece, int) {
                       const std::int64_t first = piece * step;
                       runtime.kernels().arrays.copy_runs(from + first * from_stride, from_stride,
                                                          std::min(step, count - first), size,
                                                          to + first * to_stride, to_stride);
                     });
}

/// Throws OptionError unless `order` has each axis once.
void require_order(const Shape& shape, std::span<const std::int64_t> order) {
  std::uint32_t seen = 0;  // a bit for each axis
  for (const std::int64_t axis : order)
    if (axis >= 0 && axis < shape.rank()) seen |= 1u << axis;
  if (order.size() == shape.sizes().size() && seen == (1u << shape.rank()) - 1) return;
  std::string got = "[";
  for (const std::int64_t axis : order)
    got.append(got.size() > 1 ? ", " : "").append(std::to_string(axis));
  ops::refuse<OptionError>("order", "each axis of " + to_string(shape) + " once", got + "]");
}

/// Sets the axes of t, innermost first; axes that are adjacent in both arrays are merged.
void set_axes(kernels::Transpose& t, const Shape& x, std::span<const std::int64_t> order) {
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const int axis = static_cast<int>(order[i]);
    if (x[axis] == 1) continue;
    const std::int64_t from = ops::elements_after(x, axis);
    Axis* const last = t.axis_count > 0 ? &t.axes[t.axis_count - 1] : nullptr;
    if (last && last->from * last->size == from)
      last->size *= x[axis];
    else
      t.axes[t.axis_count++] = {x[axis], from, stride};
    stride *= x[axis];
  }
  if (t.axis_count == 0) t.axes[t.axis_count++] = {1, 1, 1};
}

/// Removes an axis of t and returns it.
Axis take_axis(kernels::Transpose& t, Axis* axis) {
  const Axis taken = *axis;
  std::copy(axis + 1, t.axes + t.axis_count--, axis);
  return taken;
}

}  // namespace

Tensor transpose(Context& context, const TensorView& x, std::span<const std::int64_t> order) {
  const Shape& shape = x.shape();
  require_order(shape, order);
  std::array<std::int64_t, Shape::kMaxRank> sizes{};
  for (std::size_t i = 0; i < order.size(); ++i) sizes[i] = shape[static_cast<int>(order[i])];
  Tensor y(Shape(std::span<const std::int64_t>(sizes.data(), order.size())), x.dtype());
  if (shape.elements() == 0) return y;

  kernels::Transpose t{.element = static_cast<std::int64_t>(size_of(x.dtype())),
                       .from = x.bytes().data(),
                       .to = ops::mutable_bytes(y)};
  set_axes(t, shape, order);
  // If the same axis is innermost in the result and in x, runs of it are copied. Otherwise both
  // innermost axes form a matrix that is transposed.
  t.inner = take_axis(t, t.axes);
  t.x_inner = {1, 0, 0};
  if (t.inner.from != 1)
    t.x_inner = take_axis(t, std::find_if(t.axes, t.axes + t.axis_count,
                                          [](const Axis& axis) { return axis.from == 1; }));
  t.step = std::clamp<std::int64_t>(kPieceBytes / (t.element * t.inner.size) / 16 * 16, 16,
                                    t.x_inner.size + 16);
  // Pieces are ranges of units: see kernels::Transpose.
  std::int64_t units = ops::divide_up(t.x_inner.size, t.step);
  for (int i = 0; i < t.axis_count; ++i) units *= t.axes[i].size;
  const std::int64_t unit_bytes = t.element * t.inner.size * std::min(t.step, t.x_inner.size);
  const std::int64_t units_per_piece = std::max<std::int64_t>(1, kPieceBytes / unit_bytes);
  Context::Runtime& runtime = context.runtime();
  runtime.pool().run(
      ops::divide_up(units, units_per_piece),
      kByteOperations * static_cast<double>(x.bytes().size()), [&](std::int64_t piece, int) {
        runtime.kernels().arrays.transpose(t, piece * units_per_piece,
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
