#pragma once

/// What the sanitizers are told for a test program that includes this (in one file).

#if defined(__SANITIZE_THREAD__)
/// Qt's own watchdog thread is not compiled for the sanitizer, which so does not see its locks.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:QWaitCondition\n"; }
#endif

#if defined(__SANITIZE_ADDRESS__)
/// A second stack for each of thousands of fibers would take most of the time.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
#endif
