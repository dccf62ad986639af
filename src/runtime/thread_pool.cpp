#include "runtime/thread_pool.hpp"

namespace heed {

ThreadPool::ThreadPool(int threads) {
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
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::share(std::int64_t pieces, const Task& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  next_ = 0;
  pieces_ = unfinished_ = pieces;
  start_.notify_all();
  take_pieces(lock, 0);
  finish_.wait(lock, [this] { return unfinished_ == 0; });
  task_ = nullptr;
}

void ThreadPool::work(int thread) {
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [this] { return stopping_ || next_ < pieces_; });
    if (stopping_) return;
    take_pieces(lock, thread);
  }
}

void ThreadPool::take_pieces(std::unique_lock<std::mutex>& lock, int thread) {
  while (next_ < pieces_) {
    const std::int64_t piece = next_++;
    const Task& task = *task_;
    lock.unlock();
    task(piece, thread);
    lock.lock();
    if (--unfinished_ == 0) finish_.notify_one();
  }
}

}  // namespace heed
