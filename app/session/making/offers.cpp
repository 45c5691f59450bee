#include "app/session/making/offers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/session/document/object_edits.hpp"
#include "app/session/document/scene_files.hpp"
#include "app/session/making/room.hpp"
#include "engine/document/file_access.hpp"
#include "engine/document/read.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;
using model::Place;
using model::Room;
using model::Steps;
namespace fs = std::filesystem;

// In the plane there is nothing along y.
model::Offer in_dimension(model::Offer offer, int dimension) {
    offer.dimension = dimension;
    if (dimension == 2)
        std::erase_if(offer.numbers,
                      [](const model::OfferNumber& number) { return number.key.ends_with("_y"); });
    return offer;
}

bool is_implicit(const Document& document, const fs::path& file) {
    return Scene::of(document, file).integrator() != model::Integrator::semi_implicit_euler;
}

// Changes the objects of the scene that implicit steps can have in another form only.
void make_implicit(Document& document, const Registry& registry) {
    for (const model::Section section : model::all_sections) {
        Node* const list = document.root().find(model::name_of(section));
        for (std::size_t k = 0; list != nullptr && list->is_array() && k < list->size(); ++k) {
            Node& object = list->item(k);
            const Node* const type = object.is_object() ? object.find("type") : nullptr;
            if (type == nullptr || !type->is_string()) continue;
            const model::ModuleType* const module = registry.find(section, type->string());
            if (module != nullptr && module->make_implicit) module->make_implicit(object);
        }
    }
}

// A candidate for the scene that the offer is added to.
struct Start {
    Document document;
    bool implicit = false;
};

std::vector<Start> starts(const Document& document, const fs::path& file, const Registry& registry,
                          Steps steps) {
    if (is_implicit(document, file)) return {{document, true}};
    std::vector<Start> list;
    if (steps != Steps::any) {
        Document changed = document;
        changed.set("/time/integrator", Node("implicit_euler"));
        changed.root().find("time")->erase("substeps");
        make_implicit(changed, registry);
        list.push_back({std::move(changed), true});
    }
    if (steps != Steps::barrier) list.push_back({document, false});
    return list;
}

// The file as the scene names it: relative to its folder.
std::string name_in_scene(const fs::path& wanted, const fs::path& scene) {
    if (wanted.empty()) return "";
    const fs::path folder = fs::current_path() / scene.parent_path();
    const std::optional<std::string> name = name_below(wanted, folder);
    if (!name)
        throw Error(wanted.filename().string() + " lies outside the scene's folder")
            .remedy(scene.empty()
                        ? "save the scene beside it first, or copy it to " + folder.string()
                        : "copy it to " + folder.string());
    return *name;
}

std::shared_ptr<Device> quiet_device() {
    DeviceOptions options;
    options.kind = DeviceKind::interpreter;  // nothing runs
    options.threads = 1;
    return std::make_shared<Device>(options);
}

}  // namespace

std::vector<model::Offer> offers(const Registry& registry, int dimension) {
    std::vector<model::Offer> list;
    for (const auto& offer : registry.offers()) {
        if (dimension == 2 ? !offer->in_plane : !offer->in_space) continue;
        if (registry.find(offer->section, offer->type) == nullptr) continue;
        if (!std::ranges::all_of(offer->needs, [&](const auto& need) {
                return registry.find(need.first, need.second) != nullptr;
            }))
            continue;
        list.push_back(in_dimension(*offer, dimension));
    }
    return list;
}

model::Offer offer_of(const Registry& registry, int dimension, const std::string& id) {
    for (model::Offer& offer : offers(registry, dimension))
        if (offer.id == id) return std::move(offer);
    throw Error("nothing called '" + id + "' can be added to this scene");
}

model::OfferCount count_of(const model::Offer& offer, std::span<const double> numbers) {
    return offer.count(model::ChosenNumbers(offer, numbers), offer.dimension);
}

std::string count_text(const model::OfferCount& count) {
    if (count.points < 0) return "as many as the file has";
    std::string text;
    if (count.points > 0)
        text = count.points == 1 ? "1 " + count.one : fmt::format("{} points", count.points);
    if (count.elements > 0) text += fmt::format(", {} {}", count.elements, count.what);
    return text;
}

Document with_offer(const Document& document, const fs::path& file, const Registry& registry,
                    const ChosenOffer& chosen, const std::string& name,
                    const std::atomic<bool>* canceled) {
    const model::Offer& offer = chosen.offer;
    const model::ChosenNumbers numbers(offer, chosen.numbers);
    SimulationOptions options;
    options.device = quiet_device();
    std::unique_ptr<Simulation> before;
    try {
        before = std::make_unique<Simulation>(Scene::of(document, file), registry, options);
    } catch (const Error&) {
        before = nullptr;  // a scene that cannot be built yet; what is added may be what it lacks
    }
    const Room room = room_of(document, before.get());
    Place size = offer.size(numbers);
    if (room.dimension == 2) size[1] = 0;
    // In the scene's axes.
    Place extent = size;
    if (room.up == 1) std::swap(extent[1], extent[2]);
    const Place low = place_for(room, extent, chosen.look_at, offer.above, offer.aside);
    const std::string in_scene =
        chosen.offer.needs_file() ? name_in_scene(chosen.file, file) : std::string();
    std::optional<Error> first;
    for (Start& start : starts(document, file, registry, offer.steps)) {
        if (canceled != nullptr && *canceled) throw Error("nothing is added any more");
        model::OfferSite site{start.document, numbers,        name,     room,       low,
                              size,           start.implicit, in_scene, chosen.file};
        site.needs_step = [&](double seconds) {
            if (site.implicit) return;
            const Scene scene = Scene::of(site.document, {});
            const auto least = static_cast<std::int64_t>(std::ceil(scene.step() / seconds));
            if (least > scene.substeps()) site.document.set("/time/substeps", Node(least));
        };
        site.free_name = [&](const std::string& wanted) {
            return unused_name(site.document, wanted == name ? wanted + "_2" : wanted);
        };
        try {
            offer.make(site);
            const Simulation simulation(Scene::of(site.document, file), registry, options);
            return std::move(start.document);
        } catch (const Error& error) {
            if (!first) first = error;
        }
    }
    const std::string what = chosen.offer.label + " cannot be added to this scene";
    if (!first) throw Error(what);
    throw Error(what + ": " + first->happened()).remedy(first->what_to_do());
}

}  // namespace hindcast::session
