#include "ops/attention/kv_pages.hpp"

#include <algorithm>
#include <cstring>

#include "ops/validate.hpp"
#include "runtime/memory.hpp"

namespace heed {

using kernels::kKeyTile;
using Pages = KvCache::Pages;

struct Pages::Page {
  Page(std::int64_t bytes, std::int64_t heads)
      : memory(allocate(bytes_of(bytes, 1))), finite(static_cast<std::size_t>(heads), 1) {}

  std::byte* data() const noexcept { return memory.get(); }

  Memory memory;
  std::vector<std::uint8_t> finite;  // for each head, whether all its values are finite
};

namespace {

std::int64_t number_size(KvCache::Format format) {
  switch (format) {
    case KvCache::Format::kFloat32:
      return 4;
    case KvCache::Format::kFloat16:
      return 2;
    case KvCache::Format::kInt8:
      return 1;
  }
  return 0;
}

/// The number of steps of the depth that are interleaved. In panels of int8 it is two: two steps of
/// the same column are adjacent.
std::int64_t interleave(KvCache::Format format) { return format == KvCache::Format::kInt8 ? 2 : 1; }

void require_size(const char* name, std::int64_t size, std::int64_t most) {
  if (size < 1 || size > most) ops::refuse<OptionError>(name, {"a number from 1 to ", most}, size);
}

KvCache::Options checked(KvCache::Options options) {
  // With these sizes a page exceeds any memory, but its size still fits an integer.
  constexpr std::int64_t kMax = std::int64_t{1} << 20;
  require_size("batch", options.batch, kMax);
  require_size("heads", options.heads, kMax);
  require_size("head_size", options.head_size, kMax);
  require_size("capacity", options.capacity, Shape::kMaxSize);
  if (options.value_size == 0) options.value_size = options.head_size;
  require_size("value_size", options.value_size, kMax);
  return options;
}

}  // namespace

/// The layout of a page, in numbers. Each head has a tile of keys and a tile of values. With int8,
/// kKeyTile scales of the keys and kKeyTile scales of the values of each head follow.
struct Pages::PageLayout {
  std::int64_t heads, key_tile, value_tile, number;

  std::int64_t keys(std::int64_t g) const noexcept { return g * (key_tile + value_tile); }
  std::int64_t values(std::int64_t g) const noexcept { return keys(g) + key_tile; }
  std::int64_t numbers() const noexcept { return heads * (key_tile + value_tile); }
  bool has_scales() const noexcept { return number == 1; }
  std::int64_t bytes() const noexcept {
    return numbers() * number + (has_scales() ? heads * 2 * kKeyTile * 4 : 0);
  }
  /// The scales of a head, or null if the format has none.
  float* scales(const Page& page, std::int64_t g) const noexcept {
    if (!has_scales()) return nullptr;
    return reinterpret_cast<float*>(page.data() + numbers()) + g * 2 * kKeyTile;
  }
};

Pages::Pages(const Options& options, const kernels::KernelTable& kernels)
    : options_(checked(options)),
      kernels_(kernels),
      padded_keys_(ops::round_up(options_.head_size, interleave(options_.format))),
      padded_values_(ops::round_up(options_.value_size, kernels.panel)),
      sequences_(static_cast<std::size_t>(options_.batch)) {}

Pages::~Pages() = default;

Pages::PageLayout Pages::layout() const noexcept {
  return {options_.heads, kKeyTile * padded_keys_, kKeyTile * padded_values_,
          number_size(options_.format)};
}

const Pages::Sequence& Pages::sequence(std::int64_t b) const {
  if (b < 0 || b >= options_.batch)
    ops::refuse<OptionError>("sequence", {"a number from 0 to ", options_.batch - 1}, b);
  return sequences_[static_cast<std::size_t>(b)];
}

std::size_t Pages::bytes() const noexcept {
  // Without an allocation, because memory may be full. A page that sequences share has the same
  // place in all of them, and is counted in the first.
  std::size_t pages = 0;
  for (auto s = sequences_.begin(); s != sequences_.end(); ++s) {
    for (std::size_t n = 0; n < s->pages.size(); ++n) {
      const auto has = [&](const Sequence& other) {
        const auto at = s->first_page + static_cast<std::int64_t>(n) - other.first_page;
        return at >= 0 && at < std::ssize(other.pages) &&
               other.pages[static_cast<std::size_t>(at)] == s->pages[n];
      };
      if (s->pages[n].use_count() == 1 || std::none_of(sequences_.begin(), s, has)) ++pages;
    }
  }
  return pages * static_cast<std::size_t>(layout().bytes());
}

std::vector<std::int64_t> Pages::check_append(std::int64_t L,
                                              const std::optional<TensorView>& counts,
                                              const char* counts_name) const {
  std::vector<std::int64_t> result(sequences_.size(), L);
  if (counts) {
    ops::require_array(counts_name, *counts, DType::kInt32, {options_.batch});
    std::ranges::copy(counts->data<std::int32_t>(), result.begin());
  }
  for (std::size_t b = 0; b < result.size(); ++b) {
    if (result[b] < 0 || result[b] > L)
      ops::refuse<OptionError>(counts_name, {"lengths from 0 to ", L}, result[b]);
    const std::int64_t room = options_.capacity - sequences_[b].length;
    if (!options_.is_rolling && result[b] > room)
      ops::refuse<OptionError>(
          "cache",
          "room for " + std::to_string(result[b]) + " more tokens in sequence " + std::to_string(b),
          std::to_string(room) + " of " + std::to_string(options_.capacity));
  }
  return result;
}

std::shared_ptr<Pages::Page> Pages::make_page(const Page* like) const {
  const std::int64_t bytes = layout().bytes();
  auto page = std::make_shared<Page>(bytes, options_.heads);
  if (like) {
    std::memcpy(page->data(), like->data(), static_cast<std::size_t>(bytes));
    page->finite = like->finite;
  } else {
    // Unwritten numbers are multiplied by weights of zero, so they must not be NaN or infinite.
    std::memset(page->data(), 0, static_cast<std::size_t>(bytes));
  }
  return page;
}

void Pages::append(const std::vector<std::int64_t>& counts, const float* k,
                   const ops::Layout& k_layout, const float* v, const ops::Layout& v_layout) {
  // Pages are allocated first, so that nothing has changed if that fails.
  struct Fresh {
    std::size_t sequence, index;
    std::shared_ptr<Page> page;
  };
  std::vector<Fresh> fresh;
  for (std::size_t n = 0; n < sequences_.size(); ++n) {
    if (counts[n] == 0) continue;
    Sequence& s = sequences_[n];
    const auto open = static_cast<std::size_t>(s.length / kKeyTile - s.first_page);
    if (open < s.pages.size() && s.pages[open].use_count() > 1)
      fresh.push_back({n, open, make_page(s.pages[open].get())});
    const auto needed = static_cast<std::size_t>(
        ops::divide_up(s.length + counts[n], std::int64_t{kKeyTile}) - s.first_page);
    for (std::size_t index = s.pages.size(); index < needed; ++index)
      fresh.push_back({n, index, make_page(nullptr)});
    s.pages.reserve(needed);
  }
  for (Fresh& f : fresh) {
    auto& pages = sequences_[f.sequence].pages;
    if (f.index < pages.size())
      pages[f.index] = std::move(f.page);
    else
      pages.push_back(std::move(f.page));
  }
  for (std::size_t n = 0; n < sequences_.size(); ++n) {
    if (counts[n] == 0) continue;
    Sequence& s = sequences_[n];
    const auto b = static_cast<std::int64_t>(n);
    for (std::int64_t i = 0; i < counts[n]; ++i, ++s.length) {
      Page& page = *s.pages[static_cast<std::size_t>(s.length / kKeyTile - s.first_page)];
      for (std::int64_t g = 0; g < options_.heads; ++g)
        write(page, s.length % kKeyTile, g, k_layout.at(k, b, g, i), v_layout.at(v, b, g, i));
    }
  }
}

void Pages::roll(const std::vector<std::int64_t>& counts) noexcept {
  if (!options_.is_rolling) return;
  for (std::size_t n = 0; n < sequences_.size(); ++n) {
    if (counts[n] == 0) continue;
    Sequence& s = sequences_[n];
    s.first = std::max(s.first, s.length - options_.capacity);
    const std::int64_t dropped = s.first / kKeyTile - s.first_page;
    s.pages.erase(s.pages.begin(), s.pages.begin() + static_cast<std::ptrdiff_t>(dropped));
    s.first_page += dropped;
  }
}

void Pages::write(Page& page, std::int64_t slot, std::int64_t g, const float* k,
                  const float* v) const {
  const PageLayout page_layout = layout();
  float* const scales = page_layout.scales(page, g);
  const std::int64_t width = kernels_.panel;
  const std::int64_t step = interleave(options_.format);
  // In the panels, a key is a column, and a value is a row, one step of the depth.
  const bool has_finite_key = kernels_.attention.store_cache_row({
      .format = format(),
      .row = k,
      .size = options_.head_size,
      .to = page.data() + page_layout.keys(g) * page_layout.number,
      .first = slot / width * width * padded_keys_ + slot % width * step,
      .run = step,
      .step = 1,
      .stride = step * width,
      .scale = scales ? scales + slot : nullptr,
  });
  const bool has_finite_value = kernels_.attention.store_cache_row({
      .format = format(),
      .row = v,
      .size = options_.value_size,
      .to = page.data() + page_layout.values(g) * page_layout.number,
      .first = slot / step * step * width + slot % step,
      .run = width,
      .step = step,
      .stride = width * kKeyTile,
      .scale = scales ? scales + kKeyTile + slot : nullptr,
  });
  if (!has_finite_value || (options_.format == Format::kFloat16 && !has_finite_key))
    page.finite[static_cast<std::size_t>(g)] = 0;
}

void Pages::rewind(std::int64_t b, std::int64_t tokens) {
  const std::int64_t held = sequence(b).length - sequence(b).first;
  if (tokens < 0 || tokens > held)
    ops::refuse<OptionError>(
        "tokens", "a number from 0 to " + std::to_string(held) + ", the tokens held", tokens);
  Sequence& s = sequences_[static_cast<std::size_t>(b)];
  s.length -= tokens;
  const std::int64_t needed = ops::divide_up(s.length, kKeyTile) - s.first_page;
  s.pages.resize(static_cast<std::size_t>(std::max<std::int64_t>(needed, 0)));
}

void Pages::share(std::int64_t from, std::int64_t to, std::int64_t tokens) {
  const Sequence& source = sequence(from);
  sequence(to);
  if (tokens < 0 || tokens > source.length)
    ops::refuse<OptionError>("tokens", {"a number from 0 to ", source.length}, tokens);
  if (source.first > 0)
    ops::refuse<OptionError>("from", "a sequence that still holds its first token",
                             {"one that dropped ", source.first});
  if (from == to) return rewind(to, source.length - tokens);
  Sequence shared;
  shared.length = tokens;
  const auto pages = static_cast<std::size_t>(ops::divide_up(tokens, kKeyTile));
  shared.pages.assign(source.pages.begin(),
                      source.pages.begin() + static_cast<std::ptrdiff_t>(pages));
  sequences_[static_cast<std::size_t>(to)] = std::move(shared);
}

void Pages::reorder(const TensorView& order) {
  ops::require_array("order", order, DType::kInt32, {options_.batch});
  std::vector<Sequence> reordered;
  for (const std::int32_t from : order.data<std::int32_t>()) {
    if (from < 0 || from >= options_.batch)
      ops::refuse<OptionError>("order", {"numbers from 0 to below ", options_.batch}, from);
    reordered.push_back(sequence(from));
  }
  sequences_ = std::move(reordered);
}

kernels::NumberFormat Pages::format() const noexcept {
  switch (options_.format) {
    case Format::kFloat16:
      return kernels::NumberFormat::kFloat16;
    case Format::kInt8:
      return kernels::NumberFormat::kInt8;
    default:
      return kernels::NumberFormat::kFloat32;
  }
}

kernels::StoredTile Pages::stored(std::int64_t b, std::int64_t g,
                                  std::int64_t tile) const noexcept {
  const Sequence& s = sequences_[static_cast<std::size_t>(b)];
  const Page& page = *s.pages[static_cast<std::size_t>(tile - s.first_page)];
  const PageLayout page_layout = layout();
  const float* const scales = page_layout.scales(page, g);
  return {page.data() + page_layout.keys(g) * page_layout.number,
          page.data() + page_layout.values(g) * page_layout.number, scales,
          scales ? scales + kKeyTile : nullptr, page.finite[static_cast<std::size_t>(g)] != 0};
}

kernels::KeyValueTile Pages::tile(std::int64_t b, std::int64_t g, std::int64_t tile, float* keys,
                                  float* values) const noexcept {
  const kernels::StoredTile from = stored(b, g, tile);
  if (options_.format == Format::kFloat32)
    return {static_cast<const float*>(from.keys), static_cast<const float*>(from.values), kKeyTile,
            from.finite};
  kernels_.attention.widen_cache_panels({
      .format = format(),
      .from = from.keys,
      .columns = kKeyTile,
      .width = kernels_.panel,
      .depth = options_.head_size,
      .column_scales = from.key_scales,
      .depth_scales = nullptr,
      .to = keys,
  });
  kernels_.attention.widen_cache_panels({
      .format = format(),
      .from = from.values,
      .columns = padded_values_,
      .width = kernels_.panel,
      .depth = kKeyTile,
      .column_scales = nullptr,
      .depth_scales = from.value_scales,
      .to = values,
  });
  return {keys, values, kKeyTile, from.finite};
}

}  // namespace heed
