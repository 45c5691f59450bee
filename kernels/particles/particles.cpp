// One step, semi-implicit Euler: v <- v + h (g + f / m), x <- x + h v. Fixed points (inverse mass 0) keep their velocity,
// which is zero unless written: a fixed point with a velocity moves on a straight line.
#include "kernels/particles/particles.hpp"

#include "engine/document/read.hpp"

namespace hindcast {

namespace particles {

using namespace lang;
using model::Field;
using model::Model;
using model::Phase;
using model::Quantity;
using model::Settings;

namespace {

template <int D>
KernelDef initialize() {
    using V = Vec<Float, D>;
    return kernel("particles_initialize", {"positions", "velocity", "mass", "fixed", "first", "x", "v", "w"},
                  [](Int i, Read<V> positions, Property<V> velocity, Property<Float> mass, Param<Int> fixed, Param<Int> first,
                     Write<V> x, Write<V> v, Write<Float> w) {
                      const Int j = injective(i + first.value());
                      x[j] = positions[i];
                      v[j] = velocity[i];
                      w[j] = select(fixed.value() == 0, 1.0 / mass[i], Float(0));
                  });
}

template <int D>
KernelDef update_velocity(bool forced) {
    using V = Vec<Float, D>;
    if (!forced)
        return kernel("velocity_update_free", {"w", "gravity", "h", "v"},
                      [](Int i, Read<Float> w, Property<V> gravity, Param<Float> h, ReadWrite<V> v) {
                          const V old = v[i];
                          v[i] = select(w[i] > 0.0, old + gravity[0] * h.value(), old);
                      });
    return kernel("velocity_update", {"w", "force", "gravity", "h", "v"},
                  [](Int i, Read<Float> w, Read<V> force, Property<V> gravity, Param<Float> h, ReadWrite<V> v) {
                      const V old = v[i];
                      v[i] = select(w[i] > 0.0, old + (gravity[0] + force[i] * w[i]) * h.value(), old);
                  });
}

template <int D>
KernelDef update_position() {
    using V = Vec<Float, D>;
    return kernel("position_update", {"v", "h", "x"}, [](Int i, Read<V> v, Param<Float> h, ReadWrite<V> x) {
        x[i] += v[i] * h.value();
    });
}

class Particles final : public model::Instance {
public:
    explicit Particles(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

    void declare(Model& model) override {
        document::ValueRequest request;
        request.components = model.dimension();
        request.functions = model.options().functions;
        request.seed = model.options().seed;
        request.files = model.options().files;
        const document::Values positions = document::evaluate(*settings_->find("positions"), request);
        if (positions.shared) throw settings_->error("positions", "one position is given where a list is expected").remedy("write a list of vectors: [[x, y, z]]");
        initial_ = positions.rows();
        range_ = model.add_points(settings_->name(), positions.count);
        model.set_initial_points(range_.first, initial_);
    }

    void build(Model& model) override {
        const Arrays a = arrays(model);
        const std::int64_t n = range_.count;
        const Argument position = settings_->quantity(model, "positions", n).argument();
        const Argument velocity = settings_->quantity(model, "velocity", n, initial_).argument();
        const Argument mass = settings_->quantity(model, "mass", n, initial_).argument();
        const int fixed = settings_->boolean("fixed") ? 1 : 0;
        model.prologue().add(model.launch(model.dimension() == 2 ? initialize<2>() : initialize<3>(), n,
                                          {position, velocity, mass, fixed, range_.first, a.position, a.velocity, a.inverse_mass},
                                          "initialize " + settings_->name()));
    }

    void finish(Model& model) override {
        if (!model.once("particles integrate")) return;
        const Arrays a = arrays(model);
        const Quantity& gravity = *model.find_quantity("gravity");
        const std::int64_t n = model.point_count();
        const bool flat = model.dimension() == 2, forced = model.has_array("force");
        if (forced) {
            model.add(Phase::velocity_update, model.launch(flat ? update_velocity<2>(true) : update_velocity<3>(true), n,
                                                           {a.inverse_mass, model.array("force"), gravity.argument(), model.step(), a.velocity}, "velocity update"));
        } else {
            model.add(Phase::velocity_update, model.launch(flat ? update_velocity<2>(false) : update_velocity<3>(false), n,
                                                           {a.inverse_mass, gravity.argument(), model.step(), a.velocity}, "velocity update"));
        }
        model.add(Phase::position_update, model.launch(flat ? update_position<2>() : update_position<3>(), n, {a.velocity, model.step(), a.position}, "position update"));
    }

private:
    std::shared_ptr<Settings> settings_;
    model::Range range_;
    std::vector<double> initial_;
};

}  // namespace

Arrays arrays(Model& model) {
    if (!model.has_array("position")) {
        model.add_array("position", model.point_count(), model.dimension(), true);
        model.add_array("velocity", model.point_count(), model.dimension(), true);
        model.add_array("inverse_mass", model.point_count(), 1, false);
    }
    return {model.array("position"), model.array("velocity"), model.array("inverse_mass")};
}

}  // namespace particles

void register_particles(Registry& registry) {
    using namespace model;
    registry.add({Section::bodies,
                  "particles",
                  "Point masses, moved by semi-implicit Euler: v <- v + h (g + f/m), x <- x + h v.",
                  {vectors("positions").unit("m").differentiable().doc("where each particle starts: a list of vectors, or a generator"),
                   vectors("velocity").unit("m/s").zero().differentiable().doc("initial velocity, one for the body or one per particle"),
                   values("mass").unit("kg").fallback("1").positive().differentiable().doc("mass of each particle"),
                   boolean("fixed").fallback("false").doc("forces and gravity do not move the particles")},
                  [](std::shared_ptr<Settings> s) { return std::make_unique<particles::Particles>(std::move(s)); }});
}

}  // namespace hindcast
