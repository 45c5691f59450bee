#include "app/python/src/kernels/kernel_transfers.hpp"

#include <cstring>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast::python {

namespace {

namespace cuda = backend::cuda;
using Outside = KernelFunction::Outside;

template <class To, class From>
void convert(To* to, const From* from, std::int64_t size) {
    for (std::int64_t k = 0; k < size; ++k) to[k] = static_cast<To>(from[k]);
}

template <class T>
void add_scalars(T* to, const T* from, std::int64_t size) {
    for (std::int64_t k = 0; k < size; ++k) to[k] += from[k];
}

}  // namespace

Array Transfers::array_of(const KernelFunction::Buffer& buffer) const {
    std::vector<std::int64_t> shape{buffer.elements};
    if (buffer.components > 1) shape.push_back(buffer.components);
    if (context_) return Array::on(context_, buffer.type, shape);
    return {buffer.type, shape};
}

Array Transfers::start_of(const KernelFunction::Buffer& buffer) const {
    if (buffer.start.empty() || buffer.size() == 0) return {};
    const std::size_t scalar = ir::size_of(buffer.type);
    const std::size_t bytes = static_cast<std::size_t>(buffer.size()) * scalar;
    Array array = array_of(buffer);
    auto* const data = static_cast<std::byte*>(array.data());
    for (std::size_t k = 0; k < bytes; k += buffer.start.size())  // all scalars, or one for all
        std::memcpy(data + k, buffer.start.data(), buffer.start.size());
    array.touch();
    return array;
}

void* Transfers::address_of(const Array& array) const {
    return context_ ? array.device_data() : array.data();
}

void Transfers::copy_in(const Array& to, const std::byte* from, const Outside& outside) const {
    if (outside.size == 0) return;
    const bool converts = outside.type != to.type();
    if (context_) {
        const cuda::Address there = cuda::address_of(to.device_data()),
                            here = cuda::address_of(from);
        if (converts)
            context_->widen(there, here, static_cast<std::size_t>(outside.size));
        else
            context_->copy(there, here, outside.bytes());
        to.wrote_on_device();
        return;
    }
    void* const data = to.data();
    if (converts) {
        convert(static_cast<double*>(data), reinterpret_cast<const float*>(from), outside.size);
    } else {
        if (!ir::is_real(to.type()) && std::memcmp(data, from, outside.bytes()) == 0) return;
        std::memcpy(data, from, outside.bytes());
    }
    to.touch();
}

void Transfers::copy_out(std::byte* to, const Array& from, const Outside& outside) const {
    if (outside.size == 0) return;
    const bool converts = outside.type != from.type();
    if (context_) {
        const cuda::Address there = cuda::address_of(to),
                            here = cuda::address_of(from.device_data());
        if (converts)
            context_->narrow(there, here, static_cast<std::size_t>(outside.size));
        else
            context_->copy(there, here, outside.bytes());
        return;
    }
    const void* const data = from.data();
    if (converts)
        convert(reinterpret_cast<float*>(to), static_cast<const double*>(data), outside.size);
    else
        std::memcpy(to, data, outside.bytes());
}

void Transfers::clear(std::byte* result, const Outside& outside) const {
    if (context_)
        context_->clear(cuda::address_of(result), outside.bytes());
    else if (outside.size > 0)
        std::memset(result, 0, outside.bytes());
}

void Transfers::add(const Array& to, const Array& from) const {
    if (context_) {
        if (!to.memory().add_on_device(from.memory(), ir::size_of(to.type())))
            throw Error("internal: an array is not on its device");
        to.changed();
        return;
    }
    if (to.type() == ir::Type::f32)
        add_scalars(static_cast<float*>(to.data()), static_cast<const float*>(from.data()),
                    to.size());
    else
        add_scalars(static_cast<double*>(to.data()), static_cast<const double*>(from.data()),
                    to.size());
    to.touch();
}

}  // namespace hindcast::python
