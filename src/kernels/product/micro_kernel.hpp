#pragma once

// The register block that computes matrix products of floats.
//
//   C[Rows, kPanel] (+)= A[Rows, depth] B[depth, kPanel]
//
// A is read in place. If the stride between its rows is a constant, one pointer serves all rows
// (`Left` below). B is a panel: kPanel columns whose rows are adjacent, so that it is read
// sequentially. The block of C stays in registers for the whole depth.
//
// Each step of the depth loads kVectors vectors of B and, for each row, one number of A into all
// lanes, and feeds Rows * kVectors multiply-adds. With 6 x 2 vectors these are 12 multiply-adds for
// 8 loads. They need 12 + 2 + 1 registers, which fits the 16 that x86 and V8's WebAssembly tiers
// have. simd/isa.hpp has the rows of each instruction set; `./dev bench` measures them.
//
// GCC must be told to unroll. Otherwise it unrolls too late to see that the sums never need an
// address, and stores and loads all of them before and after the loop.

#include <cstddef>
#include <cstdint>

#include "simd/vector.hpp"

namespace heed::kernels {

template <class Isa>
inline constexpr int kPanel =
    simd::Traits<Isa>::kVectors * static_cast<int>(simd::Vector<Isa>::size);

/// The number of columns of the panels that hold `count` columns.
template <class Isa>
constexpr std::int64_t whole_panels(std::int64_t count) noexcept {
  return (count + kPanel<Isa> - 1) / kPanel<Isa> * kPanel<Isa>;
}

/// A left factor whose entry (row, d) is at row * RowStride + d * Step.
template <int RowStride, int Step>
struct FixedLeft {
  const float* at;
  float row(int r) const noexcept { return at[r * RowStride]; }
  void advance() noexcept { at += Step; }
  const float* end(std::ptrdiff_t depth) const noexcept { return at + depth * Step; }
};

/// Hides from the compiler how a pointer follows from its previous value.
template <class T>
inline void hide(const T*& at) noexcept {
  asm("" : "+r"(at));
}

/// The next row of a right factor that is a panel of floats; kernels/attention/decode.hpp has other
/// ones.
template <class Isa>
inline void next_row(const float*& panel,
                     simd::Vector<Isa> (&row)[simd::Traits<Isa>::kVectors]) noexcept {
  for (auto& vector : row) {
    vector = simd::Vector<Isa>::load_aligned(panel);
    panel += simd::Vector<Isa>::size;
  }
}

/// How many sums each entry of a block of a product of few rows has: steps of the depth are added
/// to them in turn. An addition has a latency, and one sum for each entry of one or two rows is too
/// few independent chains to hide it. Memory should limit such a product, but the additions did:
/// attention with a cache was 1.14 times as slow.
constexpr int sums_of_few_rows(int rows) noexcept { return rows <= 2 ? 2 : 1; }

/// C = A B or, with Accumulate, C = start + A B. `start` may be C itself, or one row for all rows
/// (start_stride 0).
template <class Isa, int Rows, bool Accumulate, int Sums, class Left, class Right>
void multiply_block(Left a, Right b, std::ptrdiff_t depth, const float* start,
                    std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kVectors = simd::Traits<Isa>::kVectors;
  constexpr int kLanes = static_cast<int>(V::size);
  V sum[Sums * Rows][kVectors];
#pragma GCC unroll 32
  for (int r = Rows; r < Sums * Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v] = V(0.0f);
#pragma GCC unroll 32
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = Accumulate ? V::load_unaligned(start + r * start_stride + v * kLanes) : V(0.0f);
  const auto step = [&](int first) __attribute__((always_inline)) {
    V column[kVectors];
    next_row<Isa>(b, column);
#pragma GCC unroll 32
    for (int r = 0; r < Rows; ++r) {
      const V row = simd::in_all_lanes<Isa>(a.row(r));
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sum[first + r][v] = simd::madd<Isa>(row, column[v], sum[first + r][v]);
    }
    a.advance();
  };
  if constexpr (Sums > 1) {
    static_assert(Sums == 2);
    for (std::ptrdiff_t d = 0; d + 2 <= depth; d += 2) {
      step(0);
      step(Rows);
    }
    if (depth % 2 != 0) step(0);
#pragma GCC unroll 32
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] += sum[Rows + r][v];
  } else if constexpr (simd::kPeelsLoops) {
    if (depth > 0) {
      const float* const end = a.end(depth);
      step(0);
      while (a.at != end) {
        hide(a.at);
        hide(b);
        step(0);
      }
    }
  } else {
    for (std::ptrdiff_t d = 0; d < depth; ++d) step(0);
  }
#pragma GCC unroll 32
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v].store_unaligned(c + r * c_stride + v * kLanes);
}

/// The same for min(rows, Rows) rows, with rows >= 1. With `Few`, a block of few rows has more
/// sums, so its bits differ from the same rows of a larger block.
template <class Isa, bool Accumulate, int Rows, bool Few, class Left, class Right>
inline void multiply_some_rows(int rows, Left a, Right b, std::ptrdiff_t depth, const float* start,
                               std::ptrdiff_t start_stride, float* c,
                               std::ptrdiff_t c_stride) noexcept {
  if constexpr (Rows > 1) {
    if (rows < Rows)
      return multiply_some_rows<Isa, Accumulate, Rows - 1, Few>(rows, a, b, depth, start,
                                                                start_stride, c, c_stride);
  }
  constexpr int kSums = Few ? sums_of_few_rows(Rows) : 1;
  multiply_block<Isa, Rows, Accumulate, kSums>(a, b, depth, start, start_stride, c, c_stride);
}

/// The last block of a matrix, which may have fewer rows than the others. It is a separate function
/// because browsers optimise whole functions, and so have the other blocks sooner.
template <class Isa, bool Accumulate, int Rows, class Left, class Right>
[[gnu::noinline]] void multiply_last_rows(int rows, Left a, Right b, std::ptrdiff_t depth,
                                          const float* start, std::ptrdiff_t start_stride, float* c,
                                          std::ptrdiff_t c_stride) noexcept {
  multiply_some_rows<Isa, Accumulate, Rows, false>(rows, a, b, depth, start, start_stride, c,
                                                   c_stride);
}

template <class Isa, bool Accumulate, int Rows = simd::Traits<Isa>::kRows, bool Few = false,
          class Left, class Right>
inline void multiply_rows(int rows, Left a, Right b, std::ptrdiff_t depth, const float* start,
                          std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride) noexcept {
  if constexpr (!Few && Rows > 1) {
    if (rows < Rows)
      return multiply_last_rows<Isa, Accumulate, Rows - 1>(rows, a, b, depth, start, start_stride,
                                                           c, c_stride);
  }
  multiply_some_rows<Isa, Accumulate, Rows, Few>(rows, a, b, depth, start, start_stride, c,
                                                 c_stride);
}

template <class Isa, bool Accumulate, int Rows = simd::Traits<Isa>::kRows, bool Few = false,
          class Left, class Right>
inline void multiply_rows(int rows, Left a, Right b, std::ptrdiff_t depth, float* c,
                          std::ptrdiff_t c_stride) noexcept {
  multiply_rows<Isa, Accumulate, Rows, Few>(rows, a, b, depth, c, c_stride, c, c_stride);
}

/// One row of C += A B that does not read a row of B where A is zero, because 0 * NaN is NaN. The
/// other terms give the same bits as in multiply_block. Entry d of A is at d * step.
template <class Isa>
inline void multiply_row_skipping_zeros(const float* a, std::ptrdiff_t step, const float* b,
                                        std::ptrdiff_t depth, float* c) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kVectors = simd::Traits<Isa>::kVectors;
  constexpr int kLanes = static_cast<int>(V::size);
  V sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = V::load_unaligned(c + v * kLanes);
  for (std::ptrdiff_t d = 0; d < depth; ++d, a += step, b += kPanel<Isa>) {
    if (*a == 0.0f) continue;
    for (int v = 0; v < kVectors; ++v)
      sum[v] = simd::madd<Isa>(V(*a), V::load_aligned(b + v * kLanes), sum[v]);
  }
  for (int v = 0; v < kVectors; ++v) sum[v].store_unaligned(c + v * kLanes);
}

}  // namespace heed::kernels
