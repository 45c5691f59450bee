// Kept runs (session/runs/kept_runs.hpp) in the plots: their list with what can be done, and their
// curves beside those of the present one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/gui/draw/figure.hpp"
#include "app/gui/work/topics.hpp"
#include "app/session/runs/kept_runs.hpp"

namespace hindcast::gui {

enum class RunCurve : std::uint8_t { loss, gradient, parameters };

// Curves of the runs that are shown, at most so many of each group of starts and with fewer points,
// from iteration `begin` on. `wanted`: true for the names of the parameters to draw.
std::vector<Curve> curves_of_runs(const session::KeptRuns& runs, RunCurve kind, double begin,
                                  const std::function<bool(const std::string&)>& wanted);

class RunList {
public:
    // The button that opens the list, and the list.
    void draw(Topics& work);
    static float button_width(const Topics& work);

private:
    static std::string label(OpenedResults& results);
    void row(Topics& work, const session::KeptRun& run);
    void name_of(Topics& work, const session::KeptRun& run);
    void group(Topics& work, std::size_t first, std::size_t end);

    std::uint64_t renamed_ = 0;  // the run whose name is typed; 0: none
    std::string new_name_;
    bool takes_focus_ = false;
    int rows_ = 0;                 // of the list, in the frame before
    std::function<void()> later_;  // what changes the list, once it is drawn
};

}  // namespace hindcast::gui
