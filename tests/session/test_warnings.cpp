// What a session warns of: as found when a scene is built and while it runs, gone when the scene is
// mended; and the pairs of objects that can touch.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/base/files.hpp"
#include "engine/model/warnings/warning.hpp"
#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/warnings/warning_scenes.hpp"

using namespace hindcast;
using document::Document;
using document::Node;
using session::Snapshot;
using test::balls;
using test::OpenScene;
using test::oscillator;

namespace {

struct File {
    explicit File(const char* text) { write_file_atomically(folder / "scene.json", text); }
    test::TemporaryFolder folder;
};

const Warning* find(const Snapshot& s, const std::string& identifier) {
    if (!s.scene.warnings) return nullptr;
    const auto found = std::ranges::find(*s.scene.warnings, identifier, &Warning::identifier);
    return found == s.scene.warnings->end() ? nullptr : &*found;
}

std::size_t logged(const Snapshot& s, const std::string& identifier) {
    return static_cast<std::size_t>(std::ranges::count_if(*s.reports.log, [&](const auto& line) {
        return line.level == session::LogLine::Level::warning &&
               line.text.ends_with("[" + identifier + "]");
    }));
}

}  // namespace

TEST_CASE("session warnings: found at load and while it runs, told once, accepted by the scene") {
    const File file(balls);
    OpenScene open(file.folder / "scene.json");
    const auto s = open.wait([](const Snapshot& now) { return find(now, "bodies_overlap"); });
    REQUIRE(find(*s, "contact_pairs") != nullptr);
    CHECK(s->scene.warnings->size() == 2);
    // Rounding may cost one step.
    CHECK(std::abs(find(*s, "bodies_overlap")->step - 80) <= 1);
    CHECK(find(*s, "bodies_overlap")->pointer == "/bodies/0");
    REQUIRE(s->scene.pairs);
    REQUIRE(s->scene.pairs->size() == 1);
    CHECK(s->scene.pairs->front().a == "left");
    CHECK(s->scene.pairs->front().b == "right");
    CHECK(s->scene.pairs->front().b_pointer == "/bodies/1");
    CHECK(s->scene.pairs->front().law.empty());
    CHECK(logged(*s, "contact_pairs") == 1);
    CHECK(logged(*s, "bodies_overlap") == 1);
    // Run again it says nothing new.
    open.session.send(session::Reset{});
    CHECK(logged(*open.wait_complete(), "bodies_overlap") == 1);

    Document accepted = *open.document;
    accepted.set("/accepted_warnings", Node::array({Node("contact_pairs")}));
    open.apply(accepted);
    const auto quiet = open.wait_complete();
    REQUIRE(quiet->scene.warnings);
    CHECK(quiet->scene.warnings->empty());
    Document meant = *open.document;
    meant.erase("/accepted_warnings");
    meant.set("/contact", Document::parse(R"({"exceptions": [["left", "right"]]})").root());
    open.apply(meant);
    const auto excepted = open.wait_complete();
    CHECK(excepted->scene.warnings->empty());
    CHECK(excepted->scene.pairs->front().is_exception);
    Document guarded = *open.document;
    guarded.erase("/contact");
    guarded.set("/colliders", Document::parse(R"([{"type": "particle_contact"}])").root());
    open.apply(guarded);
    const auto law = open.wait_complete();
    CHECK(law->scene.warnings->empty());
    CHECK_FALSE(law->scene.pairs->front().law.empty());
}

TEST_CASE("session warnings: numbers set in place make them and mend them") {
    const File file(oscillator);
    OpenScene open(file.folder / "scene.json");
    CHECK(open.wait_complete()->scene.warnings->empty());
    const auto with_stiffness = [&](int stiffness) {
        Document changed = *open.document;
        changed.set("/forces/0/stiffness", stiffness);
        open.apply(changed);
    };
    // omega = 25/s: the limit is .08 s. The number is set in the simulation that runs; a build in
    // the background finds it.
    with_stiffness(625);
    const auto s = open.wait([](const Snapshot& now) { return find(now, "time_step"); });
    REQUIRE(find(*s, "time_step") != nullptr);
    CHECK(find(*s, "time_step")->pointer == "/forces/0");
    with_stiffness(300);
    CHECK(open.wait_complete()->scene.warnings->empty());
    with_stiffness(625);
    REQUIRE(find(*open.wait([](const Snapshot& now) { return find(now, "time_step"); }),
                 "time_step") != nullptr);
    // Another scene has its own.
    open.apply(Document::parse(balls), true);
    CHECK(find(*open.wait([](const Snapshot& now) { return find(now, "contact_pairs"); }),
               "time_step") == nullptr);
}
