// Simulations under JAX: handlers of XLA's foreign function interface, on the host. They call no
// Python and take no lock of its interpreter.
//
// A custom call carries the number of its function. What XLA compiles makes a State of it, which
// keeps the function as long as the compiled program: what Python keeps may go before. Operands are
// [..., size]: leading axes are the batch, folded. The five functions of a scalar loss L, with
// cotangents and tangents of the output that are numbers:
//
//     value   x           L(x)                one number
//     jvp     x, t        dL/dx . t           one number
//     vjp     x, c        c dL/dx             [size]
//     hvp     x, c, u     c d2L/dx2 u         [size]
//     jvp2    x, t, u     t . d2L/dx2 u       one number
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <mutex>

#include "app/python/src/bindings.hpp"
#include "app/python/src/scenes.hpp"
#include "engine/base/error.hpp"
#include "engine/sim/loss_function.hpp"
#include "xla/ffi/api/ffi.h"

namespace hindcast::python {

using namespace nb::literals;
namespace ffi = xla::ffi;

namespace {

// Functions that compiled programs may ask for, by number.
class Functions {
public:
    std::int64_t add(std::shared_ptr<LossFunction> function) {
        const std::lock_guard lock(mutex_);
        functions_[++last_] = std::move(function);
        return last_;
    }
    void forget(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        functions_.erase(number);
    }
    std::shared_ptr<LossFunction> find(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        const auto found = functions_.find(number);
        return found == functions_.end() ? nullptr : found->second;
    }
    std::size_t count() {
        const std::lock_guard lock(mutex_);
        return functions_.size();
    }

private:
    std::mutex mutex_;
    std::map<std::int64_t, std::shared_ptr<LossFunction>> functions_;
    std::int64_t last_ = 0;
};
Functions& functions() {
    static Functions* const all = new Functions;  // outlives what XLA frees at the end
    return *all;
}

struct State {
    static ffi::TypeId id;
    static const ffi::TypeInfo info;
    std::shared_ptr<LossFunction> function;
};
ffi::TypeId State::id = {};
const ffi::TypeInfo State::info = ffi::MakeTypeInfo<State>();

ffi::ErrorOr<std::unique_ptr<State>> make_state(std::int64_t function) {
    auto state = std::make_unique<State>();
    state->function = functions().find(function);
    if (!state->function)
        return ffi::Unexpected(
            ffi::Error::Internal("hindcast: the simulation of this program is gone"));
    return state;
}

// Rows of numbers, whatever their precision.
class Rows {
public:
    Rows(ffi::AnyBuffer buffer, std::int64_t size)
        : data_(buffer.untyped_data()),
          wide_(buffer.element_type() == ffi::F64),
          size_(static_cast<std::size_t>(size)) {}
    void read(std::size_t row, std::vector<double>& to) const {
        to.resize(size_);
        for (std::size_t k = 0; k < size_; ++k) to[k] = at(row * size_ + k);
    }
    double number(std::size_t row) const { return at(row); }
    void write(std::size_t row, std::span<const double> values) const {
        for (std::size_t k = 0; k < size_; ++k) {
            if (wide_)
                static_cast<double*>(data_)[row * size_ + k] = values[k];
            else
                static_cast<float*>(data_)[row * size_ + k] = static_cast<float>(values[k]);
        }
    }

private:
    double at(std::size_t k) const {
        return wide_ ? static_cast<const double*>(data_)[k]
                     : static_cast<double>(static_cast<const float*>(data_)[k]);
    }
    void* data_;
    bool wide_;
    std::size_t size_;
};

using Values = std::vector<double>;

enum class Kind : std::uint8_t { value, jvp, vjp, hvp, jvp2 };

double dot(const Values& a, const Values& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

void run_rows(Kind kind, LossFunction& f, ffi::RemainingArgs arguments, ffi::AnyBuffer result) {
    const std::int64_t n = f.size();
    const bool vector = kind == Kind::vjp || kind == Kind::hvp;
    const Rows x(*arguments.get<ffi::AnyBuffer>(0), n), out(result, vector ? n : 1);
    const auto count = static_cast<std::size_t>(result.element_count() /
                                                (vector ? static_cast<std::size_t>(n) : 1));
    if (kind == Kind::value || kind == Kind::vjp) {  // through the ensemble
        std::vector<Values> points(count);
        for (std::size_t row = 0; row < count; ++row) x.read(row, points[row]);
        const bool gradient = kind == Kind::vjp;
        if (count == 1) {
            if (!gradient) return out.write(0, {{f.value(points[0])}});
            Values g = f.gradient(points[0]);
            const double c = Rows(*arguments.get<ffi::AnyBuffer>(1), 1).number(0);
            for (double& each : g) each *= c;
            return out.write(0, g);
        }
        std::vector<Ensemble::Result> results = f.evaluate(points, gradient);
        for (std::size_t row = 0; row < count; ++row) {
            if (!gradient) {
                out.write(row, {&results[row].loss, 1});
                continue;
            }
            const double c = Rows(*arguments.get<ffi::AnyBuffer>(1), 1).number(row);
            for (double& each : results[row].gradient) each *= c;
            out.write(row, results[row].gradient);
        }
        return;
    }
    Values at, t, u;
    for (std::size_t row = 0; row < count; ++row) {
        x.read(row, at);
        if (kind == Kind::jvp) {
            Rows(*arguments.get<ffi::AnyBuffer>(1), n).read(row, t);
            const double slope = f.slope(at, t);
            out.write(row, {&slope, 1});
        } else if (kind == Kind::hvp) {
            Rows(*arguments.get<ffi::AnyBuffer>(2), n).read(row, u);
            Values h = f.hessian(at, u);
            const double c = Rows(*arguments.get<ffi::AnyBuffer>(1), 1).number(row);
            for (double& each : h) each *= c;
            out.write(row, h);
        } else {
            Rows(*arguments.get<ffi::AnyBuffer>(1), n).read(row, t);
            Rows(*arguments.get<ffi::AnyBuffer>(2), n).read(row, u);
            const double second = dot(t, f.hessian(at, u));
            out.write(row, {&second, 1});
        }
    }
}

template <Kind kind>
ffi::Error call(State* state, ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> result) {
    try {
        if (result->element_count() > 0) run_rows(kind, *state->function, arguments, *result);
    } catch (const std::exception& error) {
        return ffi::Error(ffi::ErrorCode::kInvalidArgument, error.what());
    }
    return ffi::Error::Success();
}

template <Kind kind>
XLA_FFI_Error* handler(XLA_FFI_CallFrame* frame) {
    static const auto bound =
        ffi::Ffi::Bind().Ctx<ffi::State<State>>().RemainingArgs().Ret<ffi::AnyBuffer>().To(
            call<kind>);
    return bound->Call(frame);
}

XLA_FFI_Error* instantiate(XLA_FFI_CallFrame* frame) {
    static const auto bound =
        ffi::Ffi::BindInstantiate().Attr<std::int64_t>("function").To(make_state);
    return bound->Call(frame);
}

template <class F>
nb::capsule pointer(F* function) {
    return nb::capsule(reinterpret_cast<void*>(function));  // NOLINT: a capsule holds addresses
}

// What Python holds of a function.
struct Handle {
    std::shared_ptr<LossFunction> function;
    std::int64_t number = 0;
    Handle(std::shared_ptr<LossFunction> f)
        : function(std::move(f)), number(functions().add(function)) {}
    ~Handle() { functions().forget(number); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
};

}  // namespace

void bind_jax(nb::module_& m) {
    nb::class_<Handle>(m, "LossFunction",
                       "The loss of a scene as a function of some of its values.")
        .def(
            "__init__",
            [](Handle* self, const std::string& scene, const std::string& file,
               const std::vector<std::string>& inputs, const std::shared_ptr<Device>& device,
               const std::string& precision, std::int64_t steps) {
                SimulationOptions options;
                options.device = device ? device : default_device();
                options.precision = precision_of(precision);
                options.steps = steps;
                const Scene read = file.empty() ? Scene::parse(scene) : Scene::load(file);
                new (self)
                    Handle(std::make_shared<LossFunction>(read, all_modules(), options, inputs));
            },
            "scene"_a, "file"_a, "inputs"_a, "device"_a.none(), "precision"_a, "steps"_a)
        .def_ro("number", &Handle::number)
        .def_prop_ro("size", [](const Handle& h) { return h.function->size(); })
        .def_prop_ro("paths",
                     [](const Handle& h) {
                         std::vector<std::string> paths;
                         for (const auto& input : h.function->inputs()) paths.push_back(input.path);
                         return paths;
                     })
        .def_prop_ro("shapes",
                     [](const Handle& h) {
                         nb::list shapes;
                         for (const auto& input : h.function->inputs())
                             shapes.append(nb::tuple(nb::cast(input.shape)));
                         return shapes;
                     })
        .def_prop_ro("scene_values", [](const Handle& h) { return h.function->scene_values(); });
    m.def("_jax_functions", [] { return functions().count(); });
    m.def("_jax_targets", [] {
        nb::dict targets;
        const auto add = [&](const char* name, auto* execute) {
            nb::dict stages;
            stages["instantiate"] = pointer(instantiate);
            stages["execute"] = pointer(execute);
            targets[name] = stages;
        };
        add("hindcast_value", handler<Kind::value>);
        add("hindcast_jvp", handler<Kind::jvp>);
        add("hindcast_vjp", handler<Kind::vjp>);
        add("hindcast_hvp", handler<Kind::hvp>);
        add("hindcast_jvp2", handler<Kind::jvp2>);
        return targets;
    });
    m.def("_jax_state_type", [] {
        nb::dict type;
        type["type_id"] = nb::capsule(static_cast<const void*>(&State::id));
        type["type_info"] = nb::capsule(static_cast<const void*>(&State::info));
        return type;
    });
}

}  // namespace hindcast::python
