#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/context.hpp"

namespace heed {

// The mutex and the condition of POSIX. Their counterparts in the standard library may throw
// std::system_error, which adds printf and the messages of all system errors to the WebAssembly
// binary.
class Mutex {
 public:
  Mutex() = default;
  ~Mutex() { pthread_mutex_destroy(&mutex_); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  friend class Condition;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Condition {
 public:
  Condition() = default;
  ~Condition() { pthread_cond_destroy(&condition_); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// Waits until `holds` returns true. The mutex must be locked; it is unlocked while this thread
  /// sleeps.
  template <class Holds>
  void wait(Mutex& mutex, const Holds& holds) noexcept {
    while (!holds()) pthread_cond_wait(&condition_, &mutex.mutex_);
  }
  void notify_one() noexcept { pthread_cond_signal(&condition_); }
  void notify_all() noexcept { pthread_cond_broadcast(&condition_); }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

/// Runs independent pieces of one operation on a fixed set of threads, including the caller's.
class ThreadPool {
 public:
  /// Throws OptionError if the system cannot start this many threads.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return static_cast<int>(workers_.size()) + 1; }
  /// The number of threads that have begun to wait for work, including the caller's.
  int running() const noexcept { return running_; }

  /// See Context::call.
  std::atomic<std::int32_t>& call() noexcept { return call_; }
  /// Whether the operation is cancelled and may stop. A task of more than some milliseconds asks
  /// between its parts.
  bool is_cancelled() const noexcept {
    return call_.load(std::memory_order_relaxed) == Context::kCancelled && !finishes_;
  }

  /// While it exists, operations are not cancelled: an operation that changes its arguments must
  /// finish.
  class Finishing {
   public:
    explicit Finishing(ThreadPool& pool) noexcept : pool_(pool) { pool_.finishes_ = true; }
    ~Finishing() { pool_.finishes_ = false; }
    Finishing(const Finishing&) = delete;
    Finishing& operator=(const Finishing&) = delete;

   private:
    ThreadPool& pool_;
  };

  /// Calls task(piece, thread) for every piece in [0, pieces) and returns when all are done.
  /// Any thread may take any piece: a task may write only the results of its piece, and scratch
  /// memory of its thread. Tasks do not throw. `operations` is about the number of floating-point
  /// operations of all pieces: if it is small, only the calling thread works, because another one
  /// would begin too late. Throws CancelledError, and StoppedError after `stopped`; some pieces are
  /// not done then.
  template <class Task>
  void run(std::int64_t pieces, double operations, const Task& task) {
    distribute(pieces, operations, {&call_task<Task>, &task});
  }

  /// The start argument of a thread.
  struct Worker {
    ThreadPool* pool;
    int thread;
    bool joined;  // whether it works on the operation; written under the mutex
    pthread_t id;
  };

  /// Reports that a thread of the pool has ended before it finished its piece. Called on that
  /// thread. From then on, every operation that is shared among threads throws StoppedError.
  void stopped(int thread, std::string why) noexcept;

 private:
  /// A reference to a task of any type. std::function would add more code to each task than its
  /// work has.
  struct AnyTask {
    void (*call)(const void* task, std::int64_t piece, int thread) = nullptr;
    const void* task = nullptr;
  };

  template <class Task>
  static void call_task(const void* task, std::int64_t piece, int thread) {
    (*static_cast<const Task*>(task))(piece, thread);
  }

  static void* start(void* worker);
  void distribute(std::int64_t pieces, double operations, const AnyTask& task);
  void share(std::int64_t pieces, bool wakes, const AnyTask& task);
  void work(Worker& self);
  void take_pieces(std::int64_t pieces, const AnyTask& task, int thread);
  void stop() noexcept;
  template <class Holds>
  bool spin_until(const Holds& holds) const;

  std::atomic<int> running_ = 1;
  std::vector<Worker> workers_;
  bool spins_;
  bool finishes_ = false;
  double alone_ = 0.0;  // operations that the caller has done while a worker slept
  std::atomic<std::int32_t> call_ = 0;
  Mutex mutex_;
  Condition start_;
  Condition finish_;
  // Written under the mutex.
  const AnyTask* task_ = nullptr;  // of the operation that workers may join, or null
  std::int64_t pieces_ = 0;
  int stopped_ = 0;  // workers that have stopped, which count as joined for ever
  std::string why_stopped_;
  bool stopping_ = false;
  std::atomic<std::uint32_t> calls_ = 0;  // counts changes of the above
  std::atomic<int> sleeping_ = 0;
  std::atomic<int> joined_ = 0;  // workers that work on the operation, or have stopped
  // The next piece of the operation that no thread has taken.
  std::atomic<std::int64_t> next_ = 0;
};

}  // namespace heed
