#pragma once

// What the kernels of layers take, and the list of them.

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

/// Weights dropped at random: which ones is a function of the seed, the row and the key alone.
struct Dropout {
  std::uint64_t seed = 0;
  /// Of 2^32: a weight is kept if its hash is below.
  std::uint64_t keep = std::uint64_t{1} << 32;
  /// 1 / probability of being kept.
  float scale = 1.0f;
};

/// As heed::Activation.
enum class Activation : std::uint8_t { kNone, kRelu, kGelu, kGeluTanh, kSilu, kTanh, kSigmoid };

/// One step of one sequence in a gated recurrent unit, and what its backward pass gives.
struct GruStep {
  std::int64_t size;
  const float* input;   // [3 size] W_ih x + b_ih
  const float* hidden;  // [3 size] W_hh h + b_hh
  const float* state;   // [size] h
  float* next;          // [size] h'
  float* gates;         // [4 size] r, z, n, W_hn h + b_hn, or null
};
struct GruStepGradients {
  std::int64_t size;
  const float* gates;
  const float* state;
  float* d_state;   // [size] of h'; becomes that of h, but for what passes through W_hh
  float* d_input;   // [3 size]
  float* d_hidden;  // [3 size]
};

/// Rows [rows, size] to be normalised.
struct NormTile {
  const float* x;
  std::int64_t rows;
  std::int64_t size;
  bool is_centred;  // whether their mean is taken off first
  float eps;
  const float* weight;  // [size]
  const float* bias;
  float* y;
};

/// The same for their gradients.
struct NormGradientTile {
  const float* x;
  std::int64_t rows;
  std::int64_t size;
  bool is_centred;
  float eps;
  const float* weight;
  const float* d_y;
  float* d_x;
  float* d_weight;  // [size], of these rows alone
  float* d_bias;
};

/// Of a row of logits: the maximum, sum_j exp(x_j - maximum) and sum_j (x_j - maximum).
struct RowSums {
  float maximum;
  double powers;
  double differences;
};

/// The kernels of layers of one instruction set.
struct LayerKernels {
  void (*softmax)(const float* x, std::int64_t rows, std::int64_t columns, float* y) noexcept;
  void (*softmax_sums)(const float* x, std::int64_t rows, std::int64_t columns,
                       RowSums* row_sums) noexcept;
  void (*softmax_backward)(const float* d_y, const float* y, std::int64_t rows,
                           std::int64_t columns, float* d_x) noexcept;
  void (*norm)(const NormTile& tile) noexcept;
  void (*norm_backward)(const NormGradientTile& tile) noexcept;
  void (*gru_step)(const GruStep& step) noexcept;
  void (*gru_step_backward)(const GruStepGradients& step) noexcept;
  void (*activate)(Activation activation, const float* x, std::int64_t count, float* y) noexcept;
  void (*activate_backward)(Activation activation, const float* x, const float* d_y,
                            std::int64_t count, float* d_x) noexcept;
  void (*swiglu)(const float* gate, const float* up, std::int64_t count, float* y) noexcept;
  void (*swiglu_backward)(const float* d_y, const float* gate, const float* up, std::int64_t count,
                          float* d_gate, float* d_up) noexcept;
  /// w[begin, end) of a row, dropped.
  void (*drop)(const Dropout& dropout, std::uint64_t row, std::int64_t first, int begin, int end,
               float* w) noexcept;
};

}  // namespace heed::kernels
