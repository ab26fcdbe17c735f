// Keeps cpprestsdk's thread from its work for as long as this lives.
#pragma once

#include <future>

namespace tests {

class BusyCpprestThread {
 public:
  BusyCpprestThread();

 private:
  std::promise<void> end_;  // broken by its end, which is an end as well
};

}  // namespace tests
