// NVRTC, opened at run time: CUDA C++ text in, a cubin for one architecture out.
//
// Nothing of CUDA is linked and no header of it is needed: the few functions are declared here.
// The library is searched where the toolkit and the PyPI package put it, or taken from
// HINDCAST_NVRTC. No option that could change a bit of a floating-point result is ever set:
// --fmad=false, subnormals kept, division and square root correctly rounded.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hindcast::backend {

struct NvrtcInfo {
    bool available = false;
    int major = 0, minor = 0;
    std::string path;
    std::string problem;  // why it is not available
};

// The resources that one function of a cubin takes on one architecture.
struct CubinFunction {
    int registers = 0;      // per thread
    int local_bytes = 0;    // per thread, local arrays and spills
    int spilled_bytes = 0;  // stores and loads of registers that did not fit
};
struct Cubin {
    std::vector<char> code;
    std::map<std::string, CubinFunction> functions;  // by name
};

// One library that was opened.
class Nvrtc {
public:
    // `path`: of the library; empty: searched for.
    explicit Nvrtc(const std::string& path = {});
    const NvrtcInfo& info() const { return info_; }
    // `architecture`: 75 for compute capability 7.5. Taken from the cache (code_cache.hpp) if it is
    // there. Throws Error with the compiler's words; they name places in the physics source where
    // the text has #line.
    Cubin compile(const std::string& text, int architecture) const;

private:
    struct Functions;
    std::string make(const std::string& text, int architecture) const;
    std::shared_ptr<const Functions> functions_;
    NvrtcInfo info_;
};
// That of HINDCAST_NVRTC, or the one that is found.
const Nvrtc& nvrtc();

}  // namespace hindcast::backend
