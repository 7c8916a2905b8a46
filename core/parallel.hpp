// Work cut into tasks for a few threads, with an eye on interrupts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace softmodes {

// Asked now and then by the calling thread; true: give up. May be empty.
using Interrupted = std::function<bool()>;

class Watch;

// True when the work is to be given up: ask between tiles.
class Stop {
 public:
  Stop(Watch& watch, bool calling_thread) : watch_(watch), calling_thread_(calling_thread) {}
  bool requested() const;

 private:
  Watch& watch_;
  bool calling_thread_;
};

// How many threads n_tasks can keep busy, whatever was asked for: at least one, and few enough that
// memory for each is small change and small multiples stay far from overflow.
inline int busy_threads(int64_t n_tasks, int n_threads) {
  constexpr int kMost = 4096;
  return static_cast<int>(std::clamp<int64_t>(n_tasks, 1, std::clamp(n_threads, 1, kMost)));
}

// Runs task(i, thread, stop) for i = 0 .. n_tasks; false if it was given up.
// The calling thread is thread 0 and takes part.
bool run_tasks(int64_t n_tasks, int n_threads, const Interrupted& interrupted,
               const std::function<void(int64_t, int, const Stop&)>& task);

}  // namespace softmodes
