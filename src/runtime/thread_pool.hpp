#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace heed {

/// Runs independent pieces of one operation on a fixed set of threads, including the caller's.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }
  /// The number of threads that have begun to wait for work, including the caller's.
  int running() const noexcept { return running_; }

  /// Calls task(piece, thread) for every piece in [0, pieces) and returns when all are done.
  /// Any thread may take any piece: a task may write only the results of its piece, and scratch
  /// memory of its thread. Tasks do not throw. With `serial`, only the calling thread works:
  /// for small problems, waking the others would take longer.
  template <class Task>
  void run(std::int64_t pieces, bool serial, const Task& task) {
    if (serial || pieces < 2 || workers_.empty()) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) task(piece, 0);
      return;
    }
    distribute(pieces, {&call<Task>, &task});
  }

 private:
  /// A reference to a task of any type; std::function would add more code per task than its work.
  struct AnyTask {
    void (*call)(const void* task, std::int64_t piece, int thread) = nullptr;
    const void* task = nullptr;
  };

  template <class Task>
  static void call(const void* task, std::int64_t piece, int thread) {
    (*static_cast<const Task*>(task))(piece, thread);
  }

  void distribute(std::int64_t pieces, const AnyTask& task);
  void work(int thread);
  void take_pieces(std::int64_t pieces, const AnyTask& task, int thread);
  void stop() noexcept;
  template <class Condition>
  bool spin_until(const Condition& condition) const;

  std::atomic<int> running_ = 1;
  std::vector<std::thread> workers_;
  bool spins_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable finish_;
  // Written under the mutex.
  const AnyTask* task_ = nullptr;  // of the operation that workers may join, or null
  std::int64_t pieces_ = 0;
  int sleeping_ = 0;
  bool stopping_ = false;
  std::atomic<std::uint32_t> calls_ = 0;  // counts changes of the above
  std::atomic<int> joined_ = 0;           // workers that work on the operation
  // The next piece of the operation that no thread has taken.
  std::atomic<std::int64_t> next_ = 0;
};

}  // namespace heed
