// When the window draws again. A frame is drawn because something wants it, now or at a time; where
// nothing does, the window waits for events. All that wants frames says so here, with its reason.
//
//     frame_wishes().want(FrameReason::timer, 0.5);  // half a second from now at the latest
//
// A wish holds until the next frame begins, whichever that is. Lasting work wishes in each frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace hindcast::gui {

enum class FrameReason : std::uint8_t {
    input,      // of mouse, keyboard and text, and what is held down
    screen,     // the window has another size or scale, was uncovered, or is to be closed
    news,       // of the simulation, of files, of the log; a question or a message
    motion,     // time goes by in the picture
    picture,    // a frame of the simulation is newer than the one drawn, or on its way
    work,       // beside the window, whose end or progress is looked for: opening, export, checks
    settling,   // what ImGui lays out over several frames
    tooltip,    // the mouse rests
    animation,  // a card of the gallery moves, something fades or scrolls
    timer,      // something is shown, or goes, after a time
    count
};
const char* name_of(FrameReason reason);

class FrameWishes {
public:
    // Seconds on a clock that goes on while nothing is drawn.
    double now() const { return now_; }
    void set_now(double now) { now_ = now; }

    void want(FrameReason reason, double in_seconds = 0);
    bool wanted(FrameReason reason) const { return due_[index(reason)] <= now_; }
    // Seconds until the next frame; 0: now; infinity: not before something happens.
    double left() const;

    // The frame that is drawn has the picture of the scene: a newer one is worth a frame. It is not
    // behind the gallery or another panel.
    void shows_picture() { picture_ = true; }
    bool picture_is_shown() const { return picture_; }

    // A frame begins: it grants all wishes.
    void begin();
    // It has been drawn.
    void end();

    // So far, "3 input, 2 settling": why frames were drawn, each for the oldest of its reasons.
    std::string reasons() const;

private:
    static constexpr auto count = static_cast<std::size_t>(FrameReason::count);
    static constexpr std::size_t index(FrameReason reason) {
        return static_cast<std::size_t>(reason);
    }
    static constexpr double never = std::numeric_limits<double>::infinity();
    static constexpr std::array<double, count> none() {
        std::array<double, count> all{};
        all.fill(never);
        return all;
    }

    double now_ = 0;
    bool picture_ = false;
    std::array<double, count> due_ = none();
    std::array<std::int64_t, count> granted_{};
    int settling_ = 0;  // frames
};

// Those of the one window.
FrameWishes& frame_wishes();

// Wishes for things that ImGui does over time by itself: delays of tooltips and menus, fading,
// scrolling, windows that find their size. Call it at the end of a frame.
void want_what_imgui_does(FrameWishes& frames);

}  // namespace hindcast::gui
