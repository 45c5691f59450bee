// Checkpoints in a session: kept from what is shown, used as one step of undo, without a new build
// and without stopping what runs; and the edits of their list.
#include <doctest/doctest.h>

#include <cmath>

#include "app/session/document/checkpoints.hpp"
#include "tests/session/support.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace session;
using document::Document;
using document::Node;
using test::message;
using test::OpenScene;

namespace {

// What a KeepValues of these parameters comes to.
Node kept(OpenScene& scene, std::uint64_t number,
          const std::shared_ptr<const std::vector<double>>& parameters, std::int64_t build) {
    scene.session.send(KeepValues{number, parameters, build, {}, {}});
    return scene
        .wait([&](const Snapshot& s) {
            return s.handover.kept_values && s.handover.kept_values->number == number;
        })
        ->handover.kept_values->values;
}

// The document that answers a UseValues.
std::shared_ptr<const Snapshot> used(OpenScene& scene, std::uint64_t number, const Node& values,
                                     bool any_number = false) {
    scene.session.send(
        UseValues{number, "Show it", std::make_shared<const Node>(values), any_number});
    return scene.wait(
        [&](const Snapshot& s) { return s.handover.answer && s.handover.answer_to == number; });
}

}  // namespace

TEST_CASE("session: checkpoints are kept while it optimizes, and shown without a new build") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto before = scene.wait_complete();
    const auto ended = scene.optimize();
    const auto& rows = *ended->optimization.history;
    REQUIRE(rows.size() > 10);
    const Node values = kept(scene, 1, rows[5].parameters, ended->scene.build);
    REQUIRE(values.find("cage.rest_length") != nullptr);
    for (std::size_t k = 0; k < 8; ++k)
        CHECK(values.find("cage.rest_length")->item(k).real() == (*rows[5].parameters)[k]);

    // The document has it; nothing is built, and the parameters that were found stay.
    const Document with = with_checkpoint(*scene.document, "fifth", values, rows[5].loss);
    const auto applied = scene.apply(with);
    CHECK_FALSE(applied->reports.error);
    CHECK(applied->scene.build == ended->scene.build);
    CHECK(applied->scene.stage == before->scene.stage);
    CHECK(applied->optimization.unaccepted);
    CHECK(applied->optimization.history->size() == rows.size());

    const auto answer = used(scene, 2, values);
    CHECK(answer->handover.answer_name == "Show it");
    const auto shown = scene.apply(*answer->handover.answer);
    CHECK(shown->scene.build == ended->scene.build);
    const auto runs = scene.wait([&](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.run.loss == rows[5].loss &&
               !s.optimization.unaccepted;
    });
    CHECK(*runs->values.flat == *rows[5].parameters);
    CHECK(runs->optimization.history->size() == rows.size());
}

TEST_CASE("session: showing what the scene has already takes what was found back") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto before = scene.wait_complete();
    const std::vector<double> written = *before->values.flat;
    const Node values = kept(scene, 1, before->values.flat, before->scene.build);
    const auto ended = scene.optimize();
    CHECK(ended->optimization.unaccepted);
    const auto answer = used(scene, 2, values);
    // The document stays as it is, so nothing is applied.
    CHECK(*answer->handover.answer == *scene.document);
    const auto shown = scene.wait([&](const Snapshot& s) {
        return s.reports.activity == Activity::idle && s.run.steps_computed == s.run.steps &&
               *s.values.flat == written;
    });
    CHECK(shown->run.loss == before->run.loss);
    CHECK_FALSE(shown->optimization.unaccepted);
}

TEST_CASE("session: an optimization that runs goes on from what is shown") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    Document changed = *scene.document;
    changed.set("/optimizer/iterations", 1000000);
    changed.set("/optimizer/rate", 1e-6);  // so that it stays where it is put
    scene.apply(changed);
    scene.session.send(Optimize{Optimize::What::start});
    scene.wait([](const Snapshot& s) {
        return s.optimization.history && s.optimization.history->size() > 5;
    });
    const Node values = Document::parse(R"({"cage.rest_length": [2, 2, 2, 2, 2, 2, 2, 2]})").root();
    const auto answer = used(scene, 1, values);
    scene.apply(*answer->handover.answer);
    const auto on = scene.wait([](const Snapshot& s) {
        return s.reports.activity == Activity::optimizing &&
               (*s.optimization.history->back().parameters)[0] > 1.9;
    });
    CHECK_FALSE(on->reports.error);
    scene.session.send(Optimize{Optimize::What::stop});
}

TEST_CASE("session: values that do not fit are one error, and nothing changes") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    const auto before = scene.wait_complete();
    scene.session.send(UseValues{
        1, "Show it",
        std::make_shared<const Node>(Document::parse(R"({"cage.damping": 3})").root()), false});
    const auto refused = scene.wait([](const Snapshot& s) { return s.reports.error != nullptr; });
    CHECK(std::string(refused->reports.error->what())
              .find("'cage.damping' is no parameter of this scene") != std::string::npos);
    CHECK_FALSE(refused->handover.answer);
    CHECK(*refused->values.flat == *before->values.flat);
    // A row of a batch may set it.
    const auto answer = used(
        scene, 2, Document::parse(R"({"cage.damping": 3, "cage.rest_length": 2})").root(), true);
    CHECK(document::to_line(answer->handover.answer->at("/forces/0/damping")) == "3.0");
    CHECK(answer->handover.answer->at("/forces/0/rest_length").size() == 8);
    // Parameters of a scene before an edit.
    scene.session.send(KeepValues{3, before->values.flat, before->scene.build + 1, {}, {}});
    scene.wait([](const Snapshot& s) {
        return s.reports.error &&
               s.reports.error->happened().find("before an edit") != std::string::npos;
    });
}

TEST_CASE("checkpoints: the list is edited step by step, each of which can be undone") {
    Editor editor(test::all_modules());
    editor.open(test::scene_file("spring_cage.json"));
    const std::string before = editor.text();
    const auto values = [](double stiffness) {
        return Node::object({{"cage.stiffness", stiffness}});
    };
    CHECK(checkpoints_of(*editor.document()).empty());
    CHECK(unused_checkpoint_name(*editor.document(), "soft") == "soft");
    editor.replace(with_checkpoint(*editor.document(), "soft", values(50), 0.125), "Keep soft");
    editor.replace(with_checkpoint(*editor.document(), "hard", values(500), std::nan("")),
                   "Keep hard");
    auto list = checkpoints_of(*editor.document());
    REQUIRE(list.size() == 2);
    CHECK(list[0].name == "soft");
    CHECK(list[0].loss == 0.125);
    CHECK(list[0].numbers == 1);
    CHECK_FALSE(list[1].loss);
    CHECK(unused_checkpoint_name(*editor.document(), "soft") == "soft 2");
    // In place.
    editor.replace(with_checkpoint(*editor.document(), "soft", values(60), 0.25), "Update soft");
    list = checkpoints_of(*editor.document());
    REQUIRE(list.size() == 2);
    CHECK(list[0].loss == 0.25);
    CHECK(editor.document()->at("/checkpoints/0/values/cage.stiffness").real() == 60);
    editor.replace(with_checkpoint_renamed(*editor.document(), "soft", "mild"), "Rename");
    CHECK(checkpoints_of(*editor.document())[0].name == "mild");
    CHECK(message([&] {
              with_checkpoint_renamed(*editor.document(), "mild", "hard");
          }).find("there is a checkpoint 'hard'") != std::string::npos);
    CHECK(message([&] { with_checkpoint_renamed(*editor.document(), "mild", ""); }) != "no error");
    CHECK(message([&] {
              without_checkpoint(*editor.document(), "soft");
          }).find("it has: mild, hard") != std::string::npos);
    // The object that they are of gets another name.
    editor.rename("/forces/0", "net");
    CHECK(editor.document()->find("/checkpoints/0/values/net.stiffness") != nullptr);
    CHECK(editor.document()->find("/checkpoints/1/values/net.stiffness") != nullptr);
    Scene::of(*editor.document(), editor.file());
    editor.replace(without_checkpoint(*editor.document(), "mild"), "Delete");
    editor.replace(without_checkpoint(*editor.document(), "hard"), "Delete");
    CHECK(editor.document()->find("/checkpoints") == nullptr);
    while (editor.can_undo()) editor.undo();
    CHECK(editor.text() == before);
}
