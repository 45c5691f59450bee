// Wrong keys and wrong values: every getter says what was found, what was expected, where, and what
// to do.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "engine/base/error.hpp"
#include "engine/document/document.hpp"
#include "engine/document/read.hpp"

using namespace hindcast;
using namespace hindcast::document;

namespace {

std::string message(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

std::string reading(const char* text, const std::function<void(Reader&)>& read) {
    const Document document = Document::parse(text, "s.json");
    return message([&] {
        Reader reader(document.root(), "a spring force");
        read(reader);
    });
}

}  // namespace

TEST_CASE("document errors: unknown keys") {
    const auto spring = [](Reader& r) {
        r.number_or("stiffness", 1);
        r.number_or("damping", 0);
        r.allow({"type", "name"});
        r.finish();
    };
    CHECK(reading(R"({"type": "springs", "stifness": 5})", spring) ==
          "s.json:1:21: at /stifness: unknown key 'stifness' in a spring force; did you mean "
          "'stiffness'?");
    CHECK(reading(R"({"color": 5})", spring) ==
          "s.json:1:2: at /color: unknown key 'color' in a spring force; known keys are stiffness, "
          "damping, type, name");
    // What stands there already was not meant.
    CHECK(
        reading(R"({"damping": 1, "dampin": 5})",
                [](Reader& r) {
                    r.number("damping");
                    r.finish();
                }) ==
        "s.json:1:16: at /dampin: unknown key 'dampin' in a spring force; did you mean 'damping'?");
    CHECK(reading("{\"a/b\": 1}", [](Reader& r) { r.finish(); }) ==
          "s.json:1:2: at /a~1b: unknown key 'a/b' in a spring force; remove it");
    CHECK(reading("{}", spring) == "accepted");
}

TEST_CASE("document errors: missing keys") {
    CHECK(reading("{\"x\": 1}", [](Reader& r) { r.number("mass"); }) ==
          "s.json:1:1: the key 'mass' is missing in a spring force; add \"mass\": ...");
    CHECK(reading("{\"mas\": 1}", [](Reader& r) { r.number("mass"); }) ==
          "s.json:1:2: at /mas: unknown key 'mas' in a spring force, which needs 'mass'; did you "
          "mean "
          "'mass'?");
    // A key that was read by its own name is not taken for a slip.
    CHECK(reading("{\"masses\": 1}", [](Reader& r) {
              r.number("masses");
              r.number("mass");
          }) == "s.json:1:1: the key 'mass' is missing in a spring force; add \"mass\": ...");
    CHECK(message([] {
              const Document document = Document::parse("[1]", "s.json");
              Reader reader(document.root(), "a body");
          }) ==
          "s.json:1:1: expected a body (an object), found an array of 1 item; write { \"key\": "
          "value }");
}

TEST_CASE("document errors: numbers") {
    const auto number = [](const char* value, const Range& range) {
        return reading((std::string("{\"v\": ") + value + "}").c_str(),
                       [&](Reader& r) { r.number("v", range); });
    };
    CHECK(number("\"fast\"", Range::positive("N/m")) ==
          "s.json:1:7: at /v: expected a number above 0 (N/m), found the string 'fast'; write a "
          "number "
          "such as 0.5, or a fraction such as \"1/30\"");
    CHECK(number("-3", Range::positive("N/m")) ==
          "s.json:1:7: at /v: expected a number above 0 (N/m), found the integer -3; change the "
          "number");
    CHECK(number("1.50", Range::between(0, 1)) ==
          "s.json:1:7: at /v: expected a number from 0 to 1, found the number 1.50; change the "
          "number");
    CHECK(number("-0.5", Range::at_least(0))
              .find("expected a number of at least 0, found the number -0.5") != std::string::npos);
    CHECK(number("2", Range{.low = 0, .high = 1, .low_open = true})
              .find("expected a number above 0 and of at most 1, found") != std::string::npos);
    CHECK(
        number("1", Range{.high = 1, .high_open = true}).find("expected a number below 1, found") !=
        std::string::npos);
    CHECK(number("\"1/0\"", Range::any()) ==
          "s.json:1:7: at /v: '1/0' is no usable fraction: its denominator is zero; write a number "
          "such "
          "as 0.5, or a fraction such as \"1/30\"");
    CHECK(number("null", Range::any()).find("expected a number, found null") != std::string::npos);
    CHECK(number("{\"grid\": 1}", Range::any()) ==
          "s.json:1:7: at /v: expected a number, found an object with 1 member; one number must "
          "stand "
          "here, not a generator");
    CHECK(number("\"-1/2\"", Range::positive())
              .find("expected a number above 0, found the string '-1/2'") != std::string::npos);
}

TEST_CASE("document errors: integers, booleans, strings, choices, arrays") {
    const auto get = [](const char* value, const std::function<void(Reader&)>& read) {
        return reading((std::string("{\"v\": ") + value + "}").c_str(), read);
    };
    CHECK(
        get("1.5", [](Reader& r) { r.integer("v", 1, 100); }) ==
        "s.json:1:7: at /v: expected an integer from 1 to 100, found the number 1.5; write digits "
        "without quotes or fraction");
    CHECK(get("0", [](Reader& r) { r.integer("v", 1); }) ==
          "s.json:1:7: at /v: expected an integer of at least 1, found the integer 0; change the "
          "number");
    CHECK(get("\"1/2\"", [](Reader& r) { r.integer("v"); }).find("expected an integer, found") !=
          std::string::npos);
    CHECK(get("1e300", [](Reader& r) { r.integer("v"); }).find("expected an integer, found") !=
          std::string::npos);
    CHECK(
        get("\"true\"", [](Reader& r) { r.boolean("v"); }) ==
        "s.json:1:7: at /v: expected true or false, found the string 'true'; write true or false, "
        "without quotes");
    CHECK(get("7", [](Reader& r) { r.string("v"); }) ==
          "s.json:1:7: at /v: expected a string, found the integer 7; put it in double quotes");
    CHECK(get("\"sprngs\"", [](Reader& r) {
              r.choice("v", {"springs", "gravity", "drag"});
          }) == "s.json:1:7: at /v: unknown v 'sprngs'; did you mean 'springs'?");
    CHECK(get("\"zzz\"", [](Reader& r) {
              r.choice("v", {"springs", "gravity"});
          }) == "s.json:1:7: at /v: unknown v 'zzz'; write one of springs, gravity");
    CHECK(get("[1, 2]", [](Reader& r) { r.vector<3>("v"); }) ==
          "s.json:1:7: at /v: expected an array of 3 numbers, found an array of 2 items; write 3 "
          "numbers "
          "in [ ]");
    CHECK(get("[1, 2, true]", [](Reader& r) { r.vector<3>("v"); }) ==
          "s.json:1:14: at /v/2: expected a number, found true; write a number such as 0.5, or a "
          "fraction such as \"1/30\"");
    CHECK(
        get("[]", [](Reader& r) { r.array("v", 1); }) ==
        "s.json:1:7: at /v: expected an array of at least 1 item, found an empty array; change the "
        "number of items");
    CHECK(get("{}", [](Reader& r) { r.array("v", 2, 4); }) ==
          "s.json:1:7: at /v: expected an array of 2 to 4 items, found an empty object; put the "
          "items in "
          "[ ]");
    CHECK(get("3", [](Reader& r) { r.object("v", "a camera"); }) ==
          "s.json:1:7: at /v: expected a camera (an object), found the integer 3; write { \"key\": "
          "value "
          "}");
}

TEST_CASE("document errors: hostile strings are cut in messages") {
    const std::string text = "{\"v\": \"" + std::string(1'000'000, 'a') + "\"}";
    const Document document = Document::parse(text, "s.json");
    const std::string got = message([&] { Reader(document.root()).number("v"); });
    CHECK(got.size() < 300);
    const std::string key = message([&] {
        const Document other = Document::parse("{\"" + std::string(1'000'000, 'k') + "\": 1}");
        Reader reader(other.root());
        reader.allow({"known"});
        reader.finish();
    });
    CHECK(key.find("known keys are known") != std::string::npos);
}
