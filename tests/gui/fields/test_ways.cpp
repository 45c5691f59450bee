// Other ways to write a value, as the inspector offers them, of each field of each coverage scene:
// all ways to write the numbers of a quantity give a scene that loads. Others may change how many
// points or elements there are, which something else in the scene counts: the window takes those
// back (gui fields: a way with which the scene cannot be built). The judge is the loader itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "app/session/document/fields/filling.hpp"
#include "app/session/frames/scene_info.hpp"
#include "app/session/text/scene_faults.hpp"
#include "engine/document/npy.hpp"
#include "engine/document/text.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/module_coverage.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using document::Document;
using document::Node;
using session::Form;
using session::FormKind;
namespace fs = std::filesystem;

namespace {

const session::SceneForms& forms() {
    static const session::SceneForms all(test::all_modules());
    return all;
}

// A place within a field's value, the form it has, and one that it may have instead.
using Look = std::function<void(const std::string& below, const Node& value, const Form& way)>;

std::string below_of(const std::string& below, const std::string& key) {
    return below + "/" + document::pointer_token(key);
}

// All other ways that the inspector offers within a value (of lists, within their first item).
void each_way(const Form& form, const std::string& below, const Node& value, const Look& look) {
    switch (form.kind) {
        case FormKind::alternatives: {
            const auto now = session::alternative_of(form, value);
            for (std::size_t k = 0; k < form.parts.size(); ++k)
                if (now != k) look(below, value, form.parts[k]);
            if (now) each_way(form.parts[*now], below, value, look);
            return;
        }
        case FormKind::object:
            for (std::size_t k = 0; value.is_object() && k < value.size(); ++k)
                if (const Form* const part = form.member(value.key(k)))
                    each_way(*part, below_of(below, value.key(k)), value.item(k), look);
            return;
        case FormKind::by_name:
            if (value.is_object() && value.size() > 0)
                if (const auto own = session::alternative_of(form.parts[0], value.item(0)))
                    each_way(form.parts[0].parts[*own], below_of(below, value.key(0)),
                             value.item(0), look);
            return;
        case FormKind::list:
            if (value.is_array() && value.size() > 0 && !form.is_sheet())
                each_way(form.parts[0], below + "/0", value.item(0), look);
            return;
        case FormKind::tuple:
            for (std::size_t k = 0; k < std::min(value.size(), form.parts.size()); ++k)
                each_way(form.parts[k], below + "/" + std::to_string(k), value.item(k), look);
            return;
        default: return;
    }
}

// Numbers of a distance field must be distances, whichever way they are written; a course that is
// written as rows may end before the run, and otherwise has rows up to its end.
bool has_own_rules(const std::string& pointer, const Node& old) {
    const bool rows = old.is_array() && old.size() > 0 && old.item(0).is_array();
    const bool steers = pointer.starts_with("/controllers/") &&
                        (pointer.ends_with("/values") || pointer.ends_with("/targets")),
               pushes = pointer.starts_with("/forces/") && pointer.ends_with("/force");
    return pointer.ends_with("/distances") || (rows && (steers || pushes));
}

struct Count {
    int loads = 0, asks = 0, refused = 0, taken_back = 0;
};

// A coverage scene, in a folder of its own, where files for its numbers can be written.
class Trial {
public:
    explicit Trial(const Scene& scene) : document_(scene.document()), scene_(scene) {
        const fs::path from = scene.file().parent_path();
        fs::copy(from, folder_.path(),
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
        file_ = folder_.path() / scene.file().filename();
        name_ = from.filename().string() + "/" + scene.file().filename().string();
        DeviceOptions device;
        device.kind = DeviceKind::interpreter;  // nothing runs
        device.threads = 1;
        options_.device = std::make_shared<Device>(device);
        simulation_ = session::load_scene(document_, file_, test::all_modules(), options_);
        info_ = session::make_scene_info(*simulation_);
        numbers_ = session::numbers_of(*simulation_);
        around_.dimension = scene.dimension();
        for (const Scene::Object& object : scene.objects())
            if (object.section == model::Section::bodies) around_.bodies.push_back(object.name);
    }

    void run(Count& count) {
        for (const Scene::Object& object : scene_.objects()) {
            const model::ModuleType& type = *test::all_modules().find(object.section, object.type);
            std::vector<std::string> keys;
            for (const model::Field& f : type.fields) keys.push_back(f.key);
            if (object.section == model::Section::objective)
                keys.insert(keys.end(), {"weight", "at"});
            for (const std::string& key : keys)
                try_field(object.node->pointer() + "/" + key,
                          *forms().of_field(object.section, object.type, key), count);
        }
        for (const char* const key : {"time", "gravity", "gradients", "outputs", "view"})
            try_field(std::string("/") + key, forms().at(std::string("/properties/") + key), count);
    }

private:
    void try_field(const std::string& pointer, const Form& form, Count& count) {
        const Node* const written = document_.find(pointer);
        const Node value = written != nullptr ? *written : form.fallback;
        if (value.is_null()) return;
        session::QuantityInfo quantity;
        session::Surroundings around;
        for (std::size_t q = 0; q < info_->quantities.size(); ++q) {
            if (info_->quantities[q].info.scene_pointer != pointer) continue;
            quantity = info_->quantities[q].info;
            quantity.values = *(*numbers_)[q];
            around = session::surroundings_of(quantity);
        }
        around.dimension = around_.dimension;
        around.bodies = around_.bodies;
        each_way(form, "", value, [&](const std::string& below, const Node& old, const Form& way) {
            const std::string said =
                name_ + " " + pointer + below + " as " + session::title_of(way);
            CAPTURE(said);
            const std::string before = document::to_line(old).substr(0, 200);
            CAPTURE(before);
            if (!session::can_write(way, old, around)) {
                CHECK(session::converted(way, old, around).is_null());
                ++count.refused;
                return;
            }
            Node fresh = session::converted(way, old, around);
            REQUIRE_FALSE(fresh.is_null());
            if (const auto wanted = session::wanted_file(way, fresh)) {
                ++count.asks;
                if (wanted->files != std::vector<std::string>{".npy"} || quantity.path.empty())
                    return;
                // One row for all elements becomes one for each.
                const std::int64_t shape[] = {quantity.count, quantity.components};
                std::vector<double> numbers;
                for (std::int64_t row = 0; row < quantity.count; row += quantity.rows)
                    numbers.insert(numbers.end(), quantity.values.begin(), quantity.values.end());
                document::write_npy(folder_ / "chosen.npy", shape,
                                    std::span<const double>(numbers));
                session::set_below(fresh, wanted->place, Node("chosen.npy"));
            }
            const std::string made = document::to_line(fresh).substr(0, 300);
            CAPTURE(made);
            Node whole = value;
            if (below.empty())
                whole = std::move(fresh);
            else
                session::set_below(whole, below, std::move(fresh));
            Document changed = document_;
            changed.set(pointer, std::move(whole));
            try {
                session::load_scene(changed, file_, test::all_modules(), options_);
                ++count.loads;
            } catch (const Error& error) {
                const bool elsewhere = !error.json_pointer().starts_with(pointer);
                if (!quantity.path.empty() && !elsewhere && !has_own_rules(pointer, old))
                    FAIL_CHECK(std::string(error.what()));
                ++count.taken_back;
            }
        });
    }

    const Document document_;
    const Scene& scene_;
    test::TemporaryFolder folder_;
    fs::path file_;
    std::string name_;
    SimulationOptions options_;
    std::unique_ptr<Simulation> simulation_;
    std::shared_ptr<const session::SceneInfo> info_;
    std::shared_ptr<const std::vector<session::SharedValues>> numbers_;
    session::Surroundings around_;
};

}  // namespace

TEST_CASE("fields: each way to write each field of the coverage scenes gives one that loads") {
    Count count;
    // A third of the scenes; with --full all of them.
    std::size_t seen = 0;
    for (const std::string& module : test::all_modules().modules())
        for (const Scene& scene : test::coverage_of(module))
            if (test::can_build(scene) && (seen++ % 3 == 0 || test::full()))
                Trial(scene).run(count);
    MESSAGE(count.loads << " load, " << count.asks << " ask for a file, " << count.refused
                        << " are not offered, " << count.taken_back << " are taken back");
    CHECK(count.loads > (test::full() ? 1000 : 300));
}

TEST_CASE("fields: a course of one number becomes one for each time and actuator") {
    for (Scene scene : test::coverage_of("controllers")) {
        if (!test::can_build(scene)) continue;
        Document document = scene.document();
        for (const Scene::Object& object : scene.objects())
            if (object.type == "spline") document.set(object.node->pointer() + "/values", 0.2);
        const Scene numbers = Scene::of(std::move(document), scene.file());
        Count count;
        Trial(numbers).run(count);
        CHECK(count.loads > 0);
    }
}
