// What is suggested at the cursor of a scene's text, and that what it inserts is JSON that belongs
// there.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include "app/session/text/completion.hpp"
#include "engine/base/files.hpp"
#include "engine/sim/scene/schema.hpp"
#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using document::Document;
using document::Node;
using session::Suggestion;
using session::TextTree;

namespace {

const session::SchemaGuide& guide() {
    static const session::SchemaGuide one(scene_schema(test::all_modules()));
    return one;
}

session::CompletionSource source(const std::filesystem::path& folder = {}) {
    return {guide(),     test::all_modules(), folder, {"robot.body_mass"}, {"speed", "stress"},
            {"velocity"}};
}

struct Completed {
    std::string text;
    std::size_t cursor;
    std::vector<Suggestion> list;

    // `marked`: the text with the cursor written as |.
    explicit Completed(std::string marked, const std::filesystem::path& folder = {})
        : text(std::move(marked)), cursor(text.find('|')) {
        REQUIRE(cursor != std::string::npos);
        text.erase(cursor, 1);
        list = session::complete(TextTree(text, cursor), cursor, source(folder));
    }
    std::string labels(std::size_t most = 99) const {
        std::string all;
        for (std::size_t k = 0; k < list.size() && k < most; ++k)
            all += (k > 0 ? " " : "") + list[k].label;
        return all;
    }
    const Suggestion* find(const std::string& label) const {
        const auto found = std::ranges::find(list, label, &Suggestion::label);
        return found == list.end() ? nullptr : &*found;
    }
    // The text after the choice, with what is selected between < and >.
    std::string with(const std::string& label) const {
        const Suggestion* s = find(label);
        if (s == nullptr) return "no such suggestion";
        const session::TextChange c = session::accepted(TextTree(text, cursor), *s);
        std::string changed = text;
        changed.replace(c.begin, c.end - c.begin, c.text);
        changed.insert(c.select_end, ">");
        changed.insert(c.select_begin, "<");
        return changed;
    }
};

const std::string bodies =
    R"("bodies": [{"type": "particles", "name": "ball", "positions": [[0,0,1]], "velocity": [1,0,0]},
 {"type": "particles", "positions": [[0,0,2]], "mass": 2}])";

std::string scene(const std::string& rest) {
    return "{ \"format\": 1, \"time\": {\"step\": \"1/60\", \"steps\": 6},\n " + bodies + ",\n " +
           rest + " }";
}

}  // namespace

TEST_CASE("completion: an object offers the keys of its type that it has not got") {
    for (const model::ModuleType& type : test::all_modules().all()) {
        CAPTURE(type.type);
        const Completed at(fmt::format(R"({{ "{}": [{{ "type": "{}", | }}] }})",
                                       model::name_of(type.section), type.type));
        std::set<std::string> wanted{"name"}, found;
        for (const model::Field& f : type.fields) wanted.insert(f.key);
        if (type.section == model::Section::objective) wanted.insert({"weight", "at"});
        for (const Suggestion& s : at.list) found.insert(s.label);
        CHECK(found == wanted);
        // Required ones first.
        bool optional = false;
        for (const Suggestion& s : at.list) {
            const auto field = std::ranges::find(type.fields, s.label, &model::Field::key);
            const bool required = field != type.fields.end() && field->fallback_json.empty();
            CHECK(s.required == required);
            CHECK_FALSE((optional && required));
            optional |= !required;
            if (field == type.fields.end()) continue;
            CHECK(s.documentation.starts_with(field->documentation));
            if (!field->unit_text.empty())
                CHECK(s.facts.find(field->unit_text) != std::string::npos);
        }
    }
}

TEST_CASE(
    "completion: whatever is chosen, the text reads, with that key and nothing else changed") {
    for (const char* file :
         {"spring_cage.json", "flag.json", "soft_beam.json", "wave_image.json"}) {
        CAPTURE(file);
        const std::string text = read_file(test::scene_file(file));
        const Document before = Document::parse(text);
        const TextTree tree(text);
        int tried = 0;
        for (int k = 0; k < static_cast<int>(tree.entries().size()); ++k) {
            if (tree[k].kind != TextTree::Kind::object) continue;
            for (const session::KeyHelp& key : guide().keys(tree, k)) {
                if (key.written) continue;
                const session::TextChange c = session::with_key(tree, k, key.key, source());
                std::string changed = text;
                changed.replace(c.begin, c.end - c.begin, c.text);
                const std::string pointer = tree.pointer(k) + "/" + key.key;
                CAPTURE(pointer);
                Document after = Document::parse(changed);
                REQUIRE(after.find(pointer) != nullptr);
                // What is selected is the value, or the content of a string.
                std::string selected =
                    changed.substr(c.select_begin, c.select_end - c.select_begin);
                const Node& value = after.at(pointer);
                if (value.is_string())
                    CHECK(selected == value.string());
                else if (value.levels() == 0 || value.size() > 0)
                    CHECK(Document::parse(selected).root() == value);
                after.erase(pointer);
                CHECK(after == before);
                ++tried;
            }
        }
        CHECK(tried > 20);
    }
}

TEST_CASE("completion: keys insert a quote, a colon, a value and the commas around them") {
    const std::string head = R"("forces": [{ "type": "springs", "connect": {"chain": "ball"})";
    CHECK(Completed(scene(head + ", | }]")).with("stiffness") ==
          scene(head + ", \"stiffness\": <1> }]"));
    CHECK(Completed(scene(head + " | }]")).with("stiffness") ==
          scene(head + ", \"stiffness\": <1> }]"));
    CHECK(Completed(scene(head + ", \"sti|\" }]")).with("stiffness") ==
          scene(head + ", \"stiffness\": <1> }]"));
    CHECK(Completed(scene(head + ", \"sti| }]")).with("stiffness") ==
          scene(head + ", \"stiffness\": <1> }]"));
    CHECK(Completed(scene(head + ", sti| }]")).with("stiffness") ==
          scene(head + ", \"stiffness\": <1> }]"));
    // Before another member, and of a key that has a value.
    CHECK(Completed(scene(head + ",\n | \"damping\": 1 }]")).with("rest_length") ==
          scene(head + ",\n \"rest_length\": \"<initial>\", \"damping\": 1 }]"));
    CHECK(Completed(scene(head + ", \"st|\": 7 }]")).with("stiffness") ==
          scene(head + ", \"stiffness\"<>: 7 }]"));
    // The comma goes to the value, not behind its comment.
    CHECK(Completed("{ \"name\": \"x\"  // a note\n  | }").with("format") ==
          "{ \"name\": \"x\",  // a note\n  \"format\": <1> }");
    CHECK(Completed("{|}").with("format") == "{\"format\": <1>}");
    CHECK(Completed("{ \"format\": 1, \"ti|\" }").with("time") ==
          "{ \"format\": 1, \"time\": <{ \"step\": 1, \"steps\": 1 }> }");
    // What is written is not offered again, and what is typed narrows the list.
    CHECK(Completed(scene(head + ", \"stiffness\": 1, | }]")).find("stiffness") == nullptr);
    CHECK(Completed(scene(head + ", \"da|\" }]")).labels() == "damping");
    CHECK(Completed(scene(head + ", \"length|\" }]")).labels() == "length_offset rest_length");
    CHECK(Completed("{ \"format\": 1, // ti|\n }").list.empty());
    CHECK(Completed("{ \"nothing\": { | } }").list.empty());
}

TEST_CASE("completion: words of choices, types, names, paths and files") {
    CHECK(Completed(scene(R"("up": "|")")).labels() == "z y");
    CHECK(Completed(scene(R"("up": |)")).with("y") == scene(R"("up": "y"<>)"));
    CHECK(Completed(scene(R"("forces": [{"type": "springs", "acts": "pu|"}])")).labels() ==
          "pull push");
    CHECK(Completed(scene(R"("bodies": [{"type": "particles", "fixed": tr|}])")).labels() ==
          "true");
    CHECK(Completed(scene(R"("up": "|")")).list[0].documentation == "the axis that points upwards");
    const Completed types(scene(R"("forces": [{"type": "|"}])"));
    std::string all;
    for (const std::string& type : test::all_modules().types(model::Section::forces))
        all += (all.empty() ? "" : " ") + type;
    CHECK(types.labels() == all);
    CHECK(types.find("springs")->documentation ==
          test::all_modules().find(model::Section::forces, "springs")->documentation);
    // Without a type nothing else is known of an object.
    CHECK(Completed(scene(R"("forces": [{ | }])")).labels() == "type");
    // Bodies, also those without a name, by the name that they go by.
    CHECK(Completed(scene(R"("objective": [{"type": "point_target", "of": "|"}])")).labels() ==
          "ball particles_1");
    CHECK(Completed(scene(R"("forces": [{"type": "springs", "connect": [["|", 0, "ball", 0]]}])"))
              .labels() == "ball particles_1");
    CHECK(Completed(scene(R"("forces": [{"type": "springs", "connect": {"chain": "b|"}}])"))
              .labels() == "ball");
    CHECK(Completed(scene(R"("objective": [{"type": "point_target", |}])")).with("of") ==
          scene(R"("objective": [{"type": "point_target", "of": "<ball>"}])"));
    // Numbers with a gradient; also what only the built scene knows.
    const Completed paths(scene(R"("parameters": [{"path": "|"}])"));
    CHECK(paths.find("ball.velocity") != nullptr);
    CHECK(paths.find("particles_1.mass") != nullptr);
    CHECK(paths.find("gravity") != nullptr);
    CHECK(paths.find("robot.body_mass") != nullptr);
    CHECK(paths.find("ball.fixed") == nullptr);  // no number
    CHECK(paths.find("ball.mass") == nullptr);   // not written
    CHECK(Completed(scene(R"("parameters": [|])")).with("ball.velocity") ==
          scene("\"parameters\": [{ \"path\": \"ball.velocity\" }<>]"));
    CHECK(Completed(scene(R"("view": {"color_by": "|"})")).labels() == "speed stress");
    CHECK(Completed(scene(R"("view": {"arrows": "|"})")).labels() == "velocity");
    CHECK(Completed(scene(R"("parameters": [{"path": "gravity", "group": "g"}],
        "optimizer": {"type": "adam", "groups": {|}})"))
              .labels() == "g");

    const test::TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "data/.hidden");
    for (const char* name :
         {"a.npy", "data/b.npy", "data/.hidden/c.npy", "table.csv", "robot.xml", "x.cpp"})
        std::ofstream(folder.path() / name) << "x";
    CHECK(Completed(scene(R"("bodies": [{"type": "particles", "positions": {"file": "|"}}])"),
                    folder.path())
              .labels() == "a.npy data/b.npy");
    CHECK(Completed(scene(R"("bodies": [{"type": "articulated", "model": "|"}])"), folder.path())
              .labels() == "robot.xml");
}

TEST_CASE("completion: objects and generators") {
    const Completed forces(scene(R"("forces": [ | ])"));
    REQUIRE(forces.find("springs") != nullptr);
    const std::string with = forces.with("springs");
    CHECK(with.find("{ \"type\": \"springs\", \"name\": \"<springs>\", \"connect\": ") !=
          std::string::npos);
    // Names are new ones.
    CHECK(Completed(scene(R"("forces": [{"type": "springs", "name": "springs"}, |])"))
              .with("springs")
              .find("\"<springs_2>\"") != std::string::npos);
    for (const model::ModuleType& type : test::all_modules().all()) {
        CAPTURE(type.type);
        const Completed at(
            fmt::format(R"({{ {},  "{}": [|] }})", "\"format\": 1", model::name_of(type.section)));
        const Suggestion* s = at.find(type.type);
        REQUIRE(s != nullptr);
        const Document made = Document::parse(s->json);
        for (const model::Field& f : type.fields)
            CHECK_MESSAGE((made.root().find(f.key) != nullptr) == f.fallback_json.empty(), f.key);
    }
    const Completed value(scene(R"("bodies": [{"type": "particles", "positions": | }])"));
    CHECK(value.find("grid") != nullptr);
    // Positions say how many points there are, which a formula cannot.
    CHECK(value.find("formula") == nullptr);
    const Completed velocity(scene(R"("bodies": [{"type": "particles", "velocity": | }])"));
    CHECK(velocity.with("formula").find("\"velocity\": { \"formula\": ") != std::string::npos);
    // In two dimensions vectors have two components.
    CHECK(Completed("{ \"dimension\": 2, | }").with("gravity") ==
          "{ \"dimension\": 2, \"gravity\": <[0, 0]> }");
    CHECK(Completed("{ | }").with("gravity") == "{ \"gravity\": <[0, 0, 0]> }");
    // A generator has one key.
    CHECK(Completed(scene(R"("bodies": [{"type": "particles", "velocity": {"formula": "x", |} }])"))
              .list.empty());
    CHECK(
        Completed(
            scene(
                R"("bodies": [{"type": "particles", "positions": {"grid": {"counts": [2], |}} }])"))
            .labels() == "spacing origin center");
}

TEST_CASE("completion: keys that depend on the chosen type of an optimizer") {
    const Completed at(scene(R"("optimizer": {"type": "adam", |})"));
    CHECK(at.find("rate") != nullptr);
    CHECK(at.find("type") == nullptr);
    const Document schema = scene_schema(test::all_modules());
    const Node* const methods = schema.find("/properties/optimizer/properties/type/enum");
    REQUIRE(methods != nullptr);
    CHECK(Completed(scene(R"("optimizer": {"type": "|"})")).list.size() == methods->size());
}

TEST_CASE("completion: what a line of help says") {
    const std::string text =
        scene(R"("forces": [{"type": "springs", "stiffness": [1, 2], "x": 1}])");
    const TextTree tree(text);
    const session::KeyHelp help = guide().help(tree, tree.find("/forces/0/stiffness/1"));
    CHECK(help.key == "stiffness");
    CHECK(help.required);
    CHECK(help.facts == "number or list or generator, N/m, >= 0, differentiable, required");
    const model::ModuleType* springs = test::all_modules().find(model::Section::forces, "springs");
    CHECK(guide().help(tree, tree.find("/forces/0/type")).documentation == springs->documentation);
    CHECK(guide().help(tree, tree.find("/forces/0")).key == "springs");
    CHECK(guide().help(tree, tree.find("/forces/0")).documentation == springs->documentation);
    CHECK(guide().help(tree, tree.find("/time/step")).documentation == "length of a step (s)");
    CHECK(guide().help(tree, tree.find("/forces/0/x")).key.empty());
    CHECK(guide().help(tree, TextTree::root).key.empty());
}
