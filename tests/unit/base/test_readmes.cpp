// The pages of the engine's folders: what they name is there, and each header and folder is named.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/support/paths.hpp"

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// What stands in backticks and looks like a path: `plan/plan.hpp`, `cpu/`.
std::vector<std::string> paths_in(const std::string& text) {
    static const std::regex path("`([A-Za-z0-9_./]+(?:\\.(?:hpp|cpp|md|json)|/))`");
    std::vector<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), path), end; at != end; ++at)
        found.push_back((*at)[1]);
    return found;
}

}  // namespace

TEST_CASE("pages of the engine's folders: what they name is there, and nothing is left out") {
    const fs::path root(hindcast::test::source_dir), engine = root / "engine";
    if (!fs::exists(engine)) return;  // the tests of an installed program
    for (const auto& entry : fs::directory_iterator(engine)) {
        if (!entry.is_directory() || entry.path().filename() == "cmake") continue;
        const fs::path& folder = entry.path();
        CAPTURE(folder.string());
        REQUIRE(fs::exists(folder / "README.md"));
        const std::vector<std::string> named = paths_in(text_of(folder / "README.md"));
        for (const std::string& path : named) {
            CAPTURE(path);
            CHECK((fs::exists(folder / path) || fs::exists(engine / path) ||
                   fs::exists(root / path)));
        }
        // Every folder below, and every header that lies in this one.
        for (const auto& below : fs::recursive_directory_iterator(folder)) {
            const std::string path = fs::relative(below.path(), folder).string();
            const bool is_header =
                below.path().extension() == ".hpp" && path.find('/') == std::string::npos;
            if (!below.is_directory() && !is_header) continue;
            CAPTURE(path);
            CHECK(std::find(named.begin(), named.end(), below.is_directory() ? path + "/" : path) !=
                  named.end());
        }
    }
    for (const std::string& path : paths_in(text_of(engine / "README.md"))) {
        CAPTURE(path);
        CHECK((fs::exists(engine / path) || fs::exists(root / path)));
    }
}
