#include "engine/runtime/device/device.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/backend/cpu/cpu.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/backend/cuda/cuda.hpp"
#include "engine/backend/cuda/nvrtc.hpp"
#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/backend/optional_passes.hpp"
#include "engine/base/error.hpp"
#include "engine/base/pages.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/runtime/array/array.hpp"
#include "engine/runtime/array/device_memory.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/device/compile_on.hpp"

namespace hindcast {

using backend::cuda::address_of;

namespace {

// memcpy, by several threads if it is worth it.
void copy_bytes(void* to, const void* from, std::size_t bytes, ThreadPool& pool) {
    constexpr std::size_t chunk = std::size_t{1} << 18;
    const std::size_t chunks = (bytes + chunk - 1) / chunk;
    if (chunks <= 1 || pool.threads() == 1) {
        if (bytes > 0) std::memcpy(to, from, bytes);
        return;
    }
    pool.run(static_cast<int>(chunks), [&](int c) {
        const std::size_t begin = static_cast<std::size_t>(c) * chunk;
        std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                    std::min(chunk, bytes - begin));
    });
}

}  // namespace

Device::Device(const DeviceOptions& options) : options_(options) {
    if (options.width != 0 && options.width != 1 && options.width != 4 && options.width != 8 &&
        options.width != 16)
        throw Error("a SIMD width of " + std::to_string(options.width) + " is not possible")
            .remedy("use 1, 4, 8 or 16, or 0 to let the machine choose");
    if (options.threads < 0)
        throw Error("a device cannot have " + std::to_string(options.threads) + " threads")
            .remedy("use 1 or more, or 0 for all");
    if (!options_.passes.has(Pass::functions)) {
        if (options_.whole_program == WholeProgramUse::always)
            throw Error(std::string("the pass '") + info(Pass::functions).name +
                        "' is left out and asked for always")
                .remedy("choose one");
        options_.whole_program = WholeProgramUse::never;
    }
    if (options_.threads == 0) options_.threads = hardware_threads();
    if (options_.kind != DeviceKind::cpu) options_.threads = 1;
    if (options_.kind == DeviceKind::cuda) {
        if (options_.checked)
            throw Error("checked runs are not made on a CUDA device")
                .remedy("use --device cpu or interpreter: the bits are the same");
        cuda_ = backend::cuda::Context::open(options_.ordinal);
    }
    pool_ = std::make_unique<ThreadPool>(options_.threads);
    run_ = std::make_unique<backend::RunOptions>();
    run_->pool = pool_.get();
    before_ = backend::code_statistics().seconds;
}

Device::~Device() = default;

std::string Device::describe() const {
    if (options_.kind == DeviceKind::interpreter) return "interpreter";
    if (cuda_)
        return "cuda:" + std::to_string(options_.ordinal) + ", " + cuda_->info().name +
               (is_deterministic() ? "" : ", nondeterministic");
    return "cpu, " + std::to_string(options_.threads) +
           (options_.threads == 1 ? " thread, " : " threads, ") +
           std::to_string(options_.width != 0 ? options_.width
                                              : backend::cpu_width(ir::Precision::f32)) +
           " lanes";
}

std::shared_ptr<backend::Executable> Device::compile(const ir::Kernel& kernel,
                                                     const std::string& launch,
                                                     std::function<std::string()> arguments) {
    std::atomic_ref(kernels_).fetch_add(1);  // launches are made on several threads
    return compile_on(*this, kernel, {launch, std::move(arguments)}, IndexChecks::none);
}

std::shared_ptr<backend::Executable> compile_on(const Device& device, const ir::Kernel& kernel,
                                                const backend::LaunchWords& launch,
                                                IndexChecks checks) {
    const backend::CodeTimer timer;
    const DeviceOptions& of = device.options();
    const bool indices = checks == IndexChecks::all;
    if (device.cuda())
        return backend::compile_cuda(kernel, launch, device.cuda(), of.nondeterministic, indices);
    const backend::CompileOptions options{of.width, of.checked, of.passes};
    if (of.kind == DeviceKind::interpreter) return backend::interpret(kernel, options);
    return indices ? backend::compile_cpu_with_checks(kernel, options)
                   : backend::compile_cpu(kernel, options);
}

// ---------------------------------------------------------------- memory

DeviceMemory::~DeviceMemory() {
    if (block_) count_freed(size_);
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

// A processor clears some gibibytes a second, and a tenth of that where a virtual machine has to get
// them first. So all of them do, whatever threads launches have.
void DeviceMemory::populate() {
    static constexpr std::size_t piece = std::size_t{16} << 20;  // some milliseconds
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
        const std::size_t at = next.fetch_add(piece);
        if (at < host_.size())
            hindcast::populate(host_.data() + at, std::min(piece, host_.size() - at));
        return at + piece < host_.size();
    };
    struct Helpers {
        std::atomic<std::size_t>& next;
        std::size_t end;
        std::vector<std::thread> threads = {};
        ~Helpers() {
            next = end;  // nothing more, if an interruption ends the work
            for (std::thread& thread : threads) thread.join();
        }
    } helpers{next, host_.size()};
    const auto pieces = static_cast<int>(std::min<std::size_t>(host_.size() / piece, 16));
    try {
        for (int k = 1; k < std::min(pieces, hardware_threads()); ++k)
            helpers.threads.emplace_back([&take] {
                while (take()) {
                }
            });
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): then there are fewer
    }
    do {
        backend::interruption_point();
    } while (take());
}

DeviceMemory Device::allocate(std::size_t bytes) const {
    DeviceMemory memory;
    if (cuda_) {
        memory.block_ = std::make_shared<backend::cuda::Block>(cuda_, bytes);
        memory.data_ = static_cast<std::byte*>(memory.block_->data());
        count_memory(bytes);
    } else {
        memory.host_ = AlignedBuffer<std::byte>(bytes);
        memory.data_ = memory.host_.data();
    }
    memory.size_ = bytes;
    return memory;
}

std::optional<std::int64_t> Device::free_memory() const {
    if (!cuda_) return {};
    return cuda_->free_memory();
}

void Device::save(const Array& from, std::byte* to) const {
    if (from.bytes() == 0) return;
    if (cuda_)
        cuda_->copy(address_of(to), address_of(from.memory().on(cuda_)), from.bytes());
    else
        copy_bytes(to, from.data(), from.bytes(), *pool_);
}

void Device::restore(const Array& to, const std::byte* from) const {
    if (!cuda_) {
        copy_bytes(to.data(), from, to.bytes(), *pool_);
        to.touch();
        return;
    }
    if (to.bytes() > 0)
        cuda_->copy(address_of(to.memory().on(cuda_)), address_of(from), to.bytes());
    to.wrote_on_device();
}

void Device::settle() const {
    if (cuda_) cuda_->settle();
}

void Device::synchronize() const {
    if (cuda_) cuda_->synchronize();
}

// ---------------------------------------------------------------- names

// Code is also made later: for layouts that are met first, for programs as a whole.
Device::Statistics Device::statistics() const {
    return {kernels_, backend::code_statistics().seconds - before_};
}

const char* kind_name(DeviceKind kind) {
    switch (kind) {
        case DeviceKind::interpreter: return "interpreter";
        case DeviceKind::cuda: return "cuda";
        default: return "cpu";
    }
}

namespace {

// "0,1" or "all": the numbers of CUDA devices, each once. Empty if the text is neither.
std::vector<int> ordinals_of(const std::string& text) {
    std::vector<int> list;
    if (text == "all") {
        const std::size_t count = backend::cuda::cuda_info().devices.size();
        for (std::size_t k = 0; k < std::max<std::size_t>(count, 1); ++k)
            list.push_back(static_cast<int>(k));
        return list;
    }
    const char *at = text.data(), *const last = at + text.size();
    while (true) {
        int ordinal = -1;
        const auto [end, error] = std::from_chars(at, last, ordinal);
        const bool good = error == std::errc() && ordinal >= 0 &&
                          std::find(list.begin(), list.end(), ordinal) == list.end() &&
                          (end == last || *end == ',');
        if (!good) return {};
        list.push_back(ordinal);
        if (end == last) return list;
        at = end + 1;
    }
}

}  // namespace

void choose_device(DeviceOptions& options, const std::string& name) {
    const std::size_t colon = name.find(':');
    options.others.clear();
    if (name == "cpu") {
        options.kind = DeviceKind::cpu;
    } else if (name == "interpreter") {
        options.kind = DeviceKind::interpreter;
    } else if (name == "auto") {
        const bool cuda = backend::cuda::cuda_info().available && backend::nvrtc().info().available;
        options.kind = cuda && !options.checked ? DeviceKind::cuda : DeviceKind::cpu;
    } else if (name == "cuda") {
        options.kind = DeviceKind::cuda;
    } else {
        const std::vector<int> list = colon != std::string::npos && name.substr(0, colon) == "cuda"
                                          ? ordinals_of(name.substr(colon + 1))
                                          : std::vector<int>();
        if (list.empty())
            throw Error("there is no device '" + name + "'")
                .remedy(
                    "use cpu, interpreter, cuda, cuda:1 (the second one), cuda:0,1, cuda:all or "
                    "auto");
        options.kind = DeviceKind::cuda;
        options.ordinal = list.front();
        options.others.assign(list.begin() + 1, list.end());
    }
}

}  // namespace hindcast
