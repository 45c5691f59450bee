// Numbers that are edited in a scene that runs: set in the running simulation where a build would
// only upload them, with the bits of a scene that is opened with them; built anew elsewhere.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>

#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace session;
using document::Document;
using document::Node;
using test::OpenScene;

namespace {

class NoForce final : public model::Instance {
public:
    void build(model::Model&) override {}
};

// All modules and a force without effect, which counts how often its scene is built by the thread
// that builds it first, that of the session. Builds that look for warnings in the background are
// not counted: nothing waits for them.
class CountingRegistry {
public:
    CountingRegistry() {
        register_all_modules(registry_);
        registry_.add({model::Section::forces,
                       "counted",
                       "Counted",
                       "No force; counts builds.",
                       {},
                       [this](std::shared_ptr<model::Settings>) {
                           if (builds_ == 0) thread_ = std::this_thread::get_id();
                           if (thread_ == std::this_thread::get_id()) ++builds_;
                           return std::make_unique<NoForce>();
                       }});
    }
    const Registry& registry() const { return registry_; }
    int builds() const { return builds_; }

private:
    Registry registry_;
    std::atomic<int> builds_ = 0;
    std::thread::id thread_;  // written before the first session runs
};

struct Edit {
    std::string scene, pointer, value;
    int builds = 0;                                    // that it takes
    std::string first_pointer = {}, first_value = {};  // set in the scene before
};

// A copy of a bundled scene with that force.
std::filesystem::path counted_scene(const test::TemporaryFolder& folder, const Edit& edit) {
    Document document = Document::load(test::scene_file(edit.scene));
    const Node force = Document::parse(R"({"type": "counted", "name": "counted"})", "force").root();
    if (document.find("/forces") == nullptr) document.set("/forces", Node::array());
    document.set("/forces/-", force);
    if (!edit.first_pointer.empty())
        document.set(edit.first_pointer, Document::parse(edit.first_value, "first").root());
    std::ofstream(folder.path() / edit.scene) << document.to_text();
    return folder.path() / edit.scene;
}

struct Shown {
    std::shared_ptr<const Snapshot> snapshot;
    std::vector<std::vector<double>> frames;
};

// What the window is told of the whole run: its end, and frames of all channels.
Shown all_of(OpenScene& scene) {
    Shown all{scene.wait_complete(), {}};
    for (const std::int64_t step : {std::int64_t{0}, all.snapshot->run.steps}) {
        scene.session.send(Seek{step});
        const render::Frame frame = scene.frame_at(step);
        for (const render::Channel& channel : scene.exchange->stage().channels)
            all.frames.push_back(scene.exchange->read(frame, channel.name));
        for (const std::vector<double>& numbers : frame.numbers) all.frames.push_back(numbers);
    }
    return all;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(
        a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

void check_same(const Shown& a, const Shown& b) {
    CHECK((a.snapshot->run.loss == b.snapshot->run.loss ||
           (std::isnan(a.snapshot->run.loss) && std::isnan(b.snapshot->run.loss))));
    CHECK(*a.snapshot->values.flat == *b.snapshot->values.flat);
    REQUIRE((a.snapshot->values.gradient != nullptr) == (b.snapshot->values.gradient != nullptr));
    if (a.snapshot->values.gradient)
        CHECK(*a.snapshot->values.gradient == *b.snapshot->values.gradient);
    REQUIRE(a.frames.size() == b.frames.size());
    for (std::size_t k = 0; k < a.frames.size(); ++k) CHECK(same_bits(a.frames[k], b.frames[k]));
}

void check_edit(const Edit& edit) {
    CAPTURE(edit.scene);
    CAPTURE(edit.pointer);
    const test::TemporaryFolder folder;
    const std::filesystem::path file = counted_scene(folder, edit);
    CountingRegistry counted;
    OpenScene scene(file, OpenScene::options(std::int64_t{256} << 20), counted.registry());
    const Shown before = all_of(scene);
    const Document original = *scene.document;
    Document changed = original;
    changed.set(edit.pointer, Document::parse(edit.value, "edit").root());

    const int builds = counted.builds();
    REQUIRE_FALSE(scene.apply(changed)->reports.error);
    const Shown edited = all_of(scene);
    CHECK(counted.builds() - builds == edit.builds);
    CHECK(edited.snapshot->run.loss != before.snapshot->run.loss);

    const int rebuilds = counted.builds();
    REQUIRE_FALSE(scene.apply(original)->reports.error);  // as undo does
    check_same(all_of(scene), before);
    CHECK(counted.builds() - rebuilds == edit.builds);

    std::ofstream(file) << changed.to_text();
    OpenScene opened(file, OpenScene::options(std::int64_t{256} << 20), counted.registry());
    check_same(edited, all_of(opened));
}

}  // namespace

TEST_CASE("session: an edited number has the bits of a scene opened with it, and takes no build") {
    check_edit({"spring_cage.json", "/forces/0/stiffness", "120", 0});
    check_edit({"spring_cage.json", "/objective/0/target/0", "0.5", 0});
    check_edit({"soft_beam.json", "/bodies/0/young_modulus", "250000", 0});  // a parameter
    if (!test::has_cpu_device()) return;
    check_edit({"mpm_launch.json", "/bodies/0/velocity", "[0.25, 1]", 0});
    check_edit({"wave_image.json", "/bodies/0/speed", "300", 0, "/bodies/0/level_0", "0.125"});
    check_edit({"wave_image.json", "/bodies/0/level_0", "0.125", 0});  // a parameter per element
}

TEST_CASE("session: an edit of what other values were made from builds the scene") {
    check_edit({"spring_cage.json", "/bodies/0/positions/0/0", "0.1", 1});
    check_edit({"spring_cage.json", "/forces/0/rest_length", R"({"initial": 1.1})", 1});
    if (!test::has_cpu_device()) return;
    check_edit({"mpm_launch.json", "/bodies/0/positions/grid/origin/0", "0.09", 1});
    check_edit({"wave_image.json", "/objective/0/target/formula",
                R"json("exp(-((256*x-100)^2+(256*y-128)^2)/800)")json", 1});
}

TEST_CASE("session: a number that is dragged is seen while it is dragged") {
    OpenScene scene(test::scene_file("soft_beam.json"));
    scene.wait_complete();
    scene.session.send(Seek{300});
    scene.frame_at(300);
    // Faster than the runs that are asked for: edits wait for the run of the one before.
    constexpr int edits = 200;
    std::set<double> seen;
    Document changed = *scene.document;
    for (int k = 1; k <= edits; ++k) {
        changed.set("/forces/0/rate", 2 + 0.01 * k);
        scene.document = std::make_shared<const Document>(changed);
        scene.session.send(Apply{scene.document, ++scene.revision, scene.file, false});
        ::usleep(5000);
        const auto snapshot = scene.session.snapshot();  // kept while it is read
        for (const QuantityInfo& q : snapshot->values.quantities)
            if (q.path == "air.rate") seen.insert(q.values.front());
    }
    scene.wait([&](const Snapshot& s) {
        return s.handover.revision == scene.revision && s.run.steps_computed == s.run.steps;
    });
    CHECK(seen.size() > 2);  // besides the first one
}
