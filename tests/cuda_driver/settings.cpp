#include "tests/cuda_driver/settings.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace software_cuda {

int Settings::failure(const char* function) {
    if (failures.empty()) return 0;
    for (Failure& f : failures)
        if (f.function == function && (++f.calls == f.call || f.call == 0)) return f.result;
    return 0;
}

namespace {

void set(Settings& settings, const std::string& word) {
    const std::size_t equal = std::min(word.find('='), word.size() - 1);
    const std::string key = word.substr(0, equal), value = word.substr(equal + 1);
    const auto number = [&] { return std::atoll(value.c_str()); };
    if (key == "version") {
        settings.version = static_cast<int>(number());
    } else if (key == "devices") {
        settings.devices = static_cast<int>(number());
    } else if (key == "uuid") {
        settings.uuid = value;
    } else if (key == "seed") {
        settings.seed = static_cast<std::uint64_t>(number());
    } else if (key == "memory") {
        settings.memory = static_cast<std::size_t>(number());
    } else if (key == "queue") {
        settings.queue = static_cast<std::size_t>(number());
    } else if (key == "out_of_memory") {
        settings.out_of_memory = number();
    } else if (key == "launch_fails") {
        settings.launch_fails = number();
    } else if (key == "sticky") {
        settings.sticky = number();
    } else if (key == "lost") {
        settings.lost = number();
    } else if (const std::size_t colon = value.find(':');
               key == "likes" && colon != std::string::npos) {
        settings.likes = static_cast<unsigned>(number());
        if (const std::size_t times = value.find('x'); times < colon)
            settings.likes_blocks = static_cast<unsigned>(std::atoi(value.c_str() + times + 1));
        settings.likes_us = std::atoll(value.c_str() + colon + 1);
    } else if (key == "fail" && colon != std::string::npos) {
        const std::size_t second = value.find(':', colon + 1);
        settings.failures.push_back(
            {value.substr(0, colon), std::atoi(value.c_str() + colon + 1),
             second == std::string::npos ? 0 : std::atoll(value.c_str() + second + 1)});
    } else {
        std::fprintf(stderr, "HINDCAST_SOFTWARE_CUDA: '%s' is unknown\n", word.c_str());
        std::abort();
    }
}

}  // namespace

Settings read_settings(const char* text) {
    Settings settings;
    const std::string all = text != nullptr ? text : "";
    for (std::size_t begin = 0; begin < all.size();) {
        const std::size_t end = std::min(all.find(',', begin), all.size());
        if (end > begin) set(settings, all.substr(begin, end - begin));
        begin = end + 1;
    }
    return settings;
}

long long Counters::find(const std::string& name) const {
    const struct {
        const char* name;
        long long value;
    } all[] = {{"launches", launches},
               {"graph_launches", graph_launches},
               {"nodes", nodes},
               {"allocations", allocations},
               {"host_allocations", host_allocations},
               {"allocated_bytes", allocated_bytes},
               {"copies_to_device", copies_to_device},
               {"copies_to_host", copies_to_host},
               {"copied_to_host_bytes", copied_to_host_bytes},
               {"streams", streams},
               {"events", events},
               {"synchronizations", synchronizations},
               {"executed", executed},
               {"executed_launches", executed_launches},
               {"microseconds", microseconds}};
    for (const auto& counter : all)
        if (name == counter.name) return counter.value;
    return -1;
}

}  // namespace software_cuda
