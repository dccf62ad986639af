#pragma once

// y = f(a, b) number by number, b broadcast.

#include <cstdint>
#include <functional>

#include "kernels/arrays/table.hpp"

namespace heed::kernels {

/// y = f(a, b) for a run in which b is dense, or one number.
template <class Isa, class Function>
void combine_run(const float* a, const float* b, bool repeats, std::int64_t count,
                 float* __restrict y) noexcept {
  const Function function{};
  if (repeats) {
    const float right = *b;
    for (std::int64_t i = 0; i < count; ++i) y[i] = function(a[i], right);
  } else {
    for (std::int64_t i = 0; i < count; ++i) y[i] = function(a[i], b[i]);
  }
}

struct Second {
  float operator()(float, float b) const noexcept { return b; }
};

template <class Isa>
auto run_of(Arithmetic function) noexcept {
  switch (function) {
    case Arithmetic::kAdd:
      return combine_run<Isa, std::plus<float>>;
    case Arithmetic::kSubtract:
      return combine_run<Isa, std::minus<float>>;
    case Arithmetic::kMultiply:
      return combine_run<Isa, std::multiplies<float>>;
    case Arithmetic::kDivide:
      return combine_run<Isa, std::divides<float>>;
    case Arithmetic::kSecond:
      break;
  }
  return combine_run<Isa, Second>;
}

template <class Isa>
void combine(const Combination& c, std::int64_t begin, std::int64_t end, std::int64_t first,
             std::int64_t count) noexcept {
  const auto run = run_of<Isa>(c.function);
  const BroadcastAxes& outer = c.outer;
  // The offset of row `begin` in b, and its index.
  std::int64_t index[kMaxAxes];
  std::int64_t at = 0;
  std::int64_t rest = begin;
  for (int axis = outer.rank - 1; axis >= 0; --axis) {
    index[axis] = rest % outer.axes[axis].size;
    rest /= outer.axes[axis].size;
    at += index[axis] * outer.axes[axis].stride;
  }
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t place = row * c.inner.size + first;
    run(c.a + place, c.b + at + first * c.inner.stride, c.inner.stride == 0, count, c.y + place);
    for (int axis = outer.rank - 1; axis >= 0; --axis) {
      at += outer.axes[axis].stride;
      if (++index[axis] < outer.axes[axis].size) break;
      at -= outer.axes[axis].stride * index[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace heed::kernels
