#include "kernels/articulated/offers.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/geometry/kinds/row.hpp"
#include "engine/model/offers/offer.hpp"
#include "engine/robot/rigid_shapes.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::offers {

using namespace model;
using document::Document;
using document::Node;
using geometry::KindRow;
using geometry::SizedBy;

namespace {

// Steps of rigid contact are no longer than this, s: MuJoCo's own default.
constexpr double longest_step = 0.002;

// A body of rigid shapes that one more can join: none of its numbers are written, but how it starts.
const Node* joinable(const Document& document) {
    const Node* const bodies = document.root().find("bodies");
    for (std::size_t k = 0; bodies != nullptr && bodies->is_array() && k < bodies->size(); ++k) {
        const Node& body = bodies->item(k);
        if (robot::rigid_shapes_of(body) == nullptr) continue;
        bool plain = true;
        for (std::size_t j = 0; j < body.size(); ++j) {
            const std::string& key = body.key(j);
            plain = plain && (key == "type" || key == "name" || key == "model" || key == "qpos" ||
                              key == "qvel" || key == "max_contacts");
        }
        for (const char* key : {"qpos", "qvel"})
            if (const Node* const written = body.find(key))
                plain = plain && numbers_in(written, written->size()).has_value();
        if (plain) return &body;
    }
    return nullptr;
}

// All rigid shapes collide with each other as parts of one body of the scene, which is made for the
// first of them.
void place(const OfferSite& site, Node shape, double up) {
    const ChosenNumbers& n = site.number;
    const Node center = site.at(site.size[0] / 2, site.size[1] / 2, up);
    shape.set("position", center);
    shape.set("density", tidy(n["density"]));
    shape.set("friction", tidy(n["friction"]));
    const Node* const other = joinable(site.document);
    if (other == nullptr) {
        Node model = Node::object({{"shapes", Node::array({std::move(shape)})}});
        if (site.room.ground) model.set("ground", tidy(*site.room.ground));
        site.add(Section::bodies,
                 Node::object(
                     {{"type", "articulated"}, {"name", site.name}, {"model", std::move(model)}}));
    } else {
        const std::string body = other->pointer();
        const bool has_qpos = other->find("qpos") != nullptr,
                   has_qvel = other->find("qvel") != nullptr;
        site.document.set(body + "/model/shapes/-", std::move(shape));
        const auto append = [&](const std::string& list, const Node& number) {
            site.document.set(body + list + "/-", number);
        };
        for (std::size_t k = 0; has_qpos && k < 3; ++k) append("/qpos", center.item(k));
        for (std::size_t k = 0; has_qpos && k < 4; ++k) append("/qpos", Node(k == 0 ? 1 : 0));
        for (std::size_t k = 0; has_qvel && k < 6; ++k) append("/qvel", Node(0));
    }
    site.needs_step(longest_step);
}

Offer rigid(const KindRow& kind, std::vector<OfferNumber> sizes) {
    Offer row;
    sizes.push_back({"density", "Density", "kg/m^3", "Wood: about 700", 700, 1e-3, 1e5, false});
    sizes.push_back({"friction", "Friction", "",
                     "Coulomb's coefficient; of two in contact the greater counts", 0.5, 0, 100,
                     false});
    row.id = fmt::format("rigid_{}", kind.name);
    row.label = fmt::format("Rigid {}", kind.name);
    row.help = fmt::format("A {} that moves freely and keeps its shape", kind.looks);
    row.type = "articulated";
    row.numbers = std::move(sizes);
    row.rank = 80;
    row.in_plane = false;
    row.above = 0.1;
    row.count = [](const ChosenNumbers&, int) { return OfferCount{1, 0, "", "rigid body"}; };
    return row;
}

Node typed(const KindRow& kind) { return Node::object({{"type", std::string(kind.name)}}); }

Offer with_lengths(const KindRow& kind) {
    Offer row = rigid(kind, {offer_length("size_x", "Length along x", 0.2),
                             offer_length("size_y", "Length along y", 0.2),
                             offer_length("size_up", "Height", 0.2)});
    row.size = [](const ChosenNumbers& n) { return Place{n["size_x"], n["size_y"], n["size_up"]}; };
    row.make = [&kind](const OfferSite& site) {
        const Place& s = site.size;
        Node shape = typed(kind);
        shape.set("size", site.vector(s[0], s[1], s[2]));
        place(site, std::move(shape), s[2] / 2);
    };
    return row;
}

Offer with_radius(const KindRow& kind) {
    Offer row = rigid(kind, {offer_length("radius", "Radius", 0.1)});
    row.size = [](const ChosenNumbers& n) {
        const double d = 2 * n["radius"];
        return Place{d, d, d};
    };
    row.make = [&kind](const OfferSite& site) {
        Node shape = typed(kind);
        shape.set("radius", tidy(site.number["radius"]));
        place(site, std::move(shape), site.size[2] / 2);
    };
    return row;
}

// Standing; its own axis is z, which lies in a scene whose y points up.
Offer with_radius_and_length(const KindRow& kind) {
    Offer row = rigid(
        kind, {offer_length("radius", "Radius", 0.08),
               offer_length("length", kind.round_ends ? "Length between the round ends" : "Height",
                            0.24)});
    row.size = [&kind](const ChosenNumbers& n) {
        const double d = 2 * n["radius"];
        return Place{d, d, n["length"] + (kind.round_ends ? d : 0)};
    };
    row.make = [&kind](const OfferSite& site) {
        Node shape = typed(kind);
        shape.set("radius", tidy(site.number["radius"]));
        shape.set("length", tidy(site.number["length"]));
        if (site.room.up == 1)
            shape.set("orientation", Node::array({Node(1), Node(-1), Node(0), Node(0)}));
        place(site, std::move(shape), site.size[2] / 2);
    };
    return row;
}

Offer robot() {
    Offer row{"robot",
              "Robot from a file...",
              "Bodies and joints of a model in MJCF or URDF, where the model has them",
              Section::bodies,
              "articulated",
              {},
              {".xml", ".urdf", ".mjcf"}};
    row.rank = 120;
    row.in_plane = false;
    row.make = [](const OfferSite& site) {
        site.add(
            Section::bodies,
            Node::object({{"type", "articulated"}, {"name", site.name}, {"model", site.file}}));
        // Steps as long as those of the model, at most.
        site.needs_step(robot::RobotModel::load(site.path).options().timestep);
    };
    return row;
}

std::vector<Offer> rigid_rows() {
    std::vector<Offer> rows;
    for (const KindRow& kind : geometry::kind_rows()) switch (kind.sized_by) {
            case SizedBy::nothing: break;
            case SizedBy::lengths: rows.push_back(with_lengths(kind)); break;
            case SizedBy::radius: rows.push_back(with_radius(kind)); break;
            case SizedBy::radius_and_length: rows.push_back(with_radius_and_length(kind)); break;
        }
    return rows;
}

}  // namespace

}  // namespace hindcast::offers

namespace hindcast {

void offer_articulated(Registry& registry) {
    for (model::Offer& row : offers::rigid_rows()) registry.offer(std::move(row));
    registry.offer(offers::robot());
}

}  // namespace hindcast
