// PassSet: the optional passes that are on. Include optional_passes.hpp only to name one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hindcast {

enum class Pass : std::uint8_t;

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
    // The names of the passes left out, with commas between; "": none.
    std::string left_out() const;
    bool operator==(const PassSet&) const = default;

private:
    explicit PassSet(std::uint32_t left_out) : left_out_(left_out) {}
    static std::uint32_t bit(Pass o) { return 1U << static_cast<unsigned>(o); }

    std::uint32_t left_out_ = 0;
};

}  // namespace hindcast
