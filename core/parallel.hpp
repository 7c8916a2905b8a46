// Work cut into tasks for a few threads, with an eye on interrupts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace softmodes {

// Asked now and then by the calling thread; true: give up. May be empty.
using Interrupted = std::function<bool()>;

// With what a pass is made: how many threads at most, and who may stop them.
struct Threads {
  static constexpr int kMost = 1024;  // each has working memory of its own

  Threads(int n_threads, Interrupted interrupted_by)
      : n(std::clamp(n_threads, 1, kMost)), interrupted(std::move(interrupted_by)) {}
  Threads at_most(int64_t useful) const {
    return {static_cast<int>(std::clamp<int64_t>(useful, 1, n)), interrupted};
  }

  int n;
  Interrupted interrupted;
};

struct Interrupt {};  // thrown when a pass was given up

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

// Runs task(i, thread, stop) for i = 0 .. n_tasks; throws Interrupt if it was given up.
// The calling thread is thread 0 and takes part.
void run_tasks(int64_t n_tasks, const Threads& threads,
               const std::function<void(int64_t, int, const Stop&)>& task);

}  // namespace softmodes
