// Work cut into tasks for a few threads, with an eye on interrupts.
#pragma once

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

// Runs task(i, thread, stop) for i = 0 .. n_tasks; false if it was given up.
// The calling thread is thread 0 and takes part.
bool run_tasks(int64_t n_tasks, int n_threads, const Interrupted& interrupted,
               const std::function<void(int64_t, int, const Stop&)>& task);

}  // namespace softmodes
