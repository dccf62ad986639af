#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace heed {

/// Scratch memory that outlives an operation, so that the next one finds it warm. An operation
/// opens a scope, takes what it needs and gives all back with the scope's end; blocks stay for the
/// next one and are merged into a single block when one was not enough.
class Arena {
 public:
  class Scope {
   public:
    explicit Scope(Arena& arena) noexcept : arena_(arena) {}
    ~Scope() { arena_.reset(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    /// `count` objects of T, not initialised, aligned to 64 bytes. Throws MemoryError.
    template <class T>
    T* take(std::int64_t count) {
      return static_cast<T*>(arena_.take(count, sizeof(T)));
    }

   private:
    Arena& arena_;
  };

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  struct Block {
    std::unique_ptr<std::byte[], Free> memory;
    std::size_t size;
    std::size_t used;
  };

  void* take(std::int64_t count, std::size_t element);
  void reset() noexcept;

  std::vector<Block> blocks_;
};

}  // namespace heed
