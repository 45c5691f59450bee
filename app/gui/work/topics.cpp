#include "app/gui/work/topics.hpp"

#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

bool shows_run(const Topics& work) {
    return work.running.has_run() && work.scene.is_open() && !work.requests.show_gallery;
}

}  // namespace hindcast::gui
