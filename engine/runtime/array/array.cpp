#include "engine/runtime/array/array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/backend/binding.hpp"
#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/backend/plan/work_split.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast {

namespace {

constexpr std::int64_t plane_multiple = 16;  // scalars: whole registers of any width
// Long planes stand apart: behind the end of its part a core fetches some 30 lines that it does not
// need, and the beginning of the next plane may be another core's, which then waits for each line
// that it writes.
constexpr std::int64_t gap_bytes = 2048, long_plane_bytes = 8 * gap_bytes;

std::int64_t padded(std::int64_t elements) {
    return (elements + plane_multiple - 1) / plane_multiple * plane_multiple;
}
// Scalars from one plane to the next.
std::int64_t plane_stride(std::int64_t elements, std::int64_t scalar_bytes) {
    const bool is_long = elements >= long_plane_bytes / scalar_bytes;
    return padded(elements) + (is_long ? gap_bytes / scalar_bytes : 0);
}
constexpr std::int64_t most_components = 4096;
constexpr std::int64_t most_elements = std::int64_t{1} << 47;  // so that sizes cannot wrap round

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

// Calls f.template operator()<T>() with the C++ type of an array's scalars.
template <class F>
auto with_type(ir::Type type, F f) {
    switch (type) {
        case ir::Type::f32: return f.template operator()<float>();
        case ir::Type::f64: return f.template operator()<double>();
        case ir::Type::i32: return f.template operator()<std::int32_t>();
        case ir::Type::u32: return f.template operator()<std::uint32_t>();
        case ir::Type::i64: return f.template operator()<std::int64_t>();
        default: return f.template operator()<std::uint64_t>();
    }
}

// Each array counts from a number of its own.
std::uint64_t first_version() {
    static std::atomic<std::uint64_t> arrays{0};
    return (arrays.fetch_add(1, std::memory_order_relaxed) << 32) + 1;
}

// Throws unless an integer type T can hold the value.
template <class T>
void check_fits(double value, ir::Type type) {
    if constexpr (std::is_integral_v<T>) {
        constexpr double exact = 9007199254740992.0;  // 2^53: beyond it doubles skip integers
        const double low = std::max(static_cast<double>(std::numeric_limits<T>::min()), -exact);
        const double high = std::min(static_cast<double>(std::numeric_limits<T>::max()), exact);
        if (value >= low && value <= high && value == std::floor(value)) return;
        throw Error(fmt::format("an {} array cannot hold {}", ir::name_of(type), value))
            .remedy(fmt::format("integers from {:.0f} to {:.0f} fit", low, high));
    }
}

void check_count(std::size_t given, std::int64_t size) {
    if (static_cast<std::int64_t>(given) != size)
        throw Error(fmt::format("{} values are assigned to an array of {}", given, size));
}

}  // namespace

struct Array::Storage {
    ir::Type type = ir::Type::none;
    std::vector<std::int64_t> shape;
    Layout layout = Layout::contiguous;
    std::int64_t elements = 0, element_stride = 0, component_stride = 0;
    int components = 1;
    bool shared = false, read_only = false;
    Memory memory;
    backend::ArrayFacts contents = {first_version(), 0, 0, {}};
    std::shared_ptr<backend::ActiveRange> occupied = std::make_shared<backend::ActiveRange>();
    Array gradient, tangent, second_tangent;

    template <class T>
    T& at(std::int64_t element, int component) {
        return at<T>(memory.host(), element, component);
    }
    template <class T>
    T& at(std::byte* data, std::int64_t element, int component) const {
        if (element < 0 || element >= elements || component < 0 || component >= components)
            throw Error(fmt::format("element {}, component {} is outside an array of {} x {}",
                                    element, component, elements, components));
        return reinterpret_cast<T*>(data)[element * element_stride + component * component_stride];
    }

    // Visits every scalar in logical order.
    template <class T, class F>
    void each(F f) {
        T* const data = reinterpret_cast<T*>(memory.host());
        for (std::int64_t e = 0; e < elements; ++e)
            for (int c = 0; c < components; ++c) f(data[e * element_stride + c * component_stride]);
    }

    std::string describe() const {
        constexpr const char* names[] = {"contiguous", "planar", "strided"};
        return fmt::format("{} {} [{}]", names[static_cast<int>(layout)], ir::name_of(type),
                           fmt::join(shape, ", "));
    }
    void check_writable() const {
        if (read_only)
            throw Error("an array over memory that is read only cannot be written")
                .remedy("copy it into an array of its own");
    }
};

Array::Storage& Array::storage() const {
    if (!storage_) throw Error("an Array without memory is used").remedy("give it a shape");
    return *storage_;
}

// Without memory yet.
std::shared_ptr<Array::Storage> Array::describe(ir::Type type, std::vector<std::int64_t> shape,
                                                Layout layout) {
    if (!ir::is_real(type) && !ir::is_integer(type))
        throw Error(fmt::format("there are no arrays of {}", ir::name_of(type)))
            .remedy("use a real or an integer type");
    if (shape.empty()) throw Error("an array needs at least one extent");
    for (const std::int64_t extent : shape)
        if (extent < 0) throw Error(fmt::format("an array cannot have the extent {}", extent));
    auto storage = std::make_shared<Storage>();
    Storage& s = *storage;
    std::int64_t components = 1;
    for (std::size_t d = 1; d < shape.size(); ++d) {
        if (components > 0 && shape[d] > most_components / components)
            throw Error(fmt::format("an array of shape [{}] has too many components per element",
                                    fmt::join(shape, ", ")))
                .remedy(fmt::format("the extents after the first may give {}", most_components));
        components *= shape[d];
    }
    if (shape[0] > most_elements)
        throw Error(fmt::format("an array of {} elements does not fit into memory", shape[0]));
    s.type = type;
    s.elements = shape[0];
    s.components = static_cast<int>(components);
    s.shape = std::move(shape);
    s.layout = components == 1 || layout == Layout::strided ? Layout::contiguous : layout;
    s.element_stride = s.layout == Layout::planar ? 1 : components;
    const auto scalar = static_cast<std::int64_t>(ir::size_of(type));
    s.component_stride = s.layout == Layout::planar ? plane_stride(s.elements, scalar) : 1;
    return storage;
}

Array::Array(ir::Type type, std::vector<std::int64_t> shape, Layout layout)
    : storage_(describe(type, std::move(shape), layout)) {
    const Storage& s = *storage_;
    const std::int64_t plane = padded(s.elements),
                       stride = s.layout == Layout::planar ? s.component_stride : plane,
                       scalars = s.components == 0 ? 0 : stride * (s.components - 1) + plane;
    storage_->memory.allocate(static_cast<std::size_t>(scalars) * ir::size_of(type));
    know({});
}

Array Array::over(std::span<std::byte> host, std::shared_ptr<void> alive, ir::Type type,
                  std::vector<std::int64_t> shape) {
    Array array;
    array.storage_ = describe(type, std::move(shape), Layout::contiguous);
    const std::size_t bytes = static_cast<std::size_t>(array.size()) * ir::size_of(type);
    if (host.size() < bytes)
        throw Error(
            fmt::format("an array of {} bytes is laid over memory of {}", bytes, host.size()));
    if (reinterpret_cast<std::uintptr_t>(host.data()) % ir::size_of(type) != 0)
        throw Error(
            fmt::format("an array of {} is laid over memory that is not aligned to {} bytes",
                        ir::name_of(type), ir::size_of(type)));
    array.storage_->memory.borrow(host.first(bytes), std::move(alive));
    return array;
}

namespace {
// True if two scalars share memory, or if the strides are too odd to tell.
bool elements_overlap(std::int64_t elements, int components, const ForeignMemory& memory) {
    const std::int64_t e = std::abs(memory.element_stride), c = std::abs(memory.component_stride);
    if (elements <= 1 && components <= 1) return false;
    if (elements <= 1) return c == 0;
    if (components <= 1) return e == 0;
    if (e == 0 || c == 0) return true;
    return e >= c ? e < c * components : c < e * elements;
}
}  // namespace

// An array of what `memory` says, without it yet, and the bytes that it has there.
Array Array::described(const ForeignMemory& memory, ir::Type type, std::vector<std::int64_t> shape,
                       Bytes& bytes) {
    Array array;
    array.storage_ = describe(type, std::move(shape), Layout::contiguous);
    Storage& s = *array.storage_;
    const auto scalar = static_cast<std::int64_t>(ir::size_of(type));
    if (reinterpret_cast<std::uintptr_t>(memory.first) % ir::size_of(type) != 0)
        throw Error(
            fmt::format("an array of {} is laid over memory that is not aligned to {} bytes",
                        ir::name_of(type), ir::size_of(type)));
    s.shared = true;
    s.read_only = memory.read_only || elements_overlap(s.elements, s.components, memory);
    auto* const first = static_cast<std::byte*>(memory.first);
    const bool plain = s.component_stride == memory.component_stride || s.components <= 1;
    if (array.size() == 0 ||
        (plain && (s.elements <= 1 || s.element_stride == memory.element_stride))) {
        bytes = {first, array.size() * scalar, 0};
        return array;
    }
    s.layout = Layout::strided;
    s.element_stride = memory.element_stride;
    s.component_stride = memory.component_stride;
    std::int64_t low = 0, high = 1;  // scalars
    for (const std::int64_t reach :
         {s.element_stride * (s.elements - 1), s.component_stride * (s.components - 1)})
        (reach < 0 ? low : high) += reach;
    bytes = {first + low * scalar, (high - low) * scalar, -low * scalar};
    return array;
}

Array Array::over_strided(const ForeignMemory& host, std::shared_ptr<void> alive, ir::Type type,
                          std::vector<std::int64_t> shape) {
    Bytes bytes;
    Array array = described(host, type, std::move(shape), bytes);
    const std::span<std::byte> span(bytes.begin, static_cast<std::size_t>(bytes.count));
    if (array.layout() == Layout::strided)
        array.storage_->memory.borrow_parts(span, bytes.first, std::move(alive));
    else
        array.storage_->memory.borrow(span, std::move(alive));
    return array;
}

Array Array::over_device(const Memory::Context& context, const ForeignMemory& memory,
                         std::shared_ptr<void> alive, ir::Type type,
                         std::vector<std::int64_t> shape) {
    if (!context) throw Error("memory of a CUDA device is taken for a device that is none");
    Bytes bytes;
    Array array = described(memory, type, std::move(shape), bytes);
    array.storage_->memory.live_on(context, bytes.begin, static_cast<std::size_t>(bytes.count),
                                   bytes.first, array.layout() == Layout::strided,
                                   std::move(alive));
    return array;
}

Array Array::on(const Memory::Context& context, ir::Type type, std::vector<std::int64_t> shape,
                Layout layout) {
    Array array(type, std::move(shape), layout);
    if (!context) return array;
    array.storage_->memory.live_on(context);
    array.share();
    return array;
}

void* Array::device_data() const {
    const Memory::Context home = storage().memory.home();
    if (!home)
        throw Error("an array in the memory of the host has no address on a device")
            .remedy("make it there: Array::on(device.cuda(), type, shape)");
    return storage_->memory.on(home);
}

int Array::device() const {
    const Memory::Context home = storage().memory.home();
    return home ? home->ordinal() : -1;
}

Array Array::from(std::span<const double> values, ir::Type type, std::vector<std::int64_t> shape,
                  Layout layout) {
    Array array(type, std::move(shape), layout);
    array.assign(values);
    return array;
}

ir::Type Array::type() const { return storage().type; }
const std::vector<std::int64_t>& Array::shape() const { return storage().shape; }
Layout Array::layout() const { return storage().layout; }
std::int64_t Array::elements() const { return storage().elements; }
int Array::components() const { return storage().components; }
std::int64_t Array::element_stride() const { return storage().element_stride; }
std::int64_t Array::component_stride() const { return storage().component_stride; }
void* Array::data() const { return storage().memory.host(); }
std::size_t Array::bytes() const { return storage().memory.size(); }
std::uint64_t Array::version() const { return storage().contents.version; }
const std::uint64_t* Array::version_counter() const { return &storage().contents.version; }
void Array::changed() const { ++storage().contents.version; }
void Array::touch() const {
    changed();
    storage_->memory.host_wrote();
}
void Array::wrote_on_device() const {
    changed();
    storage_->memory.device_wrote();
}
Memory& Array::memory() const { return storage().memory; }
void Array::share() const {
    storage().shared = true;
    data();  // the newest values, if a device has them
    changed();
}
bool Array::is_shared() const { return storage().shared; }
bool Array::is_read_only() const { return storage().read_only; }
bool Array::has_gradient() const { return static_cast<bool>(storage().gradient); }

// The array of a derivative: ranges that are idle in this array are idle in it too.
Array Array::alike() const {
    Array array = on(storage_->memory.home(), type(), shape(), layout());
    array.storage_->occupied = storage_->occupied;
    return array;
}

Array Array::gradient() const {
    if (!ir::is_real(type())) throw Error("an integer array has no gradient");
    if (!storage_->gradient) storage_->gradient = alike();
    return storage_->gradient;
}

Array Array::tangent() const {
    if (!ir::is_real(type())) throw Error("an integer array has no tangent");
    if (!storage_->tangent) storage_->tangent = alike();
    return storage_->tangent;
}

Array Array::second_tangent() const {
    if (!ir::is_real(type())) throw Error("an integer array has no tangent");
    if (!storage_->second_tangent) storage_->second_tangent = alike();
    return storage_->second_tangent;
}

Array Array::over(const Memory::Context& context, const backend::cuda::Exported& shared,
                  ir::Type type, std::vector<std::int64_t> shape) {
    Array array;
    array.storage_ = describe(type, std::move(shape), Layout::contiguous);
    array.storage_->memory.allocate(static_cast<std::size_t>(array.size()) * ir::size_of(type));
    array.storage_->memory.lie_on(context, shared);
    return array;
}

std::vector<double> Array::to_doubles() const {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(size()));
    with_type(type(), [&]<class T> {
        storage_->each<T>([&](T scalar) { values.push_back(static_cast<double>(scalar)); });
    });
    return values;
}

std::vector<double> Array::values_at(std::span<const std::size_t> places) const {
    std::vector<double> values(places.size());
    Storage& s = *storage_;
    const auto count = static_cast<std::size_t>(s.components);
    // So many lie in memory as they are counted.
    const bool in_order = s.component_stride == 1 && s.element_stride == s.components;
    const auto plain = static_cast<std::size_t>(in_order ? size() : 0);
    std::byte* const bytes = s.memory.host();
    with_type(type(), [&]<class T> {
        const T* const data = reinterpret_cast<const T*>(bytes);
        for (std::size_t k = 0; k < places.size(); ++k) {
            const std::size_t place = places[k];
            values[k] = static_cast<double>(
                place < plain ? data[place]
                              : s.at<T>(bytes, static_cast<std::int64_t>(place / count),
                                        static_cast<int>(place % count)));
        }
    });
    return values;
}

double Array::value(std::int64_t element, int component) const {
    return with_type(
        type(), [&]<class T> { return static_cast<double>(storage_->at<T>(element, component)); });
}

void Array::set_value(std::int64_t element, int component, double value) const {
    storage().check_writable();
    with_type(type(), [&]<class T> {
        check_fits<T>(value, type());
        storage_->at<T>(element, component) = static_cast<T>(value);
    });
    touch();
}

void Array::assign(std::span<const double> values) const {
    check_count(values.size(), size());
    storage().check_writable();
    with_type(type(), [&]<class T> {
        for (const double value : values) check_fits<T>(value, type());
        const double* next = values.data();
        storage_->each<T>([&](T& scalar) { scalar = static_cast<T>(*next++); });
    });
    touch();
}

void Array::assign_integers(std::span<const std::int64_t> values) const {
    if (ir::is_real(type()))
        throw Error("integers are assigned to a real array").remedy("use assign()");
    check_count(values.size(), size());
    storage().check_writable();
    with_type(type(), [&]<class T> {
        if constexpr (sizeof(T) == 4)
            for (const std::int64_t value : values)
                check_fits<T>(static_cast<double>(value), type());
        const std::int64_t* next = values.data();
        storage_->each<T>([&](T& scalar) { scalar = static_cast<T>(*next++); });
    });
    touch();
}

void Array::fill(double value) const {
    storage().check_writable();
    with_type(type(), [&]<class T> {
        check_fits<T>(value, type());
        const T scalar = static_cast<T>(value);
        std::uint64_t bits = 0;
        std::memcpy(&bits, &scalar, sizeof scalar);
        if (storage_->memory.fill_on_device(shape_binding(), components(), sizeof scalar, bits)) {
            changed();
            return;
        }
        storage_->each<T>([&](T& each) { each = scalar; });
        touch();
    });
}

void Array::store(std::int32_t value) const {
    if (type() != ir::Type::i32 || size() != 1)
        throw Error("an i32 is stored in an array of another type or size");
    storage_->memory.store(value);
    changed();
}

void Array::clear(ThreadPool* pool) const {
    backend::DeferredWork deferred(pool);
    clear(deferred);
}

void Array::clear(backend::DeferredWork& deferred) const {
    Storage& s = storage();
    s.check_writable();
    if (s.memory.has_gaps()) {
        deferred.run();
        return fill(0);
    }
    if (s.memory.has_device() || s.layout != Layout::contiguous || s.elements == 0) {
        deferred.run();
        s.memory.clear();
    } else {
        const bool known = s.contents.is_idle();  // the others are zero
        const backend::ActiveRange range =
            known ? s.contents.busy : backend::ActiveRange{0, s.elements};
        const auto element = static_cast<std::int64_t>(ir::size_of(s.type)) * s.components;
        std::byte* const to = s.memory.host();
        const backend::ArrayFacts* const written = &s.contents;
        const auto bytes = static_cast<double>((range.end - range.begin) * element);
        deferred.add({.count = s.elements,
                      .range = range,
                      .occupied = *s.occupied,
                      .work = bytes * backend::work_of_byte,
                      .written = {&written, 1},
                      .read_elsewhere = {}},
                     [=](std::int64_t begin, std::int64_t end) {
                         std::memset(to + begin * element, 0,
                                     static_cast<std::size_t>((end - begin) * element));
                     });
    }
    changed();
    know({});
}

void Array::copy_from(const Array& other) const {
    const bool gaps = storage().memory.has_gaps() || other.storage().memory.has_gaps();
    if (other.type() != type() || other.shape() != shape() || (other.layout() != layout() && !gaps))
        throw Error(
            fmt::format("an array ({}) is copied from one of another type, shape or layout ({})",
                        storage_->describe(), other.storage_->describe()))
            .remedy("use assign(other.to_doubles()) to convert");
    storage().check_writable();
    if (gaps) {
        copy_scalars(other);
        return touch();
    }
    storage_->memory.copy_from(other.storage_->memory);
    changed();
}

bool Array::overlaps(const Array& other) const {
    const Storage &a = *storage_, &b = *other.storage_;
    // Arrays that own their memory cannot overlap; foreign memory may lie inside another's.
    if ((a.memory.is_own() && b.memory.is_own()) || size() == 0 || other.size() == 0) return false;
    const std::span<const std::byte> one = a.memory.range(), two = b.memory.range();
    if (one.data() + one.size() <= two.data() || two.data() + two.size() <= one.data())
        return false;
    // Elements side by side in rows of equal length: columns of one matrix.
    const std::int64_t row =
        std::abs(a.element_stride) * static_cast<std::int64_t>(ir::size_of(a.type));
    const std::int64_t other_row =
        std::abs(b.element_stride) * static_cast<std::int64_t>(ir::size_of(b.type));
    if (row != other_row || row == 0) return true;
    const auto width = [](const Storage& s) {
        return (std::abs(s.component_stride) * (s.components - 1) + 1) *
               static_cast<std::int64_t>(ir::size_of(s.type));
    };
    const auto place = [row](const Storage& s) {  // of its lowest component, in a row
        const std::int64_t low = std::min<std::int64_t>(s.component_stride, 0) * (s.components - 1);
        const auto at = reinterpret_cast<std::intptr_t>(s.memory.range().data());
        const auto first =
            static_cast<std::int64_t>(at) +
            (s.memory.first() + low * static_cast<std::int64_t>(ir::size_of(s.type)));
        return ((first % row) + row) % row;
    };
    const std::int64_t from = place(a), to = place(b), distance = ((to - from) % row + row) % row;
    return !(distance >= width(a) && distance + width(b) <= row);
}

void Array::copy_scalars(const Array& other) const {
    std::byte *const to = storage_->memory.host(), *const from = other.storage_->memory.host();
    with_type(type(), [&]<class T> {
        for (std::int64_t e = 0; e < elements(); ++e)
            for (int c = 0; c < components(); ++c)
                storage_->at<T>(to, e, c) = other.storage_->at<T>(from, e, c);
    });
}

Array Array::clone() const {
    Array copy(type(), shape(), layout());
    if (layout() == Layout::strided)
        copy.copy_scalars(*this);
    else
        copy.copy_from(*this);
    return copy;
}

backend::ActiveRange& Array::occupied() const { return *storage().occupied; }
const backend::ArrayFacts& Array::contents() const { return storage().contents; }

void Array::know(const backend::ActiveRange& busy, std::uint64_t by) const {
    if (!storage().memory.is_own() || storage().shared) return;
    backend::ArrayFacts& contents = storage().contents;
    contents.busy = busy;
    contents.by = by;
    contents.known = contents.version;
}

backend::Binding Array::binding() const {
    backend::Binding binding = shape_binding();
    binding.data = data();
    return binding;
}

backend::Binding Array::shape_binding() const {
    return {nullptr,
            elements(),
            element_stride(),
            component_stride(),
            version(),
            storage_->memory.is_padded(),
            false,
            storage_->occupied.get(),
            &storage_->contents};
}

void Array::add_to(StateHash& hash, const std::string& name) const {
    // Logical shape: elements x components. A strided view says the same as a contiguous array.
    const std::int64_t extents[2] = {elements(), components()};
    const std::int64_t strides[2] = {element_stride(), component_stride()};
    hash.add(name, {data(), hash_type_of(type()), extents, strides});
}

}  // namespace hindcast
