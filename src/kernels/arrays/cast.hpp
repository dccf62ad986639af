#pragma once

// Conversions between floating types, rounded to nearest.

#include <cstdint>
#include <type_traits>

#include "kernels/arrays/half.hpp"
#include "kernels/arrays/table.hpp"

namespace heed::kernels {

/// How the numbers of a format are read and written.
template <class Isa, FloatFormat Format>
struct FloatCodec {
  using Number = std::uint16_t;
  static float read(Number bits) noexcept {
    return Format == FloatFormat::kFloat16 ? from_float16<Isa>(bits) : from_bfloat16<Isa>(bits);
  }
  static Number write(float value) noexcept {
    return Format == FloatFormat::kFloat16 ? to_float16<Isa>(value) : to_bfloat16<Isa>(value);
  }
};
template <class Isa>
struct FloatCodec<Isa, FloatFormat::kFloat32> {
  using Number = float;
  static float read(Number value) noexcept { return value; }
  static Number write(float value) noexcept { return value; }
};

/// Calls run with the codec of a format.
template <class Isa, class Run>
inline void with_codec(FloatFormat format, const Run& run) noexcept {
  switch (format) {
    case FloatFormat::kFloat32:
      return run(FloatCodec<Isa, FloatFormat::kFloat32>());
    case FloatFormat::kFloat16:
      return run(FloatCodec<Isa, FloatFormat::kFloat16>());
    case FloatFormat::kBFloat16:
      return run(FloatCodec<Isa, FloatFormat::kBFloat16>());
  }
}

/// The formats differ.
template <class Isa>
void cast(const void* from, FloatFormat from_format, std::int64_t count, void* to,
          FloatFormat to_format) noexcept {
  with_codec<Isa>(from_format, [&]<class From>(From) {
    with_codec<Isa>(to_format, [&]<class To>(To) {
      if constexpr (!std::is_same_v<From, To>) {
        const auto* const x = static_cast<const typename From::Number*>(from);
        auto* const y = static_cast<typename To::Number*>(to);
        for (std::int64_t i = 0; i < count; ++i) y[i] = To::write(From::read(x[i]));
      }
    });
  });
}

}  // namespace heed::kernels
