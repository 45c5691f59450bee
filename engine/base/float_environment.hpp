// The floating-point environment in which kernels run: round to nearest, subnormals kept, no traps.
//
// A host program (a plug-in, a Python module that was built with fast-math) may have set anything;
// the guard makes the rules ours while it lives and restores what was there.
#pragma once

#include <immintrin.h>

namespace hindcast {

class FloatEnvironment {
public:
    FloatEnvironment() : saved_(_mm_getcsr()) {
        // Writing the register is slow, reading it is not; the six low bits are sticky flags.
        if ((saved_ & ~flags) != rules) _mm_setcsr(rules | (saved_ & flags));
    }
    ~FloatEnvironment() {
        if ((saved_ & ~flags) != rules) _mm_setcsr(saved_);
    }
    FloatEnvironment(const FloatEnvironment&) = delete;
    FloatEnvironment& operator=(const FloatEnvironment&) = delete;

    // True if the calling thread follows the rules now.
    static bool active() { return (_mm_getcsr() & ~flags) == rules; }

private:
    static constexpr unsigned flags = 0x3f;
    static constexpr unsigned rules = 0x1f80;  // MXCSR: all exceptions masked, FTZ and DAZ off

    unsigned saved_;
};

}  // namespace hindcast
