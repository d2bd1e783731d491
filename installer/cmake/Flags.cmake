# Flags that every target of the project shares.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

add_library(hearth_flags INTERFACE)
# Contraction would make a product-sum depend on what the compiler inlines: kernels fuse explicitly or not at all.
target_compile_options(hearth_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -ffp-contract=off)
# Errors with GCC, whose view is the project's; clang counts signs among conversions, and sanitizers make GCC see ghosts.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT HEARTH_SANITIZE)
  target_compile_options(hearth_flags INTERFACE -Werror)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(hearth_flags INTERFACE -Wno-sign-conversion)
endif()
target_include_directories(hearth_flags INTERFACE ${PROJECT_SOURCE_DIR})
if(HEARTH_SANITIZE)
  target_compile_options(hearth_flags INTERFACE -fsanitize=${HEARTH_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(hearth_flags INTERFACE -fsanitize=${HEARTH_SANITIZE})
endif()

# hearth_room(NAME SOURCES file... LINKS target...): one room of the engine, as the static library hearth_NAME.
function(hearth_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS" ${ARGN})
  add_library(hearth_${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(hearth_${name} PUBLIC hearth_flags ${ROOM_LINKS})
endfunction()

# hearth_test(NAME SOURCES file... LINKS target... LABELS label... [TIMEOUT seconds]): one Qt Test program, run by ctest.
# The target tests_LABEL builds all that carry the label. A program that leaves out every case counts as skipped.
function(hearth_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  set_target_properties(${name} PROPERTIES AUTOMOC ON)
  target_link_libraries(${name} PRIVATE hearth_flags Qt6::Test ${TEST_LINKS})
  target_compile_definitions(${name} PRIVATE HEARTH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT}
                       SKIP_REGULAR_EXPRESSION "Totals: 2 passed, 0 failed, [1-9][0-9]* skipped")
  foreach(label ${TEST_LABELS})
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${name})
  endforeach()
endfunction()
