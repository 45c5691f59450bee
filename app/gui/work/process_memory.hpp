// The memory of this process, as the operating system counts it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hindcast::gui {

class Messages;
struct Measured;

// Resident bytes of this process; 0 if unknown.
std::int64_t resident_bytes();
// The limit: the machine's memory, or less in a control group; 0 if unknown. `root` stands for "/"
// in tests.
std::int64_t most_bytes(const std::filesystem::path& root = "/");

// From this share on the window warns, since the rest of the machine needs memory too.
constexpr double large_share_of_memory = 0.5;
bool is_large(std::int64_t resident, std::int64_t most);

// Measures the memory once a second, and warns when it becomes large.
class MemoryWatch {
public:
    // `now`: s. `device_bytes`: of the graphics device's own memory; 0: it has none.
    void update(double now, std::int64_t device_bytes, Measured& measured, Messages& messages);

private:
    std::optional<double> measured_at_;
    bool told_ = false;
};

}  // namespace hindcast::gui
