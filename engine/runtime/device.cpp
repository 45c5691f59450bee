#include "engine/runtime/device.hpp"

#include "engine/backend/cpu.hpp"
#include "engine/backend/interpreter.hpp"
#include "engine/backend/machine_code.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

Device::Device(const DeviceOptions& options) : options_(options) {
    if (options.width != 0 && options.width != 1 && options.width != 4 && options.width != 8 &&
        options.width != 16)
        throw Error("a SIMD width of " + std::to_string(options.width) + " is not possible")
            .remedy("use 1, 4, 8 or 16, or 0 to let the machine choose");
    if (options.threads < 0)
        throw Error("a device cannot have " + std::to_string(options.threads) + " threads")
            .remedy("use 1 or more, or 0 for all");
    if (options_.threads == 0) options_.threads = hardware_threads();
    if (options_.kind == DeviceKind::interpreter) options_.threads = 1;
    pool_ = std::make_unique<ThreadPool>(options_.threads);
    run_.pool = pool_.get();
    before_ = backend::code_statistics().seconds;
}

std::string Device::describe() const {
    if (options_.kind == DeviceKind::interpreter) return "interpreter";
    return "cpu, " + std::to_string(options_.threads) +
           (options_.threads == 1 ? " thread, " : " threads, ") +
           std::to_string(options_.width != 0 ? options_.width
                                              : backend::cpu_width(ir::Precision::f32)) +
           " lanes";
}

std::shared_ptr<backend::Executable> Device::compile(const ir::Kernel& kernel) {
    ++kernels_;
    const backend::CodeTimer timer;
    const backend::CompileOptions options{options_.width, options_.checked};
    return options_.kind == DeviceKind::interpreter ? backend::interpret(kernel, options)
                                                    : backend::compile_cpu(kernel, options);
}

// Code is also made later: for layouts that are met first, for programs as a whole.
Device::Statistics Device::statistics() const {
    return {kernels_, backend::code_statistics().seconds - before_};
}

DeviceKind device_kind(const std::string& name) {
    if (name == "cpu") return DeviceKind::cpu;
    if (name == "interpreter") return DeviceKind::interpreter;
    throw Error("there is no device '" + name + "'").remedy("use cpu or interpreter");
}

}  // namespace hindcast
