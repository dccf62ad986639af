#include "runtime/memory.hpp"

#include <atomic>
#include <limits>
#include <new>
#include <string>

#include "heed/error.hpp"
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) static_cast<void>(0)
#endif

namespace heed {
namespace {

/// The bytes before the memory: the number of its owners, and in the last byte the distance to the
/// beginning of the allocation.
constexpr std::size_t kHead = 8;

using Count = std::atomic<std::uint32_t>;

Count& owners(std::byte* memory) noexcept {
  return *std::launder(reinterpret_cast<Count*>(memory - kHead));
}

}  // namespace

std::size_t bytes_of(std::int64_t count, std::size_t element) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::ptrdiff_t>::max() - kAlignment;
  const auto elements = static_cast<std::uint64_t>(count);
  if (elements > std::numeric_limits<std::size_t>::max() / element || elements * element > kMax)
    throw MemoryError("memory: expected at most " + std::to_string(kMax) +
                      " bytes in one array, got " + std::to_string(count) + " elements of " +
                      std::to_string(element));
  return (static_cast<std::size_t>(elements) * element + kAlignment - 1) / kAlignment * kAlignment;
}

// A slightly larger unaligned allocation is several times as fast as an aligned one. The byte
// before the memory holds the distance to the beginning of the allocation.
std::byte* allocate(std::size_t bytes) {
  auto* const start =
      static_cast<std::byte*>(::operator new(bytes + kHead + kAlignment, std::nothrow));
  if (start == nullptr)
    throw MemoryError("memory: expected " + std::to_string(bytes) + " more bytes, got none");
  const std::size_t skipped =
      kHead + (kAlignment - (reinterpret_cast<std::uintptr_t>(start) + kHead) % kAlignment);
  std::byte* const memory = start + skipped;
  memory[-1] = static_cast<std::byte>(skipped);
  new (memory - kHead) Count(1);
  // The address sanitizer knows the end of the allocation, not of the memory in it.
  ASAN_POISON_MEMORY_REGION(memory + bytes, kHead + kAlignment - skipped);
  return memory;
}

void retain(std::byte* memory) noexcept { owners(memory).fetch_add(1, std::memory_order_relaxed); }

bool is_shared(std::byte* memory) noexcept {
  return owners(memory).load(std::memory_order_relaxed) > 1;
}

void release(std::byte* memory) noexcept {
  if (memory == nullptr || owners(memory).fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  ::operator delete(memory - std::to_integer<std::size_t>(memory[-1]));
}

}  // namespace heed
