#include "runtime/thread_pool.hpp"

#include <chrono>

namespace heed {
namespace {

// An operation makes several calls of run(), and another operation often follows at once. Sleeping
// and waking up takes tens of microseconds, as long as a small operation. Therefore a worker spins
// for this time before it sleeps until the next call, and a caller before it sleeps until the last
// worker is done.
constexpr std::chrono::microseconds kSpinTime(50);

}  // namespace

ThreadPool::ThreadPool(int threads)
    // With more threads than cores, a spinning thread would take time from a working one.
    : spins_(threads <= static_cast<int>(std::thread::hardware_concurrency())) {
  try {
    for (int thread = 1; thread < threads; ++thread)
      workers_.emplace_back([this, thread] { work(thread); });
  } catch (...) {
    stop();
    throw;
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
  for (std::thread& worker : workers_) worker.join();
}

/// Spins until the condition holds, for kSpinTime at most. Returns whether it holds.
template <class Condition>
bool ThreadPool::spin_until(const Condition& condition) const {
  using Clock = std::chrono::steady_clock;
  constexpr int kChecks = 16;  // per reading of the clock
  const Clock::time_point end = Clock::now() + (spins_ ? kSpinTime : kSpinTime.zero());
  do {
    for (int check = 0; check < kChecks; ++check) {
      if (condition()) return true;
      std::this_thread::yield();
    }
  } while (Clock::now() < end);
  return false;
}

void ThreadPool::distribute(std::int64_t pieces, const AnyTask& task) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    pieces_ = pieces;
    next_ = 0;
    ++calls_;
    wakes = sleeping_ > 0;
  }
  if (wakes) start_.notify_all();
  take_pieces(pieces, task, 0);
  {
    const std::lock_guard lock(mutex_);
    task_ = nullptr;  // workers that have not joined cannot join any more
  }
  const auto all_have_left = [this] { return joined_ == 0; };
  if (spin_until(all_have_left)) return;
  std::unique_lock lock(mutex_);
  finish_.wait(lock, all_have_left);
}

void ThreadPool::work(int thread) {
  ++running_;
  std::uint32_t handled_calls = 0;
  const auto has_new_call = [&] { return calls_ != handled_calls; };
  while (true) {
    const bool is_awake = spin_until(has_new_call);
    std::unique_lock lock(mutex_);
    if (!is_awake) {
      ++sleeping_;
      start_.wait(lock, has_new_call);
      --sleeping_;
    }
    handled_calls = calls_;
    if (stopping_) return;
    if (!task_) continue;
    const AnyTask& task = *task_;
    const std::int64_t pieces = pieces_;
    ++joined_;
    lock.unlock();
    take_pieces(pieces, task, thread);
    lock.lock();
    if (--joined_ == 0) finish_.notify_one();
  }
}

void ThreadPool::take_pieces(std::int64_t pieces, const AnyTask& task, int thread) {
  for (std::int64_t piece = next_++; piece < pieces; piece = next_++)
    task.call(task.task, piece, thread);
}

}  // namespace heed
