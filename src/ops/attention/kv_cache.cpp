#include "heed/kv_cache.hpp"

#include "ops/attention/kv_pages.hpp"
#include "ops/validate.hpp"
#include "runtime/runtime.hpp"

namespace heed {

KvCache::KvCache(Context& context, const Options& options)
    : pages_(std::make_unique<Pages>(options, context.runtime().kernels())) {}
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
void KvCache::reorder(const TensorView& order) { pages_->reorder(order); }

void KvCache::append(const TensorView& k, const TensorView& v,
                     const std::optional<TensorView>& counts) {
  const Options& o = options();
  ops::require_floats("k", k, 4);
  const std::int64_t L = k.shape()[2];
  ops::require_shape("k", k, Shape{o.batch, o.heads, L, o.head_size});
  ops::require_floats("v", v, Shape{o.batch, o.heads, L, o.value_size});
  const std::vector<std::int64_t> taken = pages_->check_append(L, counts, "counts");
  pages_->append(taken, k.data<float>().data(),
                 {o.heads * L * o.head_size, L * o.head_size, o.head_size}, v.data<float>().data(),
                 {o.heads * L * o.value_size, L * o.value_size, o.value_size});
  pages_->roll(taken);
}

}  // namespace heed
