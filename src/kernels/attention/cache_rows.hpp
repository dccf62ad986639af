#pragma once

// Rows of keys and values in the formats of a cache.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/arrays/half.hpp"
#include "kernels/arrays/widen.hpp"
#include "kernels/attention/cache_tiles.hpp"

namespace heed::kernels {

/// The scale of an int8 row, with which its largest magnitude becomes 127. NaN if a number of the
/// row is not finite.
template <class Isa>
float cache_scale(const float* row, std::int64_t size) noexcept {
  float largest = 0.0f;
  // x - x is 0 for a finite x and NaN for any other, and a sum keeps a NaN.
  float not_finite = 0.0f;
  for (std::int64_t i = 0; i < size; ++i) {
    largest = std::max(largest, std::fabs(row[i]));
    not_finite += row[i] - row[i];
  }
  return largest / 127.0f + not_finite;
}

/// Calls write(index, number) for the numbers of a row; `index` is the number's index in the tile.
template <class Isa, class Write>
inline void for_each_index(const CacheRow& t, const Write& write) noexcept {
  for (std::int64_t i = 0, start = t.first; i < t.size; i += t.run, start += t.stride) {
    const std::int64_t end = std::min(t.run, t.size - i);
    for (std::int64_t n = 0; n < end; ++n) write(start + n * t.step, t.row[i + n]);
  }
}

template <class Isa>
bool store_cache_row(const CacheRow& t) noexcept {
  float not_finite = 0.0f;  // or NaN
  switch (t.format) {
    case NumberFormat::kFloat32:
      for_each_index<Isa>(t, [&](std::int64_t at, float x) {
        static_cast<float*>(t.to)[at] = x;
        not_finite += x - x;
      });
      break;
    case NumberFormat::kFloat16:
      for_each_index<Isa>(t, [&](std::int64_t at, float x) {
        const std::uint16_t half = to_float16<Isa>(x);
        static_cast<std::uint16_t*>(t.to)[at] = half;
        // Numbers that are too large become infinite.
        if ((half & 0x7c00u) == 0x7c00u) not_finite = 1.0f;
      });
      break;
    case NumberFormat::kInt8: {
      const float scale = cache_scale<Isa>(t.row, t.size);
      *t.scale = scale;
      not_finite = scale - scale;
      // If the scale is NaN or 0, all bytes are 0.
      const float inverse = std::isfinite(scale) && scale > 0.0f ? 1.0f / scale : 0.0f;
      for_each_index<Isa>(t, [&](std::int64_t at, float x) {
        // Adding 1.5 * 2^23 leaves the nearest whole number in the low bits.
        const float shifted = inverse == 0.0f ? 0.0f : x * inverse + 12582912.0f;
        static_cast<std::int8_t*>(t.to)[at] =
            static_cast<std::int8_t>(std::bit_cast<std::int32_t>(shifted));
      });
      break;
    }
  }
  return not_finite == 0.0f;
}

template <class Isa>
void widen_cache_panels(const CachePanels& t) noexcept {
  float* to = t.to;
  if (t.format == NumberFormat::kFloat16)
    return widen<Isa>(static_cast<const std::uint16_t*>(t.from), t.columns * t.depth, to);
  const auto* panel = static_cast<const std::int8_t*>(t.from);
  for (std::int64_t first = 0; first < t.columns; first += t.width) {
    for (std::int64_t d = 0; d < t.depth; ++d) {
      const std::int8_t* const row = panel + d / 2 * 2 * t.width + d % 2;
      for (std::int64_t c = 0; c < t.width; ++c)
        *to++ = static_cast<float>(row[2 * c]) *
                (t.column_scales ? t.column_scales[first + c] : t.depth_scales[d]);
    }
    panel += (t.depth + 1) / 2 * 2 * t.width;
  }
}

}  // namespace heed::kernels
