#include "heed/tensor.hpp"

#include <algorithm>

#include "runtime/memory.hpp"

namespace heed {

std::string_view to_string(DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kInt32:
      return "int32";
    case DType::kBool:
      return "bool";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
  }
  return "unknown";
}

void refuse_dtype(DType expected, DType given) {
  throw DTypeError("tensor", to_string(expected), to_string(given));
}

std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return sizeof(bool);
    case DType::kFloat16:
    case DType::kBFloat16:
      return sizeof(std::uint16_t);
    default:
      return sizeof(float);
  }
}

Shape::Shape(const std::int64_t* sizes, std::size_t rank) : rank_(static_cast<int>(rank)) {
  constexpr std::int64_t kMax = std::int64_t{1} << 62;
  if (rank > kMaxRank) throw ShapeError("shape", "at most 8 axes", rank);
  bool is_empty = false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t size = sizes[axis];
    if (size < 0 || size > kMaxSize) throw ShapeError("shape", "sizes from 0 to 2^40", size);
    sizes_[axis] = size;
    is_empty |= size == 0;
  }
  // If one size is 0, the others are not limited.
  if (is_empty) {
    elements_ = 0;
    return;
  }
  for (const std::int64_t size : std::span(sizes, rank)) {
    // The division would take longer than the rest, and is not needed for factors below 2^31.
    if (((elements_ | size) >> 31) != 0 && elements_ > kMax / size)
      throw ShapeError("shape", "a product of sizes up to 2^62", *this);
    elements_ *= size;
  }
}

bool Shape::equals(const std::int64_t* sizes, std::size_t rank) const noexcept {
  if (rank != static_cast<std::size_t>(rank_)) return false;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (sizes_[axis] != sizes[axis]) return false;
  return true;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape.sizes())
    text.append(text.size() > 1 ? ", " : "").append(std::to_string(size));
  return text + "]";
}

void Tensor::Free::operator()(std::byte* memory) const noexcept { release(memory); }

Tensor::Tensor(const Shape& shape, DType dtype)
    : memory_(allocate(bytes_of(shape.elements(), size_of(dtype)))),
      memory_bytes_(bytes_of(shape.elements(), size_of(dtype))),
      data_(memory_.get()),
      shape_(shape),
      dtype_(dtype) {}

Tensor::Tensor(const Shape& shape, std::initializer_list<float> values) : Tensor(shape) {
  if (static_cast<std::int64_t>(values.size()) != shape.elements())
    throw ShapeError("values",
                     std::to_string(shape.elements()) + " numbers for " + to_string(shape),
                     values.size());
  std::ranges::copy(values, data<float>().begin());
}

Tensor Tensor::reshaped(const Shape& shape) && {
  if (shape.elements() != shape_.elements())
    throw ShapeError("shape", std::to_string(shape_.elements()) + " elements", shape);
  shape_ = shape;
  return std::move(*this);
}

Tensor Tensor::alias(const Shape& shape, std::int64_t first) const {
  if (first < 0 || first > shape_.elements() || shape.elements() > shape_.elements() - first)
    throw ShapeError("shape", "at most " + std::to_string(shape_.elements() - first) + " elements",
                     shape);
  if (memory_) retain(memory_.get());
  return {memory_.get(), memory_bytes_, data_ + static_cast<std::size_t>(first) * size_of(dtype_),
          shape, dtype_};
}

bool Tensor::is_shared() const noexcept { return memory_ && heed::is_shared(memory_.get()); }

std::size_t Tensor::owned_bytes() const noexcept {
  return memory_ && !is_shared() ? memory_bytes_ : 0;
}

}  // namespace heed
