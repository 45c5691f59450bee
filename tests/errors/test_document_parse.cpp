// Malformed documents: each is refused at the right place with the right message.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.hpp"
#include "engine/document/document.hpp"

using namespace hindcast;
using namespace hindcast::document;

namespace {

std::string message(std::string_view text, const Limits& limits = {}) {
    try {
        Document::parse(text, "s.json", limits);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

std::string repeated(std::size_t count, char c) { return std::string(count, c); }

struct Case {
    std::string text, message;
};

}  // namespace

TEST_CASE("document errors: malformed documents name the place, the pointer and the remedy") {
    const Case cases[] = {
        {"", "s.json:1:1: the text ends too early; write a value, for instance {}"},
        {"  // only a comment\n",
         "s.json:2:1: the text ends too early; write a value, for instance {}"},
        {"{\n  \"a\": 1,\n}", "s.json:3:1: a comma before '}'; remove the comma"},
        {"[1, 2,]", "s.json:1:7: a comma before ']'; remove the comma"},
        {"[1,,2]", "s.json:1:4: ',' was not expected here; check commas and brackets"},
        {"{\"a\": [1 2]}",
         "s.json:1:10: at /a: ',' is missing before '2'; write a comma between two items"},
        {"{\n \"a\": 1\n \"b\": 2\n}",
         "s.json:3:2: ',' is missing before '\"'; write a comma between two items"},
        {"{\"a\" 1}", "s.json:1:6: at /a: ':' is missing after a key; write \"key\": value"},
        {"{\"a\" = 1}", "s.json:1:6: at /a: ':' is missing after a key; write \"key\": value"},
        {"{mass: 1}", "s.json:1:2: 'mass' is no JSON value; put names and text in double quotes"},
        {"{\"a\": ball}",
         "s.json:1:7: at /a: 'ball' is no JSON value; put names and text in double quotes"},
        {"{'a': 1}", "s.json:1:2: strings stand in double quotes; write \" instead of '"},
        {"{\"a\": [1, 2}",
         "s.json:1:12: at /a: '}' was not expected here; check commas and brackets"},
        {"{\"a\": [1, {\n\"b\": 2",
         "s.json:2:7: at /a/1: the text ends too early; close the '{' that was opened in line 1, "
         "column 11"},
        {"{\"a\":",
         "s.json:1:6: at /a: the text ends too early; close the '{' that was opened in line 1, "
         "column 1"},
        {"[1] [2]",
         "s.json:1:5: there is text after the end of the document; remove it, or check the "
         "brackets"},
        {"[1]]",
         "s.json:1:4: there is text after the end of the document; remove it, or check the "
         "brackets"},
        {"{\"a\": NaN}",
         "s.json:1:7: at /a: NaN is not a number that can be used; write a finite number"},
        {"[-Infinity]",
         "s.json:1:2: -Infinity is not a number that can be used; write a finite number"},
        {"[0, 1e999]",
         "s.json:1:5: the number 1e999 is too large for f64; f64 reaches from 4.9e-324 to 1.8e308"},
        {"[-1e-999]",
         "s.json:1:2: the number -1e-999 is too small for f64; f64 reaches from 4.9e-324 to "
         "1.8e308"},
        {"[.5]", "s.json:1:2: a number is written wrongly; write for instance 0.5, -2 or 1e-3"},
        {"[+5]", "s.json:1:2: a number is written wrongly; write for instance 0.5, -2 or 1e-3"},
        {"[5.]", "s.json:1:2: a number is written wrongly; write for instance 0.5, -2 or 1e-3"},
        {"[1e]", "s.json:1:2: a number is written wrongly; write for instance 0.5, -2 or 1e-3"},
        {"[\"abc\n\"]",
         "s.json:1:6: a control character or the end of the line within a string; close the string "
         "with \", or write \\n or \\t"},
        {"[\"abc", "s.json:1:2: a string is not closed; write \" at its end"},
        {"[\"a\\qb\"]",
         "s.json:1:5: a wrong escape within a string; write \\\\ for a backslash, \\u with four "
         "digits"},
        {"[\"\\ud800\"]",
         "s.json:1:9: a wrong escape within a string; write \\\\ for a backslash, \\u with four "
         "digits"},
        {"[\"a\xFF\"]", "s.json:1:4: the text is not UTF-8; save the file as UTF-8"},
        {"[1, /* 2]", "s.json:1:5: a comment is not closed; write */ at its end"},
        {"{\n  \"m\": 1,\n  \"n\": 2,\n  \"m\": 3\n}",
         "s.json:4:3: at /m: the key 'm' is written twice; remove one; the first stands in line 2, "
         "column 3"},
        {"{\"b\": [{\"x\": 1, \"x\": 1}]}",
         "s.json:1:17: at /b/0/x: the key 'x' is written twice; remove one; the first stands in "
         "line 1, "
         "column 9"},
    };
    for (const Case& one : cases) {
        CAPTURE(one.text);
        CHECK(message(one.text) == one.message);
    }
    CHECK(message(std::string_view("[1]\0[2]", 7)) ==
          "s.json:1:4: a NUL byte in the text; check that this is a JSON file in UTF-8");
}

TEST_CASE("document errors: nesting") {
    const auto nested = [](std::size_t levels) {
        return std::string(levels, '[') + std::string(levels, ']');
    };
    CHECK(message(nested(64)) == "accepted");
    const std::string deep = message(nested(65));
    CHECK(deep.starts_with("s.json:1:65: at /0/0/0"));
    CHECK(deep.ends_with("more than 64 levels of nesting; write the document flatter"));
    std::string objects = "1";
    for (int level = 0; level < 65; ++level) objects.insert(0, "{\"a\":").append("}");
    CHECK(message(objects).find("more than 64 levels of nesting") != std::string::npos);
}

TEST_CASE("document errors: hostile sizes end quickly") {
    CHECK(message(repeated(10'000'000, '[')).find("more than 64 levels") != std::string::npos);
    CHECK(message(repeated(10'000'000, ']')).find("s.json:1:1:") == 0);
    CHECK(message("[" + repeated(10'000'000, '9') + "]").find("is too large for f64") !=
          std::string::npos);
    CHECK(message("[1e" + repeated(1'000'000, '9') + "]").find("is too large for f64") !=
          std::string::npos);
    CHECK(message("[0." + repeated(1'000'000, '0') + "1]").find("is too small for f64") !=
          std::string::npos);
    CHECK(message(repeated(3'000'000, ' ') + "x").find("s.json:1:3000001:") == 0);
    CHECK(message("[\"" + repeated(5'000'000, 'a')).find("a string is not closed") !=
          std::string::npos);

    std::string many = "{";
    for (int i = 0; i < 200'000; ++i) many += "\"k" + std::to_string(i) + "\":0,";
    CHECK(message(many + "\"z\":0}") == "accepted");
    CHECK(message(many + "\"k7\":0}").find("the key 'k7' is written twice") != std::string::npos);

    Limits limits;
    limits.values = 1000;
    std::string items = "[0";
    for (int i = 0; i < 2000; ++i) items += ",0";
    const std::string text = message(items + "]", limits);
    CHECK(text.find("the document has more than 1000 values") != std::string::npos);
    limits.bytes = 100;
    CHECK(message(items, limits).find("the document has 4002 bytes, more than 100") !=
          std::string::npos);
}
