#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace heed {

/// All memory that vectors are loaded from begins on a cache line.
inline constexpr std::size_t kAlignment = 64;

/// The bytes of `count` elements, rounded up to whole cache lines. Throws MemoryError if the
/// address space cannot hold them.
std::size_t bytes_of(std::int64_t count, std::size_t element);

/// Memory for `bytes`, not initialised, with one owner. Throws MemoryError.
std::byte* allocate(std::size_t bytes);
/// Adds an owner.
void retain(std::byte* memory) noexcept;
bool is_shared(std::byte* memory) noexcept;
/// Removes an owner; the last one frees the memory.
void release(std::byte* memory) noexcept;

struct Release {
  void operator()(std::byte* memory) const noexcept { release(memory); }
};
/// Memory of `allocate` with its owner.
using Memory = std::unique_ptr<std::byte[], Release>;

}  // namespace heed
