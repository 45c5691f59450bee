#include "engine/lang/control.hpp"

namespace hindcast::lang {

namespace {
thread_local int copies = 1;  // of the body being traced, by enclosing unrolled loops

struct CopiesScope {
    int previous = copies;
    explicit CopiesScope(int times) { copies *= times; }
    ~CopiesScope() { copies = previous; }
};
}  // namespace

void if_(const Bool& condition, const std::function<void()>& then,
         const std::function<void()>& otherwise, const Location& location) {
    set_place(location);
    builder().if_(condition.value(), then, otherwise);
}

void for_(Int::Operand begin, Int::Operand end, const std::function<void(Int)>& body,
          std::int64_t max_trips) {
    for_(begin, end, Int::Operand(1), body, max_trips);
}

void for_(Int::Operand begin, Int::Operand end, Int::Operand step,
          const std::function<void(Int)>& body, std::int64_t max_trips) {
    using ir::OpCode;
    ir::Builder& b = builder();
    if (max_trips < 0)
        throw b.error("max_trips is negative")
            .remedy("give the largest number of trips, or leave it out");
    // trips = max(0, ceil((end - begin) / step)), at most 2^31 - 1, in 64 bits where the step is
    // not 1
    const auto wide = [&](ir::Value v) { return b.emit(OpCode::convert, ir::Type::i64, v); };
    const ir::Value zero = b.integer(0, ir::Type::i64);
    const auto ceiling = [&](ir::Value from, ir::Value to, ir::Value by) {
        const ir::Value distance = b.binary(OpCode::sub, to, from);
        return b.binary(
            OpCode::div,
            b.binary(OpCode::add, distance, b.binary(OpCode::sub, by, b.integer(1, ir::Type::i64))),
            by);
    };
    ir::Value trips;
    if (b.is_integer_constant(step.value, 1)) {
        // max(end, begin) - begin is below 2^32, so a difference that overflows shows as a negative
        // one.
        trips = b.binary(OpCode::sub, b.binary(OpCode::max, end.value, begin.value), begin.value);
        const bool cannot_overflow = b.is_constant(begin.value) &&
                                     ir::integer_of(b.op(begin.value).bits, ir::Type::i32) >= 0;
        if (!cannot_overflow)
            trips =
                b.select(b.compare(OpCode::lt, trips, b.integer(0)), b.integer(0x7fffffff), trips);
    } else {
        const ir::Value s = wide(step.value), from = wide(begin.value), to = wide(end.value);
        const ir::Value up = ceiling(from, to, s);
        const ir::Value down = ceiling(to, from, b.emit(OpCode::neg, ir::Type::i64, s));
        const ir::Value either = b.select(b.compare(OpCode::lt, zero, s), up,
                                          b.select(b.compare(OpCode::lt, s, zero), down, zero));
        const ir::Value bounded = b.binary(OpCode::min, b.binary(OpCode::max, either, zero),
                                           b.integer(0x7fffffff, ir::Type::i64));
        trips = b.emit(OpCode::convert, ir::Type::i32, bounded);
    }
    const auto index = [&](ir::Value t) {
        return b.emit(OpCode::add, ir::Type::i32, begin.value,
                      b.emit(OpCode::mul, ir::Type::i32, t, step.value));
    };
    if (b.is_constant(trips)) {
        const std::int64_t n = ir::integer_of(b.op(trips).bits, ir::Type::i32);
        if (max_trips > 0 && n > max_trips)
            throw b
                .error("a loop makes " + std::to_string(n) + " trips, more than its max_trips of " +
                       std::to_string(max_trips))
                .remedy("raise max_trips or leave it out: the bounds are constant");
        if (n <= unroll_trips && n * copies <= unroll_copies) {
            const int place = b.place();
            for (std::int64_t t = 0; t < n; ++t) {
                CopiesScope scope(static_cast<int>(n));
                b.set_place(place);
                body(Int::from(index(b.integer(t))));
            }
            return;
        }
        max_trips = 0;  // checked here, once and for all
    }
    b.for_(trips, max_trips, [&](ir::Value t) { body(Int::from(index(t))); });
}

void repeat(std::int64_t times, const std::function<void(Int)>& body) {
    if (times == 0) return;
    builder().for_(builder().integer(times), 0, [&](ir::Value t) { body(Int::from(t)); });
}

void while_(const std::function<Bool()>& condition, const std::function<void()>& body,
            std::int64_t max_trips, const std::string& too_many, const Location& location) {
    set_place(location);
    ir::Builder& b = builder();
    if (max_trips <= 0)
        throw b.error("while_ has no max_trips")
            .remedy("give the largest number of trips; exceeding it raises an error");
    b.while_(
        max_trips,
        [&] {
            const int outer = b.begin_condition();
            const Bool holds = condition();
            b.break_unless(holds.value());
            b.end_condition(outer);
            body();
        },
        too_many);
}

void raise_if(const Bool& condition, const std::string& text, const Int& number,
              const Location& location) {
    if_(
        condition, [&] { builder().raise(text, number.value()); }, [] {}, location);
}

}  // namespace hindcast::lang
