// Tables of 2^-x and log2: made of additions, multiplications and square roots alone, so that they
// are the same on every machine.
#pragma once

#include <vector>

#include "isa/kernels.hpp"

namespace softmodes {

class PowerTables {
 public:
  explicit PowerTables(int resolution);
  Powers view() const { return {resolution_, limit_, power_.data(), log_.data()}; }

 private:
  int resolution_;
  uint32_t limit_;
  std::vector<uint32_t> power_;
  std::vector<uint64_t> log_;
};

}  // namespace softmodes
