#include "app/python/src/jax/jax_interrupts.hpp"

#include <signal.h>

#include <atomic>
#include <mutex>

#include "app/python/src/guarded.hpp"

namespace hindcast::python {

namespace {

std::mutex mutex;
int users = 0;
struct sigaction others {};  // the handler that was there
std::atomic<int> signals{0};

void note(int signal, siginfo_t* info, void* context) {
    signals.fetch_add(1, std::memory_order_relaxed);
    if ((others.sa_flags & SA_SIGINFO) != 0)
        others.sa_sigaction(signal, info, context);
    else
        others.sa_handler(signal);
}

bool is_ours(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == note;
}

void begin_noting() {
    const std::lock_guard lock(mutex);
    if (users++ > 0) return;
    struct sigaction now {};
    ::sigaction(SIGINT, nullptr, &now);
    const bool handled = (now.sa_flags & SA_SIGINFO) != 0 ||
                         (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
    if (!handled || is_ours(now)) return;
    others = now;
    now.sa_flags |= SA_SIGINFO;
    now.sa_sigaction = note;
    ::sigaction(SIGINT, &now, nullptr);
}

void end_noting() {
    const std::lock_guard lock(mutex);
    if (--users > 0) return;
    struct sigaction now {};
    ::sigaction(SIGINT, nullptr, &now);
    if (is_ours(now)) ::sigaction(SIGINT, &others, nullptr);  // unless somebody has set another one
}

}  // namespace

EndsByInterrupt::EndsByInterrupt()
    : here_([this] {
          if (!before_) {
              begin_noting();
              before_ = signals.load(std::memory_order_relaxed);
          }
          if (signals.load(std::memory_order_relaxed) != *before_) throw Interrupted();
      }) {}

EndsByInterrupt::~EndsByInterrupt() {
    if (before_) end_noting();
}

}  // namespace hindcast::python
