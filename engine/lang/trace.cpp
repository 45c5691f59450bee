#include "engine/lang/trace.hpp"

#include <cstring>

namespace hindcast::lang {

namespace {
// The one piece of thread state of the language: what is being traced on this thread.
struct Current {
    ir::Builder* builder = nullptr;
    ir::Type real = ir::Type::f64;
    int places_held = 0;
};
thread_local Current current;
}  // namespace

Tracing::Tracing(ir::Builder& builder) : previous_(current.builder), previous_real_(current.real) {
    current.builder = &builder;
    current.real = builder.real();
}

Tracing::~Tracing() {
    current.builder = previous_;
    current.real = previous_real_;
}

namespace {
Error no_kernel() {
    return Error("a traced value is used while no kernel is being traced on this thread")
        .remedy("use Float, Int, Vec3, ... only inside the lambda given to kernel()");
}
}  // namespace

ir::Builder& builder() {
    if (current.builder == nullptr) throw no_kernel();
    return *current.builder;
}

ir::Type current_real() { return current.real; }

RealScope::RealScope(ir::Type type) : previous_(current.real) { current.real = type; }
RealScope::~RealScope() { current.real = previous_; }

PlaceScope::PlaceScope(const Location& location) {
    set_place(location);
    ++current.places_held;
}
PlaceScope::~PlaceScope() { --current.places_held; }

void set_place(const Location& location) {
    // The language's own files are never the place of a statement: keep the caller's.
    for (const char* own : {"engine/lang/", "engine/ad/"})
        if (std::strstr(location.file_name(), own) != nullptr) return;
    if (current.builder == nullptr) throw no_kernel().at(location);
    if (current.places_held == 0) current.builder->set_place(location);
}

}  // namespace hindcast::lang
