// hindcast._core.KernelFunction: what hindcast.jax.kernel and hindcast.jax.callable call.
#include "app/python/src/kernels/kernel_functions.hpp"
#include "app/python/src/calls/call_kinds.hpp"

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/python/src/arrays/devices.hpp"
#include "app/python/src/calls/device_recordings.hpp"
#include "app/python/src/calls/numbered.hpp"
#include "app/python/src/guarded.hpp"
#include "app/python/src/kernels/kernel_recordings.hpp"
#include "app/python/src/kernels/kernels.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/ir/effects.hpp"

namespace hindcast::python {

using namespace nb::literals;

namespace {

using Kind = KernelFunction::Kind;

Numbered<KernelFunction>& functions() {
    static auto* const all = new Numbered<KernelFunction>;  // outlives compiled programs
    return *all;
}
std::atomic<std::int64_t>& count() {
    static std::atomic<std::int64_t> functions_alive{0};
    return functions_alive;
}

}  // namespace

std::shared_ptr<KernelFunction> find_kernel_function(std::int64_t number) {
    return functions().find(number);
}

KernelFunction::KernelFunction(Parts parts) : parts_(std::move(parts)) {
    const std::vector<Outside>&x = parts_.inputs, &y = parts_.outputs;
    const auto set = [&](Kind kind, std::initializer_list<const std::vector<Outside>*> groups,
                         const std::vector<Outside>& results) {
        std::vector<Outside>& operands = operands_[index(kind)];
        for (const auto* group : groups)
            operands.insert(operands.end(), group->begin(), group->end());
        operands.insert(operands.end(), parts_.constants.begin(), parts_.constants.end());
        results_[index(kind)] = results;
    };
    std::vector<Outside> all = y;
    all.insert(all.end(), parts_.others.begin(), parts_.others.end());
    set(Kind::value, {&x}, all);
    set(Kind::jvp, {&x, &x}, y);
    set(Kind::vjp, {&x, &y}, x);
    set(Kind::hvp, {&x, &y, &x}, x);
    set(Kind::jvp2, {&x, &x, &x}, y);
    prepare(Kind::value);
    ++count();
}
KernelFunction::~KernelFunction() { --count(); }
std::int64_t KernelFunction::alive() { return count(); }

std::unique_ptr<KernelFunction::Recording> KernelFunction::record(
    Kind kind, const std::shared_ptr<Device>& device) const {
    return std::make_unique<Recording>(parts_, kind, device);
}

std::unique_ptr<DeviceRecording> KernelFunction::record_on(const std::shared_ptr<Device>& device,
                                                           Kind kind) const {
    DeviceRecording::Sizes sizes{.operands = operands(kind).size(),
                                 .results = results(kind).size()};
    for (const auto* list : {&operands(kind), &results(kind)})
        for (const Outside& outside : *list) sizes.bytes = std::max(sizes.bytes, outside.bytes());
    const std::shared_ptr<Recording> recording = record(kind, device);
    return std::make_unique<DeviceRecording>(
        device,
        [this, recording](const std::byte* const* from, std::byte* const* to) {
            recording->run(*this, from, to);
        },
        sizes);
}

bool KernelFunction::prepare_on(const std::shared_ptr<Device>& device, Kind kind) {
    return prepared_[index(kind)].prepare(device,
                                          [&](const auto& on) { return record_on(on, kind); });
}

std::map<int, std::unique_ptr<DeviceRecording>> KernelFunction::take_prepared(Kind kind) {
    return prepared_[index(kind)].take([&](const auto& on) { return record_on(on, kind); });
}

void KernelFunction::prepare(Kind kind) { const Lease made(*this, kind); }

KernelFunction::Lease::Lease(KernelFunction& function, Kind kind)
    : function_(function), kind_(kind) {
    {
        const std::lock_guard lock(function.mutex_);
        auto& idle = function.idle_[index(kind)];
        if (!idle.empty()) {
            recording_ = std::move(idle.back());
            idle.pop_back();
            return;
        }
    }
    recording_ = function.record(kind, function.parts_.device);
}

KernelFunction::Lease::~Lease() {
    if (!recording_) return;
    const std::lock_guard lock(function_.mutex_);
    function_.idle_[index(kind_)].push_back(std::move(recording_));
}

void KernelFunction::Lease::run(const std::byte* const* operands, std::byte* const* results) {
    try {
        recording_->run(function_, operands, results);
    } catch (...) {
        recording_.reset();  // its arrays are in no state that is known
        throw;
    }
}

// ---- Python ----------------------------------------------------------------------------------

namespace {

using KernelHandle = NumberedHandle<KernelFunction>;

ir::Type type_of(const std::string& name) {
    for (const ir::Type type :
         {ir::Type::f32, ir::Type::f64, ir::Type::i32, ir::Type::u32, ir::Type::i64, ir::Type::u64})
        if (name == ir::name_of(type)) return type;
    throw Error("internal: no type '" + name + "'");
}

// [(type, size), ...]
std::vector<KernelFunction::Outside> outsides(nb::handle list) {
    std::vector<KernelFunction::Outside> found;
    for (const nb::handle o : list)
        found.push_back({type_of(nb::cast<std::string>(o[0])), nb::cast<std::int64_t>(o[1])});
    return found;
}

// (name, type, elements, components, operand, start)
KernelFunction::Buffer buffer_of(nb::handle b) {
    KernelFunction::Buffer buffer;
    buffer.name = nb::cast<std::string>(b[0]);
    buffer.type = type_of(nb::cast<std::string>(b[1]));
    buffer.elements = nb::cast<std::int64_t>(b[2]);
    buffer.components = nb::cast<int>(b[3]);
    buffer.operand = nb::cast<int>(b[4]);
    const auto start = nb::cast<nb::bytes>(b[5]);
    const auto* const data = static_cast<const std::byte*>(start.data());
    buffer.start.assign(data, data + start.size());
    return buffer;
}

// (kernel, items, buffers, shared, defines)
KernelFunction::Call call_of(nb::handle c) {
    const auto& kernel = nb::cast<const PyKernel&>(c[0]);
    return {kernel.definition(),
            nb::cast<std::int64_t>(c[1]),
            nb::cast<std::vector<int>>(c[2]),
            nb::cast<std::vector<int>>(c[3]),
            nb::cast<std::vector<int>>(c[4]),
            kernel.checks_indices()};
}

std::shared_ptr<KernelFunction> make(const std::shared_ptr<Device>& device,
                                     const std::string& precision, nb::handle inputs,
                                     nb::handle constants, nb::handle outputs, nb::handle others,
                                     std::vector<int> output_buffers,
                                     std::vector<int> other_buffers, nb::handle buffers,
                                     nb::handle calls) {
    KernelFunction::Parts parts{.device = device ? device : default_device(),
                                .precision = precision_of(precision),
                                .inputs = outsides(inputs),
                                .constants = outsides(constants),
                                .outputs = outsides(outputs),
                                .others = outsides(others),
                                .output_buffers = std::move(output_buffers),
                                .other_buffers = std::move(other_buffers),
                                .buffers = {},
                                .calls = {}};
    if (parts.device->cuda())
        refuse(
            "device: JAX says which CUDA device a kernel runs on (jax.device_put); here a device "
            "of "
            "the host is chosen, such as hc.device('cpu')");
    for (const nb::handle b : buffers) parts.buffers.push_back(buffer_of(b));
    for (const nb::handle c : calls) parts.calls.push_back(call_of(c));
    return interruptibly([&] { return std::make_shared<KernelFunction>(std::move(parts)); });
}

using Operand = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Results [rows, size] of operands [rows, size].
nb::list run(const KernelHandle& handle, const std::string& name, const nb::args& given) {
    KernelFunction& f = *handle.function;
    const Kind kind = kind_of<Kind>(name);
    const auto &in = f.operands(kind), &out = f.results(kind);
    if (given.size() != in.size())
        refuse(fmt::format("{} takes {} operands, and is given {}", name, in.size(), given.size()));
    std::size_t rows = 1;
    std::vector<const std::byte*> from;
    for (std::size_t k = 0; k < in.size(); ++k) {
        const auto operand = nb::cast<Operand>(given[k]);
        if (k == 0 && operand.ndim() == 2) rows = operand.shape(0);
        if (operand.ndim() != 2 || operand.shape(0) != rows ||
            static_cast<std::int64_t>(operand.shape(1)) != in[k].size ||
            operand.dtype() != dlpack_type(in[k].type))
            refuse(fmt::format("operand {}: {} [rows, {}] is expected, with as many rows in each",
                               k, ir::name_of(in[k].type), in[k].size));
        from.push_back(static_cast<const std::byte*>(operand.data()));
    }
    nb::list results;
    std::vector<std::byte*> to;
    for (const KernelFunction::Outside& o : out) {
        auto* const bytes = new std::byte[rows * o.bytes()];
        const nb::capsule owner(bytes,
                                [](void* p) noexcept { delete[] static_cast<std::byte*>(p); });
        const std::size_t shape[] = {rows, static_cast<std::size_t>(o.size)};
        results.append(
            nb::cast(nb::ndarray<nb::numpy>(bytes, 2, shape, owner, nullptr, dlpack_type(o.type))));
        to.push_back(bytes);
    }
    interruptibly([&] {
        KernelFunction::Lease recording(f, kind);
        for (std::size_t row = 0; row < rows; ++row) {
            recording.run(from.data(), to.data());
            for (std::size_t k = 0; k < in.size(); ++k) from[k] += in[k].bytes();
            for (std::size_t k = 0; k < out.size(); ++k) to[k] += out[k].bytes();
        }
    });
    return results;
}

// [(name, access, type, components, rows, may it be one value for all?), ...]; "real" is the type
// that has the precision of the arrays.
nb::list signature(const PyKernel& kernel) {
    nb::list list;
    const lang::KernelDef& k = kernel.signature();
    for (std::size_t p = 0; p < k.parameters().size(); ++p) {
        const ir::Parameter& q = k.parameters()[p];
        list.append(nb::make_tuple(q.name, ir::name_of(q.access),
                                   q.type == ir::Type::f64 ? "real" : ir::name_of(q.type),
                                   q.components, q.rows, k.may_share(static_cast<int>(p))));
    }
    return list;
}

// [(does it define all?, why not, where), ...]
nb::list effects(const PyKernel& kernel, const std::vector<std::string>& shared) {
    nb::list list;
    for (const ir::Effects& e :
         ir::effects_of(kernel.definition().trace(ir::Precision::f64, shared)))
        list.append(nb::make_tuple(e.defines_all, e.not_defined,
                                   e.place.known() ? to_string(e.place) : std::string(), e.clears));
    return list;
}

}  // namespace

void bind_kernel_functions(nb::module_& m) {
    nb::class_<KernelHandle>(
        m, "KernelFunction",
        "Launches in a row as a function between arrays, with its derivatives.")
        .def(
            "__init__",
            [](KernelHandle* self, const std::shared_ptr<Device>& device,
               const std::string& precision, nb::handle inputs, nb::handle constants,
               nb::handle outputs, nb::handle others, std::vector<int> output_buffers,
               std::vector<int> other_buffers, nb::handle buffers, nb::handle calls) {
                new (self) KernelHandle(
                    make(device, precision, inputs, constants, outputs, others,
                         std::move(output_buffers), std::move(other_buffers), buffers, calls),
                    functions());
            },
            "device"_a.none(), "precision"_a, "inputs"_a, "constants"_a, "outputs"_a, "others"_a,
            "output_buffers"_a, "other_buffers"_a, "buffers"_a, "calls"_a)
        .def_ro("number", &KernelHandle::number, "By which compiled programs find it.")
        .def("run", run, "kind"_a, "operands"_a,
             "Calls of one kind, as SceneFunction.rows(): arrays [rows, size] for arrays "
             "[rows, size].")
        .def(
            "prepare_on",
            [](const KernelHandle& handle, const std::string& kind, int ordinal) {
                const auto function = handle.function;
                const nb::gil_scoped_release release;
                return function->prepare_on(cuda_device(ordinal), kind_of<Kind>(kind));
            },
            "kind"_a, "ordinal"_a,
            "Makes what calls on a CUDA device need. Whether they can be captured into a graph.");
    m.def("_kernel_signature", signature, "kernel"_a);
    m.def("_kernel_effects", effects, "kernel"_a, "shared"_a);
    m.def(
        "_kernel_functions",
        [] { return nb::make_tuple(functions().count(), KernelFunction::alive()); },
        "How many have a number, and how many are there.");
}

}  // namespace hindcast::python
