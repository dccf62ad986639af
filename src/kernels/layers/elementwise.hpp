#pragma once

// Functions of each number of one or several arrays, dense and of one length.

#include <algorithm>
#include <cstdint>

#include "kernels/layers/activate.hpp"

namespace heed::kernels {

/// function(x, y) for two vectors of each array at a time; the last numbers are copied to whole
/// vectors, so that the function is instantiated once.
template <class Isa, class Function, int Inputs, int Outputs>
[[gnu::flatten]] inline void map(const Function& function, const float* const (&inputs)[Inputs],
                                 std::int64_t count, float* const (&outputs)[Outputs]) noexcept {
  using V = simd::Vector<Isa>;
  constexpr int kVectors = 2;
  constexpr int kLanes = static_cast<int>(V::size);
  constexpr int kStep = kVectors * kLanes;
  alignas(64) float rest[Inputs][kStep] = {};
  alignas(64) float rest_out[Outputs][kStep];
  for (std::int64_t i = 0; i < count; i += kStep) {
    const bool is_whole = i + kStep <= count;
    V x[Inputs][kVectors], y[Outputs][kVectors];
    for (int n = 0; n < Inputs; ++n) {
      const float* from = inputs[n] + i;
      if (!is_whole) {
        std::copy_n(from, count - i, rest[n]);
        from = rest[n];
      }
      for (int v = 0; v < kVectors; ++v) x[n][v] = V::load_unaligned(from + v * kLanes);
    }
    function(x, y);
    for (int n = 0; n < Outputs; ++n) {
      float* const to = is_whole ? outputs[n] + i : rest_out[n];
      for (int v = 0; v < kVectors; ++v) y[n][v].store_unaligned(to + v * kLanes);
      if (!is_whole) std::copy_n(rest_out[n], count - i, outputs[n] + i);
    }
  }
}

/// y = activation(x)
template <class Isa>
void activate_numbers(Activation activation, const float* x, std::int64_t count,
                      float* y) noexcept {
  constexpr std::int64_t kWidth = kPanel<Isa>;
  constexpr std::int64_t kAtATime = 64 * kWidth;  // which stay in the first-level cache
  for (std::int64_t first = 0; first < count; first += kAtATime) {
    const std::int64_t numbers = std::min(kAtATime, count - first);
    const std::int64_t rows = numbers / kWidth, rest = numbers % kWidth;
    float* const out = y + first;
    std::copy_n(x + first, numbers, out);
    activate<Isa>(activation, static_cast<int>(rows), out, kWidth);
    if (rest == 0) continue;
    alignas(64) float last[kWidth] = {};
    std::copy_n(out + rows * kWidth, rest, last);
    activate<Isa>(activation, 1, last, kWidth);
    std::copy_n(last, rest, out + rows * kWidth);
  }
}

/// d_x = d_y f'(x)
template <class Isa, class Slope>
void apply_slope(const float* x, const float* d_y, std::int64_t count, float* d_x) noexcept {
  const Slope slope{};
  map<Isa>(
      [&](const auto& in, auto& out) {
        slope(in[0], out[0]);
        for (int v = 0; v < 2; ++v) out[0][v] *= in[1][v];
      },
      {x, d_y}, count, {d_x});
}

template <class Isa>
void activate_backward(Activation activation, const float* x, const float* d_y, std::int64_t count,
                       float* d_x) noexcept {
  if (activation == Activation::kNone) std::copy_n(d_y, count, d_x);
  with_activation<Isa>(activation, [&]<class, class Slope>() noexcept {
    apply_slope<Isa, Slope>(x, d_y, count, d_x);
  });
}

/// y = silu(gate) up
template <class Isa>
void swiglu(const float* gate, const float* up, std::int64_t count, float* y) noexcept {
  const simd::TimesSigmoid<Isa> times_sigmoid;
  map<Isa>(
      [&](const auto& in, auto& out) {
        for (int v = 0; v < 2; ++v) out[0][v] = times_sigmoid(in[0][v] * in[1][v], in[0][v]);
      },
      {gate, up}, count, {y});
}

/// d_gate = d_y up silu'(gate), d_up = d_y silu(gate)
template <class Isa>
void swiglu_backward(const float* d_y, const float* gate, const float* up, std::int64_t count,
                     float* d_gate, float* d_up) noexcept {
  using V = simd::Vector<Isa>;
  const simd::TimesSigmoid<Isa> times_sigmoid;
  map<Isa>(
      [&](const auto& in, auto& out) {
        for (int v = 0; v < 2; ++v) {
          const V g = in[1][v];
          const V s = times_sigmoid(in[0][v], g);  // d_y sigmoid(gate)
          const V rest = times_sigmoid(V(1.0f), -g);
          out[0][v] = s * in[2][v] * simd::madd<Isa>(g, rest, V(1.0f));
          out[1][v] = s * g;
        }
      },
      {d_y, gate, up}, count, {d_gate, d_up});
}

}  // namespace heed::kernels
