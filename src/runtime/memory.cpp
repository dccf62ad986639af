#include "runtime/memory.hpp"

#include <limits>
#include <new>
#include <string>

#include "heed/error.hpp"

namespace heed {

std::size_t bytes_of(std::int64_t count, std::size_t element) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::ptrdiff_t>::max() - kAlignment;
  const auto elements = static_cast<std::uint64_t>(count);
  if (elements > std::numeric_limits<std::size_t>::max() / element || elements * element > kMost)
    throw MemoryError("memory: expected at most " + std::to_string(kMost) +
                      " bytes in one array, got " + std::to_string(count) + " elements of " +
                      std::to_string(element));
  return (static_cast<std::size_t>(elements) * element + kAlignment - 1) / kAlignment * kAlignment;
}

std::byte* allocate(std::size_t bytes) {
  void* memory = ::operator new(bytes, std::align_val_t(kAlignment), std::nothrow);
  if (memory == nullptr)
    throw MemoryError("memory: expected " + std::to_string(bytes) + " more bytes, got none");
  return static_cast<std::byte*>(memory);
}

void release(std::byte* memory) noexcept {
  ::operator delete(memory, std::align_val_t(kAlignment));
}

}  // namespace heed
