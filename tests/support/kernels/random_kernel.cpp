// The generator. Draws come in a fixed order: every operand is a statement of its own, because C++
// leaves the order of arguments open.
#include "tests/support/kernels/random_kernel.hpp"

#include <deque>
#include <limits>
#include <random>

#include "engine/ad/grad.hpp"
#include "engine/lang/kernel.hpp"

namespace hindcast::test {

using namespace lang;

namespace {

constexpr int items = 3;
constexpr int elements = 4;     // of the buffers that are read at any index
constexpr int slice_size = 4;   // elements of the slice buffer per item
constexpr int probe_size = 64;  // probes per item

// A deque never moves its elements: a moved Float would be a new variable of the region it is moved
// in.
template <class T>
using Pool = std::deque<T>;

struct Sources {
    Int item;
    Read<Vec2> x;
    Read<Int> bounds;
    Param<Float> p;
    Property<Float> property;
};

struct Targets {
    ReadWrite<Vec2> y;
    ReadWrite<Float> reversed;  // own index items-1-item
    Write<Float> w;
    Accumulate<Float> f;
    Sum<Vec2> sum;
    WriteSlice<Float> z;
    Reduce<Float> energy;
    Read<Float> unit;
    Accumulate<Float> probe;
};

class Generator {
public:
    // Without targets the statements only assign local variables.
    Generator(std::uint64_t seed, const RandomOptions& options, const Sources& sources,
              const Targets* targets)
        : options_(options),
          in_(sources),
          out_(targets),
          random_(seed + 77),
          budget_(options.budget) {
        if (out_ != nullptr) own_ = injective(Int(items - 1) - in_.item);
        indices_.push_back(in_.item);
        indices_.push_back(1);
        whole_.push_back(2);
        whole_.push_back(in_.item);
    }

    void kernel() {
        start(in_.x[in_.item].x(), in_.x[in_.item].y());
        out_->w[in_.item] = pool_[0];
        grads_ = options_.grad && below(5) == 0 ? 1 + below(2) : 0;
        for (int k = 0; k < options_.statements; ++k) statement(3);
        const Float last = pool_[0] * pool_[1] + pool_[2];
        if (below(2)) out_->w[in_.item] = last + vectors_[0].z();
        if (below(2)) out_->y[in_.item].x() = pool_[1];
        if (below(2)) out_->energy += last;
        if (options_.probes) probe();
    }

    Float energy(const Float& a, const Float& b) {
        start(a, b);
        for (int k = 0; k < options_.statements; ++k) statement(2);
        return pool_[0] * pool_[1] + pool_[2] * a + vectors_[0].z() * b;
    }

private:
    int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
    double uniform(double low, double high) {
        return low + (high - low) * (static_cast<double>(random_() >> 11) * 0x1p-53);
    }
    template <class T>
    T& any(Pool<T>& pool) {
        return pool[static_cast<std::size_t>(below(static_cast<int>(pool.size())))];
    }

    void start(const Float& a, const Float& b) {
        pool_.push_back(a);
        pool_.push_back(b);
        pool_.push_back(0.5);
        vectors_.push_back(Vec3(a, b, 0.75));
        flags_.push_back(a < 0.7);
        flags_.push_back(in_.p < 0.8);
    }

    // ---- values

    Int integer() { return below(4) == 0 ? any(whole_) : any(indices_); }
    Int index() { return integer() & (elements - 1); }

    double literal() {
        if (options_.singular && below(2) == 0) {
            using Limits = std::numeric_limits<double>;
            constexpr double list[] = {0.0, -0.0, Limits::infinity(), -Limits::infinity(),
                                       Limits::quiet_NaN()};
            return list[below(5)];
        }
        return uniform(-1.5, 1.5);
    }

    Float leaf() {
        switch (below(7)) {
            case 0:
            case 1: return any(pool_);
            case 2: {
                const Int i = index();
                return in_.x[i][below(2)];
            }
            case 3: return literal();
            case 4: return below(2) ? in_.p.value() : in_.property[in_.item];
            case 5:
                if (out_ == nullptr) return any(pool_);
                if (below(3) == 0) return out_->reversed[own_];
                return out_->y[in_.item][below(2)];
            default: return below(2) ? any(vectors_)[below(3)] : Float(integer()) * 0.3;
        }
    }

    Float expression(int depth) {
        if (depth <= 0) return leaf();
        const int kind = below(options_.elementary ? 25 : 18);
        if (kind < 2) return leaf();
        const Float a = expression(depth - 1);
        if (kind >= 18) return elementary(kind, a, depth);
        if (kind == 10) return a / (a * a + 0.7);
        if (kind == 11) return sqrt(a * a + 0.3);
        if (kind == 12) return Float(floor(a * 2.0)) * 0.25 + abs(a);
        const Float b = expression(depth - 1);
        switch (kind) {
            case 2:
            case 3: return a + b;
            case 4:
            case 5:
            case 6: return a * b;
            case 7: return a - b;
            case 8: return b / (a * a + 0.7);
            case 9: return below(2) ? min(a, b) : max(a, b);
            case 13: {
                const Float c = expression(depth - 1), d = expression(depth - 1);
                return select(a < b, c, d);
            }
            case 14: {
                Vec3 v(a, b, expression(depth - 1));
                const Int k = integer() % 3;
                const Float c = expression(depth - 1);
                v[k] = c;
                return v[integer() % 3];
            }
            case 15: {
                const Vec3 v(a, b, 0.6);
                return below(2) ? norm(v) : dot(normalize(v), any(vectors_));
            }
            case 16: {
                Mat2 m = Mat2::identity();
                m(0, 1) = a;
                m(1, 0) = b;
                const Vec2 u = m * Vec2(b, 0.4);
                return determinant(m) + u.y();
            }
            default: {
                const int which = below(3);
                return which == 0 ? mulz(a, b) : which == 1 ? mulg(a, b) : divz(a, b * b + 0.6);
            }
        }
    }

    Float elementary(int kind, const Float& a, int depth) {
        switch (kind) {
            case 18: return sin(a);
            case 19: return cos(a) * 1.1;
            case 20: return exp(sin(a));
            case 21: return log(a * a + 0.5);
            case 22: return tanh(a);
            case 23: {
                const Float b = expression(depth - 1);
                return atan2(a, b * b + 0.4);
            }
            default: {
                const Float b = expression(depth - 1);
                return pow(a * a + 0.3, tanh(b));
            }
        }
    }

    // A value between about -1.3 and 1.3, so that repeated assignment does not run away.
    Float bounded(int depth) {
        const Float e = expression(depth);
        if (options_.elementary) return sin(e) * 1.3;
        return e / (abs(e) + 0.8);
    }

    Bool condition() {
        const Float a = expression(1), b = expression(1);
        return a < b;
    }

    // ---- statements

    void statement(int depth) {
        if (--budget_ < 0) return;
        int kind = below(depth <= 0 ? 12 : 20);
        if (out_ == nullptr && kind >= 4 && kind <= 8) kind = 2;
        switch (kind) {
            case 0:
            case 1: {
                const Float e = bounded(2);
                any(pool_) = e;
                break;
            }
            case 2: {
                const Float e = expression(1);
                Float& q = any(pool_);
                if (below(2))
                    q += e * 0.3;
                else
                    q *= options_.elementary ? sin(e) : e / (abs(e) + 0.8);
                break;
            }
            case 3: local_vector(); break;
            case 4:
            case 5: own_element(); break;
            case 6: {
                const Float e = expression(2);
                const Int i = index();
                if (below(2))
                    out_->f[i] += e;
                else
                    out_->sum[i][below(2)] -= e;
                break;
            }
            case 7: {
                const Float e = expression(2);
                if (below(2))
                    out_->energy += e;
                else
                    out_->w[in_.item] = e + out_->w[in_.item] * 0.5;
                break;
            }
            case 8: slice(); break;
            case 9: whole_number(); break;
            case 10: any(flags_) = condition(); break;
            case 11:
                if (grads_ > 0 && depth > 0) differentiate(depth);
                break;
            case 12:
            case 13:
            case 14: branch(depth); break;
            case 15:
            case 16:
            case 17: count_loop(depth); break;
            case 18: flag_loop(depth); break;
            default: value_loop(depth);
        }
        if (options_.probes && below(3) == 0) probe();
    }

    void block(int depth) {
        const std::size_t n = pool_.size();
        pool_.push_back(expression(1));
        const int count = 1 + below(3);
        for (int k = 0; k < count; ++k) statement(depth);
        while (pool_.size() > n) pool_.pop_back();
    }

    void local_vector() {
        Vec3& v = any(vectors_);
        const Float e = bounded(1);
        switch (below(4)) {
            case 0: v[integer() % 3] = e; break;
            case 1: v[below(3)] += e * 0.3; break;
            case 2: v[integer() % 3] *= e; break;
            default: v = cross(v, Vec3(e, any(pool_), 0.5)) * 0.5;
        }
    }

    void own_element() {
        const Float e = bounded(2);
        const int k = below(2);
        switch (below(6)) {
            case 0: out_->y[in_.item][k] = e; break;
            case 1: out_->y[in_.item][k] += e * 0.3; break;
            case 2: out_->y[in_.item][k] *= e; break;
            case 3: out_->y[in_.item][k] /= e * e + 0.9; break;
            case 4: out_->reversed[own_] = e; break;
            default: out_->reversed[own_] += e * 0.3;
        }
    }

    void slice() {
        const Float e = expression(2);
        if_(stored_ < slice_size, [&] {
            out_->z.store_once(in_.item * slice_size + stored_, e);
            stored_ += 1;
        });
    }

    void whole_number() {
        const Int a = integer();
        Int& v = any(whole_);
        switch (below(5)) {
            case 0: v = (a + v * 3 + 1) & 3; break;
            case 1: v = Int(Long(a) * 7 - (Long(v) << 2)) & 3; break;
            case 2: v = Int(UInt(a - 5) >> 3) & 3; break;
            case 3: v = Int(bounded(1) * 4.0) & 3; break;
            default: v = min(max(a ^ v, 0), 3);
        }
    }

    void probe() {
        Float v = below(4) ? expression(1) : Float(integer());
        if (options_.singular && below(2)) v = 1.0 / any(pool_);  // shows the sign of zero
        if_(probed_ < probe_size, [&] {
            const Int j = in_.item * probe_size + probed_;
            out_->probe[j] += v * out_->unit[j];
            probed_ += 1;
        });
    }

    void branch(int depth) {
        const Bool c = below(3) == 0 ? any(flags_) : condition();
        const bool otherwise = below(3) != 0;
        if_(
            c, [&] { block(depth - 1); },
            [&] {
                if (otherwise) block(depth - 1);
            });
    }

    void body(const Int& k, int depth) {
        indices_.push_back(k);
        block(depth - 1);
        indices_.pop_back();
    }

    void count_loop(int depth) {
        switch (below(4)) {
            case 0: {
                const Int i = index();
                for_(
                    0, in_.bounds[i], [&](Int k) { body(k, depth); }, 3);
                break;
            }
            case 1: for_(0, 9 + below(2), [&](Int k) { body(k & 3, depth); }); break;
            case 2: {
                const Int i = index();
                for_(
                    2, Int(-1) - in_.bounds[i], -2, [&](Int k) { body(k & 3, depth); }, 4);
                break;
            }
            default: for_(0, 1 + below(3), [&](Int k) { body(k, depth); });
        }
    }

    void flag_loop(int depth) {
        Int k = 0;
        while_([&] { return k < 3 && flags_[0]; },
               [&] {
                   const Int now = k;
                   k += 1;
                   body(now, depth);
                   flags_[0] = condition();
               },
               9);
    }

    void value_loop(int depth) {
        Int k = 0;
        Float& v = any(pool_);
        while_([&] { return k < 4 && v < 1.1; },
               [&] {
                   k += 1;
                   block(depth - 1);
                   v += 0.21;
               },
               12);
    }

    // The gradient of an expression that statements compute from two variables and whatever else is
    // there.
    void differentiate(int depth) {
        --grads_;
        const std::size_t n = pool_.size();
        const Float a = ad::variable(any(pool_)), b = ad::variable(expression(1));
        pool_.push_back(a);
        pool_.push_back(b);
        const int count = 1 + below(2);
        for (int k = 0; k < count; ++k) statement(depth - 1);
        const Float e = expression(2), rest = expression(1);
        const Float energy = e * pool_[n] + rest * pool_.back();
        const bool second = below(3) == 0;
        Float d0, d1;
        if (second) {
            const auto h = ad::hessian(energy, {a, b});
            d0 = h[0][0], d1 = h[0][1];
        } else {
            const auto g = ad::gradient(energy, {a, b});
            d0 = g[0], d1 = g[1];
        }
        while (pool_.size() > n) pool_.pop_back();
        any(pool_) = d0 / (abs(d0) + 0.8);
        any(pool_) += d1 / (abs(d1) + 1.2);
    }

    const RandomOptions& options_;
    const Sources& in_;
    const Targets* out_;
    std::mt19937_64 random_;
    int budget_, grads_ = 0;
    Int own_, stored_, probed_;
    Pool<Float> pool_;
    Pool<Vec3> vectors_;
    Pool<Int> indices_, whole_;
    Pool<Bool> flags_;
};

}  // namespace

namespace {

// Parameters that no result depends on, of every kind. What some bodies compute from them is
// dropped.
struct Idle {
    Param<Float> number;
    Param<Int> count;
    Read<Vec2> list;
    Read<Int> whole;
    Property<Float> property;

    void mention(const Int& i, std::mt19937_64& random) const {
        const auto below = [&](std::uint64_t n) { return random() % n; };
        if (below(2) == 0) (void)number.value();
        if (below(2) == 0) (void)select(Bool(0 < 1), Float(1), number.value());
        if (below(2) == 0) (void)(count.value() + i);
        if (below(4) == 0) (void)Vec2(list[i]);
        if (below(4) == 0) (void)Int(whole[i]);
        if (below(4) == 0) (void)property[i];
    }
};

}  // namespace

Case random_case(std::uint64_t seed, ir::Precision precision, const RandomOptions& options) {
    // Every second kernel has parameters that it does not use, before, between and behind the
    // others; half of these are then left out, as by a launch that is given no arguments for them.
    const bool idle = seed % 4 >= 2, left_out = seed % 8 >= 6;
    const std::string name = "random_" + std::to_string(seed);
    const KernelDef plain =
        kernel(name,
               {"x", "bounds", "p", "property", "y", "reversed", "w", "f", "sum", "z", "energy",
                "unit", "probe"},
               [&](Int i, Read<Vec2> x, Read<Int> bounds, Param<Float> p, Property<Float> property,
                   ReadWrite<Vec2> y, ReadWrite<Float> reversed, Write<Float> w,
                   Accumulate<Float> f, Sum<Vec2> sum, WriteSlice<Float> z, Reduce<Float> energy,
                   Read<Float> unit, Accumulate<Float> probe) {
                   const Sources sources{i, x, bounds, p, property};
                   const Targets targets{y, reversed, w, f, sum, z, energy, unit, probe};
                   Generator(seed, options, sources, &targets).kernel();
               });
    const KernelDef wide = kernel(
        name, {"idle_number", "idle_list", "x",           "bounds",      "p",     "idle_sum",
               "property",    "y",         "reversed",    "idle_whole",  "w",     "f",
               "sum",         "idle_rw",   "idle_added",  "idle_count",  "z",     "energy",
               "idle_energy", "unit",      "idle_counts", "idle_slices", "probe", "idle_property"},
        [&](Int i, Param<Float> idle_number, Read<Vec2> idle_list, Read<Vec2> x, Read<Int> bounds,
            Param<Float> p, Sum<Vec2> /*idle_sum*/, Property<Float> property, ReadWrite<Vec2> y,
            ReadWrite<Float> reversed, Read<Int> idle_whole, Write<Float> w, Accumulate<Float> f,
            Sum<Vec2> sum, ReadWrite<Vec2> /*idle_rw*/, Accumulate<Float> /*idle_added*/,
            Param<Int> idle_count, WriteSlice<Float> z, Reduce<Float> energy,
            Reduce<Vec2> /*idle_energy*/, Read<Float> unit, Atomic<Int> /*idle_counts*/,
            WriteSlice<Float> /*idle_slices*/, Accumulate<Float> probe,
            Property<Float> idle_property) {
            const Sources sources{i, x, bounds, p, property};
            const Targets targets{y, reversed, w, f, sum, z, energy, unit, probe};
            std::mt19937_64 random(seed + 177);
            const Idle rest{idle_number, idle_count, idle_list, idle_whole, idle_property};
            rest.mention(i, random);
            Generator(seed, options, sources, &targets).kernel();
            rest.mention(i, random);
        });
    const KernelDef def = !idle ? plain : left_out ? wide.without_unused() : wide;
    std::vector<std::string> shared;
    for (const ir::Parameter& p : def.parameters())
        if (seed % 2 == 1 && (p.name == "property" || p.name == "idle_property"))
            shared.push_back(p.name);
    return {.kernel = def.trace(precision, shared),
            .items = items,
            .sizes = {{"x", elements},
                      {"f", elements},
                      {"sum", elements},
                      {"z", items * slice_size},
                      {"unit", items * probe_size},
                      {"probe", items * probe_size}},
            .whole = {{"bounds", {0, 2, 1, 3}},
                      {"idle_whole", {5, 6, 7}},
                      {"idle_count", {3}},
                      {"idle_counts", {1, 2, 3}}}};
}

Case random_energy(std::uint64_t seed, bool derivatives) {
    const RandomOptions options{.grad = false, .statements = 3, .budget = 8};
    const KernelDef def =
        kernel("energy_" + std::to_string(seed),
               {"x", "bounds", "p", "property", "v", "energy_out", "gradient_out", "hessian_out"},
               [&](Int i, Read<Vec2> x, Read<Int> bounds, Param<Float> p, Property<Float> property,
                   Read<Vec2> v, Write<Float> energy_out, Write<Vec2> gradient_out,
                   Write<Vec3> hessian_out) {
                   const Sources sources{i, x, bounds, p, property};
                   Float e;
                   Vec2 g;
                   Vec3 h;
                   // The sum of energies from several places, each differentiated where it stands.
                   const auto add = [&](std::uint64_t part) {
                       const Float a = ad::variable(v[i].x()), b = ad::variable(v[i].y());
                       const Float energy =
                           Generator(seed * 3 + part, options, sources, nullptr).energy(a, b);
                       e += energy;
                       if (!derivatives) return;
                       const auto first = ad::gradient(energy, {a, b});
                       g += Vec2(first[0], first[1]);
                       const auto second = ad::hessian(energy, {a, b});
                       h += Vec3(second[0][0], second[0][1], second[1][1]);
                   };
                   add(0);
                   if_(
                       p < x[i].x(), [&] { add(1); },
                       [&] {
                           for_(
                               0, bounds[i], [&](Int) { add(2); }, 3);
                       });
                   energy_out[i] = e;
                   gradient_out[i] = g;
                   hessian_out[i] = h;
               });
    return {.kernel = def.trace(ir::Precision::f64),
            .items = items,
            .sizes = {{"x", elements}},
            .whole = {{"bounds", {0, 2, 1, 3}}}};
}

Data random_inputs(const Case& random, std::uint64_t seed) {
    std::mt19937_64 generator(seed + 7777);
    return inputs(random, generator);
}

}  // namespace hindcast::test
