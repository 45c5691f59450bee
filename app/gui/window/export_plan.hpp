// The plan and the progress of an export: the state behind the dialog (export.cpp).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/draw/offscreen_canvas.hpp"
#include "app/gui/window/export.hpp"
#include "app/gui/window/export_motion.hpp"
#include "app/gui/work/topics.hpp"
#include "app/render/output/video.hpp"

namespace hindcast::gui {

// Exporter::Plan::part and ::axis.
inline constexpr const char* only_view = "the view";
inline constexpr const char* whole_window = "the whole window";
inline constexpr const char* iterations = "iterations";

// The choices in the dialog, and the progress.
struct Exporter::Plan {
    std::string kind = "PNG sequence", axis = "simulated time", part = only_view;
    bool labels = true, along_path = true;
    int width = 1280, height = 720, frames_per_second = 30;
    double speed = 0;  // simulated seconds per second of the film; 0: what suits the duration
    std::string folder;
    std::filesystem::path scene;  // that the speed was chosen for
    // While it runs:
    bool running = false;
    std::int64_t next = 0, count = 0, asked = -1;
    std::vector<std::int64_t> positions;
    double asked_at = 0;
    std::filesystem::path target;  // a folder of pictures, or the film
    std::unique_ptr<render::Video> film;
    std::int64_t before = 0, iteration_before = -1;
    render::Camera camera_before;
    bool capturing = false;  // this frame of the window is a picture of the export
    bool ending = false;     // all pictures are made; ffmpeg is at the film
    double ending_since = 0;
    std::unique_ptr<OffscreenCanvas> offscreen;
    MotionExport motion;
    // Bytes of one file of the chosen picture; 0: not known. Measured once the choice stands.
    struct Weight {
        int width = 0, height = 0;
        bool labels = false;
        std::string kind;
        std::filesystem::path scene;
        double since = 0;  // s, of ImGui's time
        double bytes = 0;
    } weight;
};

double speed_of(const Exporter::Plan& plan, const Running& running);
// As `hindcast render` counts them.
std::int64_t pictures_of_time(const Exporter::Plan& plan, const Topics& work);
// The iterations that there are pictures of.
std::vector<std::int64_t> shown_iterations(const Running& running);
// The steps or iterations that the pictures are of.
std::vector<std::int64_t> positions_of(const Exporter::Plan& plan, const Topics& work);
// "91 pictures, 3.03 s, about 8.2 MiB"
std::string extent_text(const Exporter::Plan& plan, const Topics& work);

bool takes_window(const Exporter::Plan& plan);
bool is_film(const Exporter::Plan& plan);
bool is_motion(const Exporter::Plan& plan);

// The path for that name: a file, or a folder of many.
std::filesystem::path target_of(const Exporter::Plan& plan, const std::string& name);
// The pictures of an earlier sequence in a folder.
std::vector<std::filesystem::path> pictures_in(const std::filesystem::path& folder);
bool is_there_already(const Exporter::Plan& plan, const std::filesystem::path& target);

}  // namespace hindcast::gui
