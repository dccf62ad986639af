#pragma once

// The layers around attention, forward and backward. A function that ends in _backward takes the
// gradient of a loss with respect to the result of the forward function: an argument named d_output
// or after the result. It returns the gradients with respect to the inputs of the forward function,
// named after them.

#include <cstdint>
#include <optional>

#include "heed/context.hpp"
#include "heed/packed_weights.hpp"
#include "heed/tensor.hpp"

namespace heed {

// ---------------------------------------------------------------------------------------------
// Linear layers and activations

/// A function of each number, alone or after a linear layer.
enum class Activation {
  kNone,
  kRelu,      ///< max(x, 0)
  kGelu,      ///< x Phi(x), Phi the standard normal CDF (Hendrycks and Gimpel, 2016)
  kGeluTanh,  ///< x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the same paper's approximation
  kSilu,      ///< x / (1 + exp(-x))
  kTanh,
  kSigmoid,  ///< 1 / (1 + exp(-x))
};

/// activation(x W^T + b). x [..., in], weight [out, in], bias [out] -> [..., out]. The weight is
/// float32, or float16 in half of the memory: its numbers are exact, but the sums of 4 to 6 rows
/// may be rounded differently. Throws ShapeError, DTypeError, MemoryError.
Tensor linear(Context& context, const TensorView& x, const TensorView& weight,
              const std::optional<TensorView>& bias = {},
              Activation activation = Activation::kNone);

/// The same with weights packed beforehand. With int8 weights the rows of x are rounded too, each
/// to 128 steps between its minimum and its maximum. On normally distributed numbers the error is
/// about 2 % of the result's root mean square. A row of x or of the weights with a number that is
/// not finite gives NaN. With int4 weights each 32 numbers of a row of x are rounded to 255 steps
/// around zero, and the error is about 8 %. Also throws OptionError for weights that were packed by
/// a context with another instruction set.
Tensor linear(Context& context, const TensorView& x, const PackedWeights& weight,
              const std::optional<TensorView>& bias = {},
              Activation activation = Activation::kNone);

/// Which gradients linear_backward computes.
struct LinearGradientOptions {
  bool need_x = true;
  bool need_weight = true;
  bool need_bias = true;
};

/// The results of linear_backward; results that were not requested are empty.
struct LinearGradients {
  std::optional<Tensor> x;
  std::optional<Tensor> weight;
  std::optional<Tensor> bias;
};

/// The gradients of linear without an activation, each only if it is needed. They are d_output W,
/// d_output^T x and the sum of d_output over all but its last axis. d_output [..., out]; the weight
/// is float32. Throws as linear.
LinearGradients linear_backward(Context& context, const TensorView& d_output, const TensorView& x,
                                const TensorView& weight,
                                const LinearGradientOptions& options = {});

/// The activation of each number. x [...] -> [...]. Throws DTypeError.
Tensor activate(Context& context, const TensorView& x, Activation activation);

/// d_output activation'(x). Throws ShapeError, DTypeError.
Tensor activate_backward(Context& context, const TensorView& d_output, const TensorView& x,
                         Activation activation);

/// silu(gate) up, the function between the three linear layers of a SwiGLU (Shazeer, "GLU Variants
/// Improve Transformer", 2020). gate, up [...] -> [...]. Throws ShapeError, DTypeError.
Tensor swiglu(Context& context, const TensorView& gate, const TensorView& up);

/// The gradients of swiglu, each in the shape of its argument.
struct SwigluGradients {
  Tensor gate;
  Tensor up;
};

/// d_output in the shape of gate and up. Throws ShapeError, DTypeError.
SwigluGradients swiglu_backward(Context& context, const TensorView& d_output,
                                const TensorView& gate, const TensorView& up);

// ---------------------------------------------------------------------------------------------
// Norms

/// Options of layer_norm.
struct LayerNormOptions {
  /// The number of last axes of x that are normalised together.
  int axes = 1;
  /// Arrays of the sizes of these axes; all ones and all zeros if not given.
  std::optional<TensorView> weight;
  std::optional<TensorView> bias;
  float eps = 1e-5f;
};

/// (x - mean) / sqrt(variance + eps) * weight + bias (Ba et al., "Layer Normalization", 2016). The
/// variance is the biased one, mean((x - mean)^2). x [..., the normalised axes] -> the same shape.
/// Throws ShapeError, DTypeError, OptionError.
Tensor layer_norm(Context& context, const TensorView& x, const LayerNormOptions& options = {});

/// The gradients of a norm, each in the shape of its argument.
struct NormGradients {
  Tensor x;
  /// Only for parameters that were given.
  std::optional<Tensor> weight;
  std::optional<Tensor> bias;
};

/// d_output in the shape of x. Throws as layer_norm.
NormGradients layer_norm_backward(Context& context, const TensorView& d_output, const TensorView& x,
                                  const LayerNormOptions& options = {});

/// Options of rms_norm.
struct RmsNormOptions {
  int axes = 1;
  std::optional<TensorView> weight;
  float eps = 1e-6f;
};

/// x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich, "Root Mean Square Layer Normalization",
/// 2019). Otherwise as layer_norm.
Tensor rms_norm(Context& context, const TensorView& x, const RmsNormOptions& options = {});

/// d_output in the shape of x. Throws as rms_norm.
NormGradients rms_norm_backward(Context& context, const TensorView& d_output, const TensorView& x,
                                const RmsNormOptions& options = {});

// ---------------------------------------------------------------------------------------------
// Softmax, dropout, loss

/// exp(x_i) / sum_j exp(x_j) over the last axis; a row of nothing but -inf gives zeros.
/// x [..., N] -> [..., N]. Throws DTypeError, ShapeError for rank 0.
Tensor softmax(Context& context, const TensorView& x);

/// The gradient of softmax from its result y: y (d_y - sum_j d_y_j y_j). Throws ShapeError,
/// DTypeError.
Tensor softmax_backward(Context& context, const TensorView& d_output, const TensorView& output);

/// log sum_i exp(x_i) over the last axis, without overflow; -inf for a row without numbers or of
/// nothing but -inf. x [..., N] -> [...]. Throws DTypeError, ShapeError for rank 0.
Tensor logsumexp(Context& context, const TensorView& x);

/// Sets numbers to zero with probability `rate`, depending on the seed and their indices alone, and
/// multiplies the others by 1 / (1 - rate) (Srivastava et al., 2014). Its gradient is the same
/// function of d_output. Throws DTypeError; OptionError for a rate outside [0, 1).
Tensor dropout(Context& context, const TensorView& x, double rate, std::uint64_t seed);

/// The result of cross_entropy: the mean of the losses of all rows, their sum, or the loss of each
/// row.
enum class Reduction { kMean, kSum, kNone };

/// Options of cross_entropy.
struct CrossEntropyOptions {
  /// Rows with this target have loss 0 and do not count in the mean.
  std::optional<std::int32_t> ignore_index;
  /// e of the loss (1 - e) (-log p[target]) + e mean_c(-log p[c]) (Szegedy et al., 2016).
  float label_smoothing = 0.0f;
  Reduction reduction = Reduction::kMean;
};

/// -log softmax(logits)[target] of each row, or their mean or sum. logits [..., C],
/// targets int32 [...] -> [] or [...]. The mean over no rows is NaN, as in torch.
/// Throws ShapeError, DTypeError, OptionError for a target outside [0, C).
Tensor cross_entropy(Context& context, const TensorView& logits, const TensorView& targets,
                     const CrossEntropyOptions& options = {});

/// d_loss [] or [...] -> [..., C]
Tensor cross_entropy_backward(Context& context, const TensorView& d_loss, const TensorView& logits,
                              const TensorView& targets, const CrossEntropyOptions& options = {});

// ---------------------------------------------------------------------------------------------
// Embeddings and positions

/// Rows of a table. ids int32 [...], weight [V, E], float32 or float16 -> float32 [..., E].
/// Throws ShapeError, DTypeError, OptionError for an id outside [0, V).
Tensor embedding(Context& context, const TensorView& ids, const TensorView& weight);

/// The gradient of the table [rows, E] from d_output [..., E]. Its row `padding_index` is zero.
/// Throws as embedding.
Tensor embedding_backward(Context& context, const TensorView& d_output, const TensorView& ids,
                          std::int64_t rows, std::optional<std::int64_t> padding_index = {});

/// Options of sinusoidal_encoding.
struct SinusoidalOptions {
  double base = 10000.0;
  /// The position of the first row.
  std::int64_t offset = 0;
};

/// Row r, column c holds sin (c even) or cos (c odd) of (offset + r) / base^(2 floor(c/2) / size).
/// -> [length, size] (Vaswani et al., section 3.5, 2017). Throws OptionError for a negative size or
/// offset, a base that is not positive.
Tensor sinusoidal_encoding(Context& context, std::int64_t length, std::int64_t size,
                           const SinusoidalOptions& options = {});

/// The pairs of entries of a head that rope rotates.
enum class RopeStyle {
  kHalf,         ///< pairs (x[c], x[c + rotary_size / 2])
  kInterleaved,  ///< pairs (x[2c], x[2c + 1])
};

/// Options of rope.
struct RopeOptions {
  RopeStyle style = RopeStyle::kHalf;
  /// The number of heads in x [B, L, H*D]; taken from the shape [B, H, L, D] otherwise.
  std::int64_t heads = 0;
  /// The number of entries of each head that are rotated, from the first; 0 means all.
  std::int64_t rotary_size = 0;
  double base = 10000.0;
  /// The position of the first row.
  std::int64_t offset = 0;
  /// int32 [B, L] or [1, L], instead of the offset.
  std::optional<TensorView> position_ids;
  /// Tables to use instead of the base: [positions, rotary_size / 2], or [B, L, rotary_size / 2] or
  /// [1, L, rotary_size / 2] row by row.
  std::optional<TensorView> cos;
  std::optional<TensorView> sin;
};

/// Rotary position embedding: pair c of a row at position p is rotated by the angle
/// p base^(-2c / rotary_size) (Su et al., "RoFormer", 2021; ONNX RotaryEmbedding 23).
/// x [B, H, L, D] or [B, L, H*D] -> the same shape. Throws ShapeError, DTypeError, OptionError.
Tensor rope(Context& context, const TensorView& x, const RopeOptions& options = {});

/// The gradient of rope: rotation by the negative angles. Throws as rope.
Tensor rope_backward(Context& context, const TensorView& d_output, const RopeOptions& options = {});

// ---------------------------------------------------------------------------------------------
// Recurrent layers

/// The layout of torch.nn.GRU with one layer; rows for the gates r, z and n.
struct GruParameters {
  TensorView weight_ih;               ///< [3 Hd, I]
  TensorView weight_hh;               ///< [3 Hd, Hd]
  std::optional<TensorView> bias_ih;  ///< [3 Hd]
  std::optional<TensorView> bias_hh;
};

/// Options of gru.
struct GruOptions {
  /// [B, Hd]; zeros if not given.
  std::optional<TensorView> state;
  /// int32 [B]: the number of steps of each sequence; after them its state stays and its outputs
  /// are zero.
  std::optional<TensorView> lengths;
  /// Keep the gates, which gru_backward needs.
  bool need_gates = false;
};

/// The results of gru.
struct GruResult {
  /// [B, L, Hd], the state after every step
  Tensor output;
  /// [B, Hd], the state at the end
  Tensor state;
  /// [B, L, 4 Hd]: r, z, n, and W_hn h + b_hn
  std::optional<Tensor> gates;
};

/// Gated recurrent unit (Cho et al., 2014), as torch computes it:
///   r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)    z likewise
///   n = tanh(W_in x + b_in + r (W_hn h + b_hn))    h' = (1 - z) n + z h.
/// The input is x [B, L, I]. Throws ShapeError, DTypeError, OptionError, MemoryError.
GruResult gru(Context& context, const TensorView& x, const GruParameters& parameters,
              const GruOptions& options = {});

/// The gradients of gru, each in the shape of its argument.
struct GruGradients {
  Tensor x;
  Tensor state;
  Tensor weight_ih;
  Tensor weight_hh;
  std::optional<Tensor> bias_ih;
  std::optional<Tensor> bias_hh;
};

/// d_output [B, L, Hd] and d_state [B, Hd], either may be missing; `output` and `gates` are results
/// of gru.
GruGradients gru_backward(Context& context, const std::optional<TensorView>& d_output,
                          const std::optional<TensorView>& d_state, const TensorView& x,
                          const GruParameters& parameters, const TensorView& output,
                          const TensorView& gates, const GruOptions& options = {});

}  // namespace heed
