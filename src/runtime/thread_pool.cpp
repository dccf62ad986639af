#include "runtime/thread_pool.hpp"

#include <ctime>
#include <mutex>
#include <thread>
#include <utility>

#include "heed/error.hpp"

namespace heed {
namespace {

// An operation makes several calls of run(), and another operation often follows immediately.
// Sleeping and waking up takes tens of microseconds, as long as a small operation. Therefore a
// worker spins for this time before it sleeps until the next call. A caller does the same before it
// sleeps until the last worker is done.
constexpr std::int64_t kSpinTime = 50'000;  // nanoseconds

// With fewer floating-point operations than this, the caller is done before a spinning worker has
// helped.
constexpr double kMinOperations = 2e5;
// Waking a worker takes the caller as long as this number of operations. The caller does so after
// it has done as many alone. So a small operation rarely wakes a worker, but the operations of a
// token do.
constexpr double kWakingOperations = 2e6;

/// Nanoseconds of a clock that never goes back. The clock of <chrono> may throw std::system_error.
std::int64_t now() noexcept {
  std::timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    // With more threads than cores, a spinning thread would take time from a working one.
    : spins_(threads <= static_cast<int>(std::thread::hardware_concurrency())) {
  workers_.reserve(static_cast<std::size_t>(threads - 1));  // the threads keep their addresses
  for (int thread = 1; thread < threads; ++thread) {
    Worker& worker = workers_.emplace_back(Worker{this, thread, false, {}});
    if (pthread_create(&worker.id, nullptr, start, &worker) == 0) continue;
    workers_.pop_back();
    stop();
    throw OptionError("threads", "as many as the system can start", threads);
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ++calls_;
  }
  start_.notify_all();
  for (const Worker& worker : workers_) pthread_join(worker.id, nullptr);
}

void* ThreadPool::start(void* worker) {
  Worker& self = *static_cast<Worker*>(worker);
  self.pool->work(self);
  return nullptr;
}

/// Spins until the condition is true, for kSpinTime at most. Returns whether it is true.
template <class Holds>
bool ThreadPool::spin_until(const Holds& holds) const {
  constexpr int kChecks = 16;  // per reading of the clock
  const std::int64_t end = now() + (spins_ ? kSpinTime : 0);
  do {
    for (int check = 0; check < kChecks; ++check) {
      if (holds()) return true;
      std::this_thread::yield();
    }
  } while (now() < end);
  return false;
}

void ThreadPool::distribute(std::int64_t pieces, double operations, const AnyTask& task) {
  const bool is_shared = pieces > 1 && operations >= kMinOperations;
  const bool wakes = is_shared && sleeping_ > 0 && (alone_ += operations) >= kWakingOperations;
  if (wakes) alone_ = 0.0;
  if (wakes || (is_shared && sleeping_ < threads() - 1)) {
    share(pieces, wakes, task);
  } else {
    for (std::int64_t piece = 0; piece < pieces && !is_cancelled(); ++piece)
      task.call(task.task, piece, 0);
  }
  if (is_cancelled()) throw CancelledError();
}

void ThreadPool::share(std::int64_t pieces, bool wakes, const AnyTask& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    pieces_ = pieces;
    next_ = 0;
    ++calls_;
  }
  if (wakes) start_.notify_all();
  take_pieces(pieces, task, 0);
  {
    const std::lock_guard lock(mutex_);
    task_ = nullptr;  // workers that have not joined cannot join any more
  }
  if (spin_until([this] { return joined_ == 0; })) return;
  const std::lock_guard lock(mutex_);
  finish_.wait(mutex_, [this] { return joined_ == stopped_; });
  if (stopped_ > 0) throw StoppedError(why_stopped_);
}

void ThreadPool::stopped(int thread, std::string why) noexcept {
  Worker& worker = workers_[static_cast<std::size_t>(thread - 1)];
  const std::lock_guard lock(mutex_);
  if (!worker.joined) ++joined_;
  worker.joined = true;
  if (stopped_++ == 0) why_stopped_ = std::move(why);
  finish_.notify_one();
}

void ThreadPool::work(Worker& self) {
  ++running_;
  std::uint32_t handled_calls = 0;
  const auto has_new_call = [&] { return calls_ != handled_calls; };
  while (true) {
    const bool is_awake = spin_until(has_new_call);
    mutex_.lock();
    if (!is_awake) {
      ++sleeping_;
      start_.wait(mutex_, has_new_call);
      --sleeping_;
    }
    handled_calls = calls_;
    const bool stops = stopping_;
    const AnyTask* const task = task_;
    const std::int64_t pieces = pieces_;
    if (task) {
      ++joined_;
      self.joined = true;
    }
    mutex_.unlock();
    if (stops) return;
    if (!task) continue;
    take_pieces(pieces, *task, self.thread);
    const std::lock_guard lock(mutex_);
    self.joined = false;
    if (--joined_ == stopped_) finish_.notify_one();
  }
}

void ThreadPool::take_pieces(std::int64_t pieces, const AnyTask& task, int thread) {
  for (std::int64_t piece = next_++; piece < pieces && !is_cancelled(); piece = next_++)
    task.call(task.task, piece, thread);
}

}  // namespace heed
