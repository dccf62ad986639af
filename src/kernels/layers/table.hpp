#pragma once

// The arguments of the kernels of layers, and the list of these kernels.

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

/// Random dropout of weights, a function of the seed, the row and the key alone.
struct Dropout {
  std::uint64_t seed = 0;
  /// A weight is kept if its hash, of 32 bits, is below this.
  std::uint64_t keep = std::uint64_t{1} << 32;
  /// 1 / probability that a weight is kept.
  float scale = 1.0f;

  static Dropout of(double rate, std::uint64_t seed) noexcept {
    return {seed, static_cast<std::uint64_t>((1.0 - rate) * 0x1p32),
            static_cast<float>(1.0 / (1.0 - rate))};
  }
};

/// As heed::Activation.
enum class Activation : std::uint8_t { kNone, kRelu, kGelu, kGeluTanh, kSilu, kTanh, kSigmoid };

/// One step of one sequence in a gated recurrent unit, and its gradients.
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
  float* d_state;   // [size] of h'; becomes the gradient of h without the part through W_hh
  float* d_input;   // [3 size]
  float* d_hidden;  // [3 size]
};

/// Rows [rows, size] to be normalised.
struct NormTile {
  const float* x;
  std::int64_t rows;
  std::int64_t size;
  bool is_centred;  // whether their mean is subtracted first
  float eps;
  const float* weight;  // [size]
  const float* bias;    // not read for gradients
};

/// The arguments and results of the gradients of a NormTile.
struct NormGradients {
  const float* d_y;
  float* d_x;
  float* d_weight;  // [size], of these rows alone
  float* d_bias;
};

/// Rows of one head, to be rotated.
struct RopeRows {
  const float* x;
  float* y;
  std::int64_t rows;
  std::int64_t stride;  // between rows of x, and of y
  std::int64_t size;
  std::int64_t pairs;
  const float* cos;  // [rows, pairs]
  const float* sin;
  float direction;  // 1, or -1 for the gradient
  bool is_interleaved;
};

/// The sums of a row of logits: its maximum, sum_j exp(x_j - maximum) and sum_j (x_j - maximum).
struct RowSums {
  float maximum;
  double exponentials;
  double differences;
};

/// The kernels of layers of one instruction set.
struct LayerKernels {
  void (*softmax)(const float* x, std::int64_t rows, std::int64_t columns, float* y) noexcept;
  void (*softmax_sums)(const float* x, std::int64_t rows, std::int64_t columns,
                       RowSums* row_sums) noexcept;
  void (*softmax_backward)(const float* d_y, const float* y, std::int64_t rows,
                           std::int64_t columns, float* d_x) noexcept;
  void (*norm)(const NormTile& tile, float* y) noexcept;
  void (*norm_backward)(const NormTile& tile, const NormGradients& gradients) noexcept;
  /// The cosines and sines of one position; frequencies [pairs].
  void (*rope_angles)(double position, const double* frequencies, std::int64_t pairs, float* cos,
                      float* sin) noexcept;
  void (*rope)(const RopeRows& rows) noexcept;
  void (*gru_step)(const GruStep& step) noexcept;
  void (*gru_step_backward)(const GruStepGradients& step) noexcept;
  void (*activate)(Activation activation, const float* x, std::int64_t count, float* y) noexcept;
  void (*activate_backward)(Activation activation, const float* x, const float* d_y,
                            std::int64_t count, float* d_x) noexcept;
  void (*swiglu)(const float* gate, const float* up, std::int64_t count, float* y) noexcept;
  void (*swiglu_backward)(const float* d_y, const float* gate, const float* up, std::int64_t count,
                          float* d_gate, float* d_up) noexcept;
  /// Applies dropout to w[begin, end) of a row.
  void (*drop)(const Dropout& dropout, std::uint64_t row, std::int64_t first, int begin, int end,
               float* w) noexcept;
};

}  // namespace heed::kernels
