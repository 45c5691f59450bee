// Log messages: formatting, levels, and the listener.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "engine/base/log.hpp"
#include "engine/base/version.hpp"

using namespace hindcast;

TEST_CASE("messages below the level are dropped, the rest reaches the listener") {
    const LogLevel before = log_level();
    std::vector<std::string> seen;
    set_log_listener([&](LogLevel level, std::string_view text) {
        seen.push_back(std::to_string(static_cast<int>(level)) + " " + std::string(text));
    });
    set_log_level(LogLevel::silent);
    log_error("unseen");
    set_log_level(LogLevel::warning);
    log_info("unseen {}", 1);
    log_debug("unseen {}", 2);
    log_warning("this line comes from a test: {} of {:.2f} {{}}", 3, 0.5);
    set_log_listener(nullptr);
    set_log_level(before);
    CHECK(seen == std::vector<std::string>{"2 this line comes from a test: 3 of 0.50 {}"});
}

TEST_CASE("the build knows what it is") {
    CHECK(std::string(version()).find('.') != std::string::npos);
    CHECK(std::string(build_type()).size() > 2);
    CHECK(std::string(compiler()).size() > 3);
}
