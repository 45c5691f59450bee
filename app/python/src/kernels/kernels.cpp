#include "app/python/src/kernels/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "app/python/src/kernels/tracing.hpp"
#include "app/python/src/scenes/scenes.hpp"
#include "engine/base/error.hpp"
#include "engine/document/document.hpp"
#include "engine/sim/scene/schema.hpp"

namespace hindcast::python {

using namespace nb::literals;

struct PyKernel::Source {
    explicit Source(nb::object f) : describe(std::move(f)) {}
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    ~Source() {
        if (!describe.is_valid() && !unchanged.is_valid()) return;
        if (!Py_IsInitialized()) {
            describe.release();  // the interpreter has taken them along
            unchanged.release();
            return;
        }
        const nb::gil_scoped_acquire lock;
        describe.reset();
        unchanged.reset();
    }

    nb::object describe;   // runs the function; let go once it has run
    nb::object unchanged;  // then: raises if a number that the function took has changed since
    std::shared_ptr<const Program> program;
};

void PyKernel::prepare() const {
    if (!source_) return;
    if (source_->program) {
        const nb::object unchanged = source_->unchanged;
        if (unchanged.is_valid()) unchanged();
        return;
    }
    if (!source_->describe.is_valid())
        throw Error("its function is no longer there").in_kernel(definition_.name());
    const nb::object describe = source_->describe;  // another thread may let it go
    const nb::object description = describe();
    auto program = std::make_shared<const Program>(parse_program(description));
    if (source_->program) return;
    source_->program = std::move(program);
    // Its steps travel to other processes, the numbers that the function took do not.
    parts_.description = nb::make_tuple(description[0], description[1], description[2]);
    try {
        definition_.trace(ir::Precision::f64);  // errors of the kernel are told now
    } catch (...) {
        source_->program.reset();
        throw;
    }
    source_->describe.reset();
    if (nb::len(description) > 3) source_->unchanged = description[3];
}

namespace {

// The access of parameters that are read: one value for each item, or one for all.
const std::string property = "Property";

// "spring_force(ends: Read[ivec2], rest_length: Property[real], x: Read[vec3], ...)"
std::string signature_of(const lang::KernelDef& kernel) {
    std::string text = kernel.name() + "(";
    for (std::size_t k = 0; k < kernel.parameters().size(); ++k) {
        const ir::Parameter& p = kernel.parameters()[k];
        const bool may_share = kernel.may_share(static_cast<int>(k));
        const DataType type{p.type, p.type == ir::Type::f64, {p.rows, p.components / p.rows}};
        text += fmt::format("{}{}: {}[{}]", k > 0 ? ", " : "", p.name,
                            may_share ? property : ir::name_of(p.access), type.name());
    }
    return text + ")";
}

// Parameters as (name, access, kind, components, rows).
std::unique_ptr<PyKernel> make_kernel(const std::string& name, nb::handle parameters,
                                      std::string documentation, nb::object describe) {
    static constexpr ir::Access accesses[] = {
        ir::Access::read,       ir::Access::write,  ir::Access::read_write,
        ir::Access::accumulate, ir::Access::sum,    ir::Access::slice,
        ir::Access::reduce,     ir::Access::atomic, ir::Access::value};
    std::vector<ir::Parameter> list;
    std::vector<bool> may_share;
    for (const nb::handle p : parameters) {
        const auto given = nb::cast<std::string>(p[1]);
        const bool is_property = given == property;
        const std::string word = is_property ? ir::name_of(ir::Access::read) : given;
        const auto* const found =
            std::find_if(std::begin(accesses), std::end(accesses),
                         [&](ir::Access access) { return word == ir::name_of(access); });
        if (found == std::end(accesses)) throw Error("internal: no access '" + word + "'");
        list.push_back({nb::cast<std::string>(p[0]), *found,
                        declared_type(nb::cast<std::string>(p[2])), nb::cast<int>(p[3]),
                        nb::cast<int>(p[4])});
        may_share.push_back(is_property);
    }
    const auto source = std::make_shared<PyKernel::Source>(std::move(describe));
    lang::KernelDef definition(
        name, std::move(list), std::move(may_share),
        [source](const std::vector<int>& symbols, std::uint64_t shared) {
            if (!source->program)
                throw Error("internal: a kernel of Python is traced before it is prepared");
            record_program(*source->program, symbols, shared);
        });
    PyKernel::Parts parts;
    parts.parameters = nb::borrow(parameters);
    return std::make_unique<PyKernel>(std::move(definition), std::move(documentation),
                                      std::move(parts), source);
}

// `options` is a JSON object.
std::unique_ptr<PyKernel> built_in(const std::string& name, const std::string& options) {
    return checked([&] {
        const model::PublishedKernel& kernel = all_modules().kernel(name);
        const auto document = document::Document::parse(options, "the options of '" + name + "'");
        PyKernel::Parts parts;
        parts.name = name;
        parts.options = options;
        return std::make_unique<PyKernel>(model::make_kernel(kernel, document.root()),
                                          reference(kernel), std::move(parts));
    });
}

std::vector<std::pair<std::string, std::string>> built_in_kernels() {
    std::vector<std::pair<std::string, std::string>> list;
    for (const model::PublishedKernel& kernel : all_modules().kernels())
        list.emplace_back(kernel.name, reference(kernel));
    return list;
}

// Arguments of built_in(), or of make_kernel() with the description in place of the function.
nb::tuple parts_of(const PyKernel& kernel) {
    const PyKernel::Parts& parts = kernel.parts();
    if (!kernel.source()) return nb::make_tuple(parts.name, parts.options);
    kernel.prepare();
    return nb::make_tuple(kernel.signature().name(), parts.parameters, kernel.documentation(),
                          parts.description);
}

// A kernel that has not run its function refers to it, and the function often to the kernel.
int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    Py_VISIT(nb::inst_ptr<PyKernel>(self)->original.ptr());
    if (nb::inst_ptr<PyKernel>(self)->original.is_valid()) return 0;  // which visits the source
    const auto& source = nb::inst_ptr<PyKernel>(self)->source();
    if (source && source->describe.is_valid()) Py_VISIT(source->describe.ptr());
    if (source && source->unchanged.is_valid()) Py_VISIT(source->unchanged.ptr());
    return 0;
}
int clear(PyObject* self) {
    nb::object& original = nb::inst_ptr<PyKernel>(self)->original;
    if (original.is_valid()) {
        original.reset();
        return 0;
    }
    const auto& source = nb::inst_ptr<PyKernel>(self)->source();
    if (!source) return 0;
    source->describe.reset();
    source->unchanged.reset();
    return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

void bind_kernels(nb::module_& m) {
    nb::class_<PyKernel>(m, "Kernel", "A kernel: record() binds it to arrays.",
                         nb::type_slots(slots))
        .def_prop_ro(
            "name", [](const PyKernel& k) { return k.signature().name(); }, "That of the function.")
        .def_prop_ro(
            "parameters",
            [](const PyKernel& k) {
                std::vector<std::string> names;
                for (const auto& p : k.signature().parameters()) names.push_back(p.name);
                return names;
            },
            "Names, without the work item: what record() takes.")
        .def_prop_ro(
            "signature", [](const PyKernel& k) { return signature_of(k.signature()); },
            "What each parameter holds and how it is used, as one line.")
        .def_prop_ro(
            "documentation", [](const PyKernel& k) { return k.documentation(); },
            "That of the function, or the reference of a built-in kernel.")
        .def_prop_ro("checked", &PyKernel::checks_indices,
                     "True if an index out of range is an error; see unchecked().")
        .def(
            "unchecked", &PyKernel::unchecked, nb::sig("def unchecked(self) -> Kernel"),
            "The same kernel without checks of indices, for hc.record() and hc.jax.kernel().\n"
            "Checked kernels raise an Error that names item, index and array. Indices that the\n"
            "host can compute (of the item, integer parameters and integer arrays) are checked\n"
            "before a run, once for each version of the arrays. All others are checked while it\n"
            "runs, and so is every index on a CUDA device that is not the item. Without checks an\n"
            "index out of range reads or overwrites other memory.")
        .def(
            "__call__",
            [](const PyKernel& k, const nb::args&, const nb::kwargs&) {
                throw nb::type_error(
                    ("kernel '" + k.signature().name() +
                     "' is not called like a function: bind it with launch = hc.record(" +
                     k.signature().name() +
                     ", dim=..., name=array, ...) and run launch.forward(); what several kernels "
                     "share is a function without @hc.kernel")
                        .c_str());
            },
            "A TypeError: kernels are bound by record(), not called.")
        // Nothing of a kernel changes.
        .def("__copy__", [](nb::object self) { return self; })
        .def(
            "__deepcopy__", [](nb::object self, nb::handle) { return self; }, "memo"_a)
        .def("__repr__",
             [](const PyKernel& k) { return "hindcast.Kernel " + k.signature().name(); });
    m.def("_make_kernel", &make_kernel, "name"_a, "parameters"_a, "documentation"_a, "describe"_a);
    m.def("_built_in", &built_in, "name"_a, "options"_a);
    m.def("_built_in_kernels", &built_in_kernels);
    m.def("_kernel_parts", &parts_of, "kernel"_a);
}

}  // namespace hindcast::python
