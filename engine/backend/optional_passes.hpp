// Optional passes: rewrites of kernels and roll-outs, and ways to run them, that only make them
// faster.
//
// None changes a bit of any result. Each can be left out, so that a slow run, or a bit that is
// wrong, can be traced to one of them, and so that its worth can be measured:
//
//     hindcast run SCENE --without symmetry,fusion
//     hindcast bench --each-pass
//     device_options.passes = PassSet::without("symmetry,fusion");
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hindcast {

enum class Pass : std::uint8_t {
    // Of a kernel's code on the CPU, in the order in which they are applied (pipeline.hpp).
    per_target,
    shifts,
    symmetry,
    neighbour_runs,
    stencil_blocks,
    // Of its launches on the CPU.
    unchanged_items,
    // Of roll-outs.
    fusion,
    rotation,
    rematerialization,
    sparse_history,
    deferral,
    functions,
    single_block
};

struct PassInfo {
    Pass which;
    const char* name;     // on the command line
    const char* meaning;  // one line
    bool on_cpu, on_cuda;
};
// All, in the order of the enumeration.
std::span<const PassInfo> all_passes();
const PassInfo& info(Pass which);

class PassSet {
public:
    PassSet() = default;  // all
    static PassSet none();
    // All but those named, with commas between, or "all". Throws Error for a name that is not
    // known.
    static PassSet without(std::string_view names);

    bool has(Pass o) const { return (left_out_ & bit(o)) == 0; }
    PassSet without(Pass o) const { return PassSet(left_out_ | bit(o)); }
    PassSet with(Pass o) const { return PassSet(left_out_ & ~bit(o)); }
    // The names of what is left out, with commas between; "": nothing.
    std::string left_out() const;
    bool operator==(const PassSet&) const = default;

private:
    explicit PassSet(std::uint32_t left_out) : left_out_(left_out) {}
    static std::uint32_t bit(Pass o) { return 1U << static_cast<unsigned>(o); }

    std::uint32_t left_out_ = 0;
};

}  // namespace hindcast
