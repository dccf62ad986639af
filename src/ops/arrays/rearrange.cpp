// What moves elements and computes nothing: of any type, so bytes.

#include <algorithm>
#include <cstring>
#include <vector>

#include "heed/arrays.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {
namespace {

/// Bytes of a piece of work.
constexpr std::int64_t kPiece = 64 * 1024;
/// Below so many bytes one thread is done before a second one is awake.
constexpr std::int64_t kFewBytes = 1024 * 1024;

std::int64_t bytes_in(const TensorView& x) { return static_cast<std::int64_t>(x.bytes().size()); }

/// Copies `count` stretches of `size` bytes that lie so far apart.
void copy_stretches(Context& context, std::int64_t count, std::int64_t size, const std::byte* from,
                    std::int64_t from_stride, std::byte* to, std::int64_t to_stride) {
  if (size == 0) return;
  const std::int64_t step = std::max<std::int64_t>(1, kPiece / size);
  context.runtime().pool().run(
      ops::divide_up(count, step), count * size < kFewBytes, [&](std::int64_t piece, int) {
        for (std::int64_t i = piece * step; i < std::min(count, (piece + 1) * step); ++i)
          std::memcpy(to + i * to_stride, from + i * from_stride, static_cast<std::size_t>(size));
      });
}

/// The axis, counted from the front. Throws OptionError.
int checked_axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw OptionError(
        "axis", "a number from " + std::to_string(-rank) + " to below " + std::to_string(rank),
        std::to_string(axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

/// The elements before an axis, and from it on.
std::int64_t elements_before(const Shape& shape, int axis) {
  std::int64_t elements = 1;
  for (int i = 0; i < axis; ++i) elements *= shape[i];
  return elements;
}
std::int64_t elements_after(const Shape& shape, int axis) {
  std::int64_t elements = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) elements *= shape[i];
  return elements;
}

/// An axis of the result, and how far apart its entries lie in x and in the result.
struct Axis {
  std::int64_t size;
  std::int64_t from;
  std::int64_t to;
};

/// Turns a matrix: rows far apart in the result. Square by square through memory of its own, for
/// each cache line of the result is written at once: lines a power of two apart push each other out
/// of the cache.
template <class Element>
void turn(const Axis& rows, const Axis& columns, const std::byte* from, std::byte* to) noexcept {
  constexpr std::int64_t kSquare = 16;
  const auto* const x = reinterpret_cast<const Element*>(from);
  auto* const y = reinterpret_cast<Element*>(to);
  for (std::int64_t column = 0; column < columns.size; column += kSquare) {
    const std::int64_t width = std::min(kSquare, columns.size - column);
    for (std::int64_t row = 0; row < rows.size; row += kSquare) {
      const std::int64_t height = std::min(kSquare, rows.size - row);
      Element square[kSquare][kSquare];
      for (std::int64_t i = 0; i < width; ++i) {
        const Element* const line = x + (column + i) * columns.from + row * rows.from;
        for (std::int64_t j = 0; j < height; ++j) square[j][i] = line[j * rows.from];
      }
      for (std::int64_t j = 0; j < height; ++j)
        std::copy_n(square[j], width, y + (row + j) * rows.to + column * columns.to);
    }
  }
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
    throw OptionError("order", "each axis of " + to_string(shape) + " once", got + "]");
  }

  std::array<std::int64_t, Shape::kMaxRank> sizes{};
  for (std::size_t i = 0; i < rank; ++i) sizes[i] = shape[static_cast<int>(order[i])];
  Tensor y(Shape(std::span<const std::int64_t>(sizes.data(), rank)), x.dtype());
  if (shape.elements() == 0) return y;

  // Innermost first; neighbours that stay neighbours are one axis.
  std::vector<Axis> axes;
  std::int64_t stride = 1;
  for (std::size_t i = rank; i-- > 0;) {
    const std::int64_t size = sizes[i];
    if (size == 1) continue;
    const std::int64_t from = elements_after(shape, static_cast<int>(order[i]));
    if (!axes.empty() && axes.back().from * axes.back().size == from)
      axes.back().size *= size;
    else
      axes.push_back({size, from, stride});
    stride *= size;
  }
  if (axes.empty()) axes.push_back({1, 1, 1});

  const auto element = static_cast<std::int64_t>(size_of(x.dtype()));
  const std::byte* const from = x.bytes().data();
  auto* const to = const_cast<std::byte*>(TensorView(y).bytes().data());
  // A stretch that moves as it is, or a matrix that is turned: the axis that is innermost in the
  // result with the one that was.
  Axis inner = axes.front();
  Axis turned{1, 0, 0};
  axes.erase(axes.begin());
  if (inner.from != 1) {
    const auto was_inner = std::ranges::find(axes, std::int64_t{1}, &Axis::from);
    turned = *was_inner;
    axes.erase(was_inner);
  }
  // Pieces are ranges of the other axes, and of the turned one.
  const std::int64_t step =
      std::clamp<std::int64_t>(kPiece / (element * inner.size) / 16 * 16, 16, turned.size + 16);
  const std::int64_t steps = ops::divide_up(turned.size, step);
  std::int64_t outer = 1;
  for (const Axis& axis : axes) outer *= axis.size;
  const std::int64_t piece_bytes = element * inner.size * std::min(step, turned.size);
  const std::int64_t together = std::max<std::int64_t>(1, kPiece / piece_bytes);
  const std::int64_t units = outer * steps;
  const bool alone = bytes_in(x) < kFewBytes;
  context.runtime().pool().run(
      ops::divide_up(units, together), alone, [&](std::int64_t piece, int) {
        // Which part of the turned axis, and where the other axes stand.
        std::int64_t rest = piece * together;
        std::int64_t first = rest % steps * step;
        rest /= steps;
        std::int64_t source = first * turned.from, target = first * turned.to;
        std::array<std::int64_t, Shape::kMaxRank> index{};
        for (std::size_t i = 0; i < axes.size(); ++i) {
          index[i] = rest % axes[i].size;
          rest /= axes[i].size;
          source += index[i] * axes[i].from;
          target += index[i] * axes[i].to;
        }
        for (std::int64_t unit = piece * together; unit < std::min(units, (piece + 1) * together);
             ++unit) {
          const std::byte* const a = from + source * element;
          std::byte* const b = to + target * element;
          const Axis part{std::min(step, turned.size - first), turned.from, turned.to};
          if (inner.from == 1)
            std::memcpy(b, a, static_cast<std::size_t>(inner.size * element));
          else if (element == 4)
            turn<std::uint32_t>(part, inner, a, b);
          else if (element == 2)
            turn<std::uint16_t>(part, inner, a, b);
          else
            turn<std::uint8_t>(part, inner, a, b);

          first += step;
          source += step * turned.from;
          target += step * turned.to;
          if (first < turned.size) continue;
          source -= first * turned.from;
          target -= first * turned.to;
          first = 0;
          for (std::size_t i = 0; i < axes.size(); ++i) {
            source += axes[i].from;
            target += axes[i].to;
            if (++index[i] < axes[i].size) break;
            source -= index[i] * axes[i].from;
            target -= index[i] * axes[i].to;
            index[i] = 0;
          }
        }
      });
  return y;
}

Tensor slice(Context& context, const TensorView& x, std::int64_t axis, std::int64_t start,
             std::int64_t length) {
  const Shape& shape = x.shape();
  const int at = checked_axis(axis, shape.rank());
  const std::int64_t size = shape[at];
  const std::string range = " in an axis of " + std::to_string(size);
  if (start < 0 || start > size)
    throw OptionError("start", "a place" + range, std::to_string(start));
  if (length < 0 || length > size - start)
    throw OptionError("length", "entries from " + std::to_string(start) + range,
                      std::to_string(length));
  Tensor y(ops::with_size(shape, at, length), x.dtype());
  if (y.shape().elements() == 0) return y;
  const std::int64_t entry =
      elements_after(shape, at) * static_cast<std::int64_t>(size_of(x.dtype()));
  copy_stretches(context, elements_before(shape, at), length * entry,
                 x.bytes().data() + start * entry, size * entry,
                 const_cast<std::byte*>(TensorView(y).bytes().data()), length * entry);
  return y;
}

Tensor concat(Context& context, std::span<const TensorView> parts, std::int64_t axis) {
  if (parts.empty()) throw OptionError("parts", "one or more arrays", "none");
  const Shape& first = parts.front().shape();
  const int at = checked_axis(axis, first.rank());
  std::int64_t size = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string name = "parts[" + std::to_string(i) + "]";
    const Shape& shape = parts[i].shape();
    ops::require_dtype(name, parts[i], parts.front().dtype());
    if (shape.rank() != first.rank() ||
        ops::with_size(shape, at, 0) != ops::with_size(first, at, 0))
      throw ShapeError(name, to_string(first) + " but for axis " + std::to_string(at),
                       to_string(shape));
    size += shape[at];
  }
  Tensor y(ops::with_size(first, at, size), parts.front().dtype());
  if (y.shape().elements() == 0) return y;
  const std::int64_t entry =
      elements_after(first, at) * static_cast<std::int64_t>(size_of(y.dtype()));
  auto* to = const_cast<std::byte*>(TensorView(y).bytes().data());
  for (const TensorView& part : parts) {
    const std::int64_t bytes = part.shape()[at] * entry;
    copy_stretches(context, elements_before(first, at), bytes, part.bytes().data(), bytes, to,
                   size * entry);
    to += bytes;
  }
  return y;
}

}  // namespace heed
