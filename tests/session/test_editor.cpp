// The edited document: undo, objects of sections, parameters and groups, numbers with units.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "app/session/document/add_object_task.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/session/support.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/module_coverage.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace session;
using document::Document;
using document::Node;
using model::Section;

namespace {

std::shared_ptr<Simulation> built(const Editor& editor) {
    return std::make_shared<Simulation>(Scene::of(*editor.document(), editor.file()),
                                        test::all_modules(),
                                        test::OpenScene::options(0).simulation);
}

std::string text_at(const Editor& editor, const std::string& pointer) {
    return document::to_line(editor.document()->at(pointer));
}

}  // namespace

TEST_CASE("editor: edits are undone and redone by name; a drag is one step") {
    Editor editor(test::all_modules());
    CHECK_FALSE(editor.has_scene());
    editor.open(test::scene_file("spring_cage.json"));
    const std::string before = editor.document()->to_text();
    const std::uint64_t revision = editor.revision();
    CHECK_FALSE(editor.unsaved());
    for (const int k : {101, 110, 120})
        editor.set("/forces/0/stiffness", k, "Stiffness of cage", "drag");
    editor.end_merge();
    editor.set("/forces/0/stiffness", 130, "Stiffness of cage", "drag");
    editor.set("/gravity/2", -1.62, "Gravity");
    CHECK(editor.revision() > revision);
    CHECK(editor.unsaved());
    CHECK(editor.undo_names() ==
          std::vector<std::string>{"Gravity", "Stiffness of cage", "Stiffness of cage"});
    editor.undo();
    CHECK(editor.redo_name() == "Gravity");
    CHECK(text_at(editor, "/gravity/2") == "-9.81");
    editor.undo();
    CHECK(text_at(editor, "/forces/0/stiffness") == "120");
    editor.undo();
    CHECK(editor.document()->to_text() == before);
    CHECK_FALSE(editor.unsaved());
    CHECK_FALSE(editor.can_undo());
    editor.redo();
    CHECK(text_at(editor, "/forces/0/stiffness") == "120");
    editor.set("/forces/0/damping", 1, "Damping of cage");
    CHECK_FALSE(editor.can_redo());

    // A failed edit changes nothing; an edit that says what stands there is none.
    const std::uint64_t now = editor.revision();
    CHECK_THROWS_AS(editor.set("/forces/7/damping", 1, "Damping"), Error);
    CHECK_THROWS_AS(editor.replace_text("{\"a\": }", "Text"), Error);
    editor.set("/forces/0/damping", 1, "Damping of cage");
    CHECK(editor.revision() == now);
}

TEST_CASE("editor: each registered type can be added to a scene of its dimension, which builds") {
    // What a type needs besides a new scene the coverage scenes show: two dimensions, that there are
    // no particles or an implicit integrator, where all of them are so; robots; where its own module has it, points with a radius
    // or fixed ones, and other bodies that an objective measures or a force acts on.
    std::vector<Scene> examples;
    for (const std::string& module : test::all_modules().modules())
        for (Scene& scene : test::coverage_of(module)) examples.push_back(std::move(scene));
    const auto has = [](const Scene& scene, const std::string& type) {
        return std::ranges::any_of(scene.objects(),
                                   [&](const Scene::Object& o) { return o.type == type; });
    };
    for (const model::ModuleType& type : test::all_modules().all()) {
        CAPTURE(type.type);
        bool planar = true, unmixed = true, implicit = true;
        for (const Scene& scene : examples) {
            if (!has(scene, type.type)) continue;
            planar &= scene.dimension() == 2;
            unmixed &= !has(scene, "particles");
            implicit &= scene.document().find("/time/integrator") != nullptr;
        }
        const std::vector<Scene> own = test::coverage_of(type.module);
        const auto example =
            std::ranges::find_if(own, [&](const Scene& scene) { return has(scene, type.type); });
        REQUIRE(example != own.end());
        Editor editor(test::all_modules());
        editor.make_new();
        REQUIRE_NOTHROW(built(editor));
        if (type.type == "articulated") {  // a robot is a file that people choose
            CHECK_THROWS_AS(editor.add(type.section, type.type), Error);
            continue;
        }
        if (has(*example, "articulated")) {
            // To the scene with its robot; what a person has to say the error names.
            editor.open(example->file());
            const auto document = editor.document();
            const std::string refusal = test::message([&] { editor.add(type.section, type.type); });
            CAPTURE(refusal);
            if (refusal == "no error")
                CHECK_NOTHROW(built(editor));
            else {
                CHECK(refusal.starts_with("'" + type.type + "'"));
                CHECK(editor.document() == document);
            }
            continue;
        }
        if (planar) {
            Document flat = *editor.document();
            flat.set("/dimension", 2);
            flat.set("/gravity", Node::array({Node(0), Node(-9.81)}));
            flat.set("/bodies/0/positions",
                     Document::parse("[[0.2, 0.2], [0.3, 0.2], [0.2, 0.3]]").root());
            flat.set("/bodies/0/velocity", Node::array({Node(0), Node(0)}));
            flat.set("/objective/0/target", Node::array({Node(1), Node(1)}));
            editor.replace(std::move(flat), "Flat");
        } else {
            editor.set("/bodies/0/positions",
                       Document::parse("[[0, 0, 1], [1, 0, 1], [0, 1, 1]]").root(), "Points");
        }
        if (implicit) editor.set("/time/integrator", "implicit_euler", "Implicit");
        if (unmixed) {
            editor.erase("/parameters", "Parameters");
            editor.erase("/objective", "Objective");
            editor.erase("/bodies", "Bodies");
        }
        for (const Scene::Object& object : example->objects()) {
            if (object.type == "particles" && object.node->find("radius") != nullptr)
                editor.set("/bodies/0/radius", 0.1, "Radius");
            if (object.type == "particles" && type.section == Section::controllers &&
                object.node->find("fixed") != nullptr)
                editor.set("/bodies/0/fixed", Node(true), "Fixed");
            const model::ModuleType* body =
                object.section == Section::bodies && object.type != "particles"
                    ? test::all_modules().find(object.section, object.type)
                    : nullptr;
            if (body != nullptr &&
                (type.section == Section::objective ||
                 (type.section == Section::forces && unmixed && body->module != type.module)))
                editor.add(object.section, object.type);
        }
        std::string pointer, message;
        try {
            pointer = editor.add(type.section, type.type);
        } catch (const Error& error) {
            message = error.what();
        }
        CAPTURE(message);
        REQUIRE_FALSE(pointer.empty());
        CHECK(text_at(editor, pointer + "/type") == "\"" + type.type + "\"");
        CHECK_NOTHROW(built(editor));
        const std::string again = editor.duplicate(pointer);
        const std::string refusal = test::message([&] { built(editor); });
        if (refusal.find("a scene has one") != std::string::npos) continue;
        CHECK(refusal == "no error");
        CHECK(text_at(editor, again + "/name") == "\"" + type.type + "_2\"");
    }
}

TEST_CASE("editor: what cannot be added says what it needs, and changes nothing") {
    Editor editor(test::all_modules());
    editor.make_new();
    const auto document = editor.document();
    try {
        editor.add(Section::bodies, "waves");
        FAIL("waves need two dimensions");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("dimension") != std::string::npos);
    }
    CHECK(editor.document() == document);
    CHECK_THROWS_AS(editor.add(Section::forces, "magic"), Error);
}

TEST_CASE("editor: a new name goes to all that refers to the old one") {
    Editor editor(test::all_modules());
    editor.open(test::scene_file("spring_cage.json"));
    editor.set("/parameters/-", Node::object({{"path", "ball.velocity"}}), "Parameter");
    CHECK(editor.references_to("ball") ==
          std::vector<std::string>{"cage.connect", "target.of", "parameters: ball.velocity"});
    editor.rename("/bodies/0", "stone");
    CHECK(text_at(editor, "/bodies/0/name") == "\"stone\"");
    CHECK(text_at(editor, "/forces/0/connect/3") == R"(["stone", 0, "anchors", 3])");
    CHECK(text_at(editor, "/objective/0/of") == "\"stone\"");
    CHECK(text_at(editor, "/parameters/1/path") == "\"stone.velocity\"");
    CHECK_NOTHROW(built(editor));
    editor.rename("/forces/0", "net");
    CHECK(text_at(editor, "/parameters/0/path") == "\"net.rest_length\"");
    CHECK_NOTHROW(built(editor));
    CHECK(editor.undo_name() == "Rename cage to net");
    CHECK_THROWS_AS(editor.rename("/bodies/0", "anchors"), Error);  // taken
    CHECK_THROWS_AS(editor.rename("/bodies/0", "a.b"), Error);
    CHECK(text_at(editor, "/bodies/0/name") == "\"stone\"");
}

TEST_CASE("editor: numbers are optimized, and not") {
    Editor editor(test::all_modules());
    editor.make_new();
    CHECK(editor.is_optimized("ball.velocity"));
    editor.set_optimized("ball.velocity", false);
    CHECK_FALSE(editor.is_optimized("ball.velocity"));
    editor.set_optimized("ball.positions", true);
    CHECK(editor.is_optimized("ball.positions"));
    CHECK(built(editor)->parameters().size() == 3);
}

TEST_CASE("editor: a number that is optimized is reset to its default") {
    Editor editor(test::all_modules());
    editor.open(test::scene_file("spring_cage.json"));
    const auto builds = [&] {
        std::map<std::string, std::vector<double>> numbers;
        const auto simulation = built(editor);
        for (const auto& [path, q] : simulation->model().quantities()) numbers[path] = q->values;
        return numbers;
    };
    // What is optimized gets its default written out, since springs are damped only where that is
    // written; what is not is taken out.
    editor.set_optimized("cage.damping", true);
    const auto before = editor.document();
    editor.reset("/forces/0/damping");
    CHECK(builds().at("cage.damping") == std::vector<double>{0});
    CHECK(editor.is_optimized("cage.damping"));
    CHECK(editor.undo_name() == "Reset cage.damping");
    editor.undo();
    CHECK(*editor.document() == *before);
    CHECK(builds().at("cage.damping") == std::vector<double>{10});
    editor.set_optimized("cage.damping", false);
    editor.reset("/forces/0/damping");
    CHECK(editor.document()->find("/forces/0/damping") == nullptr);
    CHECK_FALSE(builds().contains("cage.damping"));
    // Without a default it is no number of the scene: what optimizes it goes along, also an entry
    // of it, and nothing else.
    editor.set(
        "/forces/-",
        Document::parse(R"({"type": "drag", "name": "air", "linear": 1, "quadratic": 2})").root(),
        "Add air");
    editor.set_optimized("air.linear", true);
    editor.set_optimized("air.quadratic", true);
    const auto in_air = editor.document();
    editor.reset("/forces/1/linear");
    CHECK_FALSE(builds().contains("air.linear"));
    CHECK_FALSE(editor.is_optimized("air.linear"));
    CHECK(editor.is_optimized("air.quadratic"));
    CHECK(editor.is_optimized("cage.rest_length"));
    editor.undo();
    CHECK(*editor.document() == *in_air);
    CHECK(builds().contains("air.linear"));
    // With a default it stays, with that value, and is optimized on.
    editor.set("/bodies/0/velocity", Document::parse("[1, 2, 3]").root(), "Throw");
    editor.set_optimized("ball.velocity", true);
    CHECK(builds().at("ball.velocity") == std::vector<double>{1, 2, 3});
    editor.reset("/bodies/0/velocity");
    CHECK(editor.is_optimized("ball.velocity"));
    CHECK(builds().at("ball.velocity") == std::vector<double>{0, 0, 0});
    editor.set_optimized("gravity", true);
    editor.reset("/gravity");
    CHECK(editor.is_optimized("gravity"));
    CHECK(builds().contains("gravity"));
    // What an objective names is not taken away from it.
    editor.set(
        "/objective/-",
        Document::parse(R"({"type": "regularization", "name": "soft", "of": "air.linear"})").root(),
        "Add soft");
    const auto named = editor.document();
    CHECK(builds().contains("air.linear"));
    try {
        editor.reset("/forces/1/linear");
        FAIL("it was taken away");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("soft") != std::string::npos);
    }
    CHECK(editor.document() == named);
}

TEST_CASE("editor: parameters are added, restricted, duplicated and removed; a number has one") {
    Editor editor(test::all_modules());
    editor.open(test::scene_file("free_flight.json"));  // optimizes ball.velocity, of 3 components
    const auto before = editor.document();
    const auto names = [&] { return built(editor)->parameters().names(); };
    REQUIRE(names() ==
            std::vector<std::string>{"ball.velocity.x", "ball.velocity.y", "ball.velocity.z"});
    CHECK(editor.parameters_of("ball.velocity") == std::vector<std::string>{"/parameters/0"});
    // Each number belongs to one parameter, however the path names it.
    for (const char* path : {"ball.velocity", "ball.velocity.x"})
        CHECK_THROWS_AS(editor.add_parameter(path), Error);
    try {
        editor.duplicate("/parameters/0");
        FAIL("the copy has no number");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("ball.velocity") != std::string::npos);
        CHECK(error.what_to_do().find("components") != std::string::npos);
    }
    CHECK_THROWS_AS(editor.duplicate("/parameters/1"), Error);
    CHECK(editor.document() == before);

    CHECK(editor.add_parameter("ball.mass") == "/parameters/1");
    CHECK(editor.undo_name() == "Optimize ball.mass");
    CHECK(names().size() == 4);
    editor.set("/parameters/0/components", Node::array({Node("y")}), "Components");
    CHECK(editor.is_optimized("ball.velocity"));
    CHECK_THROWS_AS(editor.add_parameter("ball.velocity"), Error);
    CHECK_THROWS_AS(editor.set_parameter_path("/parameters/1", "ball.velocity.y"), Error);
    // The copy has the components that are left, beside the one that it is a copy of.
    CHECK(editor.duplicate("/parameters/0") == "/parameters/1");
    CHECK(text_at(editor, "/parameters/1/components") == "[\"x\", \"z\"]");
    CHECK(names() == std::vector<std::string>{"ball.velocity.y", "ball.velocity.x",
                                              "ball.velocity.z", "ball.mass"});
    CHECK_THROWS_AS(editor.duplicate("/parameters/1"), Error);
    editor.remove("/parameters/1");
    CHECK(editor.undo_name() == "Delete parameter");
    editor.set_parameter_path("/parameters/1", "ball.velocity.x");
    CHECK(names() == std::vector<std::string>{"ball.velocity.y", "ball.velocity.x"});
    // The lock is of the whole quantity.
    editor.set_optimized("ball.velocity", false);
    CHECK(editor.document()->at("/parameters").size() == 0);
    while (editor.can_undo()) editor.undo();
    CHECK(*editor.document() == *before);
}

TEST_CASE("editor: groups of parameters are added, filled, renamed and removed; the scene loads") {
    Editor editor(test::all_modules());
    editor.open(test::scene_file("slingshot.json"));  // bands.stiffness, ball.velocity
    const auto before = editor.document();
    const auto loads = [&] {
        const auto simulation = built(editor);
        Optimization optimization(*simulation);  // reads "optimizer", groups and all
        std::map<std::string, std::string> groups;
        for (const Parameter& p : simulation->parameters().list()) groups[p.path] = p.group;
        return groups;
    };
    const auto names = [&] {
        std::vector<std::string> list;
        for (const Editor::Group& group : editor.groups()) list.push_back(group.name);
        return list;
    };
    CHECK(names().empty());
    CHECK(editor.add_group("/parameters/0") == "/optimizer/groups/group");
    CHECK(editor.undo_name() == "Add group");
    CHECK(text_at(editor, "/optimizer/groups/group") == "{ \"rate\": 1 }");
    CHECK(loads().at("bands.stiffness") == "group");
    editor.set_group("/parameters/1", "group");
    CHECK(loads().at("ball.velocity") == "group");
    CHECK(editor.groups().at(0).parameters.size() == 2);
    for (const double rate : {0.5, 0.25}) editor.set_group_rate("group", rate, "drag");
    editor.end_merge();
    CHECK(editor.groups().at(0).rate == 0.25);
    editor.undo();
    CHECK(editor.groups().at(0).rate == 1);
    editor.redo();

    // A name with what pointers are made of.
    CHECK(editor.rename_group("group", "a/b~c") == "/optimizer/groups/a~1b~0c");
    CHECK(names() == std::vector<std::string>{"a/b~c"});
    CHECK(editor.groups().at(0).rate == 0.25);
    CHECK(loads().at("ball.velocity") == "a/b~c");
    CHECK(editor.add_group("/parameters/1") == "/optimizer/groups/group");
    CHECK_THROWS_AS(editor.rename_group("group", "a/b~c"), Error);
    CHECK_THROWS_AS(editor.rename_group("group", ""), Error);
    CHECK_THROWS_AS(editor.duplicate("/optimizer/groups/group"), Error);
    CHECK(loads().at("ball.velocity") == "group");

    // With its last parameter a factor goes too: the scene would not load with it.
    editor.remove("/parameters/1");
    CHECK(names() == std::vector<std::string>{"a/b~c"});
    CHECK_NOTHROW(loads());
    editor.undo();
    CHECK(names() == std::vector<std::string>{"a/b~c", "group"});
    editor.set_group("/parameters/1", "");
    CHECK(names() == std::vector<std::string>{"a/b~c"});
    CHECK(loads().at("ball.velocity") == "ball.velocity");
    editor.remove("/optimizer/groups/a~1b~0c");
    CHECK(editor.undo_name() == "Delete a/b~c");
    CHECK(editor.document()->find("/optimizer/groups") == nullptr);
    CHECK(editor.document()->find("/parameters/0/group") == nullptr);
    CHECK_NOTHROW(loads());

    // A factor by the path of a parameter follows that path.
    editor.set_group_rate("ball.velocity", 3);
    CHECK(names() == std::vector<std::string>{"ball.velocity"});
    editor.rename("/bodies/2", "stone");
    CHECK(names() == std::vector<std::string>{"stone.velocity"});
    editor.set_parameter_path("/parameters/1", "pouch.velocity");
    CHECK(names() == std::vector<std::string>{"pouch.velocity"});
    CHECK_NOTHROW(loads());
    editor.set_optimized("pouch.velocity", false);
    CHECK(names().empty());
    CHECK_NOTHROW(loads());

    // Without an optimizer written, the one that holds then is.
    editor.erase("/optimizer", "No optimizer");
    editor.add_group("/parameters/0");
    CHECK(text_at(editor, "/optimizer/type") == "\"lbfgs\"");
    CHECK_NOTHROW(loads());
    while (editor.can_undo()) editor.undo();
    CHECK(*editor.document() == *before);
}

TEST_CASE("editor: what is added beside the window is what add() adds") {
    Editor expected(test::all_modules());
    expected.open(test::scene_file("spring_cage.json"));
    const std::string pointer = expected.add(Section::forces, "springs");

    Editor editor(test::all_modules());
    editor.open(test::scene_file("spring_cage.json"));
    const auto wait = [](const AddObjectTask& adding) {
        for (int k = 0; k < 30'000 && !adding.ready(); ++k) ::usleep(1000);
        REQUIRE(adding.ready());
    };
    {
        AddObjectTask adding(editor, test::all_modules(), Section::forces, "springs");
        wait(adding);
        CHECK_FALSE(editor.can_undo());
        CHECK(adding.finish(editor) == pointer);
        CHECK(*editor.document() == *expected.document());
        CHECK(editor.undo_name() == "Add springs");
    }
    editor.undo();
    {  // An edit meanwhile is kept: it begins anew.
        AddObjectTask adding(editor, test::all_modules(), Section::forces, "springs");
        editor.set("/gravity/2", -2, "Gravity");
        wait(adding);
        CHECK(adding.finish(editor).empty());
        wait(adding);
        CHECK(adding.finish(editor) == pointer);
        CHECK(text_at(editor, "/gravity/2") == "-2");
    }
    {  // What cannot be added says why, and changes nothing.
        const auto document = editor.document();
        AddObjectTask adding(editor, test::all_modules(), Section::bodies, "waves");
        wait(adding);
        CHECK_THROWS_WITH_AS(adding.finish(editor), doctest::Contains("dimension"), Error);
        CHECK(editor.document() == document);
    }
    { const AddObjectTask given_up(editor, test::all_modules(), Section::forces, "springs"); }
    CHECK_THROWS_AS(AddObjectTask(editor, test::all_modules(), Section::forces, "magic"), Error);
    const Editor other(test::all_modules());
    const AddObjectTask adding(editor, test::all_modules(), Section::forces, "springs");
    CHECK(adding.is_for(editor));
    CHECK_FALSE(adding.is_for(other));
}

TEST_CASE("editor: a number is an expression with units that fit") {
    struct Row {
        const char *text, *unit;
        double value;
    };
    const Row rows[] = {
        {"2*9.81", "m/s^2", 19.62},
        {"3 cm", "m", 0.03},
        {"3cm + 2 mm", "m", 0.032},
        {"90 deg", "rad", 1.5707963267948966},
        {"180 deg", "", 3.1415926535897931},
        {"-1e-3", "", -0.001},
        {"(1 + 2)^2 / 3", "", 3},
        {"1/30", "s", 1.0 / 30},
        {"20 ms", "s", 0.02},
        {"2 min", "s", 120},
        {"5 N/m", "N/m", 5},
        {"5 kN/m", "N/m", 5000},
        {"3 N s/m", "N s/m", 3},
        {"3 N*s/m", "N s/m", 3},
        {"2 g", "kg", 0.002},
        {"1 g/cm^3", "kg/m^3", 1000},
        {"2 GPa", "Pa", 2e9},
        {"3 kPa", "Pa", 3000},
        {"72 km/(60 min)", "m/s", 20},
        {"4 Hz", "1/s", 4},
        {"sqrt(9 m^2)", "m", 3},
        {"2 J", "N m", 2},
        {"max(1 m, 50 cm)", "m", 1},
        {"sin(30 deg)", "", 0.5},
        {"2 pi rad", "rad", 6.2831853071795862},
        {"-2^2", "", -4},
        {"0.5 kg m/s^2", "N", 0.5},
    };
    for (const Row& row : rows) {
        CAPTURE(std::string(row.text));
        CHECK(number_of_input(row.text, row.unit) == doctest::Approx(row.value).epsilon(1e-14));
    }
    for (const auto& [text, unit] : {std::pair{"3 s", "m"},
                                     {"3 m", ""},
                                     {"3 m + 2", "m"},
                                     {"3 furlong", "m"},
                                     {"", "m"},
                                     {"2 +", ""},
                                     {"(2", ""},
                                     {"1/0", ""},
                                     {"2 ** 3", ""},
                                     {"sin(1 m)", ""},
                                     {"foo(2)", ""}}) {
        CAPTURE(std::string(text));
        CHECK_THROWS_AS(number_of_input(text, unit), Error);
    }
    CHECK_THROWS_AS(number_of_input(std::string(900, '('), ""), Error);
    CHECK_THROWS_AS(number_of_input(std::string(900, '-') + "1", ""), Error);
}
