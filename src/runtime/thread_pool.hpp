#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace heed {

/// Runs independent pieces of one operation on a fixed set of threads, the caller's among them.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }
  /// Those of them that have begun to look for work, the caller's included.
  int running() const noexcept { return running_; }

  /// Calls task(piece, thread) for every piece in [0, pieces) and returns when all are done.
  /// Which thread takes which piece is left to chance: a task may write only what belongs to its
  /// piece, and scratch memory of its thread. Tasks do not throw. With `alone`, which small
  /// problems set, only the caller works, because waking the others would cost more.
  template <class Task>
  void run(std::int64_t pieces, bool alone, const Task& task) {
    if (alone || pieces < 2 || workers_.empty()) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) task(piece, 0);
      return;
    }
    share(pieces, {&call<Task>, &task});
  }

 private:
  /// A task of any type, for as long as it runs; std::function would take more room for each of
  /// them than its work does.
  struct AnyTask {
    void (*call)(const void* task, std::int64_t piece, int thread) = nullptr;
    const void* task = nullptr;
  };

  template <class Task>
  static void call(const void* task, std::int64_t piece, int thread) {
    (*static_cast<const Task*>(task))(piece, thread);
  }

  void share(std::int64_t pieces, const AnyTask& task);
  void work(int thread);
  void take_pieces(std::int64_t pieces, const AnyTask& task, int thread);
  void stop() noexcept;
  template <class Condition>
  bool comes_soon(const Condition& condition) const;

  std::atomic<int> running_ = 1;
  std::vector<std::thread> workers_;
  bool spins_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable finish_;
  // Written under the mutex.
  const AnyTask* task_ = nullptr;  // of the operation that workers may join
  std::int64_t pieces_ = 0;
  int sleeping_ = 0;
  bool stopping_ = false;
  std::atomic<std::uint32_t> calls_ = 0;  // to look at the above
  std::atomic<int> joined_ = 0;           // workers that have not yet left the operation
  // Of the operation, the next piece that nobody has taken.
  std::atomic<std::int64_t> next_ = 0;
};

}  // namespace heed
