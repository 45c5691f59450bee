#include "engine/model/warnings/contact_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.hpp"
#include "engine/document/read.hpp"

namespace hindcast::model {

using document::Node;

void Box::add(const double* place, int dimension, double radius) {
    for (std::size_t k = 0; k < 3; ++k) {
        const double x = k < static_cast<std::size_t>(dimension) ? place[k] : 0;
        low[k] = std::min(low[k], x - radius);
        high[k] = std::max(high[k], x + radius);
    }
}

bool Box::overlaps(const Box& other) const {
    for (std::size_t k = 0; k < 3; ++k)
        if (low[k] > other.high[k] || other.low[k] > high[k]) return false;
    return !empty() && !other.empty();
}

bool HalfSpace::overlaps(const Box& box) const {
    if (box.empty()) return false;
    double least = 0;  // n.x of the corner that is deepest
    for (std::size_t k = 0; k < 3; ++k)
        least += normal[k] * (normal[k] > 0 ? box.low[k] : box.high[k]);
    return least < offset;
}

bool Bounds::overlap(const Bounds& other) const {
    for (const Box& box : boxes) {
        for (const Box& b : other.boxes)
            if (box.overlaps(b)) return true;
        for (const HalfSpace& h : other.half_spaces)
            if (h.overlaps(box)) return true;
    }
    for (const HalfSpace& h : half_spaces)
        for (const Box& b : other.boxes)
            if (h.overlaps(b)) return true;
    return false;
}

bool ContactBody::keeps_off(const HalfSpace& half) const {
    constexpr double rounding = 1e-9;
    return std::ranges::any_of(own_ground, [&](const HalfSpace& own) {
        double turned = 0;
        for (std::size_t k = 0; k < 3; ++k)
            turned = std::max(turned, std::abs(own.normal[k] - half.normal[k]));
        return turned < rounding &&
               half.offset <= own.offset + rounding * (1 + std::abs(own.offset));
    });
}

void ContactPairs::add(ContactBody body) { bodies_.push_back(std::move(body)); }

ContactBody* ContactPairs::find(const std::string& name) {
    const auto found = std::ranges::find(bodies_, name, &ContactBody::name);
    return found == bodies_.end() ? nullptr : &*found;
}

void ContactPairs::keep_apart(const std::string& a, const std::string& b, const std::string& law) {
    laws_[ordered(a, b)].insert(law);
}

void ContactPairs::read_exceptions(const Node* contact) {
    exceptions_.clear();
    if (contact == nullptr) return;
    document::Reader reader(*contact, "the scene's contact");
    const Node* const list = reader.find("exceptions");
    reader.finish();
    if (list == nullptr) return;
    std::vector<std::string_view> names;
    for (const ContactBody& body : bodies_) names.push_back(body.name);
    document::array_of(*list);
    for (std::size_t k = 0; k < list->size(); ++k) {
        const Node& pair = document::array_of(list->item(k), 2, 2);
        std::array<std::string, 2> of;
        for (std::size_t end = 0; end < 2; ++end) {
            if (names.empty())
                throw document::fault(pair, "nothing in this scene can touch anything")
                    .remedy("leave \"exceptions\" out");
            of[end] = names[document::choice_of(pair.item(end), names, "object that can touch")];
        }
        exceptions_.insert(ordered(of[0], of[1]));
    }
}

namespace {

bool can_touch(const ContactBody& a, const ContactBody& b) {
    const auto has_no_size = [](const ContactBody& x) { return x.extent == Extent::points; };
    if (&a == &b) return a.moves && a.several && !has_no_size(a) && a.extent != Extent::obstacle;
    if (!a.moves && !b.moves) return false;
    // Fixed points without a size hold springs: nothing rests on them.
    const auto is_anchor = [&](const ContactBody& x) { return has_no_size(x) && !x.moves; };
    if (is_anchor(a) || is_anchor(b)) return false;
    const auto is_particles = [](const ContactBody& x) {
        return x.extent == Extent::points || x.extent == Extent::balls;
    };
    return !(is_particles(a) && is_particles(b) && (has_no_size(a) || has_no_size(b)));
}

std::string remedy_of(const ContactPairs::Pair& pair) {
    const auto any = [&](Extent e) { return pair.a->extent == e || pair.b->extent == e; };
    const auto both = [&](Extent e) { return pair.a->extent == e && pair.b->extent == e; };
    if (any(Extent::rigid) && any(Extent::obstacle))
        return "let rigid bodies rest on a \"ground\" or a fixed shape of their own model";
    if (any(Extent::material_points) && any(Extent::obstacle))
        return "let material points meet the walls of their grid";
    if (any(Extent::obstacle)) return "let the obstacle's \"of\" name the body, or leave it out";
    if (both(Extent::balls)) return "add a collider of the type \"particle_contact\"";
    if (both(Extent::rigid)) return "put both into one model";
    return "no law of contact is there for such a pair: keep them apart";
}

}  // namespace

std::vector<ContactPairs::Pair> ContactPairs::list() const {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < bodies_.size(); ++i)
        for (std::size_t j = i; j < bodies_.size(); ++j) {
            const ContactBody &a = bodies_[i], &b = bodies_[j];
            if (!can_touch(a, b)) continue;
            const auto key = ordered(a.name, b.name);
            const auto laws = laws_.find(key);
            std::string text;
            if (laws != laws_.end()) text = fmt::format("{}", fmt::join(laws->second, ", "));
            pairs.push_back({&a, &b, std::move(text), exceptions_.contains(key)});
        }
    return pairs;
}

Node ContactPairs::to_node() const {
    Node pairs = Node::array();
    for (const Pair& pair : list()) {
        Node row = Node::object({{"a", pair.a->name},
                                 {"b", pair.b->name},
                                 {"law", pair.law.empty() ? Node() : Node(pair.law)}});
        if (pair.is_exception) row.set("exception", true);
        pairs.push_back(std::move(row));
    }
    return pairs;
}

void ContactPairs::warn_of_unguarded(Warnings& warnings) const {
    constexpr std::size_t most = 5;
    std::string names;
    std::size_t count = 0;
    Pair first;
    for (const Pair& pair : list()) {
        if (!pair.is_unguarded() || pair.a == pair.b) continue;
        if (count == 0) first = pair;
        if (count++ < most)
            names += fmt::format("{}'{}' and '{}'", names.empty() ? "" : ", ", pair.a->name,
                                 pair.b->name);
    }
    if (count == 0) return;
    if (count > most) names += fmt::format(" and {} more pairs", count - most);
    warnings.add(
        {.identifier = "contact_pairs",
         .happened = "nothing keeps these apart: " + names,
         .remedy = fmt::format("{}; where they may pass through each other, say so: \"contact\": "
                               "{{\"exceptions\": [[\"{}\", \"{}\"]]}}",
                               remedy_of(first), first.a->name, first.b->name),
         .pointer = {},
         .numbers = {{"pairs", static_cast<double>(count)}}});
}

std::vector<ContactPairs::Pair> ContactPairs::watched(const Warnings& warnings) const {
    std::vector<Pair> pairs;
    if (warnings.accepts("bodies_overlap") || warnings.accepts("contact_pairs")) return pairs;
    for (const Pair& pair : list())
        if (pair.is_unguarded() && pair.a != pair.b && pair.a->bounds && pair.b->bounds)
            pairs.push_back(pair);
    return pairs;
}

bool ContactPairs::warn_of_overlap(const std::vector<Pair>& pairs, double time, std::int64_t step,
                                   Warnings& warnings) {
    std::map<const ContactBody*, Bounds> bounds;
    for (const Pair& pair : pairs)
        for (const ContactBody* body : {pair.a, pair.b})
            if (!bounds.contains(body)) bounds.emplace(body, body->bounds(time));
    for (const Pair& pair : pairs) {
        if (!bounds.at(pair.a).overlap(bounds.at(pair.b))) continue;
        warnings.add(
            {.identifier = "bodies_overlap",
             .happened = fmt::format("the boxes of '{}' and '{}' overlap, and nothing keeps the "
                                     "two apart",
                                     pair.a->name, pair.b->name),
             .remedy = remedy_of(pair),
             .pointer = pair.a->moves ? pair.a->pointer : pair.b->pointer,
             .numbers = {{"time", time}},
             .step = step});
        return true;
    }
    return false;
}

std::string contact_schema() {
    return R"({"description": "which objects touch each other", "type": "object", )"
           R"("additionalProperties": false, "properties": {"exceptions": {"description": )"
           R"("pairs of names that may pass through each other, without a warning", )"
           R"("type": "array", "items": {"type": "array", "items": {"type": "string"}, )"
           R"("minItems": 2, "maxItems": 2}}}})";
}

}  // namespace hindcast::model
