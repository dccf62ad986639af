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

// One allocation of a little more is several times as fast as an aligned one: where the memory
// begins is told by the byte before.
std::byte* allocate(std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(::operator new(bytes + kAlignment, std::nothrow));
  if (memory == nullptr)
    throw MemoryError("memory: expected " + std::to_string(bytes) + " more bytes, got none");
  const std::size_t skipped = kAlignment - reinterpret_cast<std::uintptr_t>(memory) % kAlignment;
  memory[skipped - 1] = static_cast<std::byte>(skipped);
  return memory + skipped;
}

void release(std::byte* memory) noexcept {
  if (memory != nullptr) ::operator delete(memory - std::to_integer<std::size_t>(memory[-1]));
}

}  // namespace heed
