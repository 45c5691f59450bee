#include "app/session/view/colour_look.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/document/read.hpp"
#include "engine/sim/scene/scene_check.hpp"

namespace hindcast::session {

using document::Node;
using render::ColourMap;

static_assert(colour_map_names.size() == render::colour_maps);

namespace {

// The range of these colours over the run; null: nothing is known of it yet.
const std::array<double, 2>* range_of_run(const ColourLook& look, const ViewSnapshot& now) {
    if (!now.colour_range || now.colour_range->colour != look.by || !now.colour_range->range)
        return nullptr;
    return &*now.colour_range->range;
}

}  // namespace

const char* name_of(ColourMap map) {
    return colour_map_names.at(static_cast<std::size_t>(map)).data();
}

std::optional<ColourMap> colour_map_named(const std::string& name) {
    if (name == british_gray) return ColourMap::grey;
    const auto found = std::ranges::find(colour_map_names, name);
    if (found == colour_map_names.end()) return std::nullopt;
    return static_cast<ColourMap>(found - colour_map_names.begin());
}

std::string present_field(const std::string& name) {
    constexpr std::string_view old = "fibre tension", now = "fiber tension";
    return name.starts_with(old) ? std::string(now) + name.substr(old.size()) : name;
}

ColourLook ColourLook::of(const document::Document& document) {
    ColourLook look;
    const Node* const view = document.find("/view");
    if (view == nullptr) return look;
    check_view(*view);
    if (const Node* const by = view->find("color_by")) look.by = present_field(by->string());
    if (const Node* const range = view->find("color_range")) {
        if (range->is_array()) {
            const std::vector<double> ends = document::numbers_of(*range, 2);
            look.range = Range::hand;
            look.ends = {ends[0], ends[1]};
        } else {
            look.range = range->string() == "frame" ? Range::frame : Range::run;
        }
    }
    if (const Node* const scale = view->find("color_scale"))
        look.logarithmic = scale->string() == "log";
    if (const Node* const map = view->find("color_map")) look.map = colour_map_named(map->string());
    return look;
}

Node ColourLook::in_view_of(const document::Document& document) const {
    const Node* const old = document.find("/view");
    Node view = old != nullptr ? *old : Node::object();
    // Defaults are left out.
    const auto say = [&](const char* key, bool wanted, Node value) {
        if (wanted)
            view.set(key, std::move(value));
        else
            view.erase(key);
    };
    say("color_by", !by.empty(), Node(by));
    say("color_range", range != Range::run,
        range == Range::hand ? Node::array({Node(ends[0]), Node(ends[1])}) : Node("frame"));
    say("color_scale", logarithmic, Node("log"));
    say("color_map", map.has_value(), Node(map ? name_of(*map) : ""));
    return view;
}

ColourMap ColourLook::map_for(const ViewSnapshot& now) const {
    if (map) return *map;
    const auto shown = std::ranges::find(now.colours, by, &ShownField::name);
    const bool has_sign = shown != now.colours.end() && shown->gradient && !shown->length;
    const std::array<double, 2>* const run = range_of_run(*this, now);
    const bool both = run != nullptr && (*run)[0] < 0 && (*run)[1] > 0;
    return has_sign || both ? ColourMap::coolwarm : ColourMap::viridis;
}

void ColourLook::apply(render::View& view, const ViewSnapshot& now) const {
    view.map = map_for(now);
    view.symmetric = render::is_diverging(view.map);
    view.log_colours = logarithmic;
    view.range.reset();
    if (range == Range::hand) view.range = ends;
    const std::array<double, 2>* const run = range_of_run(*this, now);
    if (range != Range::run || run == nullptr) return;
    view.range = *run;
    if (!view.symmetric) return;
    const double most = std::max(std::abs((*run)[0]), std::abs((*run)[1]));
    view.range = std::array{-most, most};
}

bool ColourLook::is_settled(const ViewSnapshot& now) const {
    return range != Range::run ||
           (now.colour_range ? now.colour_range->colour == by && now.colour_range->complete
                             : by.empty());
}

std::string ColourLook::words(const ViewSnapshot& now) const {
    switch (range) {
        case Range::hand: return ends_are;
        case Range::frame: return "of this moment";
        case Range::run: break;
    }
    const auto& of_run = now.colour_range;
    if (!of_run || range_of_run(*this, now) == nullptr) return "of this moment";
    return of_run->complete ? "of the whole run" : "of the run so far";
}

}  // namespace hindcast::session
