// Entry points: memory that another part of the program exported through a file descriptor.
//
// The files are those of Mesa's software device: the memory begins after one page, which describes
// it. There is one kind of handle, an opaque descriptor, which becomes the driver's.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cuda_driver/api.hpp"

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

}  // namespace software_cuda
