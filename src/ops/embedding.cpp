#include <algorithm>

#include "heed/heed.hpp"
#include "ops/validate.hpp"

namespace heed {

Tensor embedding(Context&, const TensorView& ids, const TensorView& weight) {
  ops::require_dtype("ids", ids, DType::kInt32);
  ops::require_floats("weight", weight, 2);
  const std::int64_t rows = weight.shape()[0];
  const std::int64_t size = weight.shape()[1];
  if (ids.shape().rank() == Shape::kMaxRank)
    throw ShapeError("ids", "at most 7 axes", to_string(ids.shape()));
  for (const std::int32_t id : ids.data<std::int32_t>())
    if (id < 0 || id >= rows)
      throw OptionError("ids", "numbers from 0 to below " + std::to_string(rows),
                        std::to_string(id));

  std::array<std::int64_t, Shape::kMaxRank> sizes{};
  std::ranges::copy(ids.shape().sizes(), sizes.begin());
  const int rank = ids.shape().rank();
  sizes[static_cast<std::size_t>(rank)] = size;
  Tensor output(
      Shape(std::span<const std::int64_t>(sizes.data(), static_cast<std::size_t>(rank) + 1)));
  auto out = output.data().begin();
  const auto table = weight.data<float>().begin();
  for (const std::int32_t id : ids.data<std::int32_t>())
    out = std::copy_n(table + id * size, size, out);
  return output;
}

}  // namespace heed
