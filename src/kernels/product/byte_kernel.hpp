#pragma once

// The register block of products of bytes, in the shape of micro_kernel.hpp:
//
//   C[Rows, kPanel] = A[Rows, depth] B[depth, kPanel] of integers.
//
// A block of A has eight neighbouring bytes (0..127) of each of its kRows rows, then the next
// eight. A panel of B has four neighbouring bytes (-64..64) of each of its kPanel columns, then the
// next four, in the order of `simd::store_group`. The depth is a multiple of eight, padded with
// zeros in B. Its instructions reach 129 Gop/s in registers, in Chromium on one Zen 4 core, 2.3
// times the multiply-adds of floats; with VNNI 468 Gop/s, 4 times, in the native build. In Chromium
// with VNNI, layers reach 172 Gop/s instead of 131: eight sums of a block of four rows wait for
// each other, and more rows do not fit the registers.

#include <cstddef>
#include <cstdint>

#include "kernels/product/micro_kernel.hpp"
#include "kernels/product/table.hpp"
#include "simd/int8.hpp"

namespace heed::kernels {

/// Rows of C that are computed at a time. Besides the sums, the registers hold four vectors of B,
/// two of A, their products and a vector of ones. With six rows of two vectors, V8 spilled sums to
/// memory, and a product of depth 64 took as long as one of floats. Plain WebAssembly needs no
/// vector of ones, so all four rows of its block fit; blocks of three rows and then one took 1.1
/// times as long. A dot product of bytes needs neither products nor ones, and waits for the sum
/// that it adds to, so its blocks have more rows. GCC stores the sums of 8 or more rows in every
/// step.
template <class Isa>
inline constexpr int kByteRows = [] {
  if constexpr (simd::kHasDot<Isa>)
    return simd::Traits<Isa>::kByteRows;
  else
    return std::min(simd::Traits<Isa>::kRows, simd::kIsPlainWasm ? 4 : 3);
}();

/// `start(v)` returns the initial value of the sums of vector v of a row; `finish(row, v, sum)`
/// receives the sums.
template <class Isa, int Rows, class Start, class Finish>
void multiply_byte_block(const std::int8_t* a, const std::int8_t* b, std::int64_t depth,
                         int first_row, const Start& start, const Finish& finish) noexcept {
  using S = simd::Sums<Isa>;
  constexpr int kVectors = simd::Traits<Isa>::kVectors;
  constexpr int kBytes = static_cast<int>(simd::Bytes<Isa>::size);
  constexpr int kGroupOfColumns = kPanel<Isa> * simd::kGroup;
  constexpr int kSteps = kByteStep / simd::kGroup / simd::ByteDot<Isa>::kGroups;
  // With few rows, the dot products of one sum would wait for each other.
  constexpr int kSums = simd::kHasDot<Isa> && Rows <= 2 ? kSteps : 1;
  const simd::ByteDot<Isa> dot;
  S sums[kSums][Rows][kVectors];
  for (auto& sum : sums)
    for (auto& row : sum)
      for (S& part : row) part = S(0);
  for (std::int64_t d = 0; d < depth; d += kByteStep) {
    for (int i = 0; i < kSteps; ++i) {
      const int g = i * simd::ByteDot<Isa>::kGroups;
      auto& sum = sums[i % kSums];
      typename simd::ByteDot<Isa>::Operand right[kVectors];
      for (int v = 0; v < kVectors; ++v)
        right[v] = dot.right(b + g * kGroupOfColumns + v * kBytes, kGroupOfColumns);
#pragma GCC unroll 32
      for (int r = 0; r < Rows; ++r) {
        const auto left = dot.left(a + r * kByteStep + g * simd::kGroup);
        for (int v = 0; v < kVectors; ++v) sum[r][v] = dot(left, right[v], sum[r][v]);
      }
    }
    a += simd::Traits<Isa>::kRows * kByteStep;
    b += 2 * kGroupOfColumns;
  }
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      S sum = start(v);
      for (const auto& part : sums) sum += part[r][v];
      finish(first_row + r, v, sum);
    }
  }
}

/// The same for some rows of a block of A, 1 <= rows <= Traits::kRows. Computes a few of them at a
/// time.
template <class Isa, class Start, class Finish, int Rows = kByteRows<Isa>>
inline void multiply_byte_rows(int rows, const std::int8_t* a, const std::int8_t* b,
                               std::int64_t depth, const Start& start, const Finish& finish,
                               int first_row = 0) noexcept {
  for (; first_row + Rows <= rows; first_row += Rows)
    multiply_byte_block<Isa, Rows>(a + first_row * kByteStep, b, depth, first_row, start, finish);
  if constexpr (Rows > 1) {
    if (first_row < rows)
      multiply_byte_rows<Isa, Start, Finish, Rows - 1>(rows, a, b, depth, start, finish, first_row);
  }
}

}  // namespace heed::kernels
