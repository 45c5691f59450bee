// The tree of a document: reading, writing, editing, copies, equality.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/document/document.hpp"
#include "engine/document/read.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::document;

namespace {

const char* const scene = R"({
  // a comment
  "format": 1,
  "time": { "step": "1/30", "steps": 30 },
  "gravity": [0, -0.0, -9.810], /* another */
  "bodies": [
    { "type": "particles", "name": "ball", "positions": [[0, 0, 0]], "mass": 1e0 },
    { "type": "particles", "name": "anchors é", "fixed": true, "note": null }
  ]
})";

std::string place(const Node& node) { return to_string(node.place()); }

}  // namespace

TEST_CASE("document: every node knows its place and pointer") {
    const Document document = Document::parse(scene, "a.json");
    CHECK(place(document.root()) == "a.json:1:1");
    CHECK(place(document.at("/format")) == "a.json:3:13");
    CHECK(place(document.at("/time/step")) == "a.json:4:21");
    CHECK(place(document.at("/gravity/2")) == "a.json:5:24");
    CHECK(place(document.at("/bodies")) == "a.json:6:13");
    CHECK(place(document.at("/bodies/0/positions/0")) == "a.json:7:58");
    // Columns count characters: é has two bytes.
    CHECK(place(document.at("/bodies/1/fixed")) == "a.json:8:58");
    CHECK(document.at("/bodies/0/positions/0").pointer() == "/bodies/0/positions/0");
    CHECK(to_string(document.root().key_place(3)) == "a.json:6:3");
    CHECK(document.at("/bodies/1/name").string() == "anchors é");
    CHECK(document.at("/bodies/1/note").is_null());
    CHECK(document.at("/bodies/1/fixed").boolean());
}

TEST_CASE("document: a byte order mark and CRLF do not move places") {
    const Document document = Document::parse("\xEF\xBB\xBF{\r\n \"a\": 1}", "b");
    CHECK(place(document.root()) == "b:1:1");
    CHECK(place(document.at("/a")) == "b:2:7");
}

TEST_CASE("document: integers stay exact and distinct from reals") {
    const Document document = Document::parse(
        "[9223372036854775807, -9223372036854775808, 9223372036854775808, 1.0, 1e2, -0, 0]");
    CHECK(document.at("/0").integer() == highest_integer);
    CHECK(document.at("/1").integer() == lowest_integer);
    CHECK(document.at("/2").is_real());  // beyond 64 bits
    CHECK(document.at("/2").real() == 0x1p63);
    CHECK(document.at("/3").is_real());
    CHECK(document.at("/4").real() == 100.0);
    CHECK(std::signbit(document.at("/5").real()));
    CHECK(document.at("/6").is_integer());
    CHECK_FALSE(document.at("/3") == Node(1));
    CHECK(document.at("/3") == Node(1.0));
}

TEST_CASE("document: reading rounds decimals correctly") {
    // Half way between 1 and the next f64; a hair above tips it over.
    const Document document = Document::parse(
        "[1.00000000000000011102230246251565404236316680908203125,"
        " 1.00000000000000011102230246251565404236316680908203126, 2.2250738585072011e-308, "
        "5e-324]");
    CHECK(document.at("/0").real() == 1.0);
    CHECK(document.at("/1").real() == std::nextafter(1.0, 2.0));
    CHECK(document.at("/2").real() == 0x0.fffffffffffffp-1022);  // the number that hung PHP
    CHECK(document.at("/3").real() == std::numeric_limits<double>::denorm_min());
}

TEST_CASE("document: saving keeps order and the text of numbers") {
    const Document document = Document::parse(scene, "a.json");
    const char* const expected = R"({
  "format": 1,
  "time": { "step": "1/30", "steps": 30 },
  "gravity": [0, -0.0, -9.810],
  "bodies": [
    { "type": "particles", "name": "ball", "positions": [[0, 0, 0]], "mass": 1e0 },
    { "type": "particles", "name": "anchors é", "fixed": true, "note": null }
  ]
}
)";
    CHECK(document.to_text() == expected);
    const Document again = Document::parse(document.to_text());
    CHECK(again == document);
    CHECK(again.to_text() == expected);
}

TEST_CASE("document: the house form breaks what is too long") {
    Node numbers = Node::array();
    for (int i = 0; i < 40; ++i) numbers.push_back(i * 0.25);
    Document document;
    document.set("/short", Node::array({1, 2, 3}));
    document.set("/long", numbers);
    document.set("/empty", Node::object());
    document.set("/none", Node::array());
    document.set("/text", "a\"b\\c\n\x01 é");
    const std::string text = document.to_text();
    CHECK(text ==
          "{\n"
          "  \"short\": [1, 2, 3],\n"
          "  \"long\": [\n"
          "    0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 3.25, 3.5, "
          "3.75, 4.0,\n"
          "    4.25, 4.5, 4.75, 5.0, 5.25, 5.5, 5.75, 6.0, 6.25, 6.5, 6.75, 7.0, 7.25, 7.5, 7.75, "
          "8.0, 8.25,\n"
          "    8.5, 8.75, 9.0, 9.25, 9.5, 9.75\n"
          "  ],\n"
          "  \"empty\": {},\n"
          "  \"none\": [],\n"
          "  \"text\": \"a\\\"b\\\\c\\n\\u0001 é\"\n"
          "}\n");
    CHECK(Document::parse(text) == document);
    std::size_t begin = 0;
    while (begin < text.size()) {
        const auto end = text.find('\n', begin);
        CHECK(end - begin <= 100);
        begin = end + 1;
    }
    CHECK(to_line(document.at("/short")) == "[1, 2, 3]");
    CHECK(to_line(Node::object({{"a", 1}, {"b", Node::array()}})) == "{ \"a\": 1, \"b\": [] }");
}

TEST_CASE("document: editing by pointer") {
    Document document = Document::parse(scene, "a.json");
    document.set("/gravity/2", -1.62);
    document.set("/bodies/0/radius", 0.1);
    document.set("/bodies/-", Node::object({{"type", "mesh"}}));
    document.insert("/bodies/0", "first");
    document.insert("/view", Node::object());
    document.erase("/bodies/1/mass");
    document.erase("/gravity/0");
    CHECK(document.at("/gravity").size() == 2);
    CHECK(document.at("/gravity/1").real() == -1.62);
    CHECK(document.at("/bodies").size() == 4);
    CHECK(document.at("/bodies/0").string() == "first");
    CHECK(document.at("/bodies/1/radius").real() == 0.1);
    CHECK(document.at("/bodies/3/type").string() == "mesh");
    CHECK_FALSE(document.find("/bodies/1/mass"));
    // A key that is set again keeps its position; a new one goes to the end.
    CHECK(document.at("/bodies/1").key(2) == "positions");
    CHECK(document.at("/bodies/1").key(3) == "radius");
    // What was not read from the text has no line but still its file and pointer.
    CHECK(place(document.at("/gravity/1")) == "a.json");
    CHECK(document.at("/bodies/3/type").pointer() == "/bodies/3/type");
    CHECK(place(document.at("/bodies/1/name")) == "a.json:7:36");
    document.set("", Node::array({1}));
    CHECK(document.to_text() == "[1]\n");
}

TEST_CASE("document: a failed edit changes nothing") {
    Document document = Document::parse(scene, "a.json");
    const std::string before = document.to_text();
    CHECK_THROWS_AS(document.set("/bodies/7", 1), Error);
    CHECK_THROWS_AS(document.set("/bodies/x", 1), Error);
    CHECK_THROWS_AS(document.set("/nothing/here", 1), Error);
    CHECK_THROWS_AS(document.set("/format/x", 1), Error);
    CHECK_THROWS_AS(document.insert("/format", 1), Error);
    CHECK_THROWS_AS(document.insert("", 1), Error);
    CHECK_THROWS_AS(document.erase("/bodies/2"), Error);
    CHECK_THROWS_AS(document.erase("/gravit"), Error);
    CHECK_THROWS_AS(document.erase(""), Error);
    CHECK_THROWS_AS(document.at("no slash"), Error);
    CHECK(document.to_text() == before);
    CHECK_THROWS_WITH(
        document.at("/bodies/0/mas"),
        "a.json:7:5: at /bodies/0: there is no 'mas' in an object with 4 members, looking "
        "for '/bodies/0/mas'; did you mean 'mass'?");
}

TEST_CASE("document: nesting stays within 64 levels in editing too") {
    Document document(Node::array());
    std::string pointer;
    for (int level = 1; level < max_depth; ++level) {
        document.set(pointer + "/0", Node::array());
        pointer += "/0";
    }
    document.set(pointer + "/0", 1);
    CHECK_THROWS_AS(document.set(pointer + "/0", Node::array()), Error);
    CHECK_THROWS_AS(document.set("/0", document.root()), Error);
    CHECK(Document::parse(document.to_text()) == document);
    const Node deepest = document.root();
    CHECK(deepest.levels() == max_depth);
    CHECK_NOTHROW(document.set("", deepest));
    CHECK_THROWS_AS(document.set("/-", deepest), Error);
    // Editing nodes directly is not checked; saving is.
    document.root().push_back(deepest);
    const test::TemporaryFolder folder;
    CHECK_THROWS_AS(document.save(folder / "deep.json"), Error);
    Node deep;
    for (int level = 0; level <= max_depth; ++level) deep = Node::array({deep});
    CHECK_THROWS_AS(document.set("", deep), Error);
}

TEST_CASE("document: copies are deep and keep place and pointer") {
    Document document = Document::parse(scene, "a.json");
    Document copy = document;
    copy.set("/gravity/0", 5);
    CHECK(document.at("/gravity/0").integer() == 0);
    CHECK_FALSE(copy == document);

    Node body = document.at("/bodies/0");
    CHECK(body == document.at("/bodies/0"));
    CHECK(body.pointer() == "/bodies/0");
    CHECK(body.find("mass")->pointer() == "/bodies/0/mass");
    CHECK(place(*body.find("mass")) == "a.json:7:78");
    CHECK(body.find("mass")->number_text() == "1e0");
    const Node moved = std::move(body);
    CHECK(moved.find("mass")->pointer() == "/bodies/0/mass");
    CHECK(moved.find("positions")->parent() == &moved);

    // Moved into another document: a new pointer, but still the place in its own file.
    Document other = Document::parse("{\"list\": []}", "b.json");
    other.set("/list/-", moved);
    CHECK(other.at("/list/0/mass").pointer() == "/list/0/mass");
    CHECK(place(other.at("/list/0/mass")) == "a.json:7:78");
    CHECK(place(other.at("/list")) == "b.json:1:10");
    // Part of itself.
    other.set("/list", other.at("/list/0/positions"));
    CHECK(to_line(other.root()) == "{ \"list\": [[0, 0, 0]] }");
    CHECK(other.at("/list/0").pointer() == "/list/0");
    other.root() = other.at("/list/0");
    CHECK(to_line(other.root()) == "[0, 0, 0]");
}

TEST_CASE("document: objects are equal in any order of their members") {
    const auto same = [](const char* a, const char* b) {
        return Document::parse(a) == Document::parse(b);
    };
    CHECK(same(R"({"a": 1, "b": [2, {"c": 3}]})", R"({"b": [2, {"c": 3}], "a": 1})"));
    CHECK(same("[1.50]", "[1.5]"));
    CHECK_FALSE(same(R"({"a": 1})", R"({"a": 1, "b": 2})"));
    CHECK_FALSE(same(R"({"a": 1})", R"({"b": 1})"));
    CHECK_FALSE(same("[1, 2]", "[2, 1]"));
    CHECK_FALSE(same("[1]", "[1.0]"));
    CHECK_FALSE(same("[null]", "[false]"));
}

TEST_CASE("document: only what a document can hold becomes a node") {
    CHECK_THROWS_AS(Node{std::numeric_limits<double>::quiet_NaN()}, Error);
    CHECK_THROWS_AS(Node{std::numeric_limits<double>::infinity()}, Error);
    CHECK_THROWS_AS(Node{"\xFF"}, Error);
    CHECK_THROWS_AS(Node{std::numeric_limits<std::uint64_t>::max()}, Error);
    CHECK_THROWS_AS(Node::object().set("\xFF", 1), Error);
    CHECK_THROWS_AS(Node(1).push_back(2), Error);
    CHECK_THROWS_AS(Node(1).string(), Error);
    CHECK_THROWS_AS(Node::array().item(0), Error);
    CHECK_THROWS_AS(Node::array().insert(1, 2), Error);
    CHECK(Node(true).boolean());
    CHECK(Node(7u).integer() == 7);
}

TEST_CASE("document: files") {
    const test::TemporaryFolder folder;
    const auto path = folder / "scene.json";
    const Document document = Document::parse(scene);
    document.save(path);
    const Document loaded = Document::load(path);
    CHECK(loaded == document);
    CHECK(loaded.at("/format").place().file == path.string());
    CHECK_THROWS_AS(Document::load(folder / "missing.json"), Error);
    CHECK_THROWS_AS(Document::load(folder.path()), Error);
    Limits limits;
    limits.bytes = 10;
    CHECK_THROWS_AS(Document::load(path, limits), Error);
}
