#include "app/session/view/view_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/document/read.hpp"
#include "engine/sim/scene/scene_check.hpp"

namespace hindcast::session {

using document::Node;
using render::Drawable;
using render::Vec3;

namespace {

Vec3 triple(const Node& node) {
    const std::vector<double> numbers = document::numbers_of(node, 3);
    return {numbers[0], numbers[1], numbers[2]};
}

Node node_of(const Vec3& v) { return Node::array({Node(v[0]), Node(v[1]), Node(v[2])}); }

DistanceEnd read_end(const Node& node) {
    DistanceEnd end;
    if (node.is_array()) {
        end.place = triple(node);
        return end;
    }
    end.of = node.find("of")->string();
    if (const Node* const point = node.find("point")) {
        end.points = {document::integer_of(*point)};
        end.weights = {1};
    } else if (const Node* const points = node.find("points")) {
        for (std::size_t k = 0; k < points->size(); ++k)
            end.points.push_back(document::integer_of(points->item(k)));
        end.weights = document::numbers_of(*node.find("weights"), end.points.size());
    } else {
        end.part = static_cast<int>(document::integer_of(*node.find("part")));
        end.place = triple(*node.find("place"));
    }
    return end;
}

Node write_end(const DistanceEnd& end) {
    if (end.of.empty()) return node_of(end.place);
    Node node = Node::object({{"of", Node(end.of)}});
    if (end.points.size() == 1) {
        node.set("point", end.points.front());
    } else if (!end.points.empty()) {
        Node points = Node::array(), weights = Node::array();
        for (const std::int64_t point : end.points) points.push_back(point);
        for (const double weight : end.weights) weights.push_back(weight);
        node.set("points", std::move(points));
        node.set("weights", std::move(weights));
    } else {
        node.set("part", std::int64_t{end.part});
        node.set("place", node_of(end.place));
    }
    return node;
}

Vec3 place_on_points(const DistanceEnd& end, const render::Stage& stage,
                     const PointPlaces& points) {
    const auto body = std::ranges::find(stage.bodies, end.of, &render::Stage::Body::name);
    if (body == stage.bodies.end())
        throw Error(fmt::format("a distance ends at '{}', which has no points here", end.of))
            .remedy("name a body of the scene, or remove the distance from its view");
    Vec3 sum{};
    for (std::size_t k = 0; k < end.points.size(); ++k) {
        if (end.points[k] >= body->count)
            throw Error(fmt::format("a distance ends at point {} of {}, which has {}",
                                    end.points[k], end.of, body->count))
                .remedy("choose another point, or remove the distance from the scene's view");
        const std::optional<Vec3> place = points(body->first + end.points[k]);
        if (!place)
            throw Error(fmt::format("where the points of {} are is known to the graphics card "
                                    "alone",
                                    end.of))
                .remedy("choose the transport staging");
        for (std::size_t c = 0; c < 3; ++c) sum[c] += end.weights[k] * (*place)[c];
    }
    return sum;
}

}  // namespace

Vec3 place_of(const DistanceEnd& end, const render::Stage& stage, const render::Frame& frame,
              const PointPlaces& points) {
    if (end.of.empty()) return end.place;
    if (!end.points.empty()) return place_on_points(end, stage, points);
    int part = 0;
    for (std::size_t k = 0; k < stage.drawables.size() && k < frame.numbers.size(); ++k) {
        const Drawable& drawable = stage.drawables[k];
        const bool solid = drawable.kind == Drawable::Kind::solid,
                   ball = drawable.kind == Drawable::Kind::ball;
        if (drawable.ghost || drawable.name != end.of || (!solid && !ball) || part++ != end.part)
            continue;
        const std::vector<double>& numbers = frame.numbers[k];
        if (solid && numbers.size() >= 12) return render::placed(numbers, end.place);
        Vec3 place = end.place;
        for (std::size_t c = 0; c < 3 && numbers.size() >= 3; ++c) place[c] += numbers[c];
        return place;
    }
    throw Error(
        fmt::format("a distance ends on part {} of '{}', which is not there", end.part, end.of))
        .remedy("choose another place, or remove the distance from the scene's view");
}

ViewLook ViewLook::of(const document::Document& document) {
    ViewLook look;
    const Node* const view = document.find("/view");
    if (view == nullptr) return look;
    check_view(*view);
    if (const Node* const arrows = view->find("arrows")) look.arrows = arrows->string();
    if (const Node* const most = view->find("most_arrows"))
        look.most_arrows = document::integer_of(*most);
    if (const Node* const tubes = view->find("tubes")) {
        if (const Node* const radius = tubes->find("radius"))
            look.tubes.radius = document::number_of(*radius);
        else
            look.tubes.pixels = document::number_of(*tubes->find("pixels"));
    }
    if (const Node* const slice = view->find("slice"))
        look.slice = render::Slice{triple(*slice->find("normal")),
                                   document::number_of(*slice->find("offset"))};
    if (const Node* const heights = view->find("heights"))
        look.heights = document::number_of(*heights);
    if (const Node* const distances = view->find("distances"))
        for (std::size_t k = 0; k < distances->size(); ++k) {
            const Node& distance = distances->item(k);
            look.distances.push_back(
                {read_end(*distance.find("from")), read_end(*distance.find("to"))});
        }
    return look;
}

Node ViewLook::in_view_of(const document::Document& document) const {
    const Node* const old = document.find("/view");
    Node view = old != nullptr ? *old : Node::object();
    // Defaults are left out.
    const auto say = [&](const char* key, bool wanted, const auto& value) {
        if (wanted)
            view.set(key, value());
        else
            view.erase(key);
    };
    say("arrows", !arrows.empty(), [&] { return Node(arrows); });
    say("most_arrows", most_arrows != ViewLook().most_arrows, [&] { return Node(most_arrows); });
    say("tubes", tubes != render::Tubes(), [&] {
        return tubes.radius > 0 ? Node::object({{"radius", Node(tubes.radius)}})
                                : Node::object({{"pixels", Node(tubes.pixels)}});
    });
    say("slice", slice.has_value(), [&] {
        return Node::object({{"normal", node_of(slice->normal)}, {"offset", Node(slice->offset)}});
    });
    say("heights", heights > 0, [&] { return Node(heights); });
    say("distances", !distances.empty(), [&] {
        Node list = Node::array();
        for (const Distance& distance : distances)
            list.push_back(
                Node::object({{"from", write_end(distance.from)}, {"to", write_end(distance.to)}}));
        return list;
    });
    return view;
}

void ViewLook::apply(render::View& view) const {
    view.most_arrows = most_arrows;
    view.tubes = tubes;
    view.slice = slice;
    view.heights = heights > 0;
    if (heights > 0) view.height_scale = heights;
}

}  // namespace hindcast::session
