// What tests of the session share: an Exchange over plain memory, and a session on a scene.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/exchange/plain_exchange.hpp"
#include "app/session/document/editor.hpp"
#include "app/session/session.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/patience.hpp"

namespace hindcast::test {

namespace session = hindcast::session;

class PlainExchange final : public render::PlainExchange {
public:
    using render::PlainExchange::PlainExchange;

    // The numbers of a channel in the frame, as doubles.
    std::vector<double> read(const render::Frame& frame, const std::string& channel) const {
        std::vector<double> numbers;
        for (std::size_t c = 0; c < stage().channels.size(); ++c) {
            const render::Channel& ch = stage().channels[c];
            if (ch.name != channel) continue;
            const render::SharedMemory& memory = slot(frame.slot)[c];
            for (std::int64_t k = 0; k < ch.elements * ch.components; ++k)
                numbers.push_back(stage().real == render::RealType::f64
                                      ? reinterpret_cast<const double*>(memory.host)[k]
                                      : reinterpret_cast<const float*>(memory.host)[k]);
        }
        return numbers;
    }
};

// One of its own for each session and simulation: a device belongs to one thread at a time.
inline std::shared_ptr<Device> session_device() {
    return std::make_shared<Device>(DeviceOptions{
        .kind = has_cpu_device() ? DeviceKind::cpu : DeviceKind::interpreter, .threads = 2});
}

inline std::filesystem::path scene_file(const std::string& name) {
    return std::filesystem::path(hindcast::test::source_dir) / "scenes" / name;
}

inline std::shared_ptr<const document::Document> load_document(const std::filesystem::path& file) {
    return std::make_shared<const document::Document>(document::Document::load(file));
}

// A session, its document, and the exchange that its frames go to.
struct OpenScene {
    session::Session session;
    std::shared_ptr<const document::Document> document;
    std::filesystem::path file;
    std::uint64_t revision = 0;
    std::shared_ptr<PlainExchange> exchange;

    explicit OpenScene(const std::filesystem::path& path,
                       std::int64_t frame_memory = std::int64_t{64} << 20)
        : OpenScene(path, options(frame_memory)) {}
    OpenScene(const std::filesystem::path& path, const session::SessionOptions& with,
              const Registry& registry = all_modules())
        : session(registry, with), file(path) {
        apply(*load_document(path), true);
        const auto snapshot =
            wait([](const session::Snapshot& s) { return s.scene.stage != nullptr; });
        exchange = std::make_shared<PlainExchange>(snapshot->scene.stage);
        session.send(session::ShowOn{exchange});
    }

    static session::SessionOptions options(std::int64_t frame_memory) {
        session::SessionOptions o;
        o.simulation.device = session_device();
        o.frame_memory = frame_memory;
        return o;
    }
    // Sends the document and waits until it was tried.
    std::shared_ptr<const session::Snapshot> apply(const document::Document& changed,
                                                   bool fresh = false) {
        document = std::make_shared<const document::Document>(changed);
        session.send(session::Apply{document, ++revision, file, fresh});
        return wait([this](const session::Snapshot& s) {
            return s.handover.applied_revision == revision &&
                   (s.handover.revision == revision || s.reports.error);
        });
    }
    std::shared_ptr<const session::Snapshot> wait(
        const std::function<bool(const session::Snapshot&)>& condition) const {
        return session.wait(condition, 120 * patience);
    }
    // The trajectory of the parameters that stand is there.
    std::shared_ptr<const session::Snapshot> wait_complete() const {
        return wait([](const session::Snapshot& s) {
            return s.reports.activity == session::Activity::idle &&
                   s.run.steps_computed == s.run.steps;
        });
    }
    // The whole optimization; waits until it has ended.
    std::shared_ptr<const session::Snapshot> optimize() {
        session.send(session::Optimize{session::Optimize::What::start});
        return wait_ended();
    }
    std::shared_ptr<const session::Snapshot> wait_ended() const {
        return wait([](const session::Snapshot& s) {
            return s.reports.activity == session::Activity::idle &&
                   !s.optimization.stop_reason.empty();
        });
    }
    // The latest frame once it shows this step of what is shown.
    render::Frame frame_at(std::int64_t step) const {
        std::optional<render::Frame> frame;
        wait([&](const session::Snapshot& s) {
            frame = exchange->acquire();
            return frame && frame->step == step && s.run.step == step && !s.view.frame_waits;
        });
        if (!frame) throw Error("no frame came");
        return *frame;
    }
};

}  // namespace hindcast::test
