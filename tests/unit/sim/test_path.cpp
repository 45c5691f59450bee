// Paths: their grammar, and names of elements in it.
#include <doctest/doctest.h>

#include "engine/document/document.hpp"
#include "engine/model/element_names.hpp"
#include "engine/sim/scene/path.hpp"
#include "tests/support/error_message.hpp"

namespace hindcast {

TEST_CASE("paths: keys, an element by number or name, a component") {
    const Path plain = Path::parse("cage.stiffness");
    CHECK(plain.base() == "cage.stiffness");
    CHECK(plain.owner() == "cage");
    CHECK(!plain.has_element());
    const Path number = Path::parse("ball.velocity[12].z");
    CHECK(number.element == 12);
    CHECK(number.component == "z");
    CHECK(number.index() == "[12]");
    const Path name = Path::parse("robot.geom_friction[left foot/toe.1].x");
    CHECK(name.base() == "robot.geom_friction");
    CHECK(name.name == "left foot/toe.1");
    CHECK(!name.element);
    CHECK(name.component == "x");
    CHECK(Path::parse("gravity.2").component == "2");
}

TEST_CASE("paths: names in quotes are any text, and every name is written as it is read") {
    for (const std::string name : {"torso", "root:3", "a b", "x=y", "12", "a]b", "[", "\"",
                                   "a\"]\"b", "back\\slash", "tab\t", "naïve", "3a", "-1"}) {
        CAPTURE(name);
        const std::string index = Path::in_brackets(name);
        const Path path = Path::parse("robot.body_mass" + index + ".y");
        CHECK(path.name == name);
        CHECK(path.index() == index);
        CHECK(path.component == "y");
        CHECK(Path::end("robot.body_mass" + index + "=3") == 15 + index.size());
    }
    CHECK(Path::in_brackets("torso") == "[torso]");
    CHECK(Path::in_brackets("12") == "[\"12\"]");
    CHECK(Path::end("gravity.z=-9.81") == 9);
    CHECK(Path::end("no sign") == std::string::npos);
    CHECK(Path::end("open[a=b") == std::string::npos);
}

TEST_CASE("paths: what is malformed is refused") {
    for (const char* const text :
         {"", ".", "a.", ".a", "a..b", "a[", "a[]", "a[\"\"]", "a[\"x]", "a[1", "a[1][2]", "a[1]b",
          "a[1].b", "a.x.y", "a.x[1]", "a[b[c]", "a[\"b\"c]", "a[99999999999999999999]"}) {
        CAPTURE(text);
        CHECK(test::message([&] { Path::parse(text); }).find("is not a path") != std::string::npos);
    }
}

TEST_CASE("paths: components by letter or number, quaternions with w first") {
    const auto which = [](const char* component, int components) {
        return Path::parse(std::string("a.b.") + component).component_of(components);
    };
    CHECK(which("x", 3) == 0);
    CHECK(which("z", 3) == 2);
    CHECK(!which("z", 2));
    CHECK(!which("w", 3));
    CHECK(which("w", 4) == 0);
    CHECK(which("x", 4) == 1);
    CHECK(which("4", 5) == 4);
    CHECK(!which("5", 5));
    for (const int components : {1, 2, 3, 4, 5, 12})
        for (int c = 0; c < components; ++c) {
            const std::string name = component_name(c, components);
            CAPTURE(name);
            CHECK(which(name.c_str(), components) == c);
        }
}

TEST_CASE("names of elements: things with one number and with several") {
    model::ElementNames names(10);
    names.add("hip");
    names.add("root", 6);
    names.add("");
    names.add("root:2");
    names.add("hip:1");
    const auto range = [&](const char* name) {
        const auto found = names.find(name);
        return found ? std::pair(found->first, found->count)
                     : std::pair<std::int64_t, std::int64_t>();
    };
    using Range = std::pair<std::int64_t, std::int64_t>;
    CHECK(range("hip") == Range{0, 1});
    CHECK(range("root") == Range{1, 6});
    CHECK(range("root:5") == Range{6, 1});
    CHECK(range("root:6") == Range{});
    CHECK(range("hip:0") == Range{});
    CHECK(range("hip:1") == Range{9, 1});
    CHECK(range("root:2") == Range{8, 1});  // what is called so, not a part of another
    CHECK(range("") == Range{});
    CHECK(names.name(0) == "hip");
    CHECK(names.name(3) == "");  // would be root:2, which is another
    CHECK(names.name(6) == "root:5");
    CHECK(names.name(7) == "");
    CHECK(names.name(8) == "root:2");
    const auto says = [&](const char* name, const char* part) {
        CAPTURE(name);
        CHECK(test::message([&] { names.at("robot.qvel", name); }).find(part) != std::string::npos);
    };
    says("hop", "did you mean 'hip'");
    says("root:7", "'root' has the numbers 0 to 5");
    says("hip:0", "'hip' is one number");
}

TEST_CASE("values by name are told from generators") {
    const auto by_name = [](const char* json) {
        return model::is_by_name(document::Document::parse(json).root());
    };
    for (const char* const json :
         {R"({"torso": 1})", R"({"box": 3.5})", R"({"box": [1, 2, 3]})", R"({"file": "1/2"})",
          R"({"formula": 2})", R"({"formula": [1, 2, 3]})", R"({"grid": 1, "box": 2})"}) {
        CAPTURE(json);
        CHECK(by_name(json));
    }
    for (const char* const json :
         {"1", "[1]", "{}", R"({"formula": "0.1*i"})", R"({"formula": ["0", 1]})",
          R"({"box": {"min": [0, 0, 0]}})", R"({"file": "x.npy"})", R"({"random": {"seed": 1}})"}) {
        CAPTURE(json);
        CHECK(!by_name(json));
    }
}

}  // namespace hindcast
