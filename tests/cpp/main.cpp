// Runs the tests. `--list-isas` prints the instruction sets of this machine, for a script to run
// the tests once with each in the environment variable HEED_ISA. A set that the previous one
// extends ("avx512" after "avx512+vnni") is left out. Both share all kernels, except the kernels
// that multiply bytes, and the tests of Linear and Int8Scores compare these.

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <string>
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
    std::string_view previous;
    for (const std::string_view isa : heed::Context::available_isas()) {
      if (!previous.starts_with(std::string(isa) + "+"))
        std::printf("%.*s\n", static_cast<int>(isa.size()), isa.data());
      previous = isa;
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
