#include <algorithm>
#include <vector>

#include "heed/heed.hpp"
#include "ops/validate.hpp"

namespace heed {

BlockMask::BlockMask(std::int64_t queries, std::int64_t keys, Tensor kinds, Tensor bits)
    : queries_(queries), keys_(keys), kinds_(std::move(kinds)), bits_(std::move(bits)) {
  ops::require_not_negative("queries", queries);
  ops::require_not_negative("keys", keys);
  ops::require_dtype("kinds", kinds_, DType::kInt32);
  ops::require_rank("kinds", kinds_, 4);
  const Shape& shape = kinds_.shape();
  ops::require_shape(
      "kinds", kinds_,
      Shape{shape[0], shape[1], ops::divide_up(queries, kQueries), ops::divide_up(keys, kKeys)});
  ops::require_dtype("bits", bits_, DType::kBool);
  ops::require_rank("bits", bits_, 3);
  ops::require_shape("bits", bits_, Shape{bits_.shape()[0], kQueries, kKeys});
  for (const std::int32_t kind : kinds_.data<std::int32_t>())
    if (kind < kFull || kind >= bits_.shape()[0])
      ops::refuse<OptionError>("kinds", "-1, -2 or the index of a block of bits", kind);
}

BlockMask BlockMask::from(
    std::int64_t batch, std::int64_t heads, std::int64_t queries, std::int64_t keys,
    const std::function<bool(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& may_see) {
  Tensor kinds(Shape{batch, heads, ops::divide_up(queries, kQueries), ops::divide_up(keys, kKeys)},
               DType::kInt32);
  std::vector<std::uint8_t> bits;
  std::int32_t blocks = 0;
  auto kind = kinds.data<std::int32_t>().begin();
  if (kinds.shape().elements() == 0) batch = 0;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t q0 = 0; q0 < queries; q0 += kQueries)
        for (std::int64_t k0 = 0; k0 < keys; k0 += kKeys) {
          const std::int64_t rows = std::min(kQueries, queries - q0);
          const std::int64_t columns = std::min(kKeys, keys - k0);
          std::vector<std::uint8_t> block(kQueries * kKeys, 0);
          std::int64_t seen = 0;
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) {
              const bool see = may_see(b, h, q0 + i, k0 + j);
              block[static_cast<std::size_t>(i * kKeys + j)] = see;
              seen += see;
            }
          if (seen == 0) {
            *kind++ = kEmpty;
          } else if (seen == rows * columns) {
            *kind++ = kFull;
          } else {
            *kind++ = blocks++;
            bits.insert(bits.end(), block.begin(), block.end());
          }
        }
  Tensor all(Shape{blocks, kQueries, kKeys}, DType::kBool);
  std::ranges::transform(bits, all.data<bool>().begin(), [](std::uint8_t bit) { return bit != 0; });
  return BlockMask(queries, keys, std::move(kinds), std::move(all));
}

}  // namespace heed
