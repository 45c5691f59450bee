#include "engine/interop/strided.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast::interop {

std::int64_t Strided::size() const {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape) size *= extent;
    return size;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
        strides[d - 1] = strides[d] * std::max<std::int64_t>(shape[d], 1);
    return strides;
}

bool Strided::is_contiguous() const {
    if (size() == 0) return true;
    const std::vector<std::int64_t> plain = contiguous_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (shape[d] > 1 && strides[d] != plain[d]) return false;
    return true;
}

Strided::Extent Strided::extent() const {
    if (size() == 0) return {};
    Extent extent{0, 1};
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::int64_t reach = strides[d] * (shape[d] - 1);
        (reach < 0 ? extent.low : extent.high) += reach;
    }
    return extent;
}

std::string typestr_of(ir::Type type) {
    const char kind = ir::is_real(type) ? 'f' : ir::is_signed(type) ? 'i' : 'u';
    return fmt::format("<{}{}", kind, ir::size_of(type));
}

namespace {

ir::Type type_of(const std::string& typestr) {
    for (const ir::Type type :
         {ir::Type::f32, ir::Type::f64, ir::Type::i32, ir::Type::u32, ir::Type::i64, ir::Type::u64})
        if (typestr == typestr_of(type)) return type;
    if (!typestr.empty() && typestr[0] == '>')
        throw Error(fmt::format("'{}' has its bytes in the other order", typestr))
            .remedy("convert it to native byte order: x.astype(x.dtype.newbyteorder('='))");
    throw Error(fmt::format("there are no arrays of '{}'", typestr))
        .remedy("kernels take float32, float64, int32, uint32, int64 and uint64");
}

}  // namespace

Strided strided_of(const ArrayInterface& interface) {
    if (interface.has_mask)
        throw Error("a masked array cannot be taken").remedy("fill it: x.filled(value)");
    Strided s;
    s.type = type_of(interface.typestr);
    s.shape = interface.shape;
    s.read_only = interface.read_only;
    for (const std::int64_t extent : s.shape)
        if (extent < 0) throw Error(fmt::format("the shape has the extent {}", extent));
    const auto bytes = static_cast<std::int64_t>(ir::size_of(s.type));
    if (interface.data % static_cast<std::uintptr_t>(bytes) != 0 && s.size() > 0)
        throw Error(fmt::format("its memory is not aligned to {} bytes", bytes))
            .remedy("copy it: x.copy()");
    if (interface.data == 0 && s.size() > 0) throw Error("it has a shape, but no memory");
    s.data = reinterpret_cast<void*>(interface.data);  // NOLINT: an address is what it tells
    if (!interface.strides) {
        s.strides = contiguous_strides(s.shape);
        return s;
    }
    if (interface.strides->size() != s.shape.size())
        throw Error(fmt::format("it has {} strides for {} dimensions", interface.strides->size(),
                                s.shape.size()));
    for (std::size_t d = 0; d < s.shape.size(); ++d) {
        const std::int64_t stride = (*interface.strides)[d];
        if (stride % bytes != 0 && s.shape[d] > 1)
            throw Error(fmt::format("its strides ({} bytes) are no multiple of the {} bytes of a "
                                    "number",
                                    stride, bytes))
                .remedy("copy it: x.copy()");
        s.strides.push_back(stride / bytes);
    }
    return s;
}

Strided strided_of(const CudaArrayInterface& interface) {
    if (interface.stream && *interface.stream == 0)
        throw Error("its stream is 0, which may be one of two")
            .remedy("name 1, the legacy default stream, 2, that of each thread, or the handle");
    Strided s = strided_of(static_cast<const ArrayInterface&>(interface));
    if (s.size() > 0) {
        const std::optional<int> device = backend::cuda::device_of(interface.data);
        if (!device)
            throw Error(fmt::format("its pointer {:#x} is none of a CUDA device", interface.data))
                .remedy("memory of the host has an __array_interface__");
        s.device = *device;
    } else {
        s.device = 0;
    }
    return s;
}

void check_covered(const Strided& memory, const backend::cuda::Context& context) {
    if (memory.size() == 0) return;
    const backend::cuda::Address at = backend::cuda::address_of(memory.data);
    const auto place = context.place_of(at);
    if (!place || place->ordinal != context.ordinal())
        throw Error(
            fmt::format("its pointer {:#x} is none of CUDA device {}", at, context.ordinal()));
    const auto bytes = static_cast<std::int64_t>(ir::size_of(memory.type));
    const Strided::Extent extent = memory.extent();
    const auto before = static_cast<std::int64_t>(at - place->begin),
               behind = static_cast<std::int64_t>(place->bytes) - before;
    if (-extent.low * bytes <= before && extent.high * bytes <= behind) return;
    throw Error(
        fmt::format(
            "shape ({}) and strides ({}) reach from byte {} to {} of its pointer, which lies "
            "in an allocation with {} bytes before it and {} from it on",
            fmt::join(memory.shape, ", "), fmt::join(memory.strides, ", "), extent.low * bytes,
            extent.high * bytes, before, behind))
        .remedy("strides of the interface are in bytes");
}

Array array_over(const ForeignMemory& memory, const Memory::Context& context,
                 std::shared_ptr<void> alive, ir::Type type, std::vector<std::int64_t> shape) {
    return context ? Array::over_device(context, memory, std::move(alive), type, std::move(shape))
                   : Array::over_strided(memory, std::move(alive), type, std::move(shape));
}

std::string Element::name(const std::string& scalar) const {
    if (rows > 1) return fmt::format("{}x{} matrices of {}", rows, columns, scalar);
    return columns > 1 ? fmt::format("vectors of {} {}", columns, scalar) : scalar;
}

Elements elements_of(const Strided& memory, const Element& element) {
    const auto fail = [&](const std::string& what) {
        return Error(fmt::format("an array of shape ({}) {}", fmt::join(memory.shape, ", "), what));
    };
    std::vector<std::int64_t> inner;
    if (element.rows > 1) inner.push_back(element.rows);
    if (element.components() > 1) inner.push_back(element.columns);
    if (memory.shape.size() < inner.size() ||
        !std::equal(inner.begin(), inner.end(),
                    memory.shape.end() - static_cast<std::ptrdiff_t>(inner.size())))
        throw fail("does not hold " + element.name(ir::name_of(memory.type)))
            .remedy(fmt::format("its last dimension{} must be ({})", inner.size() > 1 ? "s" : "",
                                fmt::join(inner, ", ")));
    const std::size_t outer = memory.shape.size() - inner.size();
    Elements result;
    std::int64_t count = 1, stride = 0;
    bool first = true;  // no dimension with more than one element yet, from the last to the first
    for (std::size_t d = outer; d-- > 0;) {
        const std::int64_t extent = memory.shape[d];
        if (extent != 1) {
            if (first)
                stride = memory.strides[d];
            else if (memory.strides[d] != stride * count && memory.size() > 0)
                throw fail(fmt::format("with strides ({}) has elements at unequal distances",
                                       fmt::join(memory.strides, ", ")))
                    .remedy("copy it into one with even strides");
            first = false;
        }
        count *= extent;
    }
    if (first) stride = element.components();
    ForeignMemory& m = result.memory;
    m.first = memory.data;
    m.read_only = memory.read_only;
    m.element_stride = stride;
    m.component_stride = element.columns > 1 ? memory.strides.back()
                         : element.rows > 1  ? memory.strides[outer]
                                             : 1;
    if (element.rows > 1 && element.columns > 1 &&
        memory.strides[outer] != m.component_stride * element.columns && memory.size() > 0)
        throw fail("has matrices whose rows do not follow each other").remedy("copy it");
    result.shape = {count};
    for (const std::int64_t extent : inner) result.shape.push_back(extent);
    return result;
}

}  // namespace hindcast::interop
