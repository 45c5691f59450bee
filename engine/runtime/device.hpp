// Where kernels run. A Device compiles kernels and owns the threads that run them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/backend/executable.hpp"
#include "engine/base/thread_pool.hpp"

namespace hindcast {

enum class DeviceKind : std::uint8_t { interpreter, cpu };

// Whether small roll-outs run as one compiled function: never changes a bit (whole_program.hpp).
enum class WholeProgramUse : std::uint8_t { automatic, always, never };

struct DeviceOptions {
    DeviceKind kind = DeviceKind::cpu;
    int threads = 0;       // 0: all that this process may use
    int width = 0;         // SIMD lanes 1, 4, 8, 16; 0: chosen from the machine
    bool checked = false;  // bounds, second stores and non-finite values are looked for
    WholeProgramUse whole_program = WholeProgramUse::automatic;
    bool fuse = true;  // roll-outs join adjacent launches (fusion.hpp): never changes a bit
};

class Device {
public:
    explicit Device(const DeviceOptions& options = {});

    const DeviceOptions& options() const { return options_; }
    std::string describe() const;  // "cpu, 2 threads, 16 lanes"
    std::shared_ptr<backend::Executable> compile(const ir::Kernel& kernel);
    const backend::RunOptions& run_options() const { return run_; }

    struct Statistics {
        int kernels = 0;     // compiled by this device
        double seconds = 0;  // spent on code since it was made, by all devices of the process
    };
    Statistics statistics() const;

private:
    DeviceOptions options_;
    std::unique_ptr<ThreadPool> pool_;
    backend::RunOptions run_;
    int kernels_ = 0;
    double before_ = 0;  // seconds spent on code before this device was made
};

// "cpu", "interpreter"; an Error names what there is.
DeviceKind device_kind(const std::string& name);

}  // namespace hindcast
