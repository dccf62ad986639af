#pragma once

// Moves elements of any type and computes nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/arrays/table.hpp"

namespace heed::kernels {

template <class Isa>
void copy_runs(const std::byte* from, std::int64_t from_stride, std::int64_t count,
               std::int64_t size, std::byte* to, std::int64_t to_stride) noexcept {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_stride, from + i * from_stride, static_cast<std::size_t>(size));
}

/// Transposes a matrix whose rows are far apart in y. Each block of 16 x 16 is copied through a
/// local array, which is then written to y in whole cache lines. Otherwise, lines a power of two
/// apart would evict each other from the cache.
template <class Isa, class Element>
void transpose_matrix(const TransposeAxis& rows, const TransposeAxis& columns,
                      const std::byte* from, std::byte* to) noexcept {
  constexpr std::int64_t kBlock = 16;
  const auto* const x = reinterpret_cast<const Element*>(from);
  auto* const y = reinterpret_cast<Element*>(to);
  for (std::int64_t column = 0; column < columns.size; column += kBlock) {
    const std::int64_t width = std::min(kBlock, columns.size - column);
    for (std::int64_t row = 0; row < rows.size; row += kBlock) {
      const std::int64_t height = std::min(kBlock, rows.size - row);
      Element block[kBlock][kBlock];
      for (std::int64_t i = 0; i < width; ++i) {
        const Element* const line = x + (column + i) * columns.from + row * rows.from;
        for (std::int64_t j = 0; j < height; ++j) block[j][i] = line[j * rows.from];
      }
      for (std::int64_t j = 0; j < height; ++j)
        std::copy_n(block[j], width, y + (row + j) * rows.to + column * columns.to);
    }
  }
}

template <class Isa>
void transpose(const Transpose& t, std::int64_t begin, std::int64_t end) noexcept {
  // The position of unit `begin`: its first entry of the axis x_inner, its index in the other axes.
  const std::int64_t steps = (t.x_inner.size + t.step - 1) / t.step;
  std::int64_t first = begin % steps * t.step;
  std::int64_t rest = begin / steps;
  std::int64_t source = first * t.x_inner.from, target = first * t.x_inner.to;
  std::int64_t index[kMaxAxes];
  for (int i = 0; i < t.axis_count; ++i) {
    index[i] = rest % t.axes[i].size;
    rest /= t.axes[i].size;
    source += index[i] * t.axes[i].from;
    target += index[i] * t.axes[i].to;
  }
  for (std::int64_t unit = begin; unit < end; ++unit) {
    const std::byte* const a = t.from + source * t.element;
    std::byte* const b = t.to + target * t.element;
    const TransposeAxis part{std::min(t.step, t.x_inner.size - first), t.x_inner.from,
                             t.x_inner.to};
    if (t.inner.from == 1)
      std::memcpy(b, a, static_cast<std::size_t>(t.inner.size * t.element));
    else if (t.element == 4)
      transpose_matrix<Isa, std::uint32_t>(part, t.inner, a, b);
    else if (t.element == 2)
      transpose_matrix<Isa, std::uint16_t>(part, t.inner, a, b);
    else
      transpose_matrix<Isa, std::uint8_t>(part, t.inner, a, b);

    first += t.step;
    source += t.step * t.x_inner.from;
    target += t.step * t.x_inner.to;
    if (first < t.x_inner.size) continue;
    source -= first * t.x_inner.from;
    target -= first * t.x_inner.to;
    first = 0;
    for (int i = 0; i < t.axis_count; ++i) {
      source += t.axes[i].from;
      target += t.axes[i].to;
      if (++index[i] < t.axes[i].size) break;
      source -= index[i] * t.axes[i].from;
      target -= index[i] * t.axes[i].to;
      index[i] = 0;
    }
  }
}

}  // namespace heed::kernels
