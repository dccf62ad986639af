#pragma once

// Vectors of 256 bits in WebAssembly, which has only 128: pairs of its vectors.
//
// V8 replaces two operations on vectors by one AVX2 instruction where their results are stored to
// adjacent addresses ("revectorization": Chromium's flag --wasm-revectorize, Node 26's
// --experimental-wasm-revectorize). It follows the operands of such a pair of stores backwards
// while both halves do the same, up to the loads of adjacent addresses. So each operation here does
// the same on both halves. A sum of all lanes goes through memory, because numbers that end in a
// scalar would not start a pair. Where V8 does not do this, all results are the same.

#include <cstddef>
#include <cstdint>
#include <xsimd/xsimd.hpp>

namespace heed::simd {

struct WasmPair {};

template <class T>
struct PairOfBools {
  xsimd::batch_bool<T, xsimd::wasm> low, high;
};

template <class T>
class Pair {
 public:
  using Half = xsimd::batch<T, xsimd::wasm>;
  using Bools = PairOfBools<T>;
  static constexpr std::size_t size = 2 * Half::size;

  Pair() = default;
  Pair(Half low, Half high) noexcept : low(low), high(high) {}
  explicit Pair(T x) noexcept : low(x), high(low) {}

  static Pair load_aligned(const T* at) noexcept { return load_unaligned(at); }
  static Pair load_unaligned(const T* at) noexcept {
    return {Half::load_unaligned(at), Half::load_unaligned(at + Half::size)};
  }
  void store_aligned(T* at) const noexcept { store_unaligned(at); }
  void store_unaligned(T* at) const noexcept {
    asm volatile("" : "+r"(at) : : "memory");
    low.store_unaligned(at);
    high.store_unaligned(at + Half::size);
    asm volatile("" : : : "memory");
  }
  T get(std::size_t lane) const noexcept {
    return lane < Half::size ? low.get(lane) : high.get(lane - Half::size);
  }

  friend Pair operator+(Pair x, Pair y) noexcept { return {x.low + y.low, x.high + y.high}; }
  friend Pair operator-(Pair x, Pair y) noexcept { return {x.low - y.low, x.high - y.high}; }
  friend Pair operator*(Pair x, Pair y) noexcept { return {x.low * y.low, x.high * y.high}; }
  friend Pair operator/(Pair x, Pair y) noexcept { return {x.low / y.low, x.high / y.high}; }
  friend Pair operator&(Pair x, Pair y) noexcept { return {x.low & y.low, x.high & y.high}; }
  friend Pair operator|(Pair x, Pair y) noexcept { return {x.low | y.low, x.high | y.high}; }
  friend Pair operator^(Pair x, Pair y) noexcept { return {x.low ^ y.low, x.high ^ y.high}; }
  friend Pair operator<<(Pair x, int n) noexcept { return {x.low << n, x.high << n}; }
  friend Pair operator>>(Pair x, int n) noexcept { return {x.low >> n, x.high >> n}; }
  friend Pair operator-(Pair x) noexcept { return {-x.low, -x.high}; }
  Pair& operator+=(Pair x) noexcept { return *this = *this + x; }
  Pair& operator-=(Pair x) noexcept { return *this = *this - x; }
  Pair& operator*=(Pair x) noexcept { return *this = *this * x; }

  friend Bools operator==(Pair x, Pair y) noexcept { return {x.low == y.low, x.high == y.high}; }
  friend Bools operator<(Pair x, Pair y) noexcept { return {x.low < y.low, x.high < y.high}; }
  friend Bools operator<=(Pair x, Pair y) noexcept { return {x.low <= y.low, x.high <= y.high}; }
  friend Bools operator>(Pair x, Pair y) noexcept { return y < x; }
  friend Bools operator>=(Pair x, Pair y) noexcept { return y <= x; }

  Half low, high;
};

/// The same vector, stored to memory that the compiler does not see through, and read again.
template <class T>
inline Pair<T> through_memory(Pair<T> x) noexcept {
  alignas(32) T lanes[Pair<T>::size];
  T* at = lanes;
  asm volatile("" : "+r"(at));
  x.store_aligned(at);
  asm volatile("" : "+r"(at) : : "memory");
  return Pair<T>::load_aligned(at);
}

// The functions of xsimd that the kernels call.

template <class T>
Pair<T> min(Pair<T> x, Pair<T> y) noexcept {
  return {xsimd::min(x.low, y.low), xsimd::min(x.high, y.high)};
}

template <class T>
Pair<T> max(Pair<T> x, Pair<T> y) noexcept {
  return {xsimd::max(x.low, y.low), xsimd::max(x.high, y.high)};
}

template <class T>
Pair<T> abs(Pair<T> x) noexcept {
  return {xsimd::abs(x.low), xsimd::abs(x.high)};
}

template <class T>
Pair<T> select(PairOfBools<T> condition, Pair<T> x, Pair<T> y) noexcept {
  return {xsimd::select(condition.low, x.low, y.low),
          xsimd::select(condition.high, x.high, y.high)};
}

template <class To, class From>
Pair<To> bitwise_cast(Pair<From> x) noexcept {
  return {xsimd::bitwise_cast<To>(x.low), xsimd::bitwise_cast<To>(x.high)};
}

template <class To, class From>
PairOfBools<To> batch_bool_cast(PairOfBools<From> x) noexcept {
  return {xsimd::batch_bool_cast<To>(x.low), xsimd::batch_bool_cast<To>(x.high)};
}

inline Pair<float> to_float(Pair<std::int32_t> x) noexcept {
  return {xsimd::to_float(x.low), xsimd::to_float(x.high)};
}

template <class T>
Pair<T> zip_lo(Pair<T> x, Pair<T> y) noexcept {
  return {xsimd::zip_lo(x.low, y.low), xsimd::zip_hi(x.low, y.low)};
}

template <class T>
Pair<T> zip_hi(Pair<T> x, Pair<T> y) noexcept {
  return {xsimd::zip_lo(x.high, y.high), xsimd::zip_hi(x.high, y.high)};
}

template <class T>
T reduce_add(Pair<T> x) noexcept {
  const Pair<T> stored = through_memory(x);
  return xsimd::reduce_add(stored.low + stored.high);
}

template <class T>
T reduce_max(Pair<T> x) noexcept {
  const Pair<T> stored = through_memory(x);
  return xsimd::reduce_max(xsimd::max(stored.low, stored.high));
}

template <class T>
T reduce_min(Pair<T> x) noexcept {
  const Pair<T> stored = through_memory(x);
  return xsimd::reduce_min(xsimd::min(stored.low, stored.high));
}

}  // namespace heed::simd
