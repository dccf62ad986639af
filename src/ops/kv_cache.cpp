#include "heed/kv_cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "ops/half.hpp"
#include "ops/kv_pages.hpp"
#include "ops/validate.hpp"
#include "runtime/memory.hpp"
#include "runtime/runtime.hpp"

namespace heed {

using kernels::kKeyTile;
using Pages = KvCache::Pages;

struct Pages::Page {
  Page(std::int64_t bytes, std::int64_t heads)
      : memory(allocate(bytes_of(bytes, 1))), finite(static_cast<std::size_t>(heads), 1) {}

  std::byte* data() noexcept { return memory.get(); }
  const std::byte* data() const noexcept { return memory.get(); }

  struct Free {
    void operator()(std::byte* bytes) const noexcept { release(bytes); }
  };
  std::unique_ptr<std::byte[], Free> memory;
  std::vector<std::uint8_t> finite;  // for each head, whether all its values are
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

/// Where in a page the tile of head g lies, in numbers, and behind all tiles the scales of int8:
/// kKeyTile for the keys and kKeyTile for the values of each head.
struct PageLayout {
  std::int64_t heads, key_tile, value_tile, number;

  std::int64_t keys(std::int64_t g) const noexcept { return g * (key_tile + value_tile); }
  std::int64_t values(std::int64_t g) const noexcept { return keys(g) + key_tile; }
  std::int64_t numbers() const noexcept { return heads * (key_tile + value_tile); }
  bool has_scales() const noexcept { return number == 1; }
  std::int64_t bytes() const noexcept {
    return numbers() * number + (has_scales() ? heads * 2 * kKeyTile * 4 : 0);
  }
  template <class Byte>
  auto scales(Byte* page, std::int64_t g) const noexcept {
    using Scale = std::conditional_t<std::is_const_v<Byte>, const float, float>;
    return reinterpret_cast<Scale*>(page + numbers()) + g * 2 * kKeyTile;
  }
};

PageLayout layout_of(const Pages& pages) {
  return {pages.options().heads, pages.key_tile_size(), pages.value_tile_size(),
          number_size(pages.options().format)};
}

void require_size(std::string_view name, std::int64_t size, std::int64_t most) {
  if (size < 1 || size > most)
    throw OptionError(name, "a number from 1 to " + std::to_string(most), std::to_string(size));
}

KvCache::Options checked(KvCache::Options options) {
  // So much that a page is too large for memory long before its size is for an integer.
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  require_size("batch", options.batch, kMost);
  require_size("heads", options.heads, kMost);
  require_size("head_size", options.head_size, kMost);
  require_size("capacity", options.capacity, Shape::kMaxSize);
  if (options.value_size == 0) options.value_size = options.head_size;
  require_size("value_size", options.value_size, kMost);
  return options;
}

/// One number for a whole row of int8: its largest magnitude becomes 127.
float scale_of(const float* row, std::int64_t size) {
  float largest = 0.0f;
  for (std::int64_t i = 0; i < size; ++i) {
    const float magnitude = std::fabs(row[i]);
    if (!(magnitude <= largest)) largest = magnitude;  // takes NaN along
  }
  return largest / 127.0f;
}

/// Writes row[i] to at(i), as the format stores it.
template <class At>
void store(KvCache::Format format, std::byte* to, const float* row, std::int64_t size, float* scale,
           At at) {
  switch (format) {
    case KvCache::Format::kFloat32:
      for (std::int64_t i = 0; i < size; ++i) reinterpret_cast<float*>(to)[at(i)] = row[i];
      return;
    case KvCache::Format::kFloat16:
      for (std::int64_t i = 0; i < size; ++i)
        reinterpret_cast<std::uint16_t*>(to)[at(i)] = ops::to_float16(row[i]);
      return;
    case KvCache::Format::kInt8: {
      *scale = scale_of(row, size);
      // A row that is not finite, or all zero, keeps that in its scale alone.
      const float inverse = std::isfinite(*scale) && *scale > 0.0f ? 1.0f / *scale : 0.0f;
      for (std::int64_t i = 0; i < size; ++i)
        reinterpret_cast<std::int8_t*>(to)[at(i)] =
            inverse == 0.0f ? std::int8_t{0}
                            : static_cast<std::int8_t>(std::lround(row[i] * inverse));
      return;
    }
  }
}

/// Reads `count` numbers; scale_of_number(i) tells which scale is theirs.
template <class ScaleOf>
void load(KvCache::Format format, const std::byte* from, std::int64_t count, const float* scales,
          float* to, ScaleOf scale_of_number) {
  if (format == KvCache::Format::kFloat16) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = ops::from_float16(halves[i]);
  } else {
    const auto* bytes = reinterpret_cast<const std::int8_t*>(from);
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(bytes[i]) * scales[scale_of_number(i)];
  }
}

}  // namespace

Pages::Pages(const Options& options, std::int64_t panel)
    : options_(checked(options)),
      panel_(panel),
      padded_values_(ops::divide_up(options_.value_size, panel) * panel),
      sequences_(static_cast<std::size_t>(options_.batch)) {}

Pages::~Pages() = default;

const Pages::Sequence& Pages::sequence(std::int64_t b) const {
  if (b < 0 || b >= options_.batch)
    throw OptionError("sequence", "a number from 0 to " + std::to_string(options_.batch - 1),
                      std::to_string(b));
  return sequences_[static_cast<std::size_t>(b)];
}

std::size_t Pages::bytes() const noexcept {
  std::set<const Page*> pages;
  for (const Sequence& s : sequences_)
    for (const auto& page : s.pages) pages.insert(page.get());
  return pages.size() * static_cast<std::size_t>(layout_of(*this).bytes());
}

std::vector<std::int64_t> Pages::check_append(std::int64_t L,
                                              const std::optional<TensorView>& counts,
                                              std::string_view counts_name) const {
  std::vector<std::int64_t> result(sequences_.size(), L);
  if (counts) {
    ops::require_dtype(counts_name, *counts, DType::kInt32);
    ops::require_shape(counts_name, *counts, Shape{options_.batch});
    std::ranges::copy(counts->data<std::int32_t>(), result.begin());
  }
  for (std::size_t b = 0; b < result.size(); ++b) {
    if (result[b] < 0 || result[b] > L)
      throw OptionError(counts_name, "lengths from 0 to " + std::to_string(L),
                        std::to_string(result[b]));
    const std::int64_t room = options_.capacity - sequences_[b].length;
    if (!options_.is_rolling && result[b] > room)
      throw OptionError(
          "cache",
          "room for " + std::to_string(result[b]) + " more tokens in sequence " + std::to_string(b),
          std::to_string(room) + " of " + std::to_string(options_.capacity));
  }
  return result;
}

std::shared_ptr<Pages::Page> Pages::make_page(const Page* like) const {
  const PageLayout layout = layout_of(*this);
  auto page = std::make_shared<Page>(layout.bytes(), options_.heads);
  if (like) {
    std::memcpy(page->data(), like->data(), static_cast<std::size_t>(layout.bytes()));
    page->finite = like->finite;
  } else {
    // What no token has written yet is multiplied by weights of zero: it must be finite.
    std::memset(page->data(), 0, static_cast<std::size_t>(layout.bytes()));
  }
  return page;
}

void Pages::append(const std::vector<std::int64_t>& counts, const float* k,
                   const ops::Layout& k_layout, const float* v, const ops::Layout& v_layout) {
  // Pages first: if there is no room for one, nothing has changed.
  std::vector<std::deque<std::shared_ptr<Page>>> grown;
  for (std::size_t b = 0; b < sequences_.size(); ++b) {
    const Sequence& s = sequences_[b];
    auto pages = s.pages;
    const std::int64_t end = s.length + counts[b];
    const std::int64_t open = s.length / kKeyTile - s.first_page;  // the page of the next token
    if (counts[b] > 0 && open < static_cast<std::int64_t>(pages.size())) {
      auto& page = pages[static_cast<std::size_t>(open)];
      if (s.pages[static_cast<std::size_t>(open)].use_count() > 2) page = make_page(page.get());
    }
    while (s.first_page + static_cast<std::int64_t>(pages.size()) < ops::divide_up(end, kKeyTile))
      pages.push_back(make_page(nullptr));
    grown.push_back(std::move(pages));
  }
  for (std::size_t n = 0; n < sequences_.size(); ++n) {
    Sequence& s = sequences_[n];
    const auto b = static_cast<std::int64_t>(n);
    s.pages = std::move(grown[n]);
    if (options_.is_rolling && counts[n] > 0) {
      s.first = std::max(s.first, s.length - options_.capacity);
      for (; s.first_page < s.first / kKeyTile; ++s.first_page) s.pages.pop_front();
    }
    for (std::int64_t i = 0; i < counts[n]; ++i, ++s.length) {
      Page& page = *s.pages[static_cast<std::size_t>(s.length / kKeyTile - s.first_page)];
      for (std::int64_t g = 0; g < options_.heads; ++g)
        write(page, s.length % kKeyTile, g, k_layout.at(k, b, g, i), v_layout.at(v, b, g, i));
    }
  }
}

void Pages::write(Page& page, std::int64_t slot, std::int64_t g, const float* k,
                  const float* v) const {
  const PageLayout layout = layout_of(*this);
  std::byte* const keys = page.data() + layout.keys(g) * layout.number;
  std::byte* const values = page.data() + layout.values(g) * layout.number;
  float* const scales = layout.has_scales() ? layout.scales(page.data(), g) : nullptr;
  const std::int64_t width = panel_;
  const std::int64_t size = options_.head_size;
  store(options_.format, keys, k, size, scales ? scales + slot : nullptr,
        [=](std::int64_t d) { return slot / width * width * size + d * width + slot % width; });
  store(options_.format, values, v, options_.value_size,
        scales ? scales + kKeyTile + slot : nullptr,
        [=](std::int64_t c) { return c / width * width * kKeyTile + slot * width + c % width; });
  const bool finite = std::all_of(v, v + options_.value_size, [&](float x) {
    // What does not fit float16 becomes infinite there.
    return options_.format == Format::kFloat16
               ? std::isfinite(ops::from_float16(ops::to_float16(x)))
               : std::isfinite(x);
  });
  if (!finite) page.finite[static_cast<std::size_t>(g)] = 0;
}

void Pages::rewind(std::int64_t b, std::int64_t tokens) {
  const std::int64_t held = sequence(b).length - sequence(b).first;
  if (tokens < 0 || tokens > held)
    throw OptionError("tokens", "a number from 0 to " + std::to_string(held) + ", the tokens held",
                      std::to_string(tokens));
  Sequence& s = sequences_[static_cast<std::size_t>(b)];
  s.length -= tokens;
  const std::int64_t needed = ops::divide_up(s.length, kKeyTile) - s.first_page;
  s.pages.resize(static_cast<std::size_t>(std::max<std::int64_t>(needed, 0)));
}

void Pages::share(std::int64_t from, std::int64_t to, std::int64_t tokens) {
  const Sequence& source = sequence(from);
  sequence(to);
  if (tokens < 0 || tokens > source.length)
    throw OptionError("tokens", "a number from 0 to " + std::to_string(source.length),
                      std::to_string(tokens));
  if (source.first > 0)
    throw OptionError("from", "a sequence that still holds its first token",
                      "one that dropped " + std::to_string(source.first));
  if (from == to) return rewind(to, source.length - tokens);
  Sequence shared;
  shared.length = tokens;
  const auto pages = static_cast<std::size_t>(ops::divide_up(tokens, kKeyTile));
  shared.pages.assign(source.pages.begin(),
                      source.pages.begin() + static_cast<std::ptrdiff_t>(pages));
  sequences_[static_cast<std::size_t>(to)] = std::move(shared);
}

kernels::KeyValueTile Pages::tile(std::int64_t b, std::int64_t g, std::int64_t tile, float* keys,
                                  float* values) const noexcept {
  const Sequence& s = sequences_[static_cast<std::size_t>(b)];
  const Page& page = *s.pages[static_cast<std::size_t>(tile - s.first_page)];
  const PageLayout layout = layout_of(*this);
  const std::byte* const stored_keys = page.data() + layout.keys(g) * layout.number;
  const std::byte* const stored_values = page.data() + layout.values(g) * layout.number;
  const bool finite = page.finite[static_cast<std::size_t>(g)] != 0;
  if (options_.format == Format::kFloat32)
    return {reinterpret_cast<const float*>(stored_keys),
            reinterpret_cast<const float*>(stored_values), kKeyTile, finite};
  const float* const scales = layout.has_scales() ? layout.scales(page.data(), g) : nullptr;
  const std::int64_t width = panel_;
  const std::int64_t block = width * options_.head_size;
  load(options_.format, stored_keys, layout.key_tile, scales, keys,
       [=](std::int64_t i) { return i / block * width + i % width; });
  load(options_.format, stored_values, layout.value_tile, scales ? scales + kKeyTile : nullptr,
       values, [=](std::int64_t i) { return i / width % kKeyTile; });
  return {keys, values, kKeyTile, finite};
}

KvCache::KvCache(Context& context, const Options& options)
    : pages_(std::make_unique<Pages>(options, context.runtime().kernels().panel)) {}
KvCache::~KvCache() = default;
KvCache::KvCache(KvCache&&) noexcept = default;
KvCache& KvCache::operator=(KvCache&&) noexcept = default;

const KvCache::Options& KvCache::options() const noexcept { return pages_->options(); }
std::int64_t KvCache::length(std::int64_t b) const { return pages_->length(b); }
std::int64_t KvCache::first(std::int64_t b) const { return pages_->first(b); }
std::size_t KvCache::bytes() const noexcept { return pages_->bytes(); }
void KvCache::rewind(std::int64_t b, std::int64_t tokens) { pages_->rewind(b, tokens); }
void KvCache::share(std::int64_t from, std::int64_t to, std::int64_t tokens) {
  pages_->share(from, to, tokens);
}

void KvCache::append(const TensorView& k, const TensorView& v,
                     const std::optional<TensorView>& counts) {
  const Options& o = options();
  ops::require_floats("k", k, 4);
  const std::int64_t L = k.shape()[2];
  ops::require_shape("k", k, Shape{o.batch, o.heads, L, o.head_size});
  ops::require_floats("v", v, Shape{o.batch, o.heads, L, o.value_size});
  pages_->append(pages_->check_append(L, counts, "counts"), k.data<float>().data(),
                 {o.heads * L * o.head_size, L * o.head_size, o.head_size}, v.data<float>().data(),
                 {o.heads * L * o.value_size, L * o.value_size, o.value_size});
}

}  // namespace heed
