#include "app/gui/work/edits/pulls.hpp"

#include <fmt/format.h>

#include <utility>

#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

Pulls::Pulls(Running& running, EditedScene& scene, Messages& messages)
    : running_(running), scene_(scene), messages_(messages) {}

std::uint64_t Pulls::grab(std::vector<std::int64_t> points, const render::Vec3& place) {
    running_.send(session::Grab{++number_, std::move(points), place});
    return number_;
}

void Pulls::update() {
    const auto& pulled = running_.now().pulls.released;
    if (!pulled || pulled->number == written_ || pulled->number != number_) return;
    written_ = pulled->number;
    std::string pointer;
    if (scene_.edit([&](session::Editor& e) {
            pointer = e.append(model::Section::forces, pulled->force, pulled->name);
        }))
        messages_.tell(
            fmt::format("{}: the path of the hand is the force {} of the scene now. Ctrl+Z takes "
                        "it back.",
                        pulled->name, scene_.name_at(pointer)),
            Notice::Kind::success);
}

}  // namespace hindcast::gui
