// The table of commands: complete rows, and the manual's page that is made from it.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "app/gui/input/actions.hpp"
#include "app/gui/input/commands_page.hpp"
#include "engine/base/files.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;

TEST_CASE("commands: each has a name, an effect and words of help, and a menu that exists") {
    for (const gui::Action& action : gui::all_actions()) {
        INFO(action.id);
        CHECK_FALSE(action.name.empty());
        CHECK(action.help.size() > 5);
        CHECK(action.run);
        CHECK(
            std::ranges::any_of(gui::menus, [&](const char* menu) { return action.is_in(menu); }));
    }
}

TEST_CASE("commands: no other key is a key of another command, and no rank is given twice") {
    std::set<int> keys, ranks;
    for (const gui::Action& action : gui::all_actions()) {
        INFO(action.id);
        for (const int key : {action.key, action.other_key})
            if (key != 0) CHECK(keys.insert(key).second);
        if (action.in_object_menu != 0) CHECK(ranks.insert(action.in_object_menu).second);
    }
}

TEST_CASE("commands: the manual's page is that of the table") {
    const std::string page =
        read_file(std::filesystem::path(test::source_dir) / "app/manual/commands.md");
    INFO("hindcast view --commands > app/manual/commands.md");
    CHECK(page == gui::commands_page());
}
