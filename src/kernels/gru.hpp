#pragma once

// The gates of a gated recurrent unit (Cho et al., 2014; as torch has them), once the products with
// the weights are there: a = W_ih x + b_ih and c = W_hh h + b_hh, in thirds for r, z and n.
//   r = sigmoid(a_r + c_r),  z = sigmoid(a_z + c_z),  n = tanh(a_n + r c_n),  h' = n + z (h - n)
// Backward, from the gradient dh':
//   da_n = dh' (1 - z) (1 - n^2),  da_r = da_n c_n r (1 - r),  da_z = dh' (h - n) z (1 - z)
//   dc = da, but dc_n = da_n r;   dh = dh' z + W_hh^T dc, of which the product is not made here
// A sigmoid is 1/2 + tanh(x / 2) / 2, so that all three are one function of vectors at once.

#include <cstdint>

#include "kernels/table.hpp"
#include "simd/activation.hpp"

namespace heed::kernels {

/// As many numbers from `i` on as a vector has; or, of a last part, the one there.
template <class Isa, bool IsOne>
inline void gru_vector(const simd::Tanh<Isa>& tanh, const GruStep& s, std::int64_t i) noexcept {
  using V = simd::Vector<Isa>;
  const auto load = [&](const float* from, std::int64_t part) {
    const float* const at = from + part * s.size + i;
    return IsOne ? V(*at) : V::load_unaligned(at);
  };
  const auto store = [&](V x, float* to, std::int64_t part) {
    float* const at = to + part * s.size + i;
    if constexpr (IsOne)
      *at = x.get(0);
    else
      x.store_unaligned(at);
  };
  const V half(0.5f);
  V gates[2] = {half * (load(s.input, 0) + load(s.hidden, 0)),
                half * (load(s.input, 1) + load(s.hidden, 1))};
  tanh(gates);
  const V r = half + half * gates[0];
  const V z = half + half * gates[1];
  const V c = load(s.hidden, 2);
  V n[1] = {load(s.input, 2) + r * c};
  tanh(n);
  store(n[0] + z * (load(s.state, 0) - n[0]), s.next, 0);
  if (!s.gates) return;
  store(r, s.gates, 0);
  store(z, s.gates, 1);
  store(n[0], s.gates, 2);
  store(c, s.gates, 3);
}

template <class Isa>
void gru_step(const GruStep& s) noexcept {
  constexpr std::int64_t kLanes = simd::Vector<Isa>::size;
  const simd::Tanh<Isa> tanh;
  std::int64_t i = 0;
  for (; i + kLanes <= s.size; i += kLanes) gru_vector<Isa, false>(tanh, s, i);
  for (; i < s.size; ++i) gru_vector<Isa, true>(tanh, s, i);
}

template <class Isa>
void gru_step_backward(const GruStepGradients& s) noexcept {
  const std::int64_t size = s.size;
  const float* const gates = s.gates;
  const float* const state = s.state;
  float* __restrict const d_state = s.d_state;
  float* __restrict const d_input = s.d_input;
  float* __restrict const d_hidden = s.d_hidden;
  for (std::int64_t i = 0; i < size; ++i) {
    const float r = gates[i], z = gates[size + i], n = gates[2 * size + i];
    const float d_next = d_state[i];
    const float d_n = d_next * (1.0f - z) * (1.0f - n * n);
    const float d_r = d_n * gates[3 * size + i] * r * (1.0f - r);
    const float d_z = d_next * (state[i] - n) * z * (1.0f - z);
    d_input[i] = d_hidden[i] = d_r;
    d_input[size + i] = d_hidden[size + i] = d_z;
    d_input[2 * size + i] = d_n;
    d_hidden[2 * size + i] = d_n * r;
    d_state[i] = d_next * z;
  }
}

}  // namespace heed::kernels
