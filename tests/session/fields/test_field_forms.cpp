// Every field of every module, and every key of a scene, has an editor: its schema is made of forms
// that a hand can fill in. What an editor makes is judged by the schema with the tests' own checker
// of schemas.
#include <doctest/doctest.h>

#include <algorithm>

#include "app/session/document/fields/filling.hpp"
#include "app/session/document/fields/formula_check.hpp"
#include "app/session/document/fields/rows.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/json_schema.hpp"

using namespace hindcast;
using document::Document;
using document::Node;
using session::Form;
using session::FormKind;
using session::Surroundings;

namespace {

const session::SceneForms& forms() {
    static const session::SceneForms all(test::all_modules());
    return all;
}

// The pointers of all places of the schema where a scene has a value that a hand may set.
std::vector<std::string> all_fields() {
    std::vector<std::string> pointers;
    const Node& schema = forms().schema().root();
    const Node& keys = *schema.find("properties");
    for (std::size_t k = 0; k < keys.size(); ++k) {
        const std::string& key = keys.key(k);
        // Lists of objects, whose keys follow; what says which format it is.
        if (key == "$schema" || key == "format" ||
            std::ranges::any_of(model::all_sections,
                                [&](model::Section s) { return key == model::name_of(s); }))
            continue;
        pointers.push_back("/properties/" + key);
        // Which of its keys a method takes is more than their forms say: each by itself.
        if (key != "optimizer") continue;
        pointers.pop_back();
        const Node& members = *keys.item(k).find("properties");
        for (std::size_t m = 0; m < members.size(); ++m)
            pointers.push_back("/properties/optimizer/properties/" + members.key(m));
    }
    const Node& types = *schema.find("$defs");
    for (std::size_t k = 0; k < types.size(); ++k) {
        const Node* const fields = types.item(k).find("properties");
        if (types.key(k).find('.') == std::string::npos || fields == nullptr) continue;
        for (std::size_t f = 0; f < fields->size(); ++f)
            if (fields->key(f) != "name")  // given and changed in the scene tree
                pointers.push_back("/$defs/" + types.key(k) + "/properties/" + fields->key(f));
    }
    return pointers;
}

// A schema of that place alone, with the definitions that it refers to.
Node schema_at(const std::string& pointer) {
    Node alone = *forms().schema().find(pointer);
    alone.set("$defs", *forms().schema().find("/$defs"));
    return alone;
}

Node parsed(const std::string& json) { return Document::parse(json).root(); }

// The same as the document writes it.
std::string as_line(const std::string& json) { return document::to_line(parsed(json)); }

const Form& field(const char* section_type, const char* key) {
    return forms().at(std::string("/$defs/") + section_type + "/properties/" + key);
}

std::string converted(const Form& form, const char* alternative, const std::string& old,
                      const Surroundings& around = {}) {
    for (const Form& part : form.parts)
        if (session::title_of(part) == alternative)
            return document::to_line(
                session::converted(part, old.empty() ? Node() : parsed(old), around));
    return std::string("there is no alternative ") + alternative;
}

// What stands in alternatives, also within objects and lists.
void each_alternatives(const Form& form, const std::function<void(const Form&)>& look) {
    if (form.kind == FormKind::alternatives) look(form);
    for (const Form& part : form.parts) each_alternatives(part, look);
}

}  // namespace

TEST_CASE("fields: every field of every module has an editor") {
    const std::vector<std::string> fields = all_fields();
    CHECK(fields.size() > 300);
    for (const std::string& pointer : fields)
        for (const std::string& place : session::places_without_editor(forms().at(pointer)))
            FAIL_CHECK(pointer << " can only be edited as text at '" << place << "'");
    // The rows of the registry are all among them.
    for (const model::ModuleType& type : test::all_modules().all())
        for (const model::Field& f : type.fields) {
            CAPTURE(type.type);
            CAPTURE(f.key);
            CHECK(forms().of_field(type.section, type.type, f.key) != nullptr);
        }
}

TEST_CASE("fields: what an editor makes first is what the schema allows, in every alternative") {
    Surroundings around;
    around.bodies = {"ball", "anchors"};
    for (const int dimension : {2, 3}) {
        around.dimension = dimension;
        for (const std::string& pointer : all_fields()) {
            CAPTURE(pointer);
            const Form& form = forms().at(pointer);
            const Node schema = schema_at(pointer);
            const auto judge = [&](const Node& value) {
                CAPTURE(document::to_line(value));
                for (const std::string& fault : test::schema_violations(schema, value))
                    FAIL_CHECK(fault);
            };
            // Two axes where a place has three are the dimension's fault, not the form's.
            const bool three_only = pointer.ends_with("mesh");
            if (dimension == 2 && three_only) continue;
            judge(session::blank(form, around));
            if (form.kind != FormKind::alternatives) continue;
            for (const Form& part : form.parts) {
                CAPTURE(session::title_of(part));
                const Node value = session::blank(part, around);
                judge(value);
                CHECK(session::fits(part, value));
                // It is known again as what it was made as, or as one that comes before it.
                const auto which = session::alternative_of(form, value);
                REQUIRE(which);
                CHECK(*which <= static_cast<std::size_t>(&part - form.parts.data()));
            }
        }
    }
}

TEST_CASE("fields: alternatives have titles of their own") {
    for (const std::string& pointer : all_fields()) {
        CAPTURE(pointer);
        each_alternatives(forms().at(pointer), [](const Form& form) {
            std::vector<std::string> titles;
            for (const Form& part : form.parts) titles.push_back(session::title_of(part));
            const std::string all = [&] {
                std::string text;
                for (const std::string& title : titles) text += title + "; ";
                return text;
            }();
            CAPTURE(all);
            std::ranges::sort(titles);
            CHECK(std::ranges::adjacent_find(titles) == titles.end());
        });
    }
}

TEST_CASE("fields: another way of writing keeps what it can") {
    const std::vector<double> numbers{1, 2, 4};
    Surroundings around;
    around.numbers = numbers;
    around.rows = 3;
    const Form& stiffness = field("forces.springs", "stiffness");
    CHECK(converted(stiffness, "one number", "[7, 8]") == "7");
    CHECK(converted(stiffness, "one for each", "{\"formula\": \"i\"}", around) ==
          as_line("[1, 2, 4]"));
    CHECK(converted(stiffness, "one number", "[1, 2, 4]", around) == "1");
    CHECK(converted(stiffness, "formula", "250") == as_line("{\"formula\": \"250\"}"));
    // From the lowest to the highest; mean 7/3 and deviation sqrt(14/9).
    CHECK(converted(stiffness, "random", "[1, 2, 4]", around) ==
          as_line("{\"random\": {\"seed\": 0, \"uniform\": [1, 4]}}"));

    // Where points lie: the corner and the number of points stay.
    const std::vector<double> places{0, 0, 1, 2, 0, 1};
    Surroundings points;
    points.numbers = places;
    points.components = 3;
    points.rows = 2;
    const Form& positions = field("bodies.particles", "positions");
    CHECK(converted(positions, "grid", "[[0, 0, 1], [2, 0, 1]]", points) ==
          as_line("{\"grid\": {\"counts\": [2, 1, 1], \"spacing\": 0.1, \"origin\": [0, 0, 1]}}"));
    CHECK(converted(positions, "box", "{\"grid\": {\"counts\": [4, 4, 2], \"spacing\": 0.1}}",
                    points) ==
          as_line("{\"box\": {\"min\": [0, 0, 1], \"max\": [2, 1, 2], \"counts\": [4, 4, 2]}}"));
    CHECK(converted(positions, "a vector for each", "{\"file\": \"x.npy\"}", points) ==
          as_line("[[0, 0, 1], [2, 0, 1]]"));
    CHECK(converted(positions, "a vector for each", "[0, 0, 1]") == as_line("[[0, 0, 1]]"));

    const Form& when = field("objective.point_target", "at");
    CHECK(converted(when, "at several times", "0.5") == as_line("[0.5]"));
    CHECK(converted(when, "at a time", "[0.25, 1]") == "0.25");
    CHECK(converted(when, "after every step", "0.5") == as_line("\"all\""));

    const Form& fixed = field("bodies.particles", "fixed");
    CHECK(converted(fixed, "those in a box", "true") ==
          as_line("{\"box\": {\"min\": [0, 0, 0], \"max\": [1, 1, 1]}}"));
    CHECK(converted(fixed, "these points", "true") == as_line("[0]"));

    // A grid of springs keeps the body of a chain no more than the keys say: both name one.
    const Form& connect = field("forces.springs", "connect");
    Surroundings bodies;
    bodies.bodies = {"rope"};
    CHECK(converted(connect, "chain", "", bodies) == as_line("{\"chain\": \"rope\"}"));
    CHECK(converted(connect, "pairs of points", "{\"chain\": \"rope\"}", bodies) ==
          as_line("[[\"rope\", 0, \"rope\", 1]]"));
}

TEST_CASE("fields: how many elements a value makes") {
    const Form& positions = field("bodies.particles", "positions");
    const auto generator = [&](const char* title) -> const Form& {
        for (const Form& part : positions.parts)
            if (session::title_of(part) == title) return part.parts[0];
        throw std::runtime_error(title);
    };
    CHECK(session::count_text(*generator("grid").member("counts"), parsed("[4, 3, 2]")) ==
          "24 in all");
    const Form& mesh = field("bodies.solid", "mesh");
    const Form& box = mesh.parts[0].parts[0];
    CHECK(session::count_text(*box.member("cells"), parsed("[4, 1, 2]")) == "30 points, 8 cells");
    CHECK(session::count_text(*box.member("min"), parsed("[4, 1, 2]")).empty());
}

TEST_CASE("fields: rows of the clipboard") {
    const Form& positions = field("bodies.particles", "positions");
    const auto list = [&]() -> const Form& {
        for (const Form& part : positions.parts)
            if (session::title_of(part) == "a vector for each") return part;
        throw std::runtime_error("no list");
    }();
    const auto rows = [&](const std::string& text) {
        return document::to_line(session::rows_of_text(text, list));
    };
    CHECK(rows("1\t2\t3\n4\t5\t6\n") == as_line("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"));
    CHECK(rows("x,y,z\r\n1,2,3\r\n\r\n") == as_line("[[1.0, 2.0, 3.0]]"));
    CHECK(rows("[1, 2, 3],\n[4, 5, 6]") == as_line("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]"));
    CHECK(rows("1 cm; 20 mm; 1/2") == as_line("[[0.01, 0.02, \"1/2\"]]"));
    CHECK_THROWS_WITH_AS(rows("1 2 3\n4 kg, 5, 6"), doctest::Contains("line 2"), Error);
    CHECK_THROWS_WITH_AS(rows("1 2 3 4"), doctest::Contains("2 to 3"), Error);
    CHECK_THROWS_AS(rows("\n\n"), Error);
    const Form& points = field("controllers.pins", "points");
    CHECK(document::to_line(session::rows_of_text("3, 5\n7", points)) == as_line("[3, 5, 7]"));
    CHECK_THROWS_WITH_AS(session::rows_of_text("3\n1.5", points), doctest::Contains("line 2"),
                         Error);
    CHECK(session::text_of_rows(parsed("[[1, 2.5], [3, 4]]")) == "1\t2.5\n3\t4\n");
    CHECK(session::text_of_rows(parsed("[\"hip\", 4]")) == "hip\n4\n");
}

TEST_CASE("fields: formulas are checked while they are typed") {
    CHECK(session::formula_fault("sin(3*x) + 0.1*i/n").empty());
    CHECK_FALSE(session::formula_fault("sin(3*x").empty());
    CHECK_FALSE(session::formula_fault("q + 1").empty());
    CHECK_FALSE(session::formula_fault("").empty());
}

TEST_CASE("fields: a value is written below what is not there yet") {
    Node root = Node::object();
    session::set_below(root, "/camera/eye", parsed("[1, 2, 3]"));
    session::set_below(root, "/camera/eye/1", Node(5));
    CHECK(document::to_line(root) == as_line("{\"camera\": {\"eye\": [1, 5, 3]}}"));
    CHECK_THROWS_AS(session::set_below(root, "/camera/eye/7", Node(1)), Error);
}
