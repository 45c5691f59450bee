// Device: compiles kernels and owns the threads, or the context on a CUDA device, that run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/pass_set.hpp"
#include "engine/ir/kernel.hpp"

namespace hindcast {

class Array;
class DeviceMemory;
class ThreadPool;
namespace backend {
class Executable;
struct RunOptions;
namespace cuda {
class Context;
}
}  // namespace backend

enum class DeviceKind : std::uint8_t { interpreter, cpu, cuda };

// Choice of running small roll-outs as one compiled function (function_executor.hpp). The results
// have the same bits either way.
enum class WholeProgramUse : std::uint8_t { automatic, always, never };

struct DeviceOptions {
    DeviceKind kind = DeviceKind::cpu;
    int threads = 0;       // 0: all that this process may use
    int width = 0;         // SIMD lanes 1, 4, 8, 16; 0: chosen from the machine
    bool checked = false;  // bounds, second stores and non-finite values are looked for
    WholeProgramUse whole_program = WholeProgramUse::automatic;
    PassSet passes = {};  // all that there are: they never change a bit
    int ordinal = 0;      // of the CUDA device
    // Further ones, that the members of an ensemble are spread over (sim/ensembles/ensemble.hpp).
    std::vector<int> others = {};
    // On a CUDA device sums at dynamic indices are made by atomic additions of floating-point
    // numbers, in whatever order they come: faster, and the last bits differ from run to run. Other
    // devices have the same bits as without.
    bool nondeterministic = false;
};

class Device {
public:
    // Throws Error where the options cannot be had.
    explicit Device(const DeviceOptions& options = {});
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const DeviceOptions& options() const { return options_; }
    std::string describe() const;  // "cpu, 2 threads, 16 lanes"
    // True if every run has the same bits.
    bool is_deterministic() const { return !options_.nondeterministic || !cuda_; }
    // For errors: `launch` is the name, `arguments` is called for the text of the arguments.
    std::shared_ptr<backend::Executable> compile(const ir::Kernel& kernel,
                                                 const std::string& launch = "",
                                                 std::function<std::string()> arguments = {});
    const backend::RunOptions& run_options() const { return *run_; }
    // nullptr: launches work in the memory of the host.
    const std::shared_ptr<backend::cuda::Context>& cuda() const { return cuda_; }

    // Bytes that are free where launches work, if that is not the memory of the host.
    std::optional<std::int64_t> free_memory() const;
    // Throws Error if there is not that much.
    DeviceMemory allocate(std::size_t bytes) const;
    // All bytes of an array, as the launches before left it, into this device's memory; and back,
    // as a new version.
    void save(const Array& from, std::byte* to) const;
    void restore(const Array& to, const std::byte* from) const;
    // Returns when all launches have run; raises their faults.
    void synchronize() const;
    void settle() const;  // raises their faults; waits only for launches that can have any

    struct Statistics {
        int kernels = 0;     // compiled by this device
        double seconds = 0;  // spent on code since it was made, by all devices of the process
    };
    Statistics statistics() const;

private:
    DeviceOptions options_;
    std::unique_ptr<ThreadPool> pool_;
    std::shared_ptr<backend::cuda::Context> cuda_;
    std::unique_ptr<backend::RunOptions> run_;
    int kernels_ = 0;
    double before_ = 0;  // seconds spent on code before this device was made
};

const char* kind_name(DeviceKind kind);  // "cpu", "interpreter", "cuda"
// "cpu", "interpreter", "cuda", "cuda:1" (the second one), "auto" (cuda where it can be used, else
// cpu), "cuda:0,1" or "cuda:all" (for ensembles). Sets kind, ordinal and others; an Error lists the
// available devices.
void choose_device(DeviceOptions& options, const std::string& name);

}  // namespace hindcast
