// States of a run as files of other programs, in a folder of their own (`run --export`: export/ of the
// results):
//
//   NAME_0000.vtu, ...   VTK, for ParaView: all points, and as cells what the scene draws between
//                        them; state arrays as data of points, of cells (NaN where they say
//                        nothing) or, where they are neither, of the field; what the scene shows as
//                        colors, such as stresses and contact forces, likewise. The cells' `object`
//                        is the number that a comment at the head gives the scene's object.
//   NAME.pvd             the series, with the time of each file
//   NAME_0000.ply, ...   points with velocities, triangles, segments as edges; binary
//   NAME_0000.obj, ...   points, triangles, lines and single points, object by object
//   NAME.usda            all frames in one file: what the window shows, also rigid bodies and obstacles
//                        (usd.hpp)
//
// NAME is that of the scene's file. geometry.hpp describes the cells.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/export/geometry.hpp"
#include "app/export/shown.hpp"
#include "app/export/usd.hpp"
#include "engine/sim/results/results.hpp"

namespace hindcast::exporting {

enum class Format { vtu, ply, obj, usd };

// "vtu,obj". Throws Error for any other name, with "did you mean".
std::vector<Format> formats_of(const std::string& list);

// The files that may be made in a folder of results, for ResultsFolder.
std::vector<std::string> exported_files(const Scene& scene);

// A file's content. `time` in seconds. `shown`: attributes besides the geometry's.
std::string to_vtu(const Geometry& geometry, double time, const std::vector<Attribute>& shown = {});
std::string to_ply(const Geometry& geometry);
std::string to_obj(const Geometry& geometry);

class Exporter {
public:
    // The path for a file of this name.
    using Place = std::function<std::filesystem::path(const std::string&)>;

    // `every`: whole steps between two frames, at least 1; 0: as the scene's outputs. Files of an
    // earlier export in the folder are removed, if `place` takes their names. The simulation must outlive this. Throws Error.
    Exporter(const std::filesystem::path& folder, Place place, Simulation& simulation,
             std::vector<Format> formats, std::int64_t every);

    // After `substeps_done` substeps: writes a frame where due.
    void watch(std::int64_t substeps_done);
    // The last frame, if it was not due anyway, and the series.
    void finish();
    std::size_t frames() const { return times_.size(); }
    // The first file, by its name.
    std::string first() const { return file_name(0, formats_.front()); }
    document::Node describe() const;  // for the summary of results, which `export/` is a folder of

private:
    void write();
    bool writes(Format format) const;
    std::string file_name(std::size_t frame, Format format) const;

    Place place_;
    Simulation& simulation_;
    std::vector<Format> formats_;
    std::optional<Geometry> geometry_;  // for all formats but USD
    std::optional<Shown> shown_;        // for VTU, which alone has a place for it
    std::optional<UsdScene> usd_;
    std::int64_t every_ = 1, done_ = 0, last_written_ = -1;
    std::string name_;
    int digits_ = 4;
    std::vector<double> times_;  // of the frames, in seconds
};

}  // namespace hindcast::exporting
