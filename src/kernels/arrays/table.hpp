#pragma once

// The arguments of the kernels of arrays, and the list of these kernels.

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

/// The maximum number of axes of an array, as heed::Shape::kMaxRank.
inline constexpr int kMaxAxes = 8;

/// The axes of a large array over which a small one repeats, outermost first.
struct BroadcastAxes {
  struct Axis {
    std::int64_t size;
    std::int64_t stride;  // in the small array; 0 where it repeats
  };
  Axis axes[kMaxAxes];
  int rank = 0;
};

enum class Arithmetic { kAdd, kSubtract, kMultiply, kDivide, kSecond };

/// y = f(a, b), a and y [rows, inner.size] dense; `outer` gives the row of b for each of their
/// rows.
struct Combination {
  Arithmetic function;
  const float* a;  // not read for kSecond
  const float* b;
  float* y;
  BroadcastAxes outer;
  BroadcastAxes::Axis inner;
};

/// The element types that are converted.
enum class FloatFormat { kFloat32, kFloat16, kBFloat16 };

/// An axis of a transposed array, and its strides in x and in y, in elements.
struct TransposeAxis {
  std::int64_t size;
  std::int64_t from;
  std::int64_t to;
};

/// y = x with its axes in another order, unit by unit. A unit is a run of the innermost axis of y.
/// If another axis is innermost in x, a unit is a matrix of that run and up to `step` entries of
/// the other axis.
struct Transpose {
  std::int64_t element = 0;  // bytes
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  TransposeAxis inner = {};    // innermost of y
  TransposeAxis x_inner = {};  // innermost of x; of size 1 if that is `inner`
  std::int64_t step = 0;
  TransposeAxis axes[kMaxAxes] = {};  // the others, innermost first
  int axis_count = 0;
};

/// Sizes of the blocks of a sum over rows: see kernels/arrays/sums.hpp.
inline constexpr std::int64_t kSumTerms = 128;
inline constexpr std::int64_t kSumColumns = 256;
inline constexpr std::int64_t kMinSumColumns = 16;

/// The arguments of the draw of one token.
struct SampleRow {
  const float* logits;
  std::int64_t size;
  float temperature;
  std::int64_t top_k;  // 0 for all
  float top_p;
  double fraction;       // uniform random number in [0, 1)
  std::int32_t* heap;    // [size] scratch
  std::int32_t* chosen;  // [size] scratch
};

/// Whether logits can be drawn from.
enum class LogitsCheck { kValid, kNaN, kNothing };

/// The kernels of arrays of one instruction set.
struct ArrayKernels {
  /// For the columns [first, first + count) of rows [begin, end).
  void (*combine)(const Combination& combination, std::int64_t begin, std::int64_t end,
                  std::int64_t first, std::int64_t count) noexcept;
  void (*cast)(const void* from, FloatFormat from_format, std::int64_t count, void* to,
               FloatFormat to_format) noexcept;
  /// float16 to float32, faster than cast.
  void (*widen)(const std::uint16_t* halves, std::int64_t count, float* floats) noexcept;
  /// Copies `count` runs of `size` bytes.
  void (*copy_runs)(const std::byte* from, std::int64_t from_stride, std::int64_t count,
                    std::int64_t size, std::byte* to, std::int64_t to_stride) noexcept;
  /// The units [begin, end).
  void (*transpose)(const Transpose& transpose, std::int64_t begin, std::int64_t end) noexcept;
  /// sums[c] = the sum of x[r][c] over up to `together` * kSumTerms rows of `columns` numbers, for
  /// `width` columns, up to kSumColumns. Adds `together` rows side by side.
  void (*sum_block)(const float* x, std::int64_t rows, std::int64_t columns, std::int64_t width,
                    std::int64_t together, double* sums) noexcept;
  /// sums[c] = the sum of parts[r][c]; parts is scratch afterwards.
  void (*sum_parts)(double* parts, std::int64_t rows, std::int64_t columns, float* sums) noexcept;
  /// y[r][c] = x[0][c] + ... + x[r][c], for `width` columns, up to kSumColumns. Rows are
  /// `stride` numbers apart; x and y point to the last row if the stride is negative.
  void (*running_sums)(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t width,
                       float* y) noexcept;
  /// Adds x [rows, columns] to rows that are `stride` numbers apart.
  void (*add_block)(const float* x, std::int64_t rows, std::int64_t columns, float* to,
                    std::int64_t stride) noexcept;
  /// The k largest numbers of a row, NaN after all others, and their indices; `heap` [size] is
  /// scratch.
  void (*top_k)(const float* row, std::int64_t size, std::int64_t k, std::int32_t* heap,
                float* values, std::int32_t* indices) noexcept;
  LogitsCheck (*check_logits)(const float* row, std::int64_t size) noexcept;
  std::int32_t (*sample)(const SampleRow& row) noexcept;
};

}  // namespace heed::kernels
