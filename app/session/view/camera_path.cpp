#include "app/session/view/camera_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/document/read.hpp"

namespace hindcast::session {

namespace {

using document::Node;
using document::Range;
using render::Camera;
using render::Vec3;

constexpr double same_time = 1e-9;  // s

double length_of(const Vec3& v) { return std::sqrt(render::dot(v, v)); }

CameraKey read_key(const Node& node) {
    document::Reader reader(node, "a key of the camera path");
    CameraKey key;
    Camera& camera = key.camera;
    key.time = reader.number("time", Range::at_least(0, "s"));
    camera.eye = reader.vector<3>("eye", Range::any("m"));
    camera.target = reader.vector<3>("target", Range::any("m"));
    camera.up = reader.vector_or<3>("up", {0, 0, 1});
    camera.field_of_view = reader.number_or("field_of_view", 40, Range::between(1, 170, "degrees"));
    if (reader.has("height")) {
        camera.orthographic = true;
        camera.height = reader.number("height", Range::positive("m"));
    }
    reader.finish();
    if (camera.eye == camera.target)
        throw Error("the camera stands where it looks at")
            .at(node.place())
            .at_pointer(node.pointer())
            .remedy("move \"eye\" or \"target\"");
    if (length_of(camera.up) == 0)
        throw Error("\"up\" has no direction").at(node.place()).at_pointer(node.pointer());
    return key;
}

CameraPath read_path(const Node& list) {
    if (!list.is_array()) throw document::mismatch(list, "a list of keys with \"time\"");
    CameraPath path;
    for (std::size_t k = 0; k < list.size(); ++k) {
        const CameraKey key = read_key(list.item(k));
        if (path.find(key.time) != nullptr)
            throw Error("the camera path has two keys at the same time")
                .at(list.item(k).place())
                .at_pointer(list.item(k).pointer())
                .remedy("leave one of them out");
        path.set(key.time, key.camera);
    }
    return path;
}

// The numbers of a camera that change from moment to moment.
constexpr std::size_t camera_numbers = 11;
std::array<double, camera_numbers> numbers_of(const Camera& c) {
    return {c.eye[0], c.eye[1], c.eye[2], c.target[0],     c.target[1], c.target[2],
            c.up[0],  c.up[1],  c.up[2],  c.field_of_view, c.height};
}

// A perspective has no height, an orthographic view no angle.
Camera key_of(Camera camera) {
    if (camera.orthographic)
        camera.field_of_view = Camera().field_of_view;
    else
        camera.height = Camera().height;
    return camera;
}

Node triple(const Vec3& v) { return Node::array({v[0], v[1], v[2]}); }

}  // namespace

CameraPath CameraPath::of(const document::Document& scene) {
    const Node* const list = scene.find(pointer);
    return list != nullptr ? read_path(*list) : CameraPath();
}

CameraPath CameraPath::load(const std::filesystem::path& file) {
    const document::Document document = document::Document::load(file);
    const Node* list = document.find(pointer);
    if (list == nullptr) list = document.find("/camera_path");
    if (list == nullptr)
        throw Error("'" + file.string() + "' has no camera path")
            .remedy(
                "set keys in the timeline of `hindcast view` and save the scene, or write "
                "{\"camera_path\": [{\"time\": 0, \"eye\": [3, 3, 2], \"target\": [0, 0, 0]}]}");
    CameraPath path = read_path(*list);
    if (path.empty())
        throw Error("the camera path of '" + file.string() + "' has no keys")
            .at(list->place())
            .at_pointer(list->pointer());
    return path;
}

document::Node CameraPath::to_node() const {
    Node list = Node::array();
    for (const CameraKey& key : keys_) {
        const Camera& c = key.camera;
        Node node = Node::object({{"time", key.time}, {"eye", triple(c.eye)}});
        node.set("target", triple(c.target));
        node.set("up", triple(c.up));
        if (c.orthographic)
            node.set("height", c.height);
        else
            node.set("field_of_view", c.field_of_view);
        list.push_back(std::move(node));
    }
    return list;
}

void CameraPath::set(double time, const Camera& camera) {
    if (!(time >= 0) || !std::isfinite(time))
        throw Error("a key of a camera path needs a time that is finite and not negative, in s");
    remove(time);
    const auto after = std::ranges::upper_bound(keys_, time, {}, &CameraKey::time);
    keys_.insert(after, {time, key_of(camera)});
}

bool CameraPath::remove(double time) {
    return std::erase_if(keys_, [time](const CameraKey& key) {
               return std::abs(key.time - time) <= same_time;
           }) > 0;
}

const CameraKey* CameraPath::find(double time) const {
    const auto found = std::ranges::find_if(
        keys_, [time](const CameraKey& key) { return std::abs(key.time - time) <= same_time; });
    return found != keys_.end() ? &*found : nullptr;
}

Camera CameraPath::at(double time) const {
    if (keys_.empty()) throw Error("the camera path has no keys");
    if (time <= keys_.front().time) return keys_.front().camera;
    if (time >= keys_.back().time) return keys_.back().camera;
    const auto next = std::ranges::upper_bound(keys_, time, {}, &CameraKey::time);
    const auto i = static_cast<std::size_t>(next - keys_.begin()) - 1;  // keys_[i] <= time
    const auto slope = [&](std::size_t k, std::size_t n) {  // of the line from key k to the next
        return (numbers_of(keys_[k + 1].camera)[n] - numbers_of(keys_[k].camera)[n]) /
               (keys_[k + 1].time - keys_[k].time);
    };
    const auto tangent = [&](std::size_t k, std::size_t n) {
        if (k == 0) return slope(0, n);
        if (k + 1 == keys_.size()) return slope(k - 1, n);
        const double before = keys_[k].time - keys_[k - 1].time;
        const double after = keys_[k + 1].time - keys_[k].time;
        return (slope(k - 1, n) * after + slope(k, n) * before) / (before + after);
    };
    const double h = keys_[i + 1].time - keys_[i].time, s = (time - keys_[i].time) / h;
    const auto from = numbers_of(keys_[i].camera), to = numbers_of(keys_[i + 1].camera);
    std::array<double, camera_numbers> x{};
    for (std::size_t n = 0; n < camera_numbers; ++n)
        x[n] = (1 + 2 * s) * (1 - s) * (1 - s) * from[n] +
               s * (1 - s) * (1 - s) * h * tangent(i, n) + s * s * (3 - 2 * s) * to[n] -
               s * s * (1 - s) * h * tangent(i + 1, n);
    Camera camera = keys_[i].camera;
    camera.eye = {x[0], x[1], x[2]};
    camera.target = {x[3], x[4], x[5]};
    // Between opposite directions there is no mean: the key's own stays.
    if (const Vec3 up{x[6], x[7], x[8]}; length_of(up) > 1e-6)
        for (std::size_t c = 0; c < 3; ++c) camera.up[c] = up[c] / length_of(up);
    camera.field_of_view = std::min(std::max(x[9], 1.0), 170.0);
    // The cubic may overshoot; a height stays one.
    camera.height = std::max(x[10], 1e-3 * std::min(from[10], to[10]));
    return camera;
}

}  // namespace hindcast::session
