// A scene as a function on a CUDA device: the bits of the same function on the host, on a stream of
// another library and in its graphs. On the driver in software, whose memory the host cannot read
// and which runs what is not ordered in any order.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "engine/runtime/array/memory.hpp"
#include "engine/sim/functions/device_function.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/memory/foreign_memory.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;
using Kind = SceneFunction::Kind;
using Numbers = std::vector<double>;
namespace cuda = backend::cuda;

namespace {

constexpr Kind kinds[] = {Kind::value, Kind::jvp, Kind::vjp, Kind::hvp, Kind::jvp2};

struct Case {
    std::string name;  // a file's, or text
    std::vector<std::string> inputs, outputs;
    std::int64_t steps = -1;
    ir::Precision precision = ir::Precision::f64;
    std::int64_t memory = 0;  // for gradients, in bytes; 0: as the scene says
    bool can_fail = false;    // its launches, on the device: calls cannot be captured

    SceneFunction on(const std::shared_ptr<Device>& device) const {
        SimulationOptions options;
        options.device = device;
        options.precision = precision;
        options.steps = steps;
        if (memory > 0) options.gradient_memory = memory;
        const Scene scene =
            name.find('{') == std::string::npos
                ? Scene::load(std::string(test::source_dir) + "/scenes/" + name + ".json")
                : Scene::parse("{\"format\": 1, " + name + "}");
        return {scene, test::all_modules(), options, inputs, outputs};
    }
};

Numbers wave(std::size_t size, double scale, double phase) {
    Numbers u;
    for (std::size_t k = 0; k < size; ++k)
        u.push_back(scale * std::sin(phase + 1.7 * static_cast<double>(k)));
    return u;
}

// Operands of a call near the scene's own values, as numbers of f32 where `narrow`.
std::vector<Numbers> operands_of(const SceneFunction& f, Kind kind, double phase, bool narrow) {
    std::vector<Numbers> list;
    for (const std::size_t size : f.operand_sizes(kind)) {
        Numbers numbers =
            wave(size, list.empty() ? 1e-3 : 0.5, phase + 2.0 * static_cast<double>(list.size()));
        if (list.empty())
            for (std::size_t k = 0; k < size; ++k)
                numbers[k] = f.scene_values()[k] * (1 + numbers[k]);
        if (narrow)
            for (double& each : numbers) each = static_cast<float>(each);
        list.push_back(std::move(numbers));
    }
    return list;
}

bool same_bits(const Numbers& a, const Numbers& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// Calls by another library: its memory, and a stream of its own.
class Caller {
public:
    Caller(DeviceFunction& function, const std::shared_ptr<Device>& device,
           const std::vector<Numbers>& operands, std::size_t results, bool narrow)
        : function_(function), device_(device), narrow_(narrow) {
        for (const Numbers& each : operands) operands_.push_back(library.put(in(each)));
        result_ = library.put(std::vector<std::byte>(results * scalar(), std::byte{0x7f}));
        own_ = std::make_shared<cuda::Stream>(library.context);
        stream_ = std::make_shared<cuda::Stream>(device->cuda(), own_->handle(), own_);
    }
    void give(const std::vector<Numbers>& operands) {
        for (std::size_t k = 0; k < operands.size(); ++k) {
            const std::vector<std::byte> bytes = in(operands[k]);
            library.context->upload(operands_[k]->address(), bytes.data(), bytes.size());
        }
        library.context->synchronize();
    }
    void put() {
        const cuda::Context::Following following(*device_->cuda(), stream_.get());
        std::vector<DeviceFunction::Numbers> numbers;
        for (const auto& each : operands_) numbers.push_back({bytes_of(*each), !narrow_});
        function_.put(numbers, bytes_of(*result_), !narrow_);
    }
    Numbers take() {
        REQUIRE(cuda::driver().StreamSynchronize(own_->handle()) == 0);
        const std::vector<std::byte> bytes = library.get<std::byte>(*result_);
        Numbers numbers(bytes.size() / scalar());
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            float single = 0;
            if (narrow_)
                std::memcpy(&single, bytes.data() + k * scalar(), scalar());
            else
                std::memcpy(&numbers[k], bytes.data() + k * scalar(), scalar());
            if (narrow_) numbers[k] = single;
        }
        return numbers;
    }
    cuda::StreamHandle handle() const { return own_->handle(); }

    test::Library library;

private:
    std::size_t scalar() const { return narrow_ ? sizeof(float) : sizeof(double); }
    static std::byte* bytes_of(const cuda::Block& block) {
        return reinterpret_cast<std::byte*>(block.address());  // NOLINT: an address of the device
    }
    std::vector<std::byte> in(const Numbers& numbers) const {
        std::vector<std::byte> bytes(numbers.size() * scalar());
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const auto single = static_cast<float>(numbers[k]);
            std::memcpy(bytes.data() + k * scalar(),
                        narrow_ ? static_cast<const void*>(&single) : &numbers[k], scalar());
        }
        return bytes;
    }

    DeviceFunction& function_;
    std::shared_ptr<Device> device_;
    bool narrow_;
    std::vector<std::shared_ptr<cuda::Block>> operands_;
    std::shared_ptr<cuda::Block> result_;
    std::shared_ptr<cuda::Stream> own_, stream_;
};

// Ended in any case: a capture that is left open fails all work of the device.
class Capture {
public:
    explicit Capture(cuda::StreamHandle stream) : stream_(stream) {
        REQUIRE(cuda::driver().StreamBeginCapture(stream_, cuda::relaxed_capture) == 0);
    }
    ~Capture() {
        if (!is_open_) return;
        cuda::GraphHandle graph = nullptr;
        if (cuda::driver().StreamEndCapture(stream_, &graph) == 0)
            cuda::driver().GraphDestroy(graph);
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    cuda::GraphHandle end() {
        is_open_ = false;
        cuda::GraphHandle graph = nullptr;
        REQUIRE(cuda::driver().StreamEndCapture(stream_, &graph) == 0);
        return graph;
    }

private:
    cuda::StreamHandle stream_;
    bool is_open_ = true;
};

void check_bits(const Case& of) {
    const bool narrow = of.precision == ir::Precision::f32;
    const auto device = test::fresh_device();
    SceneFunction host = of.on(std::make_shared<Device>(DeviceOptions{DeviceKind::cpu, 1}));
    for (const Kind kind : kinds) {
        CAPTURE(of.name.substr(0, 40));
        CAPTURE(static_cast<int>(kind));
        DeviceFunction function(host, kind, device);
        Caller caller(function, device, operands_of(host, kind, 0, narrow), host.result_size(kind),
                      narrow);
        const auto expected = [&](double phase) {
            const std::vector<Numbers> o = operands_of(host, kind, phase, narrow);
            caller.give(o);
            Numbers y = host(
                {kind, o[0], o.size() > 1 ? o[1] : Numbers(), o.size() > 2 ? o[2] : Numbers()});
            if (narrow)
                for (double& each : y) each = static_cast<float>(each);
            return y;
        };
        // As the library calls it.
        for (const double phase : {0.3, 0.3, 1.1}) {
            const Numbers y = expected(phase);
            caller.put();
            CHECK(same_bits(caller.take(), y));
        }
        device->synchronize();
        if (of.can_fail) {
            {
                const Capture capture(caller.handle());
                CHECK(
                    test::message([&] { caller.put(); })
                        .starts_with(
                            "the stream is captured, and what was asked for waits for the device"));
            }
            const Numbers y = expected(0.7);
            caller.put();
            CHECK(same_bits(caller.take(), y));
            continue;
        }
        // Into a graph of the library's.
        const test::Software software("");
        const long long allocations = software.count("allocations"),
                        waits = software.count("synchronizations");
        const cuda::Driver& d = cuda::driver();
        Capture capture(caller.handle());
        caller.put();
        cuda::GraphHandle noted = capture.end();
        CHECK(software.count("allocations") == allocations);
        CHECK(software.count("synchronizations") == waits);
        cuda::GraphExecHandle graph = nullptr;
        REQUIRE(d.GraphInstantiate(&graph, noted, 0) == 0);
        d.GraphDestroy(noted);
        for (const double phase : {0.5, 1.1, 2.0}) {
            const Numbers y = expected(phase);
            REQUIRE(d.GraphLaunch(graph, caller.handle()) == 0);
            CHECK(same_bits(caller.take(), y));
        }
        // And by itself again.
        const Numbers y = expected(0.7);
        caller.put();
        CHECK(same_bits(caller.take(), y));
        d.GraphExecDestroy(graph);
    }
}

const std::vector<std::string> physics{"links.stiffness", "links.rest_length", "wind.linear",
                                       "chain.velocity", "gravity"};

}  // namespace

TEST_CASE("device function: all outputs of springs, with the host's bits") {
    NEEDS_SOFTWARE_CUDA();
    for (const char* seed : {"seed=1", "seed=2"}) {
        const test::Software software(seed);
        for (const ir::Precision precision : {ir::Precision::f64, ir::Precision::f32})
            check_bits({.name = test::springs_in_wind,
                        .inputs = physics,
                        .outputs = {"loss", "final:position", "state:velocity"},
                        .precision = precision});
    }
}

TEST_CASE("device function: the loss alone, and final states alone, which go by graphs") {
    NEEDS_SOFTWARE_CUDA();
    check_bits({.name = test::springs_in_wind, .inputs = physics, .outputs = {"loss"}});
    check_bits({.name = test::springs_in_wind,
                .inputs = {"chain.velocity"},
                .outputs = {"final:velocity", "final:position"}});
}

TEST_CASE("device function: scenes with steps that are made again, grids, and fields") {
    NEEDS_SOFTWARE_CUDA();
    check_bits({.name = "hanging_net",
                .inputs = {"threads.stiffness"},
                .outputs = {"loss"},
                .steps = 5,
                .precision = ir::Precision::f32,
                .memory = std::int64_t{2} << 20});
    check_bits({.name = "mpm_launch",
                .inputs = {"block.velocity"},
                .outputs = {"loss", "final:deformation_gradient"},
                .steps = 4,
                .can_fail = true});  // a point may leave the grid
}

TEST_CASE("device function: a run that diverges is NaN, and the next one is right again") {
    NEEDS_SOFTWARE_CUDA();
    const Case of{.name = test::springs_in_wind,
                  .inputs = {"links.stiffness"},
                  .outputs = {"loss", "final:position"}};
    const auto device = test::fresh_device();
    SceneFunction host = of.on(std::make_shared<Device>(DeviceOptions{DeviceKind::cpu, 1}));
    for (const Kind kind : kinds) {
        CAPTURE(static_cast<int>(kind));
        DeviceFunction function(host, kind, device);
        std::vector<Numbers> operands = operands_of(host, kind, 0.2, false);
        const auto on_host = [&] {
            return host({kind, operands[0], operands.size() > 1 ? operands[1] : Numbers(),
                         operands.size() > 2 ? operands[2] : Numbers()});
        };
        Caller caller(function, device, operands, host.result_size(kind), false);
        const Numbers finite = operands[0];
        for (int round = 0; round < 3; ++round) {
            operands[0] = Numbers(finite.size(), 1e200);
            caller.give(operands);
            caller.put();
            for (const double each : caller.take()) CHECK(std::isnan(each));
            for (const double each : on_host()) CHECK(std::isnan(each));
            operands[0] = finite;
            caller.give(operands);
            caller.put();
            CHECK(same_bits(caller.take(), on_host()));
        }
    }
}
