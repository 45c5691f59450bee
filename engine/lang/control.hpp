// Control flow on traced values: if_, for_, while_. Bodies may assign outer variables; the
// variables that a region changes become its results. There is no break, continue or return from
// inside: while_ covers them.
#pragma once

#include <functional>

#include "engine/lang/scalar.hpp"

namespace hindcast::lang {

// A loop whose trip count is a host constant of at most this is unrolled, as long as the copies of
// nested unrolled loops stay below unroll_copies. Part of the language's meaning: it decides where
// contraction can look.
inline constexpr int unroll_trips = 8;
inline constexpr int unroll_copies = 64;

void if_(
    const Bool& condition, const std::function<void()>& then,
    const std::function<void()>& otherwise = [] {}, const Location& location = Location::current());

// for (i = begin; i < end; i += step) (or > for a negative step; no trip if step is 0). `max_trips`
// > 0 is a limit: exceeding it raises. It is needed where the adjoint has to store values per trip
// of a loop with traced bounds.
void for_(Int::Operand begin, Int::Operand end, const std::function<void(Int)>& body,
          std::int64_t max_trips = 0);
void for_(Int::Operand begin, Int::Operand end, Int::Operand step,
          const std::function<void(Int)>& body, std::int64_t max_trips = 0);

// for_(0, times, body) that is never unrolled: for bodies that are large.
void repeat(std::int64_t times, const std::function<void(Int)>& body);

// Runs the body while the condition holds, at most max_trips times; raises if it still holds then.
// The condition neither assigns outer variables nor has effects. `too_many` is the error's text, in
// the words of the kernel: "what has happened; remedy".
void while_(const std::function<Bool()>& condition, const std::function<void()>& body,
            std::int64_t max_trips, const std::string& too_many = {},
            const Location& location = Location::current());

// Ends the launch with an error where this holds: "what has happened; remedy", in the words of the
// kernel. `number` is that of what is to blame, which is the error's item and stands for % in the
// text.
void raise_if(const Bool& condition, const std::string& text, const Int& number,
              const Location& location = Location::current());

}  // namespace hindcast::lang
