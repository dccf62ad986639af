#pragma once

// Checks of arguments, which every operation makes before it writes anything.

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>

#include "heed/tensor.hpp"

namespace heed::ops {

/// Throws an error of this type. Throwing in place would take as much code as the check itself.
///
/// Here and in the checks, names of arguments are pointers. In WebAssembly a string_view is passed
/// in memory, so every check would write one, and wait for it, before it finds no fault.
template <class Error>
[[noreturn, gnu::noinline]] void refuse(const char* argument, const MessagePart& expected,
                                        const MessagePart& got) {
  throw Error(argument, expected, got);
}

inline void require_dtype(const char* argument, const TensorView& x, DType dtype) {
  if (x.dtype() != dtype) refuse<DTypeError>(argument, dtype, x.dtype());
}

inline void require_rank(const char* argument, const TensorView& x, int rank) {
  if (x.shape().rank() != rank) refuse<ShapeError>(argument, {"rank ", rank}, x.shape());
}

inline void require_shape(const char* argument, const TensorView& x, const Shape& shape) {
  if (x.shape() != shape) refuse<ShapeError>(argument, shape, x.shape());
}

/// The same for the sizes of a shape; the shape is only constructed for the message.
inline void require_shape(const char* argument, const TensorView& x,
                          std::initializer_list<std::int64_t> sizes) {
  if (!x.shape().has(sizes)) require_shape(argument, x, Shape(sizes));
}

/// An array of this type and shape.
inline void require_array(const char* argument, const TensorView& x, DType dtype,
                          std::initializer_list<std::int64_t> sizes) {
  require_dtype(argument, x, dtype);
  require_shape(argument, x, sizes);
}

/// A float32 array of this shape: the usual parameter.
inline void require_floats(const char* argument, const TensorView& x, const Shape& shape) {
  require_dtype(argument, x, DType::kFloat32);
  require_shape(argument, x, shape);
}

/// A float32 array of this rank: the usual input.
inline void require_floats(const char* argument, const TensorView& x, int rank) {
  require_dtype(argument, x, DType::kFloat32);
  require_rank(argument, x, rank);
}

/// The same for float32 or float16: a table or a weight that may be stored in half of the memory.
inline void require_floats_or_halves(const char* argument, const TensorView& x, int rank) {
  if (x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat16)
    refuse<DTypeError>(argument, "float32 or float16", x.dtype());
  require_rank(argument, x, rank);
}

/// An option that is a positive number.
[[gnu::noinline]] inline void require_positive(const char* argument, double number) {
  if (!(number > 0.0) || !std::isfinite(number))
    refuse<OptionError>(argument, "a positive number", number);
}

/// An option of 0 or more.
[[gnu::noinline]] inline void require_not_negative(const char* argument, std::int64_t number) {
  if (number < 0) refuse<OptionError>(argument, "0 or more", number);
}

/// The bits of an array of float16, or null for any other.
inline const std::uint16_t* halves_of(const TensorView& x) {
  return x.dtype() == DType::kFloat16 ? reinterpret_cast<const std::uint16_t*>(x.bytes().data())
                                      : nullptr;
}

inline float* data_or_null(std::optional<Tensor>& tensor) {
  return tensor ? tensor->data().data() : nullptr;
}
inline const float* data_or_null(const std::optional<TensorView>& tensor) {
  return tensor ? tensor->data<float>().data() : nullptr;
}

/// The shape with the size of one axis, counted from the front, replaced.
inline Shape with_size(const Shape& shape, int axis, std::int64_t size) {
  std::array<std::int64_t, Shape::kMaxRank> sizes{};
  std::ranges::copy(shape.sizes(), sizes.begin());
  sizes[static_cast<std::size_t>(axis)] = size;
  return Shape(std::span<const std::int64_t>(sizes.data(), shape.sizes().size()));
}
inline Shape with_last(const Shape& shape, std::int64_t size) {
  return with_size(shape, shape.rank() - 1, size);
}

/// The bytes of a new tensor's elements.
inline std::byte* mutable_bytes(Tensor& x) {
  return const_cast<std::byte*>(TensorView(x).bytes().data());
}

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) noexcept {
  return (a + b - 1) / b;
}

/// The smallest multiple of `step` that is at least x.
constexpr std::int64_t round_up(std::int64_t x, std::int64_t step) noexcept {
  return divide_up(x, step) * step;
}

}  // namespace heed::ops
