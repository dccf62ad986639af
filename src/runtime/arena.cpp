#include "runtime/arena.hpp"

#include <algorithm>

#include "runtime/memory.hpp"

namespace heed {

void Arena::Free::operator()(std::byte* memory) const noexcept { release(memory); }

void* Arena::take(std::int64_t count, std::size_t element) {
  const std::size_t bytes = bytes_of(count, element);
  if (blocks_.empty() || blocks_.back().size - blocks_.back().used < bytes) {
    constexpr std::size_t kSmallest = 64 * 1024;
    const std::size_t size = std::max(bytes, kSmallest);
    blocks_.push_back({std::unique_ptr<std::byte[], Free>(allocate(size)), size, 0});
  }
  Block& block = blocks_.back();
  void* result = block.memory.get() + block.used;
  block.used += bytes;
  return result;
}

void Arena::reset() noexcept {
  if (blocks_.size() > 1) {
    std::size_t size = 0;
    for (const Block& block : blocks_) size += block.size;
    blocks_.clear();
    try {
      blocks_.push_back({std::unique_ptr<std::byte[], Free>(allocate(size)), size, 0});
    } catch (...) {
      blocks_.clear();  // no room to keep it all: the next operation takes what it needs
    }
  }
  if (!blocks_.empty()) blocks_.back().used = 0;
}

}  // namespace heed
