#include "engine/backend/cuda/context.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/backend/cuda/emit.hpp"
#include "engine/backend/cuda/nvrtc_required.hpp"
#include "engine/backend/cuda/phases.hpp"
#include "engine/backend/executable.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/base/error.hpp"

namespace hindcast::backend::cuda {

namespace {

constexpr std::size_t staging_bytes = std::size_t{1} << 16;
// A handle may come again for another context when one was released.
std::atomic<std::uint64_t> contexts_released{0};
constexpr unsigned mapped_memory = 2;  // for MemHostAlloc: at the same address for the device

}  // namespace

// ---------------------------------------------------------------- handles

Block::Block(std::shared_ptr<Context> context, std::size_t bytes)
    : context_(std::move(context)), size_(bytes) {
    if (bytes > 0) address_ = context_->allocate(bytes);
}

template <typename Import, typename Made, typename Handle>
void Context::import_shared(Import import, Made* made, Handle handle, int descriptor,
                            const std::string& what) const {
    handle.descriptor = ::dup(descriptor);
    if (handle.descriptor < 0) throw Error(what + " has no file descriptor");
    try {
        check(import(made, &handle), what);
    } catch (...) {
        ::close(handle.descriptor);
        throw;
    }
}

Block::Block(std::shared_ptr<Context> context, const Exported& from, std::size_t bytes)
    : context_(std::move(context)), size_(bytes) {
    if (bytes == 0) return;
    const Context::Lock held = context_->lock();
    const Driver& driver = context_->here();
    ExternalMemoryHandle handle;
    handle.bytes = from.bytes;
    context_->import_shared(driver.ImportExternalMemory, &external_, handle, from.descriptor,
                            "memory shared with Vulkan");
    ExternalMemoryBuffer part;
    part.offset = from.offset;
    part.bytes = bytes;
    try {
        context_->check(driver.ExternalMemoryGetMappedBuffer(&address_, external_, &part),
                        "a part of memory shared with Vulkan");
    } catch (...) {
        driver.DestroyExternalMemory(external_);
        throw;
    }
}

Block::Block(std::shared_ptr<Context> context, Address theirs, std::size_t bytes)
    : context_(std::move(context)), address_(theirs), size_(bytes), is_own_(false) {}

Block::~Block() {
    if (!is_own_) return;
    if (external_ != nullptr) {
        const Context::Lock held = context_->lock();
        const Driver& driver = context_->here();
        driver.MemFree(address_);  // waits for what works there
        driver.DestroyExternalMemory(external_);
    } else if (address_ != 0) {
        context_->free(address_);
    }
}

Block& Block::operator=(Block&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
    std::swap(external_, other.external_);
    std::swap(is_own_, other.is_own_);
    return *this;
}

Semaphore::Semaphore(std::shared_ptr<Context> context, int descriptor)
    : context_(std::move(context)) {
    context_->import_shared(context_->here().ImportExternalSemaphore, &handle_,
                            ExternalSemaphoreHandle(), descriptor,
                            "a semaphore shared with Vulkan");
}

Semaphore::~Semaphore() {
    const Context::Lock held = context_->lock();
    const Driver& driver = context_->here();
    driver.StreamSynchronize(context_->stream());  // it must not go before it is raised
    driver.DestroyExternalSemaphore(handle_);
}

void Semaphore::raise(std::uint64_t value) {
    const Context::Lock held = context_->lock();
    if (context_->capturing()) throw Error("internal: a semaphore is raised while work is noted");
    context_->join_others();
    ExternalSemaphoreSignal signal;
    signal.value = value;
    context_->check(
        context_->here().SignalExternalSemaphores(&handle_, &signal, 1, context_->stream()),
        "raising a semaphore shared with Vulkan");
}

// ---------------------------------------------------------------- opening

std::shared_ptr<Context> Context::open(int ordinal) {
    driver();  // or an error
    require(nvrtc().info());
    const auto count = static_cast<int>(cuda_info().devices.size());
    if (ordinal < 0 || ordinal >= count)
        throw Error(fmt::format("there is no CUDA device {}", ordinal))
            .remedy(count == 1 ? std::string("there is only device 0")
                               : fmt::format("there are devices 0 to {}", count - 1));
    return std::shared_ptr<Context>(new Context(ordinal));
}

Context::Context(int ordinal) : ordinal_(ordinal) {
    const Lock held = lock();
    const Driver& d = driver();
    check(d.DeviceGet(&device_, ordinal), "a device");
    check(d.PrimaryCtxRetain(&handle_, device_), "a context");
    try {
        here();
        check(d.StreamCreate(&stream_, non_blocking_stream), "a stream");
        check(d.EventCreate(&order_, untimed_event), "an event");
        check(d.EventCreate(&measured_.begin, timed_event), "an event");
        check(d.EventCreate(&measured_.end, timed_event), "an event");
        PoolHandle pool = nullptr;
        std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();  // no release
        check(d.DeviceGetDefaultMemPool(&pool, device_), "its memory");
        check(d.MemPoolSetAttribute(pool, release_threshold, &keep), "its memory");
        void* memory = nullptr;
        check(d.MemHostAlloc(&memory, staging_bytes + FaultWatches::most * sizeof(Fault),
                             mapped_memory),
              "pinned memory of the host");
        staging_ = static_cast<char*>(memory);
        faults_.use(reinterpret_cast<Fault*>(staging_ + staging_bytes));
    } catch (...) {
        for (const EventHandle event : {order_, measured_.begin, measured_.end})
            if (event != nullptr) d.EventDestroy(event);
        if (stream_ != nullptr) d.StreamDestroy(stream_);
        release();
        throw;
    }
}

Context::~Context() {
    const Lock held = lock();
    const Driver& d = here();
    d.CtxSynchronize();
    code_.unload();
    d.MemFreeHost(staging_);
    for (const EventHandle event : {order_, measured_.begin, measured_.end}) d.EventDestroy(event);
    d.StreamDestroy(stream_);
    release();
}

void Context::release() const {
    driver().PrimaryCtxRelease(device_);
    ++contexts_released;
}

const Driver& Context::here() const {
    static thread_local std::uint64_t released = 0;  // when it was set
    const Driver& d = driver();
    const std::uint64_t now = contexts_released.load(std::memory_order_relaxed);
    // Other libraries may have set another one.
    ContextHandle current = nullptr;
    d.CtxGetCurrent(&current);
    if ((current != handle_ || released != now) && d.CtxSetCurrent(handle_) == success)
        released = now;
    return d;
}

// ---------------------------------------------------------------- memory

Address Context::allocate(std::size_t bytes) {
    const Lock held = lock();
    if (capturing_) throw Error("internal: memory is allocated while work is noted");
    refuse_while_captured();
    Address address = 0;
    check(here().MemAllocAsync(&address, bytes, stream_), fmt::format("{} bytes of memory", bytes));
    hold_others();
    return address;
}

void Context::free(Address address) noexcept {
    const Lock held = lock();
    try {
        join_others();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the device is lost, and the memory
    }
    here().MemFreeAsync(address, stream_);
}

std::int64_t Context::free_memory() const {
    const Lock held = lock();
    std::size_t free = 0, total = 0;
    check(here().MemGetInfo(&free, &total), "the size of its memory");
    return static_cast<std::int64_t>(free);
}

std::optional<Context::Place> Context::place_of(Address address) const {
    const Lock held = lock();
    const Driver& d = here();
    Place place;
    if (d.PointerGetAttribute(&place.ordinal, pointer_ordinal, address) != success ||
        d.MemGetAddressRange(&place.begin, &place.bytes, address) != success)
        return {};
    return place;
}

void Context::upload(Address to, const void* from, std::size_t bytes) {
    const Lock held = lock();
    if (bytes == 0) return;
    if (capturing_) throw Error("internal: values of the host are needed while work is noted");
    refuse_while_captured();
    join_others();
    check(here().MemcpyHtoDAsync(to, from, bytes, stream_), "a copy to the device");
    hold_others();
}

void Context::download(void* to, Address from, std::size_t bytes) {
    const Lock held = lock();
    if (bytes == 0) return;
    if (capturing_) throw Error("internal: values of the device are needed while work is noted");
    refuse_while_captured();
    join_others();
    const bool small = bytes <= staging_bytes;
    const int copied = here().MemcpyDtoHAsync(small ? staging_ : to, from, bytes, stream_);
    if (copied != success) synchronize();  // says more, if a launch has failed
    check(copied, "a copy to the host");
    synchronize();
    if (small) std::memcpy(to, staging_, bytes);
}

void Context::copy(Address to, Address from, std::size_t bytes) {
    const Lock held = lock();
    if (bytes == 0) return;
    join_others();
    check(here().MemcpyDtoDAsync(to, from, bytes, host_stream()), "a copy");
    ++noted_;
    hold_others();
}

void Context::clear(Address to, std::size_t bytes) {
    const Lock held = lock();
    if (bytes == 0) return;
    join_others();
    check(here().MemsetD8Async(to, 0, bytes, host_stream()), "clearing memory");
    ++noted_;
    hold_others();
}

void Context::fill(Address to, std::uint32_t value, std::size_t count) {
    const Lock held = lock();
    if (count == 0) return;
    join_others();
    check(here().MemsetD32Async(to, value, count, host_stream()), "filling memory");
    ++noted_;
    hold_others();
}

void Context::put_fill(const Binding& to, int components, std::size_t scalar_bytes,
                       std::uint64_t bits, StreamHandle stream,
                       const std::shared_ptr<const LaunchWords>& words) {
    const Lock held = lock();
    if (to.count == 0) return;
    const long long stride = to.element_stride, plane = to.component_stride;
    const int items = item_count(to.count);
    Arguments arguments(to.data, stride, plane, components, bits, items);
    launch(code_.phase(scalar_bytes == 4 ? "fill_4" : "fill_8"), items, arguments.list(), stream,
           words);
}

void Context::fill(const Binding& to, int components, std::size_t scalar_bytes,
                   std::uint64_t bits) {
    const Lock held = lock();
    join_others();
    put_fill(to, components, scalar_bytes, bits, host_stream());
    hold_others();
}

void Context::find_not_finite(Address values, std::size_t scalar_bytes, std::size_t count,
                              Address flag) {
    put_phase(scalar_bytes == 4 ? "not_finite_f32" : "not_finite_f64", values, flag, count);
}

void Context::add(Address to, Address from, std::size_t scalar_bytes, std::size_t count) {
    put_phase(scalar_bytes == 4 ? "add_f32" : "add_f64", to, from, count);
}

void Context::put_phase(const char* name, Address first, Address second, std::size_t count) {
    const Lock held = lock();
    if (count == 0) return;
    const int items = item_count(static_cast<std::int64_t>(count));
    Arguments arguments(first, second, items);
    join_others();
    launch(code_.phase(name), items, arguments.list(), host_stream());
    hold_others();
}

// ---------------------------------------------------------------- work

int item_count(std::int64_t count) {
    if (count > std::numeric_limits<std::int32_t>::max())
        throw Error("an array of " + std::to_string(count) + " elements is too long for CUDA")
            .remedy("use --device cpu");
    return static_cast<int>(count);
}

void Context::launch(const Function& function, std::int64_t items, void** arguments,
                     StreamHandle stream, const std::shared_ptr<const LaunchWords>& words) {
    const Lock held = lock();
    if (capturing_ && stream != stream_) throw Error("a launch has a stream of its own");
    constexpr int warp = 32, fewest = 64;
    // Few items spread over all multiprocessors.
    const std::int64_t share = (items + info().multiprocessors - 1) / info().multiprocessors;
    const std::int64_t whole = (share + warp - 1) / warp * warp;
    Tuner* const tuner = function.tuner.get();
    const bool noted = capturing_ || captured_ != nullptr;
    if (!noted) note_measured();
    const bool measures = tuner != nullptr && !noted && !measured_.note &&
                          tuner->wants(items, info().multiprocessors);
    const LaunchShape shape = measures           ? tuner->candidate()
                              : tuner != nullptr ? tuner->shape()
                                                 : LaunchShape{function.threads};
    const Function& shaped = shape.strides ? code_.strided(function) : function;
    const int most = shape.strides ? shaped.threads : shape.threads;
    const auto threads =
        std::clamp(whole, std::int64_t{std::min(fewest, most)}, std::int64_t{most});
    if (measures) check(here().EventRecord(measured_.begin, stream), "recording an event");
    std::int64_t blocks = (items + threads - 1) / threads;
    if (shape.strides) blocks = std::min(blocks, std::int64_t{shaped.blocks});
    const int result =
        here().LaunchKernel(shaped.handle, static_cast<unsigned>(blocks), 1, 1,
                            static_cast<unsigned>(threads), 1, 1, 0, stream, arguments, nullptr);
    if (result != success)
        check(result, fmt::format("a launch of {} over {} items", function.name, items));
    if (measures) {
        check(here().EventRecord(measured_.end, stream), "recording an event");
        measured_.note = [tuner, items](double seconds) { tuner->note(items, seconds); };
    }
    if (!noted) ++calls_.launches;
    faults_.launched();
    ++noted_;
    note_work({&function.name, words});
}

// Reports the time of the work being measured, if it has run.
void Context::note_measured() {
    const Driver& d = here();
    float milliseconds = 0;
    if (!measured_.note || d.EventQuery(measured_.end) != success) return;
    check(d.EventElapsedTime(&milliseconds, measured_.begin, measured_.end), "a time");
    std::exchange(measured_.note, {})(1e-3 * static_cast<double>(milliseconds));
}

}  // namespace hindcast::backend::cuda
