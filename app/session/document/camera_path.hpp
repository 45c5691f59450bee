// A camera that moves: keys at moments of simulated time, and a smooth way between them.
//
// The path belongs to the scene: it stands in the document under /view/camera_path, where the
// simulation does not read it, so it is saved, undone and redone with everything else:
//
//     "view": { "camera_path": [
//         { "time": 0, "eye": [3, 3, 2], "target": [0, 0, 0] },
//         { "time": 1.5, "eye": [3, -3, 1], "target": [0, 0, 0.5], "up": [0, 0, 1],
//           "field_of_view": 40 } ] }
//
// Between keys each number is a cubic Hermite polynomial in time whose slope at a key is that of
// the parabola through it and its neighbours (Catmull-Rom for unequal spacing), at the ends that of
// the line to the neighbour: the motion has no jump in speed, and what moves evenly stays even.
// Before the first and after the last key the camera stands still. Whether it is orthographic
// switches at the keys.
#pragma once

#include <filesystem>
#include <vector>

#include "app/exchange/stage.hpp"
#include "engine/document/document.hpp"

namespace hindcast::session {

struct CameraKey {
    double time = 0;  // s, simulated; not negative
    render::Camera camera;

    bool operator==(const CameraKey&) const = default;
};

class CameraPath {
public:
    static constexpr const char* pointer = "/view/camera_path";

    CameraPath() = default;
    // The scene's own; empty if it has none. Throws Error, with the place, for what is no path.
    static CameraPath of(const document::Document& scene);
    // Of a scene file, or of a file whose root has the list "camera_path". Throws Error if there is
    // none in it.
    static CameraPath load(const std::filesystem::path& file);
    document::Node to_node() const;

    const std::vector<CameraKey>& keys() const { return keys_; }  // by time
    bool empty() const { return keys_.empty(); }
    // A key at that time (s) replaces the one that is there. Of the camera what a key holds is
    // kept, as key_of() gives it. Throws Error for a time that is negative or not finite.
    void set(double time, const render::Camera& camera);
    bool remove(double time);                  // false if there is none
    const CameraKey* find(double time) const;  // within a nanosecond; null if there is none
    // The camera at that time, s. Throws Error if there is no key.
    render::Camera at(double time) const;

private:
    std::vector<CameraKey> keys_;
};

}  // namespace hindcast::session
