#pragma once

// Gated recurrent unit. The thirds of the weights are the gates r, z and n, in this order.
//   a = W_ih x_t + b_ih,  c = W_hh h + b_hh.
//   r = sigmoid(a_r + c_r),  z = sigmoid(a_z + c_z),  n = tanh(a_n + r c_n).
//   h' = (1 - z) n + z h.
// Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", section 2.3, 2014; r is
// inside the product, as in torch. Sequence b has lengths[b] steps: afterwards its state stays and
// its outputs are zero.
//
// Backward through time (Werbos, 1990):
//   dn = dh' (1 - z),  dz = dh' (h - n),  dr = da_n c_n.
// Through the activations:
//   da_n = dn (1 - n^2),  da_r = dr r (1 - r),  da_z = dz z (1 - z),  dc = (da_r, da_z, da_n r).
// Through the products:
//   dx = W_ih^T da,  dh = dh' z + W_hh^T dc,  dW_ih += da x^T,  dW_hh += dc h^T.
//
// Shapes of the arguments:
//   x [B, L, I]    weight_ih [3 Hd, I]    weight_hh [3 Hd, Hd]    bias_ih, bias_hh [3 Hd].
// Shapes of the results:
//   state [B, Hd]  -> output [B, L, Hd], state [B, Hd], gates [B, L, 4 Hd]: r, z, n, c_n.

#include <cmath>
#include <cstdint>

#include "heed/layers.hpp"
#include "reference/array.hpp"

namespace heed::reference {

/// The biases may be zeros.
struct GruParameters {
  Array weight_ih, weight_hh, bias_ih, bias_hh;
};

struct GruResult {
  Array output, state, gates;
};

inline std::int64_t gru_length(const GruOptions& options, std::int64_t b, std::int64_t L) {
  return options.lengths ? options.lengths->data<std::int32_t>()[static_cast<std::size_t>(b)] : L;
}

inline GruResult gru(const Array& x, const Array& state, const GruParameters& p,
                     const GruOptions& options = {}) {
  const std::int64_t B = x.shape[0], L = x.shape[1], I = x.shape[2], Hd = state.shape[1];
  GruResult result{Array(Shape{B, L, Hd}), state, Array(Shape{B, L, 4 * Hd})};
  const auto sigmoid = [](double v) { return 1.0 / (1.0 + std::exp(-v)); };
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t t = 0; t < gru_length(options, b, L); ++t) {
      Array a = p.bias_ih, c = p.bias_hh;
      for (std::int64_t g = 0; g < 3 * Hd; ++g) {
        for (std::int64_t i = 0; i < I; ++i)
          a[g] += p.weight_ih[g * I + i] * x[(b * L + t) * I + i];
        for (std::int64_t i = 0; i < Hd; ++i)
          c[g] += p.weight_hh[g * Hd + i] * result.state[b * Hd + i];
      }
      for (std::int64_t i = 0; i < Hd; ++i) {
        const double r = sigmoid(a[i] + c[i]), z = sigmoid(a[Hd + i] + c[Hd + i]);
        const double n = std::tanh(a[2 * Hd + i] + r * c[2 * Hd + i]);
        double& h = result.state[b * Hd + i];
        h = (1.0 - z) * n + z * h;
        result.output[(b * L + t) * Hd + i] = h;
        const double gates[] = {r, z, n, c[2 * Hd + i]};
        for (std::int64_t k = 0; k < 4; ++k)
          result.gates[(b * L + t) * 4 * Hd + k * Hd + i] = gates[k];
      }
    }
  return result;
}

struct GruGradients {
  Array x, state;
  GruParameters parameters;
};

inline GruGradients gru_backward(const Array& d_output, const Array& d_state, const Array& x,
                                 const Array& state, const GruParameters& p,
                                 const GruResult& result, const GruOptions& options = {}) {
  const std::int64_t B = x.shape[0], L = x.shape[1], I = x.shape[2], Hd = state.shape[1];
  GruGradients d{Array(x.shape),
                 d_state,
                 {Array(p.weight_ih.shape), Array(p.weight_hh.shape), Array(p.bias_ih.shape),
                  Array(p.bias_hh.shape)}};
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t t = gru_length(options, b, L) - 1; t >= 0; --t) {
      const auto gate = [&](std::int64_t k, std::int64_t i) {
        return result.gates[(b * L + t) * 4 * Hd + k * Hd + i];
      };
      const auto before = [&](std::int64_t i) {
        return t == 0 ? state[b * Hd + i] : result.output[(b * L + t - 1) * Hd + i];
      };
      Array d_a(Shape{3 * Hd}), d_c(Shape{3 * Hd}), d_h(Shape{Hd});
      for (std::int64_t i = 0; i < Hd; ++i) {
        const double r = gate(0, i), z = gate(1, i), n = gate(2, i);
        const double d_next = d.state[b * Hd + i] + d_output[(b * L + t) * Hd + i];
        d_a[2 * Hd + i] = d_next * (1.0 - z) * (1.0 - n * n);
        d_a[i] = d_a[2 * Hd + i] * gate(3, i) * r * (1.0 - r);
        d_a[Hd + i] = d_next * (before(i) - n) * z * (1.0 - z);
        d_c[i] = d_a[i];
        d_c[Hd + i] = d_a[Hd + i];
        d_c[2 * Hd + i] = d_a[2 * Hd + i] * r;
        d_h[i] = d_next * z;
      }
      for (std::int64_t g = 0; g < 3 * Hd; ++g) {
        for (std::int64_t i = 0; i < I; ++i) {
          d.x[(b * L + t) * I + i] += p.weight_ih[g * I + i] * d_a[g];
          d.parameters.weight_ih[g * I + i] += d_a[g] * x[(b * L + t) * I + i];
        }
        for (std::int64_t i = 0; i < Hd; ++i) {
          d_h[i] += p.weight_hh[g * Hd + i] * d_c[g];
          d.parameters.weight_hh[g * Hd + i] += d_c[g] * before(i);
        }
        d.parameters.bias_ih[g] += d_a[g];
        d.parameters.bias_hh[g] += d_c[g];
      }
      for (std::int64_t i = 0; i < Hd; ++i) d.state[b * Hd + i] = d_h[i];
    }
  return d;
}

}  // namespace heed::reference
