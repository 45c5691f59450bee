// Tracing: the builder that is current on this thread, and source places; all traced types use it.
//
// Running a kernel's lambda records it. Every traced operation goes to the builder that Tracing
// made current on this thread; there is none outside kernel lambdas, and using a traced value there
// is an error.
#pragma once

#include <cstdint>
#include <source_location>

#include "engine/ir/builder.hpp"

namespace hindcast::lang {

using Location = std::source_location;

// Makes a builder current on this thread for its lifetime.
class Tracing {
public:
    explicit Tracing(ir::Builder& builder);
    ~Tracing();
    Tracing(const Tracing&) = delete;
    Tracing& operator=(const Tracing&) = delete;

private:
    ir::Builder* previous_;
    ir::Type previous_real_;
};

// The current builder; an Error if no kernel is being traced on this thread.
ir::Builder& builder();

// The type that literals and new variables of type Float get: the kernel's precision, unless a
// RealScope says otherwise (elementary functions are expanded for the type of their operand).
ir::Type current_real();
class RealScope {
public:
    explicit RealScope(ir::Type type);
    ~RealScope();
    RealScope(const RealScope&) = delete;
    RealScope& operator=(const RealScope&) = delete;

private:
    ir::Type previous_;
};

// The outermost operation's location is that of its ops: a dot product is placed where it is
// called, not where it is written. PlaceScope holds the place for the operations inside.
class PlaceScope {
public:
    explicit PlaceScope(const Location& location);
    ~PlaceScope();
    PlaceScope(const PlaceScope&) = delete;
    PlaceScope& operator=(const PlaceScope&) = delete;
};
void set_place(const Location& location);  // unless a PlaceScope holds it

}  // namespace hindcast::lang
