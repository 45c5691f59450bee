// Exports of the window: pictures, image sequences and films of time or of iterations, of the view
// alone or of the whole window, along the camera path. One export at a time; it belongs to a Shell.
#pragma once

#include <memory>

#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

class Exporter {
public:
    Exporter();
    ~Exporter();
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    // The dialog, while Workspace::show_export, and the progress of an export that runs.
    void draw(Context& context);
    // Makes the next picture of a running export; before the panels, since it draws at its own
    // size.
    void advance(Context& context);
    // Whether the frame that is being drawn is a picture of an export of the whole window. Then it
    // is not shown on the screen, and given to the export.
    bool takes_frame() const;
    void take_frame(Context& context, const render::Image& image);

    bool is_running() const;

    // Ends an export that runs, before the device goes; says so.
    void abandon(Context& context);

    struct Plan;

private:
    std::unique_ptr<Plan> plan_;
};

}  // namespace hindcast::gui
