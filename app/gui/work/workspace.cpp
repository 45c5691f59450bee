#include "app/gui/work/workspace.hpp"

#include <string>
#include <utility>

namespace hindcast::gui {

Workspace::Workspace(const Registry& registry, SessionLink link,
                     const std::filesystem::path& state_folder,
                     std::vector<std::filesystem::path> galleries)
    : running_(std::move(link)),
      scene_(registry, state_folder, std::move(galleries), messages_),
      settings_(state_folder, messages_),
      looks_(running_, scene_, messages_),
      camera_(running_, scene_, looks_, messages_),
      adding_(scene_, chosen_, looks_),
      pulls_(running_, scene_, messages_),
      reports_(running_, scene_, chosen_, requests_, messages_),
      handover_(running_, scene_, reports_, messages_),
      values_(running_, scene_, handover_, messages_),
      checkpoints_(running_, scene_, values_, messages_),
      saving_(running_, scene_, text_, handover_, values_, requests_, messages_),
      opening_(running_, scene_, text_, chosen_, handover_, saving_, requests_, messages_),
      results_(running_, scene_, handover_, values_, opening_, requests_, messages_),
      ending_(scene_, values_, saving_, messages_),
      topics_{.messages = messages_,
              .requests = requests_,
              .measured = measured_,
              .settings = settings_,
              .running = running_,
              .scene = scene_,
              .text = text_,
              .chosen = chosen_,
              .looks = looks_,
              .camera = camera_,
              .adding = adding_,
              .pulls = pulls_,
              .reports = reports_,
              .handover = handover_,
              .values = values_,
              .checkpoints = checkpoints_,
              .saving = saving_,
              .opening = opening_,
              .results = results_,
              .ending = ending_} {}

void Workspace::update() {
    running_.update();
    if (reports_.has_new_error()) values_.forget_next();
    finish_opening();
    looks_.update();
    values_.take_answer();
    pulls_.update();
    checkpoints_.update();
    results_.update();
    adding_.update();
    values_.apply();
    handover_.take_back_refused();
    ending_.update();
    saving_.watch_files();
    reports_.update(handover_.is_opening());
    messages_.remove_old();
}

void Workspace::finish_opening() {
    switch (handover_.opening_state()) {
        case Handover::State::waits: return;
        case Handover::State::refused:
            reports_.error_is_told();  // by the question that opens
            opening_.show_refused();
            return;
        case Handover::State::built: break;
    }
    handover_.show_opened();
    values_.begin();
    saving_.forget_name();
    chosen_.clear();
    requests_.show_gallery = false;
    text_.clear();
    text_.changed = false;
    camera_.follows = false;
    looks_.begin(settings_);
    running_.send(session::Repeat{running_.looping});
    running_.set_speed(session::fitting_speed(running_.duration()));
    running_.play(true);
    const bool optimizes = std::exchange(opening_.optimize_when_open, false);
    if (const std::string name = std::exchange(opening_.checkpoint_when_open, {}); !name.empty())
        checkpoints_.use(name, optimizes);
    else if (optimizes)
        running_.optimize(session::Optimize::What::start);
    results_.begin();
    if (!scene_.editor().unsaved()) opening_.offer_autosave();
}

}  // namespace hindcast::gui
