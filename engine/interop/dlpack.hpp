// DLPack: arrays handed from library to library as a structure of C, versioned (1.x) or as it was
// before. Plain C++; a binding puts the structures into capsules.
//
//     dlpack::Versioned* const out = dlpack::versioned(memory, owner);   // out->deleter(out) ends it
//     const Strided in = dlpack::strided_of(out->tensor, out->is_read_only());
//
// The structures are laid out as the specification says (dmlc.github.io/dlpack).
#pragma once

#include <cstdint>
#include <memory>

#include "engine/interop/strided.hpp"

namespace hindcast::interop::dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
struct Device {
    std::int32_t type = cpu, number = 0;
};

enum Code : std::uint8_t { signed_integer = 0, unsigned_integer = 1, real = 2 };
struct Scalar {
    std::uint8_t code = real, bits = 0;
    std::uint16_t lanes = 1;
};

struct Tensor {
    void* data = nullptr;
    Device device;
    std::int32_t dimensions = 0;
    Scalar scalar;
    std::int64_t* shape = nullptr;
    std::int64_t* strides = nullptr;  // in scalars; null: C order
    std::uint64_t byte_offset = 0;
};

struct Unversioned {  // DLManagedTensor
    Tensor tensor;
    void* context = nullptr;
    void (*deleter)(Unversioned*) = nullptr;
};

struct Versioned {  // DLManagedTensorVersioned
    static constexpr std::uint64_t read_only = 1, copied = 2;
    std::uint32_t major = 1, minor = 0;
    void* context = nullptr;
    void (*deleter)(Versioned*) = nullptr;
    std::uint64_t flags = 0;
    Tensor tensor;

    bool is_read_only() const { return (flags & read_only) != 0; }
};

// The device of memory, as the protocol names it.
Device device_of(const Strided& memory);

// The memory that a tensor describes. Throws Error with the reason for memory that cannot be taken:
// another type, lanes, a device that is neither the host nor one of CUDA, memory that is not
// aligned to the type. Memory of the host that CUDA pinned or manages is the host's.
Strided strided_of(const Tensor& tensor, bool read_only);

// The memory as a tensor; `owner` is kept until the deleter is called. The old structure cannot say
// that memory is read only: Throws Error there.
Versioned* versioned(const Strided& memory, std::shared_ptr<void> owner, bool is_copy = false);
Unversioned* unversioned(const Strided& memory, std::shared_ptr<void> owner);

}  // namespace hindcast::interop::dlpack
