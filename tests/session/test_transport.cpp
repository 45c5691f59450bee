// Frames into memory that was exported to a CUDA device (the driver in software), and trails.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "tests/session/support.hpp"
#include "tests/support/software_cuda.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;

namespace {

// Three slots in memory files as Mesa's software device exports them: a page, then the memory.
class ExportedExchange final : public render::Exchange {
public:
    ExportedExchange(std::shared_ptr<const render::Stage> stage,
                     const std::array<std::uint8_t, 16>& device)
        : stage_(std::move(stage)) {
        for (std::size_t s = 0; s < 3; ++s) {
            std::size_t bytes = 0;
            for (const render::Channel& channel : stage_->channels) {
                render::SharedMemory memory;
                memory.offset = bytes;
                memory.bytes = channel.bytes(stage_->real);
                bytes += (memory.bytes + 255) / 256 * 256;
                slots_[s].push_back(memory);
            }
            const int descriptor = ::memfd_create("slot", MFD_CLOEXEC);
            REQUIRE(::ftruncate(descriptor, static_cast<off_t>(page + bytes)) == 0);
            mapped_[s] = static_cast<std::byte*>(
                ::mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
            sizes_[s] = page + bytes;
            for (render::SharedMemory& memory : slots_[s]) {
                memory.descriptor = descriptor;
                memory.exported_bytes = bytes;
                memory.device_uuid = device;
            }
        }
    }
    ~ExportedExchange() override {
        for (std::size_t s = 0; s < 3; ++s) {
            ::munmap(mapped_[s], sizes_[s]);
            ::close(slots_[s].front().descriptor);
        }
        if (semaphore_ >= 0) ::close(semaphore_);
    }
    // From now on the device raises a semaphore as the driver in software has them: a file with its
    // value. `seen`: whether this side notices.
    void have_semaphore(bool seen = true) {
        semaphore_ = ::memfd_create("semaphore", MFD_CLOEXEC);
        REQUIRE(::ftruncate(semaphore_, sizeof(std::uint64_t)) == 0);
        seen_ = seen;
    }
    int semaphore() const override { return semaphore_; }
    std::uint64_t raised() const override {
        std::uint64_t value = 0;
        if (seen_) CHECK(::pread(semaphore_, &value, sizeof value, 0) == sizeof value);
        return value;
    }
    ExportedExchange(const ExportedExchange&) = delete;
    ExportedExchange& operator=(const ExportedExchange&) = delete;
    render::TransportKind kind() const override { return render::TransportKind::exported; }
    const render::Stage& stage() const override { return *stage_; }
    const std::vector<render::SharedMemory>& slot(int slot) const override {
        return slots_[static_cast<std::size_t>(slot)];
    }
    std::vector<float> read(const render::Frame& frame, std::size_t channel) const {
        const auto s = static_cast<std::size_t>(frame.slot);
        const render::SharedMemory& memory = slots_[s][channel];
        std::vector<float> numbers(memory.bytes / 4);
        std::memcpy(numbers.data(), mapped_[s] + page + memory.offset, memory.bytes);
        return numbers;
    }

private:
    static constexpr std::size_t page = 4096;
    std::shared_ptr<const render::Stage> stage_;
    std::array<std::vector<render::SharedMemory>, 3> slots_;
    std::array<std::byte*, 3> mapped_{};
    std::array<std::size_t, 3> sizes_{};
    int semaphore_ = -1;
    bool seen_ = false;
};

// A scene on the driver in software that shows its frames in exported memory.
struct ExportingScene {
    OpenScene scene;
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<ExportedExchange> exported;

    ExportingScene() : scene(test::scene_file("spring_cage.json"), options()) {
        snapshot = scene.wait_complete();
        REQUIRE(snapshot->scene.cuda_uuid);
        exported =
            std::make_shared<ExportedExchange>(snapshot->scene.stage, *snapshot->scene.cuda_uuid);
    }
    static SessionOptions options() {
        SessionOptions o = OpenScene::options(64 << 20);
        o.simulation.device = test::fresh_device();
        return o;
    }
    void show(std::int64_t step) { scene.session.send(Seek{step}); }
    // Asks for the step and waits until its frame was published, complete or not.
    void publish(std::int64_t step) {
        show(step);
        scene.wait([&](const Snapshot& s) { return s.run.step == step && !s.view.frame_waits; });
    }
    render::Frame frame_at(std::int64_t step) {
        std::optional<render::Frame> frame;
        scene.wait([&](const Snapshot& s) {
            frame = exported->acquire();
            return s.reports.error || (frame && frame->step == step);
        });
        REQUIRE(frame);
        REQUIRE(frame->step == step);
        return *frame;
    }
    // Whether its channels have what a processor wrote.
    void check(const render::Frame& frame, const render::Frame& plain) {
        for (std::size_t c = 0; c < snapshot->scene.stage->channels.size(); ++c) {
            const std::vector<float> numbers = exported->read(frame, c);
            const auto expected =
                scene.exchange->read(plain, snapshot->scene.stage->channels[c].name);
            CAPTURE(snapshot->scene.stage->channels[c].name);
            REQUIRE(numbers.size() == expected.size());
            for (std::size_t k = 0; k < numbers.size(); ++k)  // NaN: not shown
                CHECK(
                    (std::isnan(expected[k]) ? std::isnan(numbers[k]) : numbers[k] == expected[k]));
        }
    }
};

}  // namespace

TEST_CASE("session: frames go to memory of a CUDA device, by no way of the host") {
    NEEDS_SOFTWARE_CUDA();
    const test::Software software("");
    ExportingScene on;
    OpenScene& scene = on.scene;
    for (const char* const color : {"", "speed", "cage.stiffness"}) {
        scene.session.send(FrameContents{color, "velocity"});
        for (const std::int64_t step : {0, 17, 30}) {
            scene.session.send(ShowOn{scene.exchange});
            on.show(step);
            const render::Frame plain = scene.frame_at(step);
            scene.session.send(ShowOn{on.exported});
            on.check(on.frame_at(step), plain);
        }
    }
    on.frame_at(30);
    // The range of the run's colors has been measured: two numbers of each frame.
    scene.wait(
        [](const Snapshot& s) { return s.view.color_range && s.view.color_range->complete; });
    const long long to_host = software.count("copied_to_host_bytes");
    const long long to_device = software.count("copies_to_device");
    for (std::int64_t step = 0; step < 30; ++step) {
        on.show(step);
        on.frame_at(step);
    }
    CHECK(software.count("copied_to_host_bytes") == to_host);
    CHECK(software.count("copies_to_device") == to_device);
}

TEST_CASE("session: a frame is published before the device has written it, and shown afterward") {
    NEEDS_SOFTWARE_CUDA();
    const test::Software software("");
    ExportingScene on;
    on.show(5);
    const render::Frame plain_5 = on.scene.frame_at(5);
    on.exported->have_semaphore();
    on.scene.session.send(ShowOn{on.exported});
    on.scene.wait([&](const Snapshot&) {
        software.pass_time();
        return on.exported->serial() > 0;
    });
    on.check(on.frame_at(5), plain_5);
    CHECK_FALSE(on.exported->expects());

    // The reader has a complete frame; the writer waits neither for it nor for the device.
    const long long waits = software.count("synchronizations");
    const std::uint64_t serial = on.exported->serial();
    on.publish(6);
    on.publish(7);
    CHECK(software.count("synchronizations") == waits);
    CHECK(on.exported->expects());
    CHECK(on.exported->serial() == serial);
    CHECK(on.exported->acquire()->step == 5);
    on.check(*on.exported->acquire(), plain_5);

    // No slot is left: the writer waits for the device, and what came before is shown.
    on.publish(8);
    CHECK(software.count("synchronizations") > waits);
    CHECK(on.exported->acquire()->step == 7);
    CHECK(on.exported->expects());
    software.pass_time();
    CHECK_FALSE(on.exported->expects());
    CHECK(on.exported->acquire()->step == 8);
    on.scene.session.send(ShowOn{on.scene.exchange});
    on.check(*on.exported->acquire(), on.scene.frame_at(8));
}

TEST_CASE("session: where nobody sees the semaphore the writer waits for the device") {
    NEEDS_SOFTWARE_CUDA();
    const test::Software software("");
    ExportingScene on;
    on.exported->have_semaphore(false);
    on.scene.session.send(ShowOn{on.exported});
    on.frame_at(0);
    for (const std::int64_t step : {5, 6, 7, 8}) {
        on.publish(step);
        CHECK_FALSE(on.exported->expects());
        CHECK(on.exported->acquire()->step == step);
    }
}

TEST_CASE("session: frames do not go to memory of another GPU than the solver's") {
    NEEDS_SOFTWARE_CUDA();
    ExportingScene on;
    std::array<std::uint8_t, 16> other = *on.snapshot->scene.cuda_uuid;
    ++other[3];
    on.scene.session.send(
        ShowOn{std::make_shared<ExportedExchange>(on.snapshot->scene.stage, other)});
    const auto refused =
        on.scene.wait([](const Snapshot& s) { return s.reports.error != nullptr; });
    CHECK(std::string(refused->reports.error->what()).find("another GPU") != std::string::npos);
}

TEST_CASE("session: trails are the ways of points up to the step that is shown") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    scene.session.send(FrameContents{"", "", true});
    scene.session.send(Seek{12});
    const auto snapshot = scene.wait(
        [](const Snapshot& s) { return s.view.trails && s.view.trails->front().size() == 13; });
    CHECK(snapshot->view.trails->size() == 9);
    const auto places = scene.exchange->read(scene.frame_at(12), "position");
    CHECK(snapshot->view.trails->front().back() == render::Vec3{places[0], places[1], places[2]});
    scene.session.send(FrameContents{});
    scene.wait([](const Snapshot& s) { return s.view.trails == nullptr; });
}
