#pragma once

// The gates of a gated recurrent unit (Cho et al., 2014; as in torch). The products with the
// weights are a = W_ih x + b_ih and c = W_hh h + b_hh. Both consist of thirds for r, z and n.
//
// Forward:
//   r = sigmoid(a_r + c_r),  z = sigmoid(a_z + c_z),  n = tanh(a_n + r c_n),  h' = n + z (h - n).
// Backward, from the gradient dh':
//   da_n = dh' (1 - z) (1 - n^2),  da_r = da_n c_n r (1 - r),  da_z = dh' (h - n) z (1 - z).
// The other gradients are dc = da, except dc_n = da_n r, and dh = dh' z + W_hh^T dc, whose product
// is computed elsewhere. A sigmoid is 1/2 + tanh(x / 2) / 2, so all three gates are one function of
// several vectors.

#include <cstdint>

#include "kernels/layers/table.hpp"
#include "simd/activation.hpp"

namespace heed::kernels {

/// Reads and writes a vector of numbers, or one number at the end of a row.
template <class Isa, bool IsOne>
struct GruNumbers {
  using V = simd::Vector<Isa>;

  V load(const float* from, std::int64_t part = 0) const noexcept {
    const float* const at = from + part * size + i;
    if constexpr (IsOne)
      return V(*at);
    else
      return V::load_unaligned(at);
  }
  void store(V x, float* to, std::int64_t part = 0) const noexcept {
    float* const at = to + part * size + i;
    if constexpr (IsOne)
      *at = x.get(0);
    else
      x.store_unaligned(at);
  }

  std::int64_t size;  // of a part
  std::int64_t i;
};

/// Calls step for all numbers of a row, by vectors and then one by one.
template <class Isa, class Step>
inline void for_gru_numbers(std::int64_t size, const Step& step) noexcept {
  constexpr std::int64_t kLanes = simd::Vector<Isa>::size;
  std::int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) step(GruNumbers<Isa, false>{size, i});
  for (; i < size; ++i) step(GruNumbers<Isa, true>{size, i});
}

template <class Isa>
void gru_step(const GruStep& s) noexcept {
  using V = simd::Vector<Isa>;
  const simd::Tanh<Isa> tanh;
  const V half = simd::held<Isa>(0.5f);
  for_gru_numbers<Isa>(s.size, [&](auto at) {
    V gates[2] = {half * (at.load(s.input, 0) + at.load(s.hidden, 0)),
                  half * (at.load(s.input, 1) + at.load(s.hidden, 1))};
    tanh(gates);
    const V r = half + half * gates[0];
    const V z = half + half * gates[1];
    const V c = at.load(s.hidden, 2);
    V n[1] = {at.load(s.input, 2) + r * c};
    tanh(n);
    at.store(n[0] + z * (at.load(s.state) - n[0]), s.next);
    if (!s.gates) return;
    at.store(r, s.gates, 0);
    at.store(z, s.gates, 1);
    at.store(n[0], s.gates, 2);
    at.store(c, s.gates, 3);
  });
}

template <class Isa>
void gru_step_backward(const GruStepGradients& s) noexcept {
  using V = simd::Vector<Isa>;
  const V one = simd::held<Isa>(1.0f);
  for_gru_numbers<Isa>(s.size, [&](auto at) {
    const V r = at.load(s.gates, 0), z = at.load(s.gates, 1), n = at.load(s.gates, 2);
    const V d_next = at.load(s.d_state);
    const V d_n = d_next * (one - z) * (one - n * n);
    const V d_r = d_n * at.load(s.gates, 3) * r * (one - r);
    const V d_z = d_next * (at.load(s.state) - n) * z * (one - z);
    for (float* const to : {s.d_input, s.d_hidden}) {
      at.store(d_r, to, 0);
      at.store(d_z, to, 1);
    }
    at.store(d_n, s.d_input, 2);
    at.store(d_n * r, s.d_hidden, 2);
    at.store(d_next * z, s.d_state);
  });
}

}  // namespace heed::kernels
