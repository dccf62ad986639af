#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/memory.hpp"

namespace heed {

/// Scratch memory that is kept between operations. An operation opens a scope and takes memory from
/// it; the end of the scope releases that memory. Scopes nest: only the innermost one may take
/// memory. Blocks are kept for the next operation, and the end of the outermost scope merges them
/// into one.
class Arena {
  /// A position in the arena: the block in use, and the bytes taken from it.
  struct Mark {
    std::size_t block;
    std::size_t used;
  };

 public:
  class Scope {
   public:
    explicit Scope(Arena& arena) noexcept : arena_(arena), mark_(arena.mark()) {}
    ~Scope() { arena_.release_to(mark_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    /// `count` objects of T, not initialised, aligned to 64 bytes. Throws MemoryError.
    template <class T>
    T* take(std::int64_t count) {
      return static_cast<T*>(arena_.take(count, sizeof(T)));
    }

   private:
    Arena& arena_;
    Mark mark_;
  };

 private:
  struct Block {
    Memory memory;
    std::size_t size;
    std::size_t used;
  };

  void* take(std::int64_t count, std::size_t element);
  Mark mark() const noexcept;
  void release_to(const Mark& mark) noexcept;

  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // the block in use; later ones are empty
};

}  // namespace heed
