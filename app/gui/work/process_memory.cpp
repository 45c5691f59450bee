#include "app/gui/work/process_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "app/gui/draw/words.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/messages.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

std::int64_t resident_bytes() {
    std::int64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

std::int64_t most_bytes(const fs::path& root) {
    std::int64_t most = 0;
    const auto at_most = [&](std::int64_t bytes) {
        if (bytes > 0) most = most > 0 ? std::min(most, bytes) : bytes;
    };
    std::ifstream machine(root / "proc/meminfo");
    for (std::string key, unit; machine >> key;) {
        std::int64_t kib = 0;
        if (!(machine >> kib)) break;
        std::getline(machine, unit);
        if (key == "MemTotal:") at_most(kib * 1024);
    }
    // "0::/user.slice/session": the group, or in a container its root. "max" is no limit.
    std::string group;
    for (std::ifstream groups(root / "proc/self/cgroup"); std::getline(groups, group);)
        if (group.starts_with("0::/")) break;
    fs::path place = group.starts_with("0::/") ? fs::path(group.substr(4)) : fs::path();
    for (;;) {  // each group has the limits of those around it
        std::int64_t bytes = 0;
        if (std::ifstream limit(root / "sys/fs/cgroup" / place / "memory.max"); limit >> bytes)
            at_most(bytes);
        if (place.empty()) return most;
        place = place.parent_path();
    }
}

bool is_large(std::int64_t resident, std::int64_t most) {
    return most > 0 &&
           static_cast<double>(resident) > large_share_of_memory * static_cast<double>(most);
}

void MemoryWatch::update(double now, std::int64_t device_bytes, Measured& measured,
                         Messages& messages) {
    if (measured_at_ && now - *measured_at_ < 1) return;
    measured_at_ = now;
    measured.resident_bytes = resident_bytes();
    if (measured.most_bytes == 0) measured.most_bytes = most_bytes();
    measured.device_bytes = device_bytes;
    const bool large = is_large(measured.resident_bytes, measured.most_bytes);
    if (large && !std::exchange(told_, true))
        messages.tell({.kind = Notice::Kind::error,
                       .text = fmt::format("Hindcast has {} of the {} of memory that there are",
                                           bytes_text(static_cast<double>(measured.resident_bytes)),
                                           bytes_text(static_cast<double>(measured.most_bytes))),
                       .detail = "Save what is unsaved. A smaller scene, or \"memory\" of its "
                                 "gradients, takes less.",
                       .until = 0,
                       .button = {},
                       .action = {}});
    if (!large) told_ = false;
}

}  // namespace hindcast::gui
