// Comments and layout of a text stay when the document that was read from it is edited and written.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/base/random.hpp"
#include "engine/document/document.hpp"
#include "engine/document/layout.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;
using document::Document;
using document::Layout;
using document::Node;

namespace {

const std::string scene = R"(// A pendulum, as in the lecture.
{
    "format": 1,  // never another one
    "time": { "step": "1/200", "steps": 400 },
    /* what moves */
    "bodies": [
        // the weight
        { "type": "particles", "name": "bob",   "positions": [[1, 0, 0]], "mass": 0.5 },
        // where it hangs
        { "type": "particles", "name": "hinge", "positions": [[0, 0, 0]], "fixed": true }  // fixed
    ],
    "gravity": [0, 0, -9.81]  // of the earth
}
// the end
)";

std::string edited(const std::string& text, const std::function<void(Document&)>& change) {
    Document document = Document::parse(text);
    change(document);
    return Layout(text).with(document);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("layout: what is not changed is written as it was read") {
    CHECK(edited(scene, [](Document&) {}) == scene);
    CHECK(edited(scene, [](Document& d) { d.set("/format", d.at("/format")); }) == scene);
}

TEST_CASE("layout: a number is changed at its place") {
    CHECK(edited(scene, [](Document& d) { d.set("/gravity/2", -1.62); }) ==
          replaced(scene, "-9.81", "-1.62"));
    CHECK(edited(scene, [](Document& d) { d.set("/bodies/0/mass", 2.5); }) ==
          replaced(scene, "0.5", "2.5"));
    CHECK(edited(scene, [](Document& d) {
              d.set("/bodies/0/positions", Node::array({Node::array({1.5, 0.0, 2.0})}));
          }) == replaced(scene, "[[1, 0, 0]]", "[[1.5, 0.0, 2.0]]"));
}

TEST_CASE("layout: members and items that come stand like those beside them") {
    CHECK(edited(scene, [](Document& d) { d.set("/time/duration", 2); }) ==
          replaced(scene, "400 }", "400, \"duration\": 2 }"));
    CHECK(edited(scene, [](Document& d) { d.set("/name", "pendulum"); }) ==
          replaced(scene, "-9.81]  // of the earth\n",
                   "-9.81],  // of the earth\n    \"name\": \"pendulum\"\n"));
    CHECK(edited(scene,
                 [](Document& d) {
                     d.insert("/bodies/1", Node::object({{"type", "particles"}, {"name", "new"}}));
                 }) ==
          replaced(scene, "        // where",
                   "        { \"type\": \"particles\", \"name\": \"new\" },\n        // where"));
    CHECK(
        edited(scene,
               [](Document& d) {
                   d.insert("/bodies/0", Node::object({{"type", "particles"}, {"name", "new"}}));
               }) ==
        replaced(scene, "        // the weight",
                 "        { \"type\": \"particles\", \"name\": \"new\" },\n        // the weight"));
    CHECK(edited("[1, 2 // two\n]", [](Document& d) { d.insert("/2", 3); }) ==
          "[1, 2, // two\n  3\n]");
    CHECK(edited("[]", [](Document& d) { d.insert("/0", 3); }) == "[3]");
    CHECK(edited("[1, 2]", [](Document& d) { d.insert("/0", 3); }) == "[3, 1, 2]");
}

TEST_CASE("layout: what is erased takes its comments along") {
    CHECK(edited(scene, [](Document& d) { d.erase("/bodies/0"); }) ==
          replaced(scene,
                   "        // the weight\n        { \"type\": \"particles\", \"name\": \"bob\",   "
                   "\"positions\": [[1, 0, 0]], \"mass\": 0.5 },\n",
                   ""));
    CHECK(edited(scene, [](Document& d) { d.erase("/gravity"); }) ==
          replaced(scene, ",\n    \"gravity\": [0, 0, -9.81]  // of the earth", ""));
    CHECK(edited(scene, [](Document& d) { d.erase("/time/step"); }) ==
          replaced(scene, "\"step\": \"1/200\", ", ""));
    CHECK(edited("[1, 2, 3]", [](Document& d) { d.erase("/2"); }) == "[1, 2]");
    CHECK(edited("{ \"a\": 1 }", [](Document& d) { d.erase("/a"); }) == "{}");
}

TEST_CASE("layout: renaming and a value of another kind") {
    CHECK(edited(scene, [](Document& d) { d.set("/bodies/0/name", "ball"); }) ==
          replaced(scene, "\"bob\"", "\"ball\""));
    CHECK(edited(scene,
                 [](Document& d) {
                     d.set("/time", Node::object({{"step", 0.1}, {"steps", 4}}));
                     d.set("/gravity", "none");
                 }) ==
          replaced(replaced(replaced(scene, "[0, 0, -9.81]", "\"none\""), "\"1/200\"", "0.1"),
                   "400", "4"));
}

TEST_CASE("layout: line ends and a byte order mark are kept") {
    CHECK(edited("\xEF\xBB\xBF{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", [](Document& d) {
              d.set("/c", 3);
              d.set("/a", 4);
          }) == "\xEF\xBB\xBF{\r\n  \"a\": 4,\r\n  \"b\": 2,\r\n  \"c\": 3\r\n}\r\n");
}

TEST_CASE("layout: a text that cannot be read is refused") {
    CHECK_THROWS_AS(Layout("{ \"a\": }"), Error);
}

TEST_CASE("layout: any edit of any bundled scene reads back as what was edited") {
    const Random random(20240501);
    std::uint64_t thrown = 0;
    const auto dice = [&](std::size_t n) {
        return static_cast<std::size_t>(random.uniform(thrown++) * static_cast<double>(n));
    };
    int changed = 0;
    for (const auto& file :
         std::filesystem::directory_iterator(std::string(hindcast::test::source_dir) + "/scenes")) {
        if (file.path().extension() != ".json" ||
            file.path().filename().string().ends_with(".schema.json"))
            continue;
        // A comment behind every line but the last.
        std::string text;
        for (const char c : read_file(file.path())) {
            if (c == '\n') text += "  // noted";
            text += c;
        }
        const Layout layout(text);
        Document document = Document::parse(text);
        for (int round = 0; round < 40; ++round) {
            // Down to some value.
            Node* node = &document.root();
            while (node->size() > 0 && dice(4) > 0) node = &node->item(dice(node->size()));
            const std::size_t act = dice(4);
            if (node->is_array() && act == 0)
                node->insert(dice(node->size() + 1), Node(0.25));
            else if (node->is_object() && act == 0)
                node->set("extra", Node::array({1, "two"}));
            else if (node->size() > 1 && act == 1 && node->parent() != nullptr)
                node->erase(dice(node->size()));
            else if (node->size() > 0 && act == 2 && node->is_array())
                node->push_back(node->item(dice(node->size())));
            else if (node->parent() != nullptr)
                *node = Node(static_cast<double>(dice(1000)) / 8);
            const std::string written = layout.with(document);
            CAPTURE(file.path().string());
            CAPTURE(written);
            CHECK(Document::parse(written).to_text() == document.to_text());
            CHECK(written.find("// noted") != std::string::npos);
            // The house form has no comments: it was not fallen back to.
            changed += written != text;
        }
    }
    CHECK(changed > 200);
}
