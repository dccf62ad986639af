#include "runtime/thread_pool.hpp"

#include <chrono>

namespace heed {
namespace {

// An operation makes several calls of run(), and often follows another one at once. Sleeping and
// waking takes tens of microseconds, as long as a small operation: a worker spins this long for the
// next call before it sleeps, and a caller this long for the last worker.
constexpr std::chrono::microseconds kPatience(50);

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

/// Whether the condition holds now, or before the time to spin ends.
template <class Condition>
bool ThreadPool::comes_soon(const Condition& condition) const {
  using Clock = std::chrono::steady_clock;
  constexpr int kLooks = 16;  // per reading of the clock
  const Clock::time_point end = Clock::now() + (spins_ ? kPatience : kPatience.zero());
  do {
    for (int look = 0; look < kLooks; ++look) {
      if (condition()) return true;
      std::this_thread::yield();
    }
  } while (Clock::now() < end);
  return false;
}

void ThreadPool::share(std::int64_t pieces, const AnyTask& task) {
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
    task_ = nullptr;  // a worker that has not joined yet does not join any more
  }
  const auto all_left = [this] { return joined_ == 0; };
  if (comes_soon(all_left)) return;
  std::unique_lock lock(mutex_);
  finish_.wait(lock, all_left);
}

void ThreadPool::work(int thread) {
  ++running_;
  std::uint32_t answered = 0;
  const auto is_called = [&] { return calls_ != answered; };
  while (true) {
    const bool is_awake = comes_soon(is_called);
    std::unique_lock lock(mutex_);
    if (!is_awake) {
      ++sleeping_;
      start_.wait(lock, is_called);
      --sleeping_;
    }
    answered = calls_;
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
