#include "app/export/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "engine/base/files.hpp"
#include "engine/base/text/xml_text.hpp"
#include "engine/document/text.hpp"

namespace hindcast::exporting {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view names[] = {"vtu", "ply", "obj", "usd"};

const char* name_of(Format format) { return names[static_cast<int>(format)].data(); }

std::string stem_of(const Scene& scene) {
    return scene.file().empty() ? "scene" : scene.file().stem().string();
}

// NAME_0012.vtu and its like, NAME.pvd and NAME.usda.
bool is_export(const std::string& file, const std::string& name) {
    if (file == name + ".pvd" || file == name + ".usda") return true;
    if (!file.starts_with(name + "_") || file.size() < name.size() + 6) return false;
    const std::string number = file.substr(name.size() + 1, file.size() - name.size() - 5);
    return number.find_first_not_of("0123456789") == std::string::npos &&
           file[file.size() - 4] == '.' &&
           std::ranges::find(names, file.substr(file.size() - 3)) != std::end(names);
}

}  // namespace

std::vector<Format> formats_of(const std::string& list) {
    std::vector<Format> formats;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string name = list.substr(begin, end - begin);
        const auto found = std::ranges::find(names, name);
        if (found == std::end(names))
            throw Error(fmt::format("--export: there is no format {}", document::shown(name)))
                .remedy(document::suggestion(name, names, "formats are"));
        const auto format = static_cast<Format>(found - std::begin(names));
        if (std::ranges::find(formats, format) != formats.end())
            throw Error(fmt::format("--export names {} twice", name)).remedy("remove one");
        formats.push_back(format);
        begin = end + 1;
    }
    return formats;
}

std::vector<std::string> exported_files(const Scene& scene) {
    std::vector<std::string> files;
    for (const char* ending : {"_*.vtu", "_*.ply", "_*.obj", ".pvd", ".usda"})
        files.push_back("export/" + stem_of(scene) + ending);
    return files;
}

Exporter::Exporter(const fs::path& folder, Place place, Simulation& simulation,
                   std::vector<Format> formats, std::int64_t every)
    : place_(std::move(place)),
      simulation_(simulation),
      formats_(std::move(formats)),
      every_(every > 0 ? every : OutputPlan::read(simulation).every),
      name_(stem_of(simulation.scene())) {
    if (formats_ != std::vector{Format::usd}) {
        geometry_.emplace(simulation.model());
        if (geometry_->cell_count() == 0)
            throw Error("the scene draws no points, segments, surfaces or fields to export")
                .remedy("--export usd has rigid bodies and obstacles; or run without --export");
        if (writes(Format::vtu)) shown_.emplace(simulation.model(), *geometry_);
    }
    const std::int64_t frames = simulation.steps() / simulation.scene().substeps() / every_ + 2;
    digits_ = std::max(4, static_cast<int>(std::to_string(frames).size()));
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
        if (const std::string file = entry.path().filename().string(); is_export(file, name_))
            fs::remove(place_(file), ignored);
    if (writes(Format::usd))
        usd_.emplace(folder, simulation, simulation.scene().step() * static_cast<double>(every_));
}

bool Exporter::writes(Format format) const {
    return std::ranges::find(formats_, format) != formats_.end();
}

std::string Exporter::file_name(std::size_t frame, Format format) const {
    return format == Format::usd
               ? name_ + ".usda"
               : fmt::format("{}_{:0{}}.{}", name_, frame, digits_, name_of(format));
}

void Exporter::write() {
    const Scene& scene = simulation_.scene();
    const double time =
        scene.step() * static_cast<double>(done_) / static_cast<double>(scene.substeps());
    if (shown_) shown_->evaluate();
    for (const Format format : formats_) {
        if (usd_ && format == Format::usd) {
            usd_->add(time);
            continue;
        }
        if (!geometry_ || (format == Format::vtu && !shown_))
            throw std::logic_error("an export without its geometry");
        const Geometry& geometry = *geometry_;
        const fs::path file = place_(file_name(times_.size(), format));
        write_file_atomically(file, format == Format::vtu
                                        ? to_vtu(geometry, time, shown_->attributes())
                                    : format == Format::ply ? to_ply(geometry)
                                                            : to_obj(geometry));
    }
    times_.push_back(time);
    last_written_ = done_;
}

void Exporter::watch(std::int64_t substeps_done) {
    done_ = substeps_done;
    if (done_ % (every_ * simulation_.scene().substeps()) == 0) write();
}

void Exporter::finish() {
    if (last_written_ != done_) write();
    if (usd_) usd_->write(place_(file_name(0, Format::usd)));
    if (!writes(Format::vtu)) return;
    std::string series =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
        "byte_order=\"LittleEndian\">\n<Collection>\n";
    for (std::size_t k = 0; k < times_.size(); ++k)
        series += fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n",
                              document::shortest(times_[k]), xml_text(file_name(k, Format::vtu)));
    series += "</Collection>\n</VTKFile>\n";
    write_file_atomically(place_(name_ + ".pvd"), series);
}

document::Node Exporter::describe() const {
    document::Node list = document::Node::array();
    for (const Format format : formats_) list.push_back(name_of(format));
    return document::Node::object({{"every", every_},
                                   {"frames", static_cast<std::int64_t>(times_.size())},
                                   {"formats", std::move(list)},
                                   {"first", "export/" + first()}});
}

}  // namespace hindcast::exporting
