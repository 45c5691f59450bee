// Sensors that tell where things are as seen from others: rangefinders, distances of geoms,
// pictures of sites.
#pragma once

#include "kernels/articulated/sensors/sensor_frames.hpp"

namespace hindcast::articulated {

class GeometrySensors {
public:
    GeometrySensors(const Sources& from, const SensorFrames& frames)
        : from_(from), frames_(frames) {}

    // From a site along its third axis to the nearest geom that it may meet; -1: there is none.
    Float range(const Sensor& s) const;
    // For the nearest two geoms, one of each side, within the sensor's reach: their distance, the
    // vector from the first's surface to the second's, or its two ends. Without any: the reach, or
    // zeros.
    std::vector<Float> distance(const Sensor& s) const;
    // The position of a point in a camera's picture: pixels from the left and from the top.
    std::vector<Float> picture(const SensedCamera& camera, const Vec3& point) const;

private:
    // Along a ray, in the geom's axes; -1: none.
    Float to(const SeenGeom& geom, const Vec3& p, const Vec3& v) const;

    const Sources& from_;
    const SensorFrames& frames_;
};

}  // namespace hindcast::articulated
