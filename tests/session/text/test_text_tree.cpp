// The tree of a scene's text in any state of being typed: places, pointers, what the cursor is in.
#include <doctest/doctest.h>

#include <string>

#include "app/session/text/text_tree.hpp"
#include "engine/base/files.hpp"
#include "tests/session/support.hpp"

using namespace hindcast;
using session::TextPosition;
using session::TextTree;
using Kind = TextTree::Kind;
using In = TextTree::In;

namespace {

// A text with the cursor written as |.
struct Marked {
    std::string text;
    std::size_t cursor = 0;
    explicit Marked(std::string marked) : text(std::move(marked)) {
        cursor = text.find('|');
        REQUIRE(cursor != std::string::npos);
        text.erase(cursor, 1);
    }
};

std::string value_of(const TextTree& tree, const std::string& pointer) {
    const int entry = tree.find(pointer);
    if (entry == TextTree::none) return "nothing";
    return tree.text().substr(tree[entry].begin, tree[entry].end - tree[entry].begin);
}

void same_places(const TextTree& tree, const document::Node& node) {
    const int entry = tree.find(node.pointer());
    REQUIRE_MESSAGE(entry != TextTree::none, node.pointer());
    CHECK(tree.pointer(entry) == node.pointer());
    const TextPosition at = tree.position(tree[entry].begin);
    CHECK(static_cast<int>(at.line) + 1 == node.place().line);
    CHECK(static_cast<int>(at.column) + 1 == node.place().column);
    CHECK(tree.offset(at) == tree[entry].begin);
    for (std::size_t k = 0; k < node.size(); ++k) same_places(tree, node.item(k));
}

}  // namespace

TEST_CASE("text tree: a text that is right has the places that the reader finds") {
    for (const char* name :
         {"spring_cage.json", "flag.json", "wave_image.json", "soft_beam.json"}) {
        CAPTURE(name);
        const std::string text = read_file(test::scene_file(name));
        same_places(TextTree(text), document::Document::parse(text).root());
    }
    const std::string odd =
        "\xEF\xBB\xBF// first\n{ \"a/b\": [1, /* , ] */ -2.5e3,\n \"\\u00e9 \xC3\xA9\\\"\"],"
        "\t\"\xC3\xBC\": {\"x~\": true, \"\": null} } // end";
    same_places(TextTree(odd), document::Document::parse(odd).root());
    CHECK(TextTree(odd)[TextTree(odd).find("/a~1b/2")].text == "\xC3\xA9 \xC3\xA9\"");
}

TEST_CASE("text tree: what is missing does not hide the rest") {
    // A comma, a value, a quote, a bracket.
    const TextTree comma("{ \"a\": 1\n \"b\": 2 }");
    CHECK(value_of(comma, "/b") == "2");
    const TextTree value("{ \"a\":\n \"b\": 2 }");
    CHECK(value[value.find("/a")].kind == Kind::missing);
    CHECK(value_of(value, "/b") == "2");
    const TextTree quote("{ \"a\": \"x,\n \"b\": 2 }");
    CHECK(value[quote.find("/a")].key == "a");
    CHECK_FALSE(quote[quote.find("/a")].closed);
    CHECK(value_of(quote, "/b") == "2");
    const TextTree bracket("{ \"a\": [[1, 2], [3, \"c\": 5,\n \"b\": {\"d\": 4 }");
    CHECK(value_of(bracket, "/c") == "5");
    CHECK(value_of(bracket, "/b/d") == "4");
    CHECK(value_of(bracket, "/a/1/0") == "3");
    const TextTree colon("{ \"a\" 1, \"b\": 2 }");
    CHECK(value_of(colon, "/b") == "2");
    const TextTree bare("{ stiff: 3, \"b\": tru }");
    CHECK(value_of(bare, "/stiff") == "3");
    CHECK(value_of(bare, "/b") == "tru");
    // Nothing makes it fail.
    for (const char* text : {"",
                             " ",
                             "{",
                             "[",
                             "}",
                             "]",
                             "\"",
                             ":",
                             ",",
                             "{]}",
                             "[}]",
                             "{\"",
                             "{\"a",
                             "{\"a\"",
                             "{\"a\":",
                             "{\"a\":[",
                             "/",
                             "//",
                             "/*",
                             "{/*",
                             "\\",
                             "{\"\\",
                             "{\"\\u12",
                             "[[[[",
                             "{{{{",
                             "{:}",
                             "{,}",
                             "nul",
                             "{\"a\":{\"b\":}"}) {
        CAPTURE(text);
        const TextTree tree{std::string(text)};
        for (std::size_t k = 0; k <= std::string(text).size(); ++k) {
            tree.spot(k);
            tree.entry_at(k);
        }
    }
    CHECK(TextTree(std::string(100'000, '[')).entries().size() > 100);
    // Every part of a scene that a file may end in.
    const std::string scene = read_file(test::scene_file("spring_cage.json"));
    for (std::size_t k = 0; k < scene.size(); ++k) {
        const TextTree tree(scene.substr(0, k), k);
        tree.spot(k);
        CHECK(tree.entry_at(k) < static_cast<int>(tree.entries().size()));
    }
}

TEST_CASE("text tree: what the cursor is in") {
    const auto spot = [](const std::string& marked) {
        const Marked m(marked);
        const TextTree tree(m.text, m.cursor);
        const TextTree::Spot s = tree.spot(m.cursor);
        std::string said = s.in == In::nothing   ? "nothing"
                           : s.in == In::comment ? "comment"
                           : s.in == In::key     ? "key"
                                                 : "value";
        if (s.container != TextTree::none) said += " in '" + tree.pointer(s.container) + "'";
        if (s.entry != TextTree::none)
            said += " of '" + (s.in == In::key ? tree[s.entry].key : tree.pointer(s.entry)) + "'";
        return said + " " + m.text.substr(s.begin, s.end - s.begin);
    };
    CHECK(spot("|{ \"a\": 1 }") == "nothing ");
    CHECK(spot("{ \"a\": 1 }|") == "nothing ");
    CHECK(spot("{ | }") == "key in '' ");
    CHECK(spot("{ \"a\": 1, | }") == "key in '' ");
    CHECK(spot("{ \"|\" }") == "key in '' of '' \"\"");
    CHECK(spot("{ \"ab|\": 1 }") == "key in '' of 'ab' \"ab\"");
    CHECK(spot("{ \"a\": | }") == "value in '' of '/a' ");
    CHECK(spot("{ \"a\": |\n \"b\": 2 }") == "value in '' of '/a' ");
    CHECK(spot("{ \"a\": 12| }") == "value in '' of '/a' 12");
    CHECK(spot("{ \"a\": \"x|y\" }") == "value in '' of '/a' \"xy\"");
    CHECK(spot("{ \"a\": \"xy\"| }") == "key in '' ");
    CHECK(spot("{ \"a\": [ | ] }") == "value in '/a' ");
    CHECK(spot("{ \"a\": [ {\"b\": 1, |} ] }") == "key in '/a/0' ");
    CHECK(spot("{ \"a\": [ [\"|\", 0] ] }") == "value in '/a/0' of '/a/0/0' \"\"");
    CHECK(spot("{ // no|te\n }") == "comment ");
    CHECK(spot("{ // note|\n }") == "comment ");
    CHECK(spot("{ // note\n| }") == "key in '' ");
    CHECK(spot("{ /* a */| }") == "key in '' ");
    // A name that is being typed ends at the cursor where its quote is still missing.
    CHECK(spot("{ \"sti|, \"damping\": 10 }") == "key in '' of 'sti' \"sti");
    CHECK(spot("{ \"sti| }") == "key in '' of 'sti' \"sti");
    CHECK(spot("{ \"a\": \"falls|, then \" }") == "value in '' of '/a' \"falls, then \"");
    CHECK(spot("|") == "value of '' ");
}

TEST_CASE("text tree: the entry that the cursor tells of") {
    const auto at = [](const std::string& marked) {
        const Marked m(marked);
        const TextTree tree(m.text);
        const int entry = tree.entry_at(m.cursor);
        return entry == TextTree::none ? std::string("none") : tree.pointer(entry);
    };
    CHECK(at("|{ \"a\": 1 }") == "none");
    CHECK(at("{ \"a|\": 1 }") == "/a");
    CHECK(at("{ \"a\": 1|,\n \"b\": [ { \"c\": 2 } ] }") == "/a");
    CHECK(at("{ \"a\": 1,|\n \"b\": [ { \"c\": 2 } ] }") == "/a");
    CHECK(at("{ \"a\": 1,\n| \"b\": [ { \"c\": 2 } ] }") == "none");
    CHECK(at("{ \"a\": 1,\n \"b\": [ { \"c\": |2 } ] }") == "/b/0/c");
    CHECK(at("{ \"b\": [ { \"c\": 2 }, {| \"c\": 2 } ] }") == "/b/1");
    CHECK(at("{ \"b\": [ { \"c\": 2 }, { \"c\": 3 }| ] }") == "/b/1");
    CHECK(at("{ \"b\": [\n { \"c\": 2,\n   \"d\": 3 }\n|] }") == "/b");
}

TEST_CASE("text tree: objects and what they are called") {
    const TextTree tree(
        "{ \"bodies\": [ {\"type\": \"particles\"}, {\"type\": \"particles\", \"name\": "
        "\"ball\"},\n"
        " {\"type\": \"particles\"} ], \"forces\": [ {\"type\": \"springs\" } ] }");
    REQUIRE(tree.objects().size() == 4);
    const char* const expected[] = {"particles_1", "ball", "particles_2", "springs_1"};
    const document::Document read = document::Document::parse(tree.text());
    for (std::size_t k = 0; k < 4; ++k)
        CHECK(tree.object_name(tree.objects()[k].second) == expected[k]);
    CHECK(tree.objects()[3].first == "forces");
    // Positions count characters.
    const TextTree wide("{\n  \"\xC3\xBC\": \"\xE2\x82\xAC\" }");
    CHECK(wide.position(wide[wide.find("/\xC3\xBC")].begin) == TextPosition{1, 7});
    CHECK(wide.offset({1, 7}) == wide[wide.find("/\xC3\xBC")].begin);
    CHECK(wide.offset({7, 0}) == wide.text().size());
    CHECK(wide.offset({0, 99}) == 1);
}
