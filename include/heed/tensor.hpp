#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "heed/error.hpp"

namespace heed {

/// The type of the elements of an array. Operations compute in float32.
enum class DType : std::uint8_t { kFloat32, kInt32, kBool, kFloat16, kBFloat16 };

/// The bits of IEEE 754 binary16, and of the upper half of a float: types to store, not to compute.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// "float32", and the number of bytes of an element.
std::string_view to_string(DType dtype) noexcept;
[[noreturn]] void refuse_dtype(DType expected, DType given);
std::size_t size_of(DType dtype) noexcept;

/// Whether the elements are float32, float16 or bfloat16.
constexpr bool is_floating(DType dtype) noexcept {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

/// The DType of elements of type T.
template <class T>
inline constexpr DType kDTypeOf = [] {
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, Float16>) return DType::kFloat16;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBFloat16;
}();

/// The sizes of a row-major array, outermost first; rank 0 is a scalar. Sizes may be 0.
class Shape {
 public:
  static constexpr int kMaxRank = 8;
  static constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : Shape(sizes.begin(), sizes.size()) {}
  /// Throws ShapeError for a size that is negative or above kMaxSize, more than kMaxRank of them,
  /// or a product of sizes beyond 2^62.
  explicit Shape(std::span<const std::int64_t> sizes) : Shape(sizes.data(), sizes.size()) {}

  int rank() const noexcept { return rank_; }
  /// The size of an axis; a negative axis counts from the end.
  std::int64_t operator[](int axis) const noexcept {
    return sizes_[static_cast<std::size_t>(axis < 0 ? axis + rank_ : axis)];
  }
  std::int64_t elements() const noexcept { return elements_; }
  std::span<const std::int64_t> sizes() const noexcept {
    return {sizes_.data(), static_cast<std::size_t>(rank_)};
  }
  /// The sizes of all axes but the last. The rank must not be 0.
  Shape without_last() const { return {sizes_.data(), static_cast<std::size_t>(rank_ - 1)}; }
  bool has(std::initializer_list<std::int64_t> sizes) const noexcept {
    return equals(sizes.begin(), sizes.size());
  }
  bool operator==(const Shape& other) const noexcept {
    return equals(other.sizes_.data(), static_cast<std::size_t>(other.rank_));
  }

 private:
  // Not spans: WebAssembly passes them in memory, written in halves and copied as a whole, so
  // reading waits for the writes.
  Shape(const std::int64_t* sizes, std::size_t rank);
  bool equals(const std::int64_t* sizes, std::size_t rank) const noexcept;

  std::array<std::int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
  std::int64_t elements_ = 1;
};

/// "[2, 12, 512, 64]"
std::string to_string(const Shape& shape);

/// Throws DTypeError unless the elements of a tensor have this type.
inline void require_dtype(DType expected, DType given) {
  if (given != expected) refuse_dtype(expected, given);
}

/// A read-only view of a dense row-major array that it does not own; operations take views.
class TensorView {
 public:
  /// An array with no elements, shape [0].
  TensorView() noexcept : data_(nullptr), shape_{0}, dtype_(DType::kFloat32) {}
  template <class T>
  TensorView(const T* data, Shape shape) noexcept
      : data_(data), shape_(shape), dtype_(kDTypeOf<T>) {}
  TensorView(const void* data, Shape shape, DType dtype) noexcept
      : data_(data), shape_(shape), dtype_(dtype) {}

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  /// The elements. Throws DTypeError if they are not of type T.
  template <class T>
  std::span<const T> data() const {
    require_dtype(kDTypeOf<T>, dtype_);
    return {static_cast<const T*>(data_), static_cast<std::size_t>(shape_.elements())};
  }
  /// The bytes of the elements, of any type.
  std::span<const std::byte> bytes() const noexcept {
    return {static_cast<const std::byte*>(data_),
            static_cast<std::size_t>(shape_.elements()) * size_of(dtype_)};
  }

 private:
  const void* data_;
  Shape shape_;
  DType dtype_;
};

/// A dense row-major array that owns its memory, aligned to 64 bytes; operations return tensors.
/// Move-only: there are no implicit copies, but several tensors may share the same memory.
class Tensor {
 public:
  /// An array with no elements, shape [0].
  Tensor() : shape_{0}, dtype_(DType::kFloat32) {}
  /// Elements are not initialised. Throws MemoryError if there is no room.
  explicit Tensor(const Shape& shape, DType dtype = DType::kFloat32);
  /// A float tensor with these values. Throws ShapeError if their number does not fit the shape.
  Tensor(const Shape& shape, std::initializer_list<float> values);

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  /// The elements. Throws DTypeError if they are not of type T.
  template <class T = float>
  std::span<T> data() {
    require_dtype(kDTypeOf<T>, dtype_);
    return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(shape_.elements())};
  }
  template <class T = float>
  std::span<const T> data() const {
    return const_cast<Tensor&>(*this).data<T>();
  }
  /// The same elements under another shape of the same size. Throws ShapeError.
  Tensor reshaped(const Shape& shape) &&;
  /// Another tensor with the same memory, which is freed with the last of them: the elements from
  /// `first` on under another shape. Writes to one change both. Throws ShapeError if there are
  /// fewer elements.
  Tensor alias(const Shape& shape, std::int64_t first = 0) const;
  bool is_shared() const noexcept;
  /// The bytes of memory, in whole cache lines, that are freed with this tensor: 0 while others
  /// share them.
  std::size_t owned_bytes() const noexcept;
  operator TensorView() const noexcept { return {data_, shape_, dtype_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  Tensor(std::byte* memory, std::size_t memory_bytes, std::byte* data, const Shape& shape,
         DType dtype) noexcept
      : memory_(memory), memory_bytes_(memory_bytes), data_(data), shape_(shape), dtype_(dtype) {}

  std::unique_ptr<std::byte[], Free> memory_;
  std::size_t memory_bytes_ = 0;
  std::byte* data_ = nullptr;  // within memory_
  Shape shape_;
  DType dtype_;
};

}  // namespace heed
