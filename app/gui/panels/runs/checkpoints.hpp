// Checkpoints of the scene in the Optimizer panel: kept, shown, updated, renamed, deleted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/work/topics.hpp"
#include "app/session/document/checkpoints.hpp"

namespace hindcast::gui {

class CheckpointList {
public:
    void draw(Topics& work);

private:
    // The checkpoint that would be kept now: the parameters of the iteration shown.
    struct Offer {
        std::shared_ptr<const std::vector<double>> parameters;
        std::int64_t build = 0;
        double loss = 0;
        std::string name;     // proposed
        std::string problem;  // why nothing can be kept; "": it can
    };
    static Offer offer_of(const Running& running);
    void keep_button(Topics& work);
    void row(Topics& work, const session::CheckpointInfo& checkpoint, const Offer& offer);

    Offer offered_;        // when "Keep as..." was opened
    std::string typed_;    // the name in the popup
    std::string renamed_;  // the checkpoint whose name is typed; "": none
    std::string new_name_;
    bool takes_focus_ = false;
};

}  // namespace hindcast::gui
