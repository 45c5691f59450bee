// States of a run as files of other programs, in the folder export/ of its results:
//
//   NAME_0000.vtu, ...   VTK, for ParaView: all points, and as cells what the scene draws between
//                        them; state arrays as data of points, of cells (NaN where they say
//                        nothing) or, where they are neither, of the field; what the scene shows as
//                        colours, such as stresses and contact forces, likewise. The cells' `object`
//                        is the number that a comment at the head gives the scene's object.
//   NAME.pvd             the series, with the time of each file
//   NAME_0000.ply, ...   points with velocities, triangles, segments as edges; binary
//   NAME_0000.obj, ...   points, triangles, lines and single points, object by object
//
// NAME is that of the scene's file. Which cells there are: geometry.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/export/geometry.hpp"
#include "app/export/shown.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast::exporting {

enum class Format { vtu, ply, obj };

// "vtu,obj". Throws Error for any other name, with "did you mean".
std::vector<Format> formats_of(const std::string& list);

// A file's content. `time` in seconds. `shown`: what there is besides the geometry's attributes.
std::string to_vtu(const Geometry& geometry, double time, const std::vector<Attribute>& shown = {});
std::string to_ply(const Geometry& geometry);
std::string to_obj(const Geometry& geometry);

class Exporter {
public:
    // `every`: whole steps between two frames, at least 1; 0: as the scene's outputs. Files of an
    // earlier export are removed. Throws Error.
    Exporter(const ResultsFolder& folder, Simulation& simulation, std::vector<Format> formats,
             std::int64_t every);

    // After `substeps_done` substeps: writes a frame where due.
    void watch(std::int64_t substeps_done);
    // The last frame, if it was not due anyway, and the series.
    void finish();
    document::Node describe() const;  // for the summary

private:
    void write();
    std::string file_name(std::size_t frame, const char* ending) const;

    const ResultsFolder& folder_;
    Simulation& simulation_;
    Geometry geometry_;
    std::vector<Format> formats_;
    std::optional<Shown> shown_;  // for VTU, which alone has a place for it
    std::int64_t every_ = 1, done_ = 0, last_written_ = -1;
    std::string name_;
    int digits_ = 4;
    std::vector<double> times_;  // of the frames, in seconds
};

}  // namespace hindcast::exporting
