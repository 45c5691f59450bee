// Entry points: memory of devices and of the host, and copies.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/cuda_driver/api/api.hpp"
#include "tests/cuda_driver/capture.hpp"

namespace software_cuda {

namespace {

using api::Address;
using api::StreamHandle;

// A range that a call may name: of one allocation, whose freeing was not asked for.
bool is_valid(const Context& context, Address address, std::size_t bytes) {
    const Allocation* const in = context.memory.holding(address, bytes);
    return in != nullptr && !in->freed;
}
bool is_device_memory(const System& system, const void* memory) {
    for (const Context& context : system.contexts)
        if (context.memory.in_range(memory)) return true;
    return false;
}
// Whether this allocation is the one that the settings let fail.
bool fails(System& system) {
    const Counters& done = system.counters;
    return done.allocations + done.host_allocations == system.settings.out_of_memory;
}

int set_memory(const char* name, Work::Kind kind, Address to, unsigned value, std::size_t count,
               std::size_t size, StreamHandle handle) {
    return call_in_context(name, [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (to % size != 0 || count > ~std::size_t{0} / size) return invalid_value;
        if (count == 0) return success;
        if (!is_valid(context, to, count * size)) return invalid_value;
        Work work;
        work.kind = kind;
        work.to = to;
        work.value = value;
        work.bytes = count * size;
        return submit(system, *stream, std::move(work));
    });
}

}  // namespace

EXPORT int cuDeviceGetDefaultMemPool(api::PoolHandle* pool, api::Device device) {
    return call("cuDeviceGetDefaultMemPool", [&](System& system) {
        if (!system.has_device(device)) return invalid_device;
        *pool = reinterpret_cast<api::PoolHandle>(&system.contexts[device]);
        return success;
    });
}

EXPORT int cuMemPoolSetAttribute(api::PoolHandle pool, int attribute, void* value) {
    return call("cuMemPoolSetAttribute", [&](System&) {
        return pool != nullptr && attribute == api::release_threshold && value != nullptr
                   ? success
                   : invalid_value;
    });
}

EXPORT int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    return call_in_context("cuMemGetInfo_v2", [&](System& system, Context& context) {
        *total = system.settings.memory;
        *free = *total - std::min(*total, context.memory.used());
        return success;
    });
}

EXPORT int cuPointerGetAttribute(void* value, int attribute, Address address) {
    return call("cuPointerGetAttribute", [&](System& system) {
        if (value == nullptr || attribute != api::pointer_ordinal) return invalid_value;
        for (int k = 0; k < most_devices; ++k) {
            if (!is_valid(system.contexts[k], address, 1)) continue;
            *static_cast<int*>(value) = k;
            return success;
        }
        return invalid_value;
    });
}

EXPORT int cuMemGetAddressRange_v2(Address* begin, std::size_t* bytes, Address address) {
    return call_in_context("cuMemGetAddressRange_v2", [&](System& system, Context&) -> int {
        for (const Context& context : system.contexts) {
            Address first = 0;
            const Allocation* const in = context.memory.holding(address, 1, &first);
            if (in == nullptr || in->freed) continue;
            if (begin != nullptr) *begin = first;
            if (bytes != nullptr) *bytes = in->bytes;
            return success;
        }
        return not_found;
    });
}

EXPORT int cuMemAllocAsync(Address* address, std::size_t bytes, StreamHandle handle) {
    return call_in_context("cuMemAllocAsync", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (bytes == 0 || address == nullptr) return invalid_value;
        if (stream->capture != nullptr) return refuse_in_capture(*stream);
        ++system.counters.allocations;
        if (fails(system)) return out_of_memory;
        Address made = context.memory.allocate(bytes, system.settings.memory);
        if (made == 0) {  // what was freed may not have been executed
            system.scheduler.drain(context);
            made = context.memory.allocate(bytes, system.settings.memory);
        }
        if (made == 0) return out_of_memory;
        system.counters.allocated_bytes += static_cast<long long>(bytes);
        *address = made;
        Work work;
        work.kind = Work::Kind::allocated;
        work.to = made;
        return submit(system, *stream, std::move(work));
    });
}

EXPORT int cuMemFreeAsync(Address address, StreamHandle handle) {
    return call_in_context("cuMemFreeAsync", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (stream->capture != nullptr) return refuse_in_capture(*stream);
        Allocation* const allocation = context.memory.at(address);
        if (allocation == nullptr || allocation->freed) return invalid_value;
        allocation->freed = true;
        Work work;
        work.kind = Work::Kind::freed;
        work.to = address;
        return submit(system, *stream, std::move(work));
    });
}

EXPORT int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
    return call_in_context("cuMemHostAlloc", [&](System& system, Context& context) {
        if (bytes == 0 || flags > 7 || memory == nullptr) return invalid_value;
        ++system.counters.host_allocations;
        if (fails(system)) return out_of_memory;
        if (bytes > system.settings.memory) return out_of_memory;
        const std::size_t whole = (bytes + 4095) / 4096 * 4096;
        void* const made = std::aligned_alloc(4096, whole);
        if (made == nullptr) return out_of_memory;
        std::memset(made, 0xb7, whole);
        context.pinned[reinterpret_cast<std::uintptr_t>(made)] = bytes;
        *memory = made;
        return success;
    });
}

EXPORT int cuMemFreeHost(void* memory) {
    return call_in_context("cuMemFreeHost", [&](System&, Context& context) {
        if (context.pinned.erase(reinterpret_cast<std::uintptr_t>(memory)) == 0)
            return invalid_value;
        std::free(memory);
        return success;
    });
}

EXPORT int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes,
                                StreamHandle handle) {
    return call_in_context("cuMemcpyHtoDAsync_v2", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (bytes == 0) return success;
        const bool pinned = context.is_pinned(from, bytes);
        if (!is_valid(context, to, bytes) || from == nullptr || is_device_memory(system, from) ||
            (!pinned && !context.is_pageable(from, bytes)))
            return invalid_value;
        if (!pinned && stream->capture != nullptr) return refuse_in_capture(*stream);
        ++system.counters.copies_to_device;
        Work work;
        work.kind = Work::Kind::to_device;
        work.to = to;
        work.bytes = bytes;
        work.pinned = pinned;
        if (pinned) {
            work.host = const_cast<void*>(from);
        } else {
            work.data = std::make_unique_for_overwrite<std::uint64_t[]>((bytes + 7) / 8);
            std::memcpy(work.data.get(), from, bytes);
        }
        return submit(system, *stream, std::move(work));
    });
}

EXPORT int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, StreamHandle handle) {
    return call_in_context("cuMemcpyDtoHAsync_v2", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (bytes == 0) return success;
        const bool pinned = context.is_pinned(to, bytes);
        if (!is_valid(context, from, bytes) || to == nullptr || is_device_memory(system, to) ||
            (!pinned && !context.is_pageable(to, bytes)))
            return invalid_value;
        if (!pinned && stream->capture != nullptr) return refuse_in_capture(*stream);
        ++system.counters.copies_to_host;
        system.counters.copied_to_host_bytes += static_cast<long long>(bytes);
        Work work;
        work.kind = Work::Kind::to_host;
        work.from = from;
        work.bytes = bytes;
        work.host = to;
        work.pinned = pinned;
        const int result = submit(system, *stream, std::move(work));
        if (result != success || pinned) return result;
        ++system.counters.synchronizations;
        system.scheduler.run_until({stream, stream->enqueued});
        return success;
    });
}

EXPORT int cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, StreamHandle handle) {
    return call_in_context("cuMemcpyDtoDAsync_v2", [&](System& system, Context& context) -> int {
        const auto stream = stream_of(system, context, handle);
        if (stream == nullptr) return invalid_handle;
        if (bytes == 0) return success;
        if (!is_valid(context, to, bytes) || !is_valid(context, from, bytes)) return invalid_value;
        Work work;
        work.kind = Work::Kind::on_device;
        work.to = to;
        work.from = from;
        work.bytes = bytes;
        return submit(system, *stream, std::move(work));
    });
}

EXPORT int cuMemsetD8Async(Address to, unsigned char value, std::size_t count,
                           StreamHandle stream) {
    return set_memory("cuMemsetD8Async", Work::Kind::set8, to, value, count, 1, stream);
}

EXPORT int cuMemsetD32Async(Address to, unsigned value, std::size_t count, StreamHandle stream) {
    return set_memory("cuMemsetD32Async", Work::Kind::set32, to, value, count, 4, stream);
}

}  // namespace software_cuda
