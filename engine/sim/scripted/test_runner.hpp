// Acts out one scripted test in one precision; scripted_test.hpp says what the steps mean.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/sim/scripted/scripted_test.hpp"
#include "engine/sim/scripted/test_script.hpp"

namespace hindcast {

// Thrown when TestOptions::go_on says false.
struct TestStopped {};

bool same_bits(double a, double b);

// The message `what`, with the scene's file before it unless the message names it.
std::string about(const std::filesystem::path& scene, const std::string& what);

// Compares numbers and keeps the first few that are wrong, in words.
class Findings {
public:
    explicit Findings(std::vector<std::string>& messages) : messages_(messages) {}

    void add(std::string message);
    // Right if |found - expected| <= tolerance * max(|expected|, scale).
    void compare(const std::string& what, double expected, double found, double tolerance,
                 double scale = 0);

private:
    std::vector<std::string>& messages_;
};

// `messages` gets what is wrong, `updates` what --update has changed in script.document.
void run_script(TestScript& script, ir::Precision precision, const Registry& registry,
                const TestOptions& options, std::vector<std::string>& messages,
                std::vector<std::string>& updates);

}  // namespace hindcast
