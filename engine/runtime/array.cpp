#include "engine/runtime/array.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/ir/evaluate.hpp"

namespace hindcast {

namespace {
constexpr std::int64_t plane_multiple = 16;  // scalars: whole registers of any width

HashType hash_type_of(ir::Type type) {
    switch (type) {
        case ir::Type::f32: return HashType::f32;
        case ir::Type::f64: return HashType::f64;
        case ir::Type::i32: return HashType::i32;
        case ir::Type::u32: return HashType::u32;
        case ir::Type::i64: return HashType::i64;
        default: return HashType::u64;
    }
}
}  // namespace

struct Array::Storage {
    ir::Type type = ir::Type::none;
    std::vector<std::int64_t> shape;
    Layout layout = Layout::contiguous;
    std::int64_t elements = 0, element_stride = 0, component_stride = 0;
    int components = 1;
    AlignedBuffer<std::byte> memory;
    std::uint64_t version = 1;
    Array gradient, tangent;

    std::byte* at(std::int64_t element, int component) {
        const std::int64_t scalar = element * element_stride + component * component_stride;
        return memory.data() + scalar * static_cast<std::int64_t>(ir::size_of(type));
    }
};

Array::Array(ir::Type type, std::vector<std::int64_t> shape, Layout layout) : storage_(std::make_shared<Storage>()) {
    if (shape.empty()) throw Error("an array needs at least one extent");
    Storage& s = *storage_;
    std::int64_t components = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] < 0) throw Error("an array cannot have the extent " + std::to_string(shape[d]));
        if (d > 0) components *= shape[d];
        if (components > 4096) throw Error("an array element of " + std::to_string(components) + " components is too large").remedy("the limit is 4096");
    }
    s.type = type;
    s.elements = shape[0];
    s.components = static_cast<int>(components);
    s.shape = std::move(shape);
    s.layout = components == 1 ? Layout::contiguous : layout;
    const std::int64_t planes = (s.elements + plane_multiple - 1) / plane_multiple * plane_multiple;
    s.element_stride = s.layout == Layout::planar ? 1 : components;
    s.component_stride = s.layout == Layout::planar ? planes : 1;
    const double bytes = static_cast<double>(planes) * static_cast<double>(components) * static_cast<double>(ir::size_of(type));
    if (bytes > static_cast<double>(std::numeric_limits<std::int64_t>::max() / 2)) throw Error("an array of " + std::to_string(s.elements) + " elements does not fit into memory");
    s.memory = AlignedBuffer<std::byte>(static_cast<std::size_t>(planes * components) * ir::size_of(type));
}

Array Array::from(std::span<const double> values, ir::Type type, std::vector<std::int64_t> shape, Layout layout) {
    Array array(type, std::move(shape), layout);
    array.assign(values);
    return array;
}

ir::Type Array::type() const { return storage_->type; }
const std::vector<std::int64_t>& Array::shape() const { return storage_->shape; }
Layout Array::layout() const { return storage_->layout; }
std::int64_t Array::elements() const { return storage_->elements; }
int Array::components() const { return storage_->components; }
std::int64_t Array::element_stride() const { return storage_->element_stride; }
std::int64_t Array::component_stride() const { return storage_->component_stride; }
void* Array::data() const { return storage_->memory.data(); }
std::size_t Array::bytes() const { return storage_->memory.size(); }
std::uint64_t Array::version() const { return storage_->version; }
const std::uint64_t* Array::version_counter() const { return &storage_->version; }
void Array::touch() const { ++storage_->version; }
bool Array::has_gradient() const { return static_cast<bool>(storage_->gradient); }

Array Array::gradient() const {
    if (!ir::is_real(type())) throw Error("an integer array has no gradient");
    if (!storage_->gradient) storage_->gradient = Array(type(), shape(), layout());
    return storage_->gradient;
}

Array Array::tangent() const {
    if (!ir::is_real(type())) throw Error("an integer array has no tangent");
    if (!storage_->tangent) storage_->tangent = Array(type(), shape(), layout());
    return storage_->tangent;
}

std::vector<double> Array::to_doubles() const {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(size()));
    for (std::int64_t e = 0; e < elements(); ++e)
        for (int c = 0; c < components(); ++c) values.push_back(value(e, c));
    return values;
}

double Array::value(std::int64_t element, int component) const {
    if (element < 0 || element >= elements() || component < 0 || component >= components())
        throw Error("element " + std::to_string(element) + ", component " + std::to_string(component) + " is outside an array of " +
                    std::to_string(elements()) + " x " + std::to_string(components()));
    const std::byte* at = storage_->at(element, component);
    ir::Bits bits = 0;
    std::memcpy(&bits, at, ir::size_of(type()));
    return ir::is_real(type()) ? ir::real_of(bits, type()) : static_cast<double>(ir::integer_of(bits, type()));
}

void Array::set_value(std::int64_t element, int component, double value) const {
    ir::Bits bits;
    if (ir::is_real(type())) {
        bits = ir::bits_of(value, type());
    } else {
        if (value != std::floor(value) || std::fabs(value) > 9007199254740992.0)
            throw Error("an integer array cannot hold " + std::to_string(value));
        bits = static_cast<ir::Bits>(static_cast<std::int64_t>(value));
    }
    std::memcpy(storage_->at(element, component), &bits, ir::size_of(type()));
}

void Array::assign(std::span<const double> values) const {
    if (static_cast<std::int64_t>(values.size()) != size())
        throw Error(std::to_string(values.size()) + " values are assigned to an array of " + std::to_string(size()));
    std::size_t k = 0;
    for (std::int64_t e = 0; e < elements(); ++e)
        for (int c = 0; c < components(); ++c) set_value(e, c, values[k++]);
    touch();
}

void Array::assign_integers(std::span<const std::int64_t> values) const {
    if (ir::is_real(type())) throw Error("integers are assigned to a real array").remedy("use assign()");
    if (static_cast<std::int64_t>(values.size()) != size())
        throw Error(std::to_string(values.size()) + " values are assigned to an array of " + std::to_string(size()));
    std::size_t k = 0;
    for (std::int64_t e = 0; e < elements(); ++e)
        for (int c = 0; c < components(); ++c) {
            const std::int64_t v = values[k++];
            const bool narrow = ir::size_of(type()) == 4;
            if (narrow && (v < std::numeric_limits<std::int32_t>::min() || v > std::numeric_limits<std::uint32_t>::max()))
                throw Error(std::to_string(v) + " does not fit into " + ir::name_of(type()));
            std::memcpy(storage_->at(e, c), &v, ir::size_of(type()));
        }
    touch();
}

void Array::fill(double value) const {
    for (std::int64_t e = 0; e < elements(); ++e)
        for (int c = 0; c < components(); ++c) set_value(e, c, value);
    touch();
}

void Array::clear() const {
    if (bytes() > 0) std::memset(data(), 0, bytes());
    touch();
}

void Array::copy_from(const Array& other) const {
    if (other.type() != type() || other.shape() != shape() || other.layout() != layout())
        throw Error("an array is copied from one of another type, shape or layout");
    if (bytes() > 0) std::memcpy(data(), other.data(), bytes());
    touch();
}

Array Array::clone() const {
    Array copy(type(), shape(), layout());
    copy.copy_from(*this);
    return copy;
}

backend::Binding Array::binding() const {
    return {data(), elements(), element_stride(), component_stride(), version()};
}

void Array::add_to(StateHash& hash, const std::string& name) const {
    // Logical shape: elements x components. A strided view says the same as a contiguous array.
    const std::int64_t extents[2] = {elements(), components()};
    const std::int64_t strides[2] = {element_stride(), component_stride()};
    hash.add(name, {data(), hash_type_of(type()), extents, strides});
}

}  // namespace hindcast
