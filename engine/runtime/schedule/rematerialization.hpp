// Rematerialization: which launches of a step run once more on the way back, so that what they
// write need not be kept. Decided from what launches do and cost, for two kinds:
//
//   sums at places that depend on values   material points that add to a grid. Keeping all of the
//                                          array costs by its elements, making it again by the
//                                          items; most elements are zero. On the host the lines
//                                          that are not zero are kept where they are few
//                                          (history/sparse_history.hpp).
//   cheap element-wise launches            that read constants and what is made again already
//
// Such a launch defines its arrays (Sum, Write) from what it reads; nothing else in a step or event
// writes them, and nothing before it in the step touches them.
#pragma once

#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

// Sets Call::made_again of the step's calls, and with `sparse` their results. Before what must be
// kept is planned. A schedule with adjoints.
void rematerialize(Schedule& schedule, bool sparse);

}  // namespace hindcast
