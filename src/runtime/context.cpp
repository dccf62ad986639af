#include "heed/context.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "heed/error.hpp"
#include "runtime/runtime.hpp"
#include "simd/isa.hpp"

namespace heed {
namespace {

using kernels::KernelTable;

template <class... Isas>
std::vector<const KernelTable*> available(simd::IsaList<Isas...>) {
  std::vector<const KernelTable*> tables;
  (void(simd::is_available<Isas>() ? tables.push_back(&kernels::kernel_table<Isas>()) : void()),
   ...);
  return tables;
}

const KernelTable& choose(std::string_view name) {
  const auto tables = available(simd::BuiltIsas{});
  if (name.empty()) return *tables.front();
  const auto found = std::ranges::find(tables, name, &KernelTable::isa);
  if (found != tables.end()) return **found;
  std::string names;
  for (const KernelTable* table : tables)
    names.append(names.empty() ? "" : ", ").append(table->isa);
  throw OptionError("isa", "one of " + names, name);
}

std::string_view requested_isa(std::string_view option) {
  if (!option.empty()) return option;
  // getenv would add an emulated environment to the WebAssembly module.
  if constexpr (!simd::kIsWasm)
    if (const char* environment = std::getenv("HEED_ISA")) return environment;
  return "";
}

std::unique_ptr<Context::Runtime> make_runtime(const Context::Options& options) {
  constexpr int kMaxThreads = 1024;
  if (options.threads < 0 || options.threads > kMaxThreads)
    throw OptionError("threads", {"a number from 0 to ", kMaxThreads}, options.threads);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = options.threads == 0 ? cores : options.threads;
  return std::make_unique<Context::Runtime>(threads, choose(requested_isa(options.isa)));
}

}  // namespace

Context::Context() : Context(Options{}) {}
Context::Context(const Options& options) : runtime_(make_runtime(options)) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

int Context::threads() const noexcept { return runtime_->pool().threads(); }
int Context::running_threads() const noexcept { return runtime_->pool().running(); }
std::atomic<std::int32_t>& Context::call() noexcept { return runtime_->pool().call(); }
std::string_view Context::isa() const noexcept { return runtime_->kernels().isa; }

void Context::thread_stopped(void* argument, std::string why) noexcept {
  const auto& worker = *static_cast<const ThreadPool::Worker*>(argument);
  worker.pool->stopped(worker.thread, std::move(why));
}

std::vector<std::string_view> Context::available_isas() {
  std::vector<std::string_view> names;
  for (const KernelTable* table : available(simd::BuiltIsas{})) names.push_back(table->isa);
  return names;
}

}  // namespace heed
