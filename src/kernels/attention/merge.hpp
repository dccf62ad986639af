#pragma once

// Merges results over disjoint parts of the keys: states of online softmax (a decode step), or
// outputs with their lse (Ye et al., "Cascade Inference", FlashInfer, 2024).

#include <algorithm>
#include <cstdint>

#include "kernels/attention/cache_tiles.hpp"
#include "kernels/attention/online_softmax.hpp"

namespace heed::kernels {

template <class Isa>
void merge_states(const DecodeMerge& t) noexcept {
  const std::int64_t stride = whole_panels<Isa>(t.value_size);
  for (int r = 0; r < t.heads * t.queries; ++r) {
    const int h = r % t.heads;
    const int i = r / t.heads;
    float m, l;
    float* const o = t.part_count > 0 ? t.parts[0].o + r * stride : nullptr;
    const OnlineSoftmax<Isa> whole{m, l, o, stride};
    whole.merge(t.sinks ? t.sinks[h * t.sink_stride] : kHidden, t.part_count, [&](std::int64_t n) {
      const PartialState& part = t.parts[n];
      return typename OnlineSoftmax<Isa>::Part{part.m[r], part.l[r], part.o + r * stride};
    });
    if (t.lse) t.lse[h * t.lse_head_stride + i * t.lse_stride] = whole.lse();
    float* const out = t.output + h * t.output_head_stride + i * t.output_stride;
    if (t.visible.begin_of(i) >= t.visible.end_of(i))
      std::fill_n(out, t.value_size, 0.0f);
    else
      whole.normalise(t.value_size, out);
  }
}

/// An output with its lse is the state (lse, 1, output).
template <class Isa>
void merge_outputs(const OutputMerge& t) noexcept {
  for (std::int64_t r = 0; r < t.rows; ++r) {
    float m, l;
    const std::int64_t at = r * t.value_size;
    const OnlineSoftmax<Isa> whole{m, l, t.output + at, t.value_size};
    whole.merge(kHidden, 2, [&](std::int64_t n) {
      return typename OnlineSoftmax<Isa>::Part{n == 0 ? t.lse_a[r] : t.lse_b[r], 1.0f,
                                               (n == 0 ? t.output_a : t.output_b) + at};
    });
    t.lse[r] = whole.lse();
    if (m != kHidden) whole.normalise(t.value_size, whole.o);  // else there are no keys, and o is 0
  }
}

}  // namespace heed::kernels
