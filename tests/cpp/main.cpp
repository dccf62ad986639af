// Runs the tests. `--list-isas` prints the instruction sets of this machine, for a script to run
// the tests once with each in the environment variable HEED_ISA.

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "heed/context.hpp"

// By default the address sanitizer ends the process when an allocation fails; the tests request
// more memory than any machine has and expect an error.
extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--list-isas") {
    for (const std::string_view isa : heed::Context::available_isas()) {
      std::printf("%.*s\n", static_cast<int>(isa.size()), isa.data());
    }
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  try {
    const heed::Context context;
    std::printf("Instruction set: %.*s\n", static_cast<int>(context.isa().size()),
                context.isa().data());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return RUN_ALL_TESTS();
}
