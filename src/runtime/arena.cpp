#include "runtime/arena.hpp"

#include <algorithm>

namespace heed {

void* Arena::take(std::int64_t count, std::size_t element) {
  const std::size_t bytes = bytes_of(count, element);
  std::size_t at = block_;
  while (at < blocks_.size() && blocks_[at].size - blocks_[at].used < bytes) ++at;
  if (at == blocks_.size()) {
    constexpr std::size_t kSmallest = 64 * 1024;
    const std::size_t size = std::max(bytes, kSmallest);
    blocks_.push_back({Memory(allocate(size)), size, 0});
  }
  block_ = at;
  Block& block = blocks_[at];
  void* result = block.memory.get() + block.used;
  block.used += bytes;
  return result;
}

Arena::Mark Arena::mark() const noexcept {
  return {block_, blocks_.empty() ? 0 : blocks_[block_].used};
}

void Arena::release_to(const Mark& mark) noexcept {
  block_ = mark.block;
  if (mark.block == 0 && mark.used == 0 && blocks_.size() > 1) {
    std::size_t size = 0;
    for (const Block& block : blocks_) size += block.size;
    blocks_.clear();
    try {
      blocks_.push_back({Memory(allocate(size)), size, 0});
    } catch (...) {
      blocks_.clear();  // no memory for one block of this size: the next operation allocates again
    }
  }
  for (std::size_t i = block_; i < blocks_.size(); ++i)
    blocks_[i].used = i == block_ ? mark.used : 0;
}

}  // namespace heed
