// Exports: pictures, image sequences and films over time or over iterations, of the view alone or
// of the whole window, along the camera path. There is one export at a time. Owned by the Shell.
#pragma once

#include <memory>

#include "app/exchange/stage.hpp"
#include "app/gui/work/context.hpp"

namespace hindcast::gui {

class Exporter {
public:
    Exporter();
    ~Exporter();
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    // Draws the dialog, while Requests::show_export, and the progress of a running export.
    void draw(Context& context);
    // Makes the next picture of a running export. Call it before the panels, since it draws at its
    // own size.
    void advance(Context& context);
    // True if the current frame is a picture of an export of the whole window. Such a frame goes to
    // the export and not to the screen.
    bool takes_frame() const;
    void take_frame(Context& context, const render::Image& image);

    bool is_running() const;
    // The size of one file of the chosen picture in bytes, once it is known; else 0.
    double picture_bytes() const;

    // Ends a running export before the device is destroyed, with a message.
    void abandon(Context& context);

    struct Plan;

private:
    std::unique_ptr<Plan> plan_;
};

}  // namespace hindcast::gui
