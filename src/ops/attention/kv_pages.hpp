#pragma once

#include <memory>
#include <vector>

#include "heed/kv_cache.hpp"
#include "kernels/table.hpp"
#include "ops/attention/attention_problem.hpp"

namespace heed {

/// The contents of a cache. A page has kKeyTile tokens of all heads in the layout of a tile
/// (kernels::StoredTile) and in the format of the cache.
class KvCache::Pages {
 public:
  struct Page;

  Pages(const Options& options, const kernels::KernelTable& kernels);
  ~Pages();

  const Options& options() const noexcept { return options_; }
  std::int64_t panel() const noexcept { return kernels_.panel; }
  std::int64_t length(std::int64_t b) const { return sequence(b).length; }
  std::int64_t first(std::int64_t b) const { return sequence(b).first; }
  std::size_t bytes() const noexcept;

  /// Throws if these counts, or L of each, cannot be appended; returns one count a sequence.
  std::vector<std::int64_t> check_append(std::int64_t L, const std::optional<TensorView>& counts,
                                         const char* counts_name) const;
  /// Appends rows of k and v with these layouts. A rolling cache keeps its older tokens until
  /// roll() is called.
  void append(const std::vector<std::int64_t>& counts, const float* k, const ops::Layout& k_layout,
              const float* v, const ops::Layout& v_layout);
  /// Drops the tokens beyond the capacity of a rolling cache, in the sequences that had an append.
  void roll(const std::vector<std::int64_t>& counts) noexcept;
  void rewind(std::int64_t b, std::int64_t tokens);
  void share(std::int64_t from, std::int64_t to, std::int64_t tokens);
  void reorder(const TensorView& order);

  kernels::NumberFormat format() const noexcept;
  /// The tile of keys [tile * kKeyTile, ..) of one head as it is stored. It must exist.
  kernels::StoredTile stored(std::int64_t b, std::int64_t g, std::int64_t tile) const noexcept;
  /// The same in float32. Other formats are converted into the given memory.
  kernels::KeyValueTile tile(std::int64_t b, std::int64_t g, std::int64_t tile, float* keys,
                             float* values) const noexcept;

 private:
  struct PageLayout;
  PageLayout layout() const noexcept;

  struct Sequence {
    std::vector<std::shared_ptr<Page>> pages;
    std::int64_t first_page = 0;  // number of dropped pages
    std::int64_t first = 0;
    std::int64_t length = 0;
  };

  const Sequence& sequence(std::int64_t b) const;
  std::shared_ptr<Page> make_page(const Page* like) const;
  void write(Page& page, std::int64_t slot, std::int64_t g, const float* k, const float* v) const;

  Options options_;
  const kernels::KernelTable& kernels_;
  std::int64_t padded_keys_;    // numbers of a key
  std::int64_t padded_values_;  // and of a value, with the padding of the layout
  std::vector<Sequence> sequences_;
};

}  // namespace heed
