#include "engine/interop/dlpack.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/base/error.hpp"

namespace hindcast::interop::dlpack {

namespace {

constexpr std::pair<ir::Type, Scalar> types[] = {{ir::Type::f32, {real, 32, 1}},
                                                 {ir::Type::f64, {real, 64, 1}},
                                                 {ir::Type::i32, {signed_integer, 32, 1}},
                                                 {ir::Type::i64, {signed_integer, 64, 1}},
                                                 {ir::Type::u32, {unsigned_integer, 32, 1}},
                                                 {ir::Type::u64, {unsigned_integer, 64, 1}}};

ir::Type type_of(const Scalar& scalar) {
    for (const auto& [type, s] : types)
        if (s.code == scalar.code && s.bits == scalar.bits && s.lanes == scalar.lanes) return type;
    throw Error(fmt::format("its numbers are of another type (code {}, {} bits, {} lanes)",
                            scalar.code, scalar.bits, scalar.lanes))
        .remedy("kernels take float32, float64, int32, uint32, int64 and uint64");
}

// A structure with all that it points to.
template <class Managed>
struct Kept {
    Managed managed;
    std::vector<std::int64_t> shape, strides;
    std::shared_ptr<void> owner;
};

template <class Managed>
Managed* made(const Strided& memory, std::shared_ptr<void> owner) {
    auto* const kept = new Kept<Managed>{{}, memory.shape, memory.strides, std::move(owner)};
    Tensor& t = kept->managed.tensor;
    t.data = memory.data;
    t.device = device_of(memory);
    t.dimensions = static_cast<std::int32_t>(memory.shape.size());
    for (const auto& [type, scalar] : types)
        if (type == memory.type) t.scalar = scalar;
    t.shape = kept->shape.data();
    t.strides = kept->strides.data();
    kept->managed.context = kept;
    kept->managed.deleter = [](Managed* self) {
        delete static_cast<Kept<Managed>*>(self->context);
    };
    return &kept->managed;
}

}  // namespace

Device device_of(const Strided& memory) {
    return memory.device < 0 ? Device{} : Device{cuda, memory.device};
}

Strided strided_of(const Tensor& tensor, bool read_only) {
    Strided s;
    const std::int32_t where = tensor.device.type;
    if (where == cuda)
        s.device = tensor.device.number;
    else if (where != cpu && where != cuda_host && where != cuda_managed)
        throw Error(fmt::format("its memory is on a device of DLPack's type {}", where))
            .remedy("copy it to the host first");
    s.type = type_of(tensor.scalar);
    s.read_only = read_only;
    s.shape.assign(tensor.shape, tensor.shape + tensor.dimensions);
    if (tensor.strides != nullptr)
        s.strides.assign(tensor.strides, tensor.strides + tensor.dimensions);
    else
        s.strides = contiguous_strides(s.shape);
    s.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
    if (s.size() == 0) return s;
    if (tensor.data == nullptr) throw Error("it has a shape, but no memory");
    if ((reinterpret_cast<std::uintptr_t>(s.data) & (ir::size_of(s.type) - 1)) != 0)
        throw Error(fmt::format("its memory is not aligned to {} bytes", ir::size_of(s.type)))
            .remedy("copy it");
    return s;
}

Versioned* versioned(const Strided& memory, std::shared_ptr<void> owner, bool is_copy) {
    Versioned* const out = made<Versioned>(memory, std::move(owner));
    out->flags = (memory.read_only ? Versioned::read_only : 0) | (is_copy ? Versioned::copied : 0);
    return out;
}

Unversioned* unversioned(const Strided& memory, std::shared_ptr<void> owner) {
    if (memory.read_only)
        throw Error("an old DLPack capsule cannot say that memory is read only")
            .remedy("ask for a newer one: max_version=(1, 0)");
    return made<Unversioned>(memory, std::move(owner));
}

}  // namespace hindcast::interop::dlpack
