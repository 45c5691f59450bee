#include "tests/render/golden.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/render/output/png.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/paths.hpp"

namespace hindcast::test {

using namespace render;

namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(hindcast::test::source_dir) / "tests" / "render" / "golden";

// What decides how a software driver rounds.
std::string machine(const DeviceFacts& facts) {
    std::string text = facts.name + "; " + facts.driver + ";";
    std::ifstream processor("/proc/cpuinfo");
    std::string line;
    while (std::getline(processor, line))
        if (line.starts_with("flags")) break;
    std::istringstream words(line);
    std::vector<std::string> found;
    for (std::string word; words >> word;)
        for (const char* const prefix : {"sse4", "avx", "fma", "f16c", "bmi"})
            if (word.starts_with(prefix)) found.push_back(word);
    std::ranges::sort(found);
    for (const std::string& word : found) text += " " + word;
    return text;
}

bool updating() { return std::getenv("HINDCAST_UPDATE_GOLDEN") != nullptr; }

}  // namespace

void compare_golden(const Image& image, const std::string& name, bool same_machine) {
    keep(image, name);
    const fs::path file = folder / (name + ".png");
    if (updating()) {
        fs::create_directories(folder);
        write_png(file, image);
        return;
    }
    INFO(name, ", compared with ", file.string());
    const Image golden = read_png(file);
    REQUIRE(golden.width == image.width);
    REQUIRE(golden.height == image.height);
    double sum = 0;
    int far = 0, different = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const Pixel a = pixel(image, x, y), b = pixel(golden, x, y);
            const int most =
                std::max({std::abs(a.r - b.r), std::abs(a.g - b.g), std::abs(a.b - b.b)});
            sum += most;
            far += most > 32;
            different += most > 0;
        }
    const double pixels = static_cast<double>(image.width) * image.height;
    if (same_machine) {
        CHECK(different == 0);
    } else {
        CHECK(sum / pixels < 2);
        CHECK(far / pixels < 0.02);
    }
    if (different > 0 && std::getenv("HINDCAST_TEST_PICTURES") == nullptr) {
        const fs::path kept = fs::temp_directory_path() / ("hindcast-" + name + ".png");
        write_png(kept, image);
        MESSAGE("the picture drawn now: ", kept.string());
    }
}

bool golden_machine(const DeviceFacts& facts) {
    const std::string here = machine(facts);
    if (updating()) {
        fs::create_directories(folder);
        std::ofstream(folder / "machine.txt") << here << "\n";
    }
    std::ifstream recorded(folder / "machine.txt");
    std::string there;
    std::getline(recorded, there);
    const bool same = here == there;
    if (!same) MESSAGE("compared with a tolerance: made on ", there, "; this is ", here);
    return same;
}

}  // namespace hindcast::test
