// A moving camera: keys at points of simulated time, and smooth interpolation between them.
//
// The path is part of the document, under /view/camera_path, so it is saved, undone and redone with
// everything else. The simulation does not read it:
//
//     "view": { "camera_path": [
//         { "time": 0, "eye": [3, 3, 2], "target": [0, 0, 0] },
//         { "time": 1.5, "eye": [3, -3, 1], "target": [0, 0, 0.5], "up": [0, 0, 1],
//           "field_of_view": 40 } ] }
//
// Between keys each number is a cubic Hermite polynomial in time. Its slope at a key is that of the
// parabola through the key and its neighbors (Catmull-Rom for unequal spacing), at the ends that
// of the line to the neighbor. So the speed has no jumps and uniform motion stays uniform. Before
// the first and after the last key the camera stands still. The projection switches at the keys.
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
    // The scene's path; empty if it has none. Throws Error, with the place, if it is invalid.
    static CameraPath of(const document::Document& scene);
    // From a scene file, or a file whose root has the list "camera_path". Throws Error if there is
    // no path.
    static CameraPath load(const std::filesystem::path& file);
    document::Node to_node() const;

    const std::vector<CameraKey>& keys() const { return keys_; }  // by time
    bool empty() const { return keys_.empty(); }
    // Sets the key at that time (s), replacing one that is there. Only the fields that a key has
    // are kept of the camera. Throws Error for a time that is negative or not finite.
    void set(double time, const render::Camera& camera);
    bool remove(double time);                  // false if there is none
    const CameraKey* find(double time) const;  // within a nanosecond; null if there is none
    // The camera at that time, s. Throws Error if there is no key.
    render::Camera at(double time) const;

private:
    std::vector<CameraKey> keys_;
};

}  // namespace hindcast::session
