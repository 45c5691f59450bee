// The one exception type: the order of its parts, and places shown from the project's root.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.hpp"
#include "engine/base/log.hpp"
#include "engine/base/text/shorten.hpp"
#include "engine/document/text.hpp"

using namespace hindcast;

TEST_CASE("an error composes its message from what each level knows") {
    Error error("stiffness must be positive, got -3");
    error.remedy("write a number above 0").at_pointer("/forces/0/stiffness");
    CHECK(std::string(error.what()) ==
          "at /forces/0/stiffness: stiffness must be positive, got -3; write a number above 0");
    error.in_kernel("springs").at_item(7).at(SourcePlace{"kernels/springs/springs.cpp", 12, 3});
    error.note("seen first in step 4");
    CHECK(std::string(error.what()) ==
          "kernels/springs/springs.cpp:12:3: in kernel 'springs', item 7: at /forces/0/stiffness: "
          "stiffness must be positive, got -3; write a number above 0\n  seen first in step 4");
}

TEST_CASE("a source place is shown from the project's root") {
    const auto place = SourcePlace::from(std::source_location::current());
    CHECK(place.file == "tests/unit/base/test_error.cpp");
    CHECK(place.line > 0);
    CHECK_FALSE(SourcePlace{}.known());
}

TEST_CASE("long names and values are cut in their middle, with their length") {
    const std::string name(100'000, 'n'), pieces = [] {
        std::string text;
        for (int k = 0; k < 20'000; ++k) text += "word ";
        return text;
    }();
    CHECK(shortened("a short text of 'words'\n and lines") ==
          "a short text of 'words'\n and lines");
    CHECK(shortened("is '" + name + "' here") == "is '" + std::string(139, 'n') +
                                                     " [... 100002 bytes in all ...] " +
                                                     std::string(59, 'n') + "' here");
    const std::string many = shortened("first line\n" + pieces + "\nlast line");
    CHECK(many.size() < 2000);
    CHECK(many.starts_with("first line\nword word "));
    CHECK(many.find("100000 bytes in all") != std::string::npos);
    CHECK(many.ends_with("word \nlast line"));
    // 240 bytes are left alone; two bytes of one character stay together.
    CHECK(shortened(name.substr(0, 240)) == name.substr(0, 240));
    for (const char* const shift : {"", "n"}) {
        std::string text = shift;
        for (int k = 0; k < 1000; ++k) text += "\u00fc";
        CHECK(document::is_utf8(shortened(text)));
    }
}

TEST_CASE("what an error says has a length that can be read") {
    const std::string name(100'000, 'n');
    Error error("there is no '" + name + "'");
    error.remedy("write one of " + name).at_pointer("/" + name).in_kernel(name).note(name);
    CHECK(std::string(error.what()).size() < 2000);
    CHECK(std::string(error.what()).find("; write one of nnn") != std::string::npos);
    CHECK(error.happened().size() > name.size());  // for programs it is whole
    std::string logged;
    set_log_listener([&](LogLevel, std::string_view text) { logged = text; });
    log_warning("the name {} is long", name);
    set_log_listener({});
    CHECK(logged.size() < 400);
}
