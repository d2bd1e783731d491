#include "engine/gpu/emulated/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace hearth::gpu::emulated {

namespace {

namespace context = boost::context::detail;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStack = 256 << 10;
#else
constexpr size_t kStack = 64 << 10;
#endif

}  // namespace

/// A stack grows down; the page below it is not accessible, so that running over its end is a fault and nothing else.
struct Fiber::State {
    std::byte* stack = nullptr;
    size_t page = 0;
    std::function<void()> body;
    context::fcontext_t inside = nullptr, outside = nullptr;
    bool ended = true;
#if defined(__SANITIZE_ADDRESS__)
    void* fake_inside = nullptr;
    void* fake_outside = nullptr;
    const void* outer_stack = nullptr;
    size_t outer_size = 0;
#endif
#if defined(__SANITIZE_THREAD__)
    void* tsan_inside = nullptr;
    void* tsan_outside = nullptr;
#endif

    std::byte* bottom() const { return stack + page; }

    /// The one place that switches, from outside to inside or back.
    void switchTo(bool in) {
#if defined(__SANITIZE_ADDRESS__)
        void** const own = in ? &fake_outside : ended ? nullptr : &fake_inside;
        __sanitizer_start_switch_fiber(own, in ? bottom() : outer_stack, in ? kStack : outer_size);
#endif
#if defined(__SANITIZE_THREAD__)
        if (in) tsan_outside = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(in ? tsan_inside : tsan_outside, 0);
#endif
        context::fcontext_t& there = in ? inside : outside;
        const context::transfer_t back = context::jump_fcontext(there, this);
        there = back.fctx;
#if defined(__SANITIZE_ADDRESS__)
        // Here again: `in` says where this call was made, so where we are.
        if (in) {
            __sanitizer_finish_switch_fiber(fake_outside, nullptr, nullptr);
        } else {
            __sanitizer_finish_switch_fiber(fake_inside, &outer_stack, &outer_size);
        }
#endif
    }

    static void enter(context::transfer_t from) {
        auto* const state = static_cast<State*>(from.data);
        state->outside = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(nullptr, &state->outer_stack, &state->outer_size);
#endif
        state->body();
        state->ended = true;
        state->switchTo(false);
    }
};

Fiber::Fiber() : state_(std::make_unique<State>()) {
    state_->page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* const memory =
        mmap(nullptr, kStack + state_->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    state_->stack = static_cast<std::byte*>(memory);
    if (mprotect(state_->bottom(), kStack, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, kStack + state_->page);
        throw std::bad_alloc();
    }
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
    if (state_->tsan_inside != nullptr) __tsan_destroy_fiber(state_->tsan_inside);
#endif
    munmap(state_->stack, kStack + state_->page);
}

void Fiber::start(std::function<void()> body) {
#if defined(__SANITIZE_ADDRESS__)
    // What a body that was given up left there.
    if (!state_->ended) ASAN_UNPOISON_MEMORY_REGION(state_->bottom(), kStack);
#endif
    state_->body = std::move(body);
    state_->ended = false;
#if defined(__SANITIZE_THREAD__)
    if (state_->tsan_inside != nullptr) __tsan_destroy_fiber(state_->tsan_inside);
    state_->tsan_inside = __tsan_create_fiber(0);
#endif
    state_->inside = context::make_fcontext(state_->bottom() + kStack, kStack, &State::enter);
}

bool Fiber::resume() {
    state_->switchTo(true);
    return state_->ended;
}

void Fiber::leave() { state_->switchTo(false); }

}  // namespace hearth::gpu::emulated
