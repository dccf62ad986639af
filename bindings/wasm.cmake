# dist/heed-<variant>.mjs and .wasm: the module that the TypeScript package loads. The variant wide has only
# the binary there, because it goes with the glue of relaxed.

set(module heed-${HEED_WASM_VARIANT})
add_executable(${module} bindings/embind.cpp)
target_link_libraries(${module} PRIVATE heed heed_settings)
find_program(NODE_PROGRAM node REQUIRED CMAKE_FIND_ROOT_PATH_BOTH)
set(glue_prefix ${CMAKE_CURRENT_SOURCE_DIR}/bindings/glue_prefix.js)
set(glue_library ${CMAKE_CURRENT_SOURCE_DIR}/bindings/glue_library.js)
set(minify_glue ${CMAKE_CURRENT_SOURCE_DIR}/bindings/minify_glue.mjs)
set(order_functions ${CMAKE_CURRENT_SOURCE_DIR}/bindings/order_functions.mjs)
execute_process(COMMAND ${EMSCRIPTEN_ROOT_PATH}/em-config BINARYEN_ROOT OUTPUT_VARIABLE binaryen
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(dist ${CMAKE_CURRENT_SOURCE_DIR}/dist)
set(output ${dist})
if(HEED_WASM_VARIANT STREQUAL wide)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/dist)
endif()
set_target_properties(${module} PROPERTIES
  SUFFIX .mjs
  RUNTIME_OUTPUT_DIRECTORY ${output}
  LINK_DEPENDS "${glue_prefix};${glue_library};${minify_glue};${order_functions}")
target_compile_definitions(${module} PRIVATE HEED_WASM_VARIANT="${HEED_WASM_VARIANT}")
target_compile_options(${module} PRIVATE -Oz)  # it instantiates the reading of arguments some hundred times
target_link_options(${module} PRIVATE
  -O3
  -lembind
  -Wno-pthreads-mem-growth  # JavaScript, whose access is slower, only copies tensors in and out
  -sMODULARIZE
  -sEXPORT_ES6
  -sENVIRONMENT=web,worker  # Node is made like a browser: see glue_prefix.js
  -sALLOW_MEMORY_GROWTH
  -sINITIAL_MEMORY=16MB
  -sMAXIMUM_MEMORY=4GB
  -sSTACK_SIZE=256KB
  -sDEFAULT_PTHREAD_STACK_SIZE=256KB
  # A page whose policy allows 'wasm-unsafe-eval' but no eval can use the module.
  -sDYNAMIC_EXECUTION=0
  -sEMBIND_AOT
  -sFILESYSTEM=0
  -sWASM_BIGINT  # every browser with SIMD has BigInt; without it the linker adds functions that split integers
  -sEXPORTED_RUNTIME_METHODS=PThread
  # Otherwise wasm-opt inlines functions of one caller that the compiler must not inline. With 50 a call of
  # five tokens takes 1.04 times as long; with 750 the longest function of an attention takes V8
  # 12 ms to optimise, with 500 3 ms.
  -sBINARYEN_EXTRA_PASSES=--one-caller-inline-max-function-size=500
  -sPTHREAD_POOL_SIZE_STRICT=2  # the glue starts no worker: see glue_library.js
  --js-library ${glue_library}
  -Wno-js-compiler  # it warns of names in that library which are internal to Emscripten
  --extern-pre-js ${glue_prefix})


# The types of the module, for bindings/js. The linker calls tsc for them, and runs the module in
# Node, as it does for -sEMBIND_AOT. Node 20 has relaxed SIMD only behind a flag that later versions
# do not know.
set(node_flags)
execute_process(COMMAND ${NODE_PROGRAM} --experimental-wasm-relaxed-simd -e ""
                RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
if(NOT refused)
  set(node_flags --experimental-wasm-relaxed-simd)
endif()
set(node_launcher ${CMAKE_CURRENT_BINARY_DIR}/node)
file(WRITE ${node_launcher} "#!/bin/sh\nexec '${NODE_PROGRAM}' ${node_flags} \"$@\"\n")
file(CHMOD ${node_launcher} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
target_link_options(${module} PRIVATE --emit-tsd ${output}/heed-module.d.ts)
set(path ${CMAKE_CURRENT_SOURCE_DIR}/node_modules/.bin:$ENV{PATH})
set_property(TARGET ${module} PROPERTY RULE_LAUNCH_LINK
             "${CMAKE_COMMAND} -E env EM_NODE_JS=${node_launcher} PATH=${path}")

add_custom_command(TARGET ${module} POST_BUILD
  COMMAND ${NODE_PROGRAM} ${minify_glue} $<TARGET_FILE:${module}>
  COMMAND ${node_launcher} ${order_functions} $<TARGET_FILE_DIR:${module}>/${module}.wasm
          ${binaryen}/bin/wasm-opt)
if(HEED_WASM_VARIANT STREQUAL wide)
  add_custom_command(OUTPUT ${dist}/${module}.wasm DEPENDS ${module}
    COMMAND ${CMAKE_COMMAND} -E copy ${output}/${module}.wasm ${dist}/${module}.wasm)
  add_custom_target(${module}-copy ALL DEPENDS ${dist}/${module}.wasm)
else()
  # The types of the glue, for code that imports it: see the option `glue` in bindings/js/load/binaries.ts.
  configure_file(bindings/js/glue.d.mts ${dist}/${module}.d.mts COPYONLY)
endif()

# bindings/js/core/constants.ts and members.ts, which are the same for all variants.
if(HEED_WASM_VARIANT STREQUAL simd)
  set(core ${CMAKE_CURRENT_SOURCE_DIR}/bindings/js/core)
  add_executable(describe bindings/describe.cpp)
  set_target_properties(describe PROPERTIES SUFFIX .cjs)
  target_include_directories(describe PRIVATE include)
  target_compile_options(describe PRIVATE -Wall -Wextra -Wpedantic -Werror -Wshadow -O0)
  target_link_options(describe PRIVATE -O0 -sENVIRONMENT=node)
  add_custom_command(TARGET describe POST_BUILD
    COMMAND ${NODE_PROGRAM} $<TARGET_FILE:describe> constants >${core}/constants.ts
    COMMAND ${NODE_PROGRAM} $<TARGET_FILE:describe> members >${core}/members.ts
    BYPRODUCTS ${core}/constants.ts ${core}/members.ts)
endif()
