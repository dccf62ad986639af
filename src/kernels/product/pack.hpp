#pragma once

// Copies matrices into the blocks that micro_kernel.hpp reads. Entries of a block outside the
// matrix are zero.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/arrays/widen.hpp"
#include "kernels/product/micro_kernel.hpp"
#include "simd/transpose.hpp"

namespace heed::kernels {

/// Packs a block of `width` rows, at most Width; for a whole block, `width` is a constant. With
/// AVX-512, neither prefetching rows nor one square at a time made it faster, although two squares
/// do not fit the registers.
template <class Isa, int Width, class Count>
inline void pack_block(const float* rows, std::ptrdiff_t row_stride, Count width,
                       std::ptrdiff_t depth, float* block) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  constexpr int kSquares = (Width + kLanes - 1) / kLanes;
  // If Width is not a multiple of kLanes, each store writes this many extra numbers, which the next
  // store overwrites. The last store of a block goes through `last`.
  constexpr int kExcess = kSquares * kLanes - Width;
  static_assert(kExcess <= Width);
  std::ptrdiff_t d = 0;
  for (; d + kLanes <= depth; d += kLanes) {
    V squares[kSquares][kLanes];
    for (int s = 0; s < kSquares; ++s) {
      for (int i = 0; i < kLanes; ++i) {
        const int r = s * kLanes + i;
        squares[s][i] = r < width ? V::load_unaligned(rows + r * row_stride + d) : V(0.0f);
      }
      simd::transpose<Isa>(squares[s]);
    }
    constexpr int kWhole = kExcess > 0 ? kLanes - 1 : kLanes;
    float* out = block + d * Width;
    for (int i = 0; i < kWhole; ++i, out += Width)
      for (int s = 0; s < kSquares; ++s) squares[s][i].store_unaligned(out + s * kLanes);
    if constexpr (kExcess > 0) {
      alignas(64) float last[kSquares * kLanes];
      for (int s = 0; s < kSquares; ++s) squares[s][kLanes - 1].store_aligned(last + s * kLanes);
      std::copy_n(last, Width, out);
    }
  }
  for (; d < depth; ++d)
    for (int r = 0; r < Width; ++r) block[d * Width + r] = r < width ? rows[r * row_stride + d] : 0;
}

/// Rows become columns, and a block has Width of them: block[d][r] = rows[r][d], for d < depth.
/// With Width = kPanel, the result is the right factor of x W^T from a key matrix [S, D] or a
/// weight matrix [out, in]. With Width = kRows, it is a left factor for FixedLeft<1, kRows>.
template <class Isa, int Width>
void pack_blocks(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                 std::ptrdiff_t depth, float* blocks) noexcept {
  for (; count >= Width; count -= Width, rows += Width * row_stride, blocks += depth * Width)
    pack_block<Isa, Width>(rows, row_stride, std::integral_constant<int, Width>(), depth, blocks);
  if (count > 0) pack_block<Isa, Width>(rows, row_stride, static_cast<int>(count), depth, blocks);
}

/// The same with Width = kPanel.
template <class Isa>
[[gnu::noinline]] void pack_rows(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                                 std::ptrdiff_t depth, float* panels) noexcept {
  pack_blocks<Isa, kPanel<Isa>>(rows, row_stride, count, depth, panels);
}

/// The same with rows of float16, which are widened piece by piece.
template <class Isa>
void pack_half_rows(const std::uint16_t* rows, std::ptrdiff_t row_stride, std::int64_t count,
                    std::ptrdiff_t depth, float* panels) noexcept {
  constexpr int kWidth = kPanel<Isa>;
  constexpr std::ptrdiff_t kPiece = 64;
  alignas(64) float piece[kWidth * kPiece];
  for (; count > 0; count -= kWidth, rows += kWidth * row_stride, panels += depth * kWidth) {
    const std::int64_t width = std::min<std::int64_t>(kWidth, count);
    for (std::ptrdiff_t d = 0; d < depth; d += kPiece) {
      const std::ptrdiff_t length = std::min(kPiece, depth - d);
      for (std::int64_t r = 0; r < width; ++r)
        widen<Isa>(rows + r * row_stride + d, length, piece + r * kPiece);
      pack_rows<Isa>(piece, kPiece, width, length, panels + d * kWidth);
    }
  }
}

/// Columns stay columns. A block has Width columns and `depth` rows, of which `count` are written:
/// block[r][c] = rows[r][c], for r < count. With Width = kPanel, the result is the right factor of
/// A B. With Width = kRows, it is the left factor of A^T B.
///
/// Copies eight rows at a time, so that cache lines that two blocks share are read once. Rows a
/// power of two apart fall into the same cache set, which has at least eight ways.
template <class Isa, int Width>
void pack_block_columns(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                        std::ptrdiff_t columns, std::ptrdiff_t depth, float* blocks) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  constexpr int kVectors = (Width + kLanes - 1) / kLanes;
  // As in pack_block, vectors may be longer than a row of the block: here both loads and stores.
  // The last row is copied exactly, because both arrays may end with it.
  static_assert(kVectors * kLanes - Width <= Width);
  constexpr std::int64_t kLast = kVectors * kLanes > Width ? 1 : 0;
  constexpr std::int64_t kRowsAtATime = 8;
  for (std::int64_t first = 0; first < count; first += kRowsAtATime) {
    const std::int64_t end = std::min(first + kRowsAtATime, count);
    for (std::ptrdiff_t column = 0; column < columns; column += Width) {
      const std::ptrdiff_t width = std::min<std::ptrdiff_t>(Width, columns - column);
      const float* row = rows + first * row_stride + column;
      float* out = blocks + column * depth + first * Width;
      std::int64_t r = first;
      if (width == Width) {
        for (; r + kLast < end; ++r, row += row_stride, out += Width) {
          V x[kVectors];
          for (int v = 0; v < kVectors; ++v) x[v] = V::load_unaligned(row + v * kLanes);
          for (int v = 0; v < kVectors; ++v) x[v].store_unaligned(out + v * kLanes);
        }
        if constexpr (kLast > 0) std::copy_n(row, Width, out);
      } else {
        // Not std::copy_n, which is a call in WebAssembly.
        for (; r < end; ++r, row += row_stride, out += Width)
          for (std::ptrdiff_t c = 0; c < Width; ++c) out[c] = c < width ? row[c] : 0.0f;
      }
    }
  }
}

/// Columns stay columns. A panel has kPanel columns and `depth` rows: `count` rows of numbers, then
/// zeros. A tile of a value matrix [S, Dv] becomes the right factor of P V. Returns whether all the
/// numbers are finite.
template <class Isa>
bool pack_columns(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                  std::ptrdiff_t columns, std::ptrdiff_t depth, float* panels) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kLanes = static_cast<int>(V::size);
  constexpr int kWidth = kPanel<Isa>;
  // x - x is 0 for a finite x and NaN for any other, and a sum keeps a NaN.
  V not_finite(0.0f);
  float not_finite_rest = 0.0f;
  for (std::ptrdiff_t first = 0; first < columns; first += kWidth, panels += depth * kWidth) {
    const std::ptrdiff_t width = std::min<std::ptrdiff_t>(kWidth, columns - first);
    const float* row = rows + first;
    float* out = panels;
    std::int64_t r = 0;
    if (width == kWidth)
      for (; r < count; ++r, row += row_stride, out += kWidth)
        for (int c = 0; c < kWidth; c += kLanes) {
          const V x = V::load_unaligned(row + c);
          x.store_aligned(out + c);
          not_finite += x - x;
        }
    for (; r < count; ++r, row += row_stride, out += kWidth) {
      std::ptrdiff_t c = 0;
      for (; c + kLanes <= width; c += kLanes) {
        const V x = V::load_unaligned(row + c);
        x.store_aligned(out + c);
        not_finite += x - x;
      }
      for (; c < width; ++c) {
        out[c] = row[c];
        not_finite_rest += row[c] - row[c];
      }
      std::fill(out + width, out + kWidth, 0.0f);
    }
    // Not std::fill, which is a call in WebAssembly; the compiler must not see one in the loop.
    for (; r < depth; ++r, out += kWidth) {
      asm("" : "+r"(out));
      for (int c = 0; c < kWidth; c += kLanes) V(0.0f).store_aligned(out + c);
    }
  }
  return simd::reduce_add(not_finite) + not_finite_rest == 0.0f;
}

template <class Isa>
bool all_finite(const float* rows, std::ptrdiff_t row_stride, std::int64_t count,
                std::ptrdiff_t columns) noexcept {
  using V = simd::Vector<Isa>;
  constexpr std::ptrdiff_t kLanes = V::size;
  V not_finite(0.0f);  // as in pack_columns
  float not_finite_rest = 0.0f;
  for (; count > 0; --count, rows += row_stride) {
    std::ptrdiff_t c = 0;
    for (; c + kLanes <= columns; c += kLanes) {
      const V x = V::load_unaligned(rows + c);
      not_finite += x - x;
    }
    for (; c < columns; ++c) not_finite_rest += rows[c] - rows[c];
  }
  return simd::reduce_add(not_finite) + not_finite_rest == 0.0f;
}

}  // namespace heed::kernels
