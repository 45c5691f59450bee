// Typed reading of documents: what is accepted, and as which value.
#include <doctest/doctest.h>

#include "engine/base/error.hpp"
#include "engine/document/document.hpp"
#include "engine/document/read.hpp"

using namespace hindcast;
using namespace hindcast::document;

TEST_CASE("document reader: every getter") {
    const Document document = Document::parse(R"({
        "step": "1/30", "steps": 30, "big": 1e3, "on": true, "name": "ball", "kind": "cubic",
        "axis": [0, "1/2", 1.5], "list": [1, "a"], "inner": { "x": 2 }, "other": null
    })");
    Reader reader(document.root(), "a test");
    CHECK(reader.number("step", Range::positive("s")) == 1.0 / 30.0);
    CHECK(reader.number("steps") == 30.0);
    CHECK(reader.number_or("absent", 7.0) == 7.0);
    CHECK(reader.number_or("step", 7.0) == 1.0 / 30.0);
    CHECK(reader.integer("steps", 1, 100) == 30);
    CHECK(reader.integer("big") == 1000);
    CHECK(reader.integer_or("absent", -1) == -1);
    CHECK(reader.boolean("on"));
    CHECK(reader.boolean_or("absent", true));
    CHECK(reader.string("name") == "ball");
    CHECK(reader.string_or("absent", "none") == "none");
    CHECK(reader.choice("kind", {"linear", "cubic"}) == 1);
    CHECK(reader.choice_or("absent", {"linear", "cubic"}, 0) == 0);
    CHECK(reader.vector<3>("axis") == std::array<double, 3>{0, 0.5, 1.5});
    CHECK(reader.vector_or<2>("absent", {3, 4}) == std::array<double, 2>{3, 4});
    CHECK(reader.numbers("axis", 3) == std::vector<double>{0, 0.5, 1.5});
    CHECK(reader.array("list", 1, 2).size() == 2);
    Reader inner = reader.object("inner", "an inner object");
    CHECK(inner.number("x") == 2.0);
    CHECK_NOTHROW(inner.finish());
    CHECK(reader.has("other"));
    CHECK_FALSE(reader.has("absent"));
    CHECK(reader.find("other")->is_null());
    CHECK_NOTHROW(reader.finish());
}

TEST_CASE("document reader: integers as reals and fractions") {
    const Document document = Document::parse(R"([1e3, "60/2", -0.0, 9007199254740993])");
    CHECK(integer_of(document.at("/0")) == 1000);
    CHECK(integer_of(document.at("/1")) == 30);
    CHECK(integer_of(document.at("/2")) == 0);
    CHECK(integer_of(document.at("/3")) == 9007199254740993);
    CHECK(is_number(document.at("/1")));
    CHECK_FALSE(is_number(Node("60")));
}
