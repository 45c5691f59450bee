// Entry points: memory and semaphores that another part of the program exported through file
// descriptors.
//
// The files are those of Mesa's software device: the memory begins after one page, which describes
// it. There is one kind of handle, an opaque descriptor, which becomes the driver's.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cuda_driver/api/api.hpp"
#include "tests/cuda_driver/capture.hpp"

namespace software_cuda {

namespace {

using api::Address;
constexpr std::size_t payload = 4096;  // where the memory begins in its file

}  // namespace

External::~External() { ::close(descriptor); }

EXPORT int cuImportExternalMemory(api::ExternalMemory* memory,
                                  const api::ExternalMemoryHandle* from) {
    return call_in_context("cuImportExternalMemory", [&](System& system, Context& context) -> int {
        if (memory == nullptr || from == nullptr || from->kind != api::opaque_descriptor ||
            from->bytes == 0 || from->flags > 1)
            return invalid_value;
        struct stat file {};
        if (::fstat(from->descriptor, &file) != 0 ||
            static_cast<unsigned long long>(file.st_size) < payload + from->bytes)
            return invalid_value;
        *memory = system.externals.add<api::ExternalMemory>(std::make_shared<External>(
            context, from->descriptor, static_cast<std::size_t>(from->bytes)));
        return success;
    });
}

EXPORT int cuExternalMemoryGetMappedBuffer(Address* address, api::ExternalMemory memory,
                                           const api::ExternalMemoryBuffer* part) {
    return call_in_context(
        "cuExternalMemoryGetMappedBuffer", [&](System& system, Context& context) -> int {
            const auto external = system.externals.find(memory, context);
            if (external == nullptr) return invalid_handle;
            if (address == nullptr || part == nullptr || part->flags != 0 || part->bytes == 0 ||
                part->offset > external->bytes || part->bytes > external->bytes - part->offset)
                return invalid_value;
            *address =
                context.memory.import(external->descriptor, payload + part->offset, part->bytes);
            return *address != 0 ? success : out_of_memory;
        });
}

EXPORT int cuMemFree_v2(Address address) {
    return call_in_context("cuMemFree_v2", [&](System& system, Context& context) -> int {
        system.scheduler.drain(context);
        return context.memory.forget_import(address) ? success : invalid_value;
    });
}

EXPORT int cuDestroyExternalMemory(api::ExternalMemory memory) {
    return call_in_context("cuDestroyExternalMemory", [&](System& system, Context& context) {
        const auto external = system.externals.find(memory, context);
        if (external == nullptr) return invalid_handle;
        system.externals.remove(memory);
        return success;
    });
}

// ---- semaphores

ExternalSemaphore::~ExternalSemaphore() { ::close(descriptor); }

bool ExternalSemaphore::raise(std::uint64_t value) const {
    std::uint64_t before = 0;
    return ::pread(descriptor, &before, sizeof before, 0) == sizeof before && before < value &&
           ::pwrite(descriptor, &value, sizeof value, 0) == sizeof value;
}

EXPORT int cuImportExternalSemaphore(api::ExternalSemaphore* semaphore,
                                     const api::ExternalSemaphoreHandle* from) {
    return call_in_context(
        "cuImportExternalSemaphore", [&](System& system, Context& context) -> int {
            struct stat file {};
            if (semaphore == nullptr || from == nullptr || from->kind != api::timeline_descriptor ||
                from->flags != 0 || ::fstat(from->descriptor, &file) != 0 ||
                file.st_size != sizeof(std::uint64_t))
                return invalid_value;
            *semaphore = system.semaphores.add<api::ExternalSemaphore>(
                std::make_shared<ExternalSemaphore>(context, from->descriptor));
            return success;
        });
}

EXPORT int cuSignalExternalSemaphoresAsync(const api::ExternalSemaphore* semaphores,
                                           const api::ExternalSemaphoreSignal* signals,
                                           unsigned count, api::StreamHandle handle) {
    return call_in_context("cuSignalExternalSemaphoresAsync",
                           [&](System& system, Context& context) -> int {
                               const auto stream = stream_of(system, context, handle);
                               if (stream == nullptr) return invalid_handle;
                               if (semaphores == nullptr || signals == nullptr)
                                   return invalid_value;
                               if (stream->capture != nullptr) return refuse_in_capture(*stream);
                               for (unsigned k = 0; k < count; ++k) {
                                   Work work;
                                   work.kind = Work::Kind::raise;
                                   work.semaphore = system.semaphores.find(semaphores[k], context);
                                   work.semaphore_value = signals[k].value;
                                   if (work.semaphore == nullptr) return invalid_handle;
                                   if (const int result = submit(system, *stream, std::move(work)))
                                       return result;
                               }
                               return success;
                           });
}

// What was to raise it must have been executed: else the device is stuck.
EXPORT int cuDestroyExternalSemaphore(api::ExternalSemaphore semaphore) {
    return call_in_context("cuDestroyExternalSemaphore", [&](System& system, Context& context) {
        const auto found = system.semaphores.find(semaphore, context);
        if (found == nullptr) return invalid_handle;
        system.semaphores.remove(semaphore);
        return success;
    });
}

}  // namespace software_cuda
