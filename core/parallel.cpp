#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace softmodes {

using Clock = std::chrono::steady_clock;
constexpr auto kPeriod = std::chrono::milliseconds(50);

class Watch {
 public:
  explicit Watch(const Interrupted& interrupted) : interrupted_(interrupted) {}

  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }

  void look() {
    const auto now = Clock::now();
    if (now < next_ || stopped()) return;
    next_ = now + kPeriod;
    if (interrupted_ && interrupted_()) stop();
  }

 private:
  const Interrupted& interrupted_;
  std::atomic<bool> stop_{false};
  Clock::time_point next_ = Clock::now() + kPeriod;
};

bool Stop::requested() const {
  if (calling_thread_) watch_.look();
  return watch_.stopped();
}

void run_tasks(int64_t n_tasks, const Threads& threads,
               const std::function<void(int64_t, int, const Stop&)>& task) {
  Watch watch(threads.interrupted);
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::condition_variable done;
  std::exception_ptr error;
  int64_t running = 0;

  const auto work = [&](int thread) {
    const Stop stop(watch, thread == 0);
    try {
      while (!stop.requested()) {
        const int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= n_tasks) return;
        task(i, thread, stop);
      }
    } catch (...) {
      watch.stop();
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
  };

  std::vector<std::thread> helpers;
  const int64_t n_helpers = std::min<int64_t>(threads.n, n_tasks) - 1;
  for (int t = 1; t <= n_helpers; ++t) {
    {
      const std::lock_guard lock(mutex);
      ++running;
    }
    try {
      helpers.emplace_back([&, t] {
        work(t);
        const std::lock_guard lock(mutex);
        --running;
        done.notify_one();
      });
    } catch (const std::exception&) {  // no more threads to be had: go on with those there are
      const std::lock_guard lock(mutex);
      --running;
      break;
    }
  }
  work(0);
  {
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, kPeriod, [&] { return running == 0; })) {
      lock.unlock();
      watch.look();
      lock.lock();
    }
  }
  for (auto& helper : helpers) helper.join();
  if (error) std::rethrow_exception(error);
  if (watch.stopped()) throw Interrupt{};
}

}  // namespace softmodes
