// The pages of the engine's folders: what they name is there, and each header and folder is named.
// The program's page: what it names is there, and its way to a new panel is that of all panels.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "engine/base/files.hpp"
#include "tests/support/paths.hpp"

namespace fs = std::filesystem;
using hindcast::read_file;

namespace {

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
        const std::vector<std::string> named = paths_in(read_file(folder / "README.md"));
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
    for (const std::string& path : paths_in(read_file(engine / "README.md"))) {
        CAPTURE(path);
        CHECK((fs::exists(engine / path) || fs::exists(root / path)));
    }
}

TEST_CASE("the program's page: what it names is there") {
    const fs::path root(hindcast::test::source_dir), app = root / "app";
    if (!fs::exists(app)) return;
    for (const std::string& path : paths_in(read_file(app / "README.md"))) {
        CAPTURE(path);
        CHECK((fs::exists(app / path) || fs::exists(root / path) || path == "gui/panels/NAME.cpp"));
    }
}

TEST_CASE("the program's page: each panel is made as the page says") {
    const fs::path gui = fs::path(hindcast::test::source_dir) / "app/gui";
    if (!fs::exists(gui)) return;
    const auto names_in = [](const std::string& text, const std::string& pattern) {
        std::set<std::string> names;
        const std::regex make(pattern);
        for (std::sregex_iterator at(text.begin(), text.end(), make), end; at != end; ++at)
            names.insert((*at)[1]);
        return names;
    };
    const std::string made = R"(std::unique_ptr<Panel> (make_[a-z_]+)\(\))";
    const std::set<std::string> declared =
        names_in(read_file(gui / "panels/panel.hpp"), made + ";");
    std::set<std::string> defined;
    for (const auto& file : fs::recursive_directory_iterator(gui / "panels"))
        if (file.path().extension() == ".cpp")
            defined.merge(names_in(read_file(file.path()), made + " \\{"));
    const std::string shell = read_file(gui / "window/shell.cpp");
    const std::size_t begin = shell.find("for (auto make :"), end = shell.find('}', begin);
    REQUIRE(begin != std::string::npos);
    const std::set<std::string> listed =
        names_in(shell.substr(begin, end - begin), "(make_[a-z_]+)");
    CHECK(declared.size() > 10);
    CHECK(declared == defined);
    CHECK(declared == listed);
}
