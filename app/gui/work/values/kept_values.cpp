#include "app/gui/work/values/kept_values.hpp"

#include <filesystem>
#include <utility>

#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/session/document/checkpoints.hpp"
#include "engine/sim/values/checkpoint.hpp"

namespace hindcast::gui {

namespace fs = std::filesystem;

KeptValues::KeptValues(Running& running, EditedScene& scene, FoundValues& values,
                       Messages& messages)
    : running_(running), scene_(scene), values_(values), messages_(messages) {}

void KeptValues::keep(const std::string& name,
                      std::shared_ptr<const std::vector<double>> parameters, std::int64_t build,
                      double loss) {
    if (name.empty()) {
        messages_.fail(Error("a checkpoint needs a name"));
        return;
    }
    keeping_ = Keeping{++asked_, name, loss};
    // An example's folder is not written to: all is in the text then, which is saved elsewhere.
    const fs::path& file = scene_.editor().file();
    const bool own = !file.empty() && !scene_.is_example();
    running_.send(session::KeepValues{asked_, std::move(parameters), build,
                                      own ? fs::absolute(file).parent_path() : fs::path(),
                                      file.stem().string() + "_checkpoint"});
}

void KeptValues::update() {
    const auto& answer = running_.now().handover.kept_values;
    if (!keeping_ || !answer || answer->number != keeping_->number) return;
    const Keeping kept = std::move(*keeping_);
    keeping_.reset();
    if (scene_.change("Keep " + kept.name, [&](const document::Document& scene) {
            return session::with_checkpoint(scene, kept.name, answer->values, kept.loss);
        }))
        messages_.tell(
            "Kept as " + kept.name + ", a part of the scene: Ctrl+S saves it with the others",
            Notice::Kind::success);
}

void KeptValues::use(const std::string& name, bool optimizes) {
    std::function<void()> next;
    if (optimizes)
        next = [this] {
            values_.apply();  // first the values
            running_.optimize(session::Optimize::What::start);
        };
    try {
        const document::Node& checkpoint = checkpoint_named(scene_.document(), name);
        values_.use({.name = "Show " + name,
                     .values = std::make_shared<const document::Node>(*checkpoint.find("values"))},
                    std::move(next));
    } catch (const Error& error) {
        messages_.fail(error);
    }
}

}  // namespace hindcast::gui
