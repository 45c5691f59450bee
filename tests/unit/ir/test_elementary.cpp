// The elementary functions against MPFR: errors in ulp, special values, behavior beyond the stated
// ranges.
//
// The ordinary run takes some 20 000 arguments per function and precision: special values,
// neighbors of critical arguments, random ones of every exponent. HINDCAST_FULL=1 takes every f32
// argument of the functions of one argument and some 10^8 others; there libm in the next wider type
// is the reference, and MPFR decides where it reports more than 0.9 of the limit. HINDCAST_FULL=1
// also prints the error table of engine/lang/elementary.md.
#include <doctest/doctest.h>
#include <mpfr.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.hpp"
#include "engine/ir/evaluate.hpp"
#include "engine/lang/elementary.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/lowering.hpp"
#include "tests/support/patience.hpp"

using namespace hindcast;
using ir::OpCode;
using ir::Type;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 3.14159265358979323846;

// ---------------------------------------------------------------- the functions

struct Function {
    OpCode code;
    int arguments;
    int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr);
    double (*in_double)(double, double);
    long double (*in_long_double)(long double, long double);
    bool circular;                 // stated range: trigonometric_limit
    std::vector<double> critical;  // arguments whose surroundings are searched
    double low, high;              // where most users' arguments lie
};

#define ONE(name)                                                                            \
    OpCode::name, 1,                                                                         \
        [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) { return mpfr_##name(r, x, MPFR_RNDN); }, \
        [](double x, double) { return std::name(x); },                                       \
        [](long double x, long double) { return std::name(x); }
#define TWO(name)                                                                                 \
    OpCode::name, 2,                                                                              \
        [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) { return mpfr_##name(r, x, y, MPFR_RNDN); }, \
        [](double x, double y) { return std::name(x, y); },                                       \
        [](long double x, long double y) { return std::name(x, y); }

const std::vector<Function>& functions() {
    static const std::vector<Function> list = {
        {ONE(sin), true, {pi / 4, pi / 2, pi, 3 * pi / 4}, -10, 10},
        {ONE(cos), true, {pi / 4, pi / 2, pi, 3 * pi / 4}, -10, 10},
        {ONE(tan), true, {pi / 4, pi / 2, pi, 3 * pi / 4}, -10, 10},
        {ONE(asin), false, {0.5, 1}, -1, 1},
        {ONE(acos), false, {0.5, 1}, -1, 1},
        {ONE(atan), false, {1}, -4, 4},
        {TWO(atan2), false, {1}, -4, 4},
        {ONE(sinh), false, {0.34657359, 1.0397, 22, 88.72283, 89.41599, 709.7827, 710.4758}, -4, 4},
        {ONE(cosh), false, {0.34657359, 1.0397, 22, 88.72283, 89.41599, 709.7827, 710.4758}, -4, 4},
        {ONE(tanh), false, {0.1732868, 0.5198604, 9.01, 19.06, 22}, -4, 4},
        {ONE(exp),
         false,
         {0.34657359, 1.0397, 87.33655, 88.72283, 103.2789, 103.9721, 708.3964, 709.7827, 744.4401,
          745.1332},
         -10,
         10},
        {ONE(expm1), false, {0.34657359, 1.0397, 17.33, 36.7368, 88.72283, 709.7827}, -4, 4},
        {ONE(log), false, {1, 0.70710678, 1.41421356}, 0, 10},
        {ONE(log1p), false, {-1, -0.29289322, 0.41421356, 1}, -1, 10},
        {TWO(pow), false, {1, 0.70710678, 1.41421356, 2}, 0, 10},
        {ONE(cbrt), false, {1, 2, 4, 8}, -8, 8},
    };
    return list;
}

std::string name_of(const Function& f) { return ir::info(f.code).name; }

template <class Real>
constexpr double limit_in_ulp = std::same_as<Real, float> ? 2 : 4;
template <class Real>
constexpr double circular_limit = std::same_as<Real, float> ? 0x1p17 : 0x1p40;
template <class Real>
using Word = std::conditional_t<std::same_as<Real, float>, std::uint32_t, std::uint64_t>;

// ---------------------------------------------------------------- the machine

ir::Kernel traced(const Function& f, ir::Precision precision) {
    using namespace lang;
    const auto record = [&](const Float& x, const Float& y) {
        const ir::Value second = f.arguments == 2 ? y.value() : ir::no_value;
        return Float::from(builder().emit(f.code, builder().real(), x.value(), second));
    };
    const KernelDef definition =
        f.arguments == 2
            ? kernel(name_of(f), {"x", "y", "f"},
                     [&](Int i, Read<Float> x, Read<Float> y, Write<Float> r) {
                         r[i] = record(x[i], y[i]);
                     })
            : kernel(name_of(f), {"x", "f"},
                     [&](Int i, Read<Float> x, Write<Float> r) { r[i] = record(x[i], x[i]); });
    return definition.trace(precision);
}

// Evaluates a lowered straight-line kernel of one or two Reads and a Write, op by op over blocks of
// items. All values have the width of Real (booleans: 0 or 1).
template <class Real>
class Machine {
public:
    static constexpr std::size_t block = 1024;
    using W = Word<Real>;
    using Signed = std::make_signed_t<W>;

    explicit Machine(const ir::Kernel& kernel) : kernel_(kernel), values_(kernel.ops.size()) {
        for (std::size_t v = 0; v < kernel.ops.size(); ++v) {
            if (kernel.ops[v].code == OpCode::constant)
                values_[v].assign(block, static_cast<W>(kernel.ops[v].bits));
        }
        for (const ir::Value v : kernel.region(0).ops) {
            const ir::Op& op = kernel.op(v);
            const bool fits = op.type == Type::boolean || ir::size_of(op.type) == sizeof(Real);
            if (!fits || ir::is_signed(op.type))
                throw Error(std::string("not for this machine: ") + ir::info(op.code).name);
            if (op.code == OpCode::load)
                inputs_[op.symbol] = v;
            else if (op.code == OpCode::own_store)
                output_ = op.operand[1];
            values_[static_cast<std::size_t>(v)].resize(block);
        }
    }
    // Null if no such parameter is read.
    Real* input(int k) {
        return inputs_[k] < 0 ? nullptr : reinterpret_cast<Real*>(at(inputs_[k]));
    }
    const Real* output() { return reinterpret_cast<const Real*>(at(output_)); }

    void run() {
        for (const ir::Value v : kernel_.region(0).ops) {
            const ir::Op& op = kernel_.op(v);
            if (op.code == OpCode::load || op.code == OpCode::own_store) continue;
            W* out = at(v);
            // An operand that the op has not is read all the same, and ignored.
            const auto operand = [&](int k) {
                return at(op.operand[k] < 0 ? op.operand[0] : op.operand[k]);
            };
            const W *a = operand(0), *b = operand(1), *c = operand(2);
            switch (op.code) {
                case OpCode::select:
                    loop(out, a, b, c, [](W x, W y, W z) { return x ? y : z; });
                    break;
                case OpCode::bitcast: loop(out, a, b, c, [](W x, W, W) { return x; }); break;
                case OpCode::logical_not:
                    loop(out, a, b, c, [](W x, W, W) { return W(!x); });
                    break;
                default:
                    if (ir::is_real(kernel_.op(op.operand[0]).type))
                        real(op.code, out, a, b, c);
                    else
                        whole(op.code, out, a, b, c);
            }
        }
    }

private:
    W* at(ir::Value v) { return values_[static_cast<std::size_t>(v)].data(); }
    template <class F>
    static void loop(W* __restrict out, const W* a, const W* b, const W* c, F f) {
        for (std::size_t i = 0; i < block; ++i) out[i] = f(a[i], b[i], c[i]);
    }
    static void real(OpCode code, W* out, const W* a, const W* b, const W* c) {
        namespace e = ir::evaluate;
        const auto each = [&](auto f) {
            loop(out, a, b, c, [f](W x, W y, W z) {
                const auto r =
                    f(std::bit_cast<Real>(x), std::bit_cast<Real>(y), std::bit_cast<Real>(z));
                if constexpr (std::same_as<std::remove_const_t<decltype(r)>, bool>)
                    return W(r);
                else
                    return std::bit_cast<W>(r);
            });
        };
        switch (code) {
            case OpCode::add: return each([](Real x, Real y, Real) { return e::add(x, y); });
            case OpCode::sub: return each([](Real x, Real y, Real) { return e::sub(x, y); });
            case OpCode::mul: return each([](Real x, Real y, Real) { return e::mul(x, y); });
            case OpCode::div: return each([](Real x, Real y, Real) { return e::div(x, y); });
            case OpCode::fma: return each([](Real x, Real y, Real z) { return e::fma(x, y, z); });
            case OpCode::neg: return each([](Real x, Real, Real) { return e::neg(x); });
            case OpCode::abs: return each([](Real x, Real, Real) { return e::abs(x); });
            case OpCode::sqrt: return each([](Real x, Real, Real) { return e::sqrt(x); });
            case OpCode::floor: return each([](Real x, Real, Real) { return e::floor(x); });
            case OpCode::lt: return each([](Real x, Real y, Real) { return e::lt(x, y); });
            case OpCode::le: return each([](Real x, Real y, Real) { return e::le(x, y); });
            case OpCode::eq: return each([](Real x, Real y, Real) { return e::eq(x, y); });
            default: throw Error(std::string("not for this machine: ") + ir::info(code).name);
        }
    }
    static void whole(OpCode code, W* out, const W* a, const W* b, const W* c) {
        namespace e = ir::evaluate;
        const auto each = [&](auto f) { loop(out, a, b, c, f); };
        switch (code) {
            case OpCode::add: return each([](W x, W y, W) { return e::add(x, y); });
            case OpCode::sub: return each([](W x, W y, W) { return e::sub(x, y); });
            case OpCode::mul: return each([](W x, W y, W) { return e::mul(x, y); });
            case OpCode::bit_and: return each([](W x, W y, W) { return e::bit_and(x, y); });
            case OpCode::bit_or: return each([](W x, W y, W) { return e::bit_or(x, y); });
            case OpCode::bit_xor: return each([](W x, W y, W) { return e::bit_xor(x, y); });
            case OpCode::shift_left: return each([](W x, W y, W) { return e::shift_left(x, y); });
            case OpCode::shift_right: return each([](W x, W y, W) { return e::shift_right(x, y); });
            case OpCode::eq: return each([](W x, W y, W) { return W(x == y); });
            default: throw Error(std::string("not for this machine: ") + ir::info(code).name);
        }
    }

    const ir::Kernel& kernel_;
    std::vector<std::vector<W>> values_;
    ir::Value inputs_[2] = {-1, -1};
    ir::Value output_ = -1;
};

// ---------------------------------------------------------------- errors

// |y - exact| in units in the last place of `exact`; an infinite y counts as the first power of two
// that overflows. Infinity if a NaN, an exact zero or infinity, or a sign is wrong.
template <class Real, class Reference>
double error_in_ulp(Real y, Reference exact) {
    using L = std::numeric_limits<Real>;
    if (std::isnan(exact) || std::isnan(y))
        return std::isnan(exact) && std::isnan(y) ? 0 : infinity;
    if (std::signbit(exact) != std::signbit(y)) return infinity;
    if (exact == 0 || std::isinf(exact)) return y == static_cast<Real>(exact) ? 0 : infinity;
    const Reference overflow = std::ldexp(Reference(1), L::max_exponent);
    const Reference a = std::min(std::fabs(exact), overflow);
    const Reference b = std::isinf(y) ? overflow : std::fabs(static_cast<Reference>(y));
    const int biased = static_cast<int>(std::bit_cast<std::uint64_t>(static_cast<double>(a)) >> 52);
    const int exponent = std::clamp(biased - 1023, L::min_exponent - 1, L::max_exponent - 1);
    // 2^(digits - 1 - exponent) as two factors, either of which a double holds.
    const int power = L::digits - 1 - exponent, half = power / 2;
    const auto two_to = [](int k) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
    };
    return static_cast<double>(std::fabs(a - b) * two_to(half) * two_to(power - half));
}

// The value to 40 more bits than a double has, as a double and a remainder; exact zeros, infinities
// and NaN as such.
class Oracle {
public:
    Oracle() { mpfr_inits2(140, x_, y_, r_, static_cast<mpfr_ptr>(nullptr)); }
    ~Oracle() { mpfr_clears(x_, y_, r_, static_cast<mpfr_ptr>(nullptr)); }
    Oracle(const Oracle&) = delete;
    Oracle& operator=(const Oracle&) = delete;

    template <class Real>
    double error(const Function& f, Real x, Real y, Real result) {
        mpfr_set_d(x_, x, MPFR_RNDN);
        mpfr_set_d(y_, y, MPFR_RNDN);
        f.exact(r_, x_, y_);
        if (!mpfr_regular_p(r_))
            return error_in_ulp(result, static_cast<double>(mpfr_get_d(r_, MPFR_RNDN)));
        using L = std::numeric_limits<Real>;
        if (std::isnan(result) || std::signbit(result) != (mpfr_sgn(r_) < 0)) return infinity;
        const long exponent =
            std::clamp<long>(mpfr_get_exp(r_) - 1, L::min_exponent - 1, L::max_exponent - 1);
        mpfr_abs(r_, r_, MPFR_RNDN);
        mpfr_set_ui_2exp(x_, 1, L::max_exponent, MPFR_RNDN);
        mpfr_min(r_, r_, x_, MPFR_RNDN);
        if (!std::isinf(result)) mpfr_set_d(x_, std::fabs(result), MPFR_RNDN);
        mpfr_sub(r_, r_, x_, MPFR_RNDN);
        mpfr_mul_2si(r_, r_, L::digits - 1 - exponent, MPFR_RNDN);
        return std::fabs(mpfr_get_d(r_, MPFR_RNDN));
    }

private:
    mpfr_t x_, y_, r_;
};

// The worst error seen, and where.
struct Worst {
    double error = -1, x = 0, y = 0, result = 0;
    void take(double e, double at_x, double at_y, double got) {
        if (e > error) *this = {e, at_x, at_y, got};
    }
    void take(const Worst& other) { take(other.error, other.x, other.y, other.result); }
};

enum class Reference { mpfr, libm };

template <class Real>
void measure(const Function& f, Machine<Real>& machine, Oracle& oracle, Reference reference,
             Worst& worst) {
    machine.run();
    const Real *x = machine.input(0), *y = machine.input(1), *result = machine.output();
    for (std::size_t i = 0; i < machine.block; ++i) {
        if (f.circular && std::isfinite(x[i]) && std::fabs(x[i]) > circular_limit<Real>) continue;
        const Real second = y != nullptr ? y[i] : Real(0);
        double e = infinity;
        if (reference == Reference::libm) {
            std::conditional_t<std::same_as<Real, float>, double, long double> exact;
            if constexpr (std::same_as<Real, float>)
                exact = f.in_double(x[i], second);
            else
                exact = f.in_long_double(x[i], second);
            const bool correctly_rounded = result[i] == static_cast<Real>(exact) && exact != 0;
            if (correctly_rounded && worst.error > 0.5) continue;
            e = error_in_ulp(result[i], exact);
        }
        if (e > 0.9 * limit_in_ulp<Real>) e = oracle.error(f, x[i], second, result[i]);
        worst.take(e, x[i], second, result[i]);
    }
}

// ---------------------------------------------------------------- arguments

template <class Real>
std::vector<Real> special_values() {
    using L = std::numeric_limits<Real>;
    std::vector<Real> list;
    const Real one_up = std::nextafter(Real(1), Real(2)),
               one_down = std::nextafter(Real(1), Real(0));
    for (const Real v : {Real(0),
                         L::denorm_min(),
                         std::nextafter(L::min(), Real(0)),
                         L::min(),
                         L::epsilon(),
                         Real(0.5),
                         one_down,
                         Real(1),
                         one_up,
                         Real(1.5),
                         Real(2),
                         Real(3),
                         Real(4),
                         Real(5),
                         Real(1) / 3,
                         Real(1) / L::epsilon() - 1,
                         Real(1) / L::epsilon() + 1,
                         Real(2) / L::epsilon(),
                         L::max(),
                         L::infinity(),
                         L::quiet_NaN()}) {
        list.push_back(v);
        list.push_back(-v);
    }
    return list;
}

template <class Real>
class Arguments {
public:
    Arguments(const Function& f, std::uint64_t seed) : f_(f), state_(seed) {}

    Real next(int position) {
        static const std::vector<Real> special = special_values<Real>();
        const std::uint64_t r = draw();
        switch (r % 8) {
            case 0: return special[draw() % special.size()];
            case 1:
            case 2: return std::bit_cast<Real>(static_cast<Word<Real>>(draw()));  // any bits
            case 3: {  // any exponent of moderate size
                const double size = std::ldexp(1 + fraction(), static_cast<int>(draw() % 80) - 60);
                return static_cast<Real>(draw() % 2 ? size : -size);
            }
            case 4: {  // a critical argument's surroundings
                const double c = f_.critical[draw() % f_.critical.size()] * (draw() % 2 ? 1 : -1);
                Real x = static_cast<Real>(
                    c * (1 + std::ldexp(fraction() - 0.5, -static_cast<int>(draw() % 56))));
                for (auto steps = draw() % 4; steps > 0; --steps)
                    x = std::nextafter(x, Real(draw() % 2 ? 1e30 : -1e30));
                return x;
            }
            case 5:
                if (f_.circular) {  // near a multiple of pi/2
                    const double n = std::ldexp(
                        1 + fraction(), static_cast<int>(draw() % (sizeof(Real) == 4 ? 17 : 39)));
                    Real x = static_cast<Real>(std::floor(n) * (pi / 2));
                    for (auto steps = draw() % 3; steps > 0; --steps)
                        x = std::nextafter(x, Real(draw() % 2 ? 1e30 : -1e30));
                    return x;
                }
                if (f_.code == OpCode::pow && position == 1)
                    return static_cast<Real>(static_cast<int>(draw() % 41) - 20);
                [[fallthrough]];
            default: return static_cast<Real>(f_.low + (f_.high - f_.low) * fraction());
        }
    }
    // For pow: a second argument that keeps the result in range, mostly.
    Real exponent_for(Real x) {
        const double l = std::log(std::fabs(static_cast<double>(x)));
        const double largest = sizeof(Real) == 4 ? 104 : 745;
        if (draw() % 4 == 0 || !(std::fabs(l) > 0) || std::isinf(l)) return next(1);
        return static_cast<Real>((2 * fraction() - 1) * largest / l);
    }

private:
    std::uint64_t draw() {  // splitmix64
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    double fraction() { return static_cast<double>(draw() >> 11) * 0x1p-53; }

    const Function& f_;
    std::uint64_t state_;
};

// The first blocks of a function of two arguments hold every pair of special values.
template <class Real>
void fill(const Function& f, std::uint64_t block, Machine<Real>& machine) {
    static const std::vector<Real> special = special_values<Real>();
    Arguments<Real> arguments(f, 1 + block * 7919);
    Real *x = machine.input(0), *y = machine.input(1);
    for (std::size_t i = 0; i < machine.block; ++i) {
        const std::uint64_t pair = block * machine.block + i, n = special.size();
        x[i] = y != nullptr && pair < n * n ? special[pair / n] : arguments.next(0);
        if (y == nullptr) continue;
        if (pair < n * n)
            y[i] = special[pair % n];
        else
            y[i] = f.code == OpCode::pow ? arguments.exponent_for(x[i]) : arguments.next(1);
    }
}

using test::full;

template <class Real>
Worst search(const Function& f, const ir::Kernel& kernel, bool everything) {
    const int threads =
        everything ? static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) : 1;
    const bool exhaustive = everything && std::same_as<Real, float> && f.arguments == 1;
    constexpr std::uint64_t block = Machine<Real>::block;
    const std::uint64_t blocks = exhaustive   ? (std::uint64_t{1} << 32) / block
                                 : everything ? 20000
                                              : 20;
    std::vector<Worst> worst(static_cast<std::size_t>(threads));
    std::atomic<std::uint64_t> next{0};
    const auto work = [&](int t) {
        Machine<Real> machine(kernel);
        Oracle oracle;
        Worst& w = worst[static_cast<std::size_t>(t)];
        for (std::uint64_t b = next++; b < blocks; b = next++) {
            if (exhaustive) {
                for (std::uint64_t i = 0; i < block; ++i)
                    machine.input(0)[i] =
                        std::bit_cast<Real>(static_cast<Word<Real>>(b * block + i));
            } else {
                fill(f, b, machine);
            }
            measure(f, machine, oracle, everything ? Reference::libm : Reference::mpfr, w);
        }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
    for (std::thread& t : others) t.join();
    for (const Worst& w : worst) worst[0].take(w);
    mpfr_free_cache();
    return worst[0];
}

template <class Real>
ir::Kernel expansion(const Function& f) {
    const bool single = std::same_as<Real, float>;
    return lang::lower(traced(f, single ? ir::Precision::f32 : ir::Precision::f64),
                       lang::Lowering::all);
}

template <class Real>
void check_all() {
    if (full()) std::printf("| f%zu | ops | ulp | at |\n|---|---|---|---|\n", sizeof(Real) * 8);
    for (const Function& f : functions()) {
        const ir::Kernel kernel = expansion<Real>(f);
        const Worst worst = search<Real>(f, kernel, full());
        INFO(name_of(f), ": ", worst.error, " ulp at ", worst.x, ", ", worst.y, " where it gives ",
             worst.result);
        CHECK(worst.error <= limit_in_ulp<Real>);
        if (!full()) continue;
        const int ops = ir::count_ops(kernel) - f.arguments - 1;  // without loads and the store
        std::printf("| %s | %d | %.2f | %.9g", name_of(f).c_str(), ops, worst.error, worst.x);
        if (f.arguments == 2) std::printf(", %.9g", worst.y);
        std::printf(" |\n");
        std::fflush(stdout);
    }
}

const Function& function(OpCode code) {
    return *std::find_if(functions().begin(), functions().end(),
                         [&](const Function& f) { return f.code == code; });
}

template <class Real>
Real value(OpCode code, double x, double y = 0) {
    const ir::Kernel kernel = expansion<Real>(function(code));
    Machine<Real> machine(kernel);
    std::fill_n(machine.input(0), machine.block, static_cast<Real>(x));
    if (machine.input(1) != nullptr)
        std::fill_n(machine.input(1), machine.block, static_cast<Real>(y));
    machine.run();
    return machine.output()[0];
}

}  // namespace

TEST_CASE("elementary functions in f32 are within 2 ulp") { check_all<float>(); }
TEST_CASE("elementary functions in f64 are within 4 ulp") { check_all<double>(); }

TEST_CASE_TEMPLATE("special values of elementary functions are those of C99 Annex F", Real, float,
                   double) {
    struct Special {
        OpCode code;
        double x, y, expected;
    };
    const double inf = infinity, nan = nan_value;
    for (const auto& [code, x, y, expected] : std::initializer_list<Special>{
             {OpCode::sin, inf, 0, nan},       {OpCode::cos, -inf, 0, nan},
             {OpCode::tan, inf, 0, nan},       {OpCode::cos, 0, 0, 1},
             {OpCode::asin, 1.5, 0, nan},      {OpCode::acos, 1, 0, 0},
             {OpCode::acos, -1.5, 0, nan},     {OpCode::atan, inf, 0, pi / 2},
             {OpCode::cosh, -inf, 0, inf},     {OpCode::sinh, -inf, 0, -inf},
             {OpCode::tanh, -inf, 0, -1},      {OpCode::exp, -inf, 0, 0},
             {OpCode::exp, inf, 0, inf},       {OpCode::exp, 0, 0, 1},
             {OpCode::expm1, -inf, 0, -1},     {OpCode::log, 0, 0, -inf},
             {OpCode::log, -0.0, 0, -inf},     {OpCode::log, 1, 0, 0},
             {OpCode::log, -1, 0, nan},        {OpCode::log, inf, 0, inf},
             {OpCode::log, -inf, 0, nan},      {OpCode::log1p, -1, 0, -inf},
             {OpCode::log1p, -2, 0, nan},      {OpCode::log1p, inf, 0, inf},
             {OpCode::cbrt, -inf, 0, -inf},    {OpCode::cbrt, -27, 0, -3},
             {OpCode::atan2, 0, -0.0, pi},     {OpCode::atan2, -0.0, -0.0, -pi},
             {OpCode::atan2, -0.0, 0, -0.0},   {OpCode::atan2, 0, -1, pi},
             {OpCode::atan2, 1, -0.0, pi / 2}, {OpCode::atan2, inf, inf, pi / 4},
             {OpCode::atan2, 1, inf, 0},       {OpCode::atan2, -1, -inf, -pi},
             {OpCode::atan2, nan, 0, nan},     {OpCode::pow, nan, 0, 1},
             {OpCode::pow, 1, nan, 1},         {OpCode::pow, -1, inf, 1},
             {OpCode::pow, -0.0, -3, -inf},    {OpCode::pow, -0.0, -2, inf},
             {OpCode::pow, -0.0, 3, -0.0},     {OpCode::pow, 0, 0.5, 0},
             {OpCode::pow, -8, 1.0 / 3, nan},  {OpCode::pow, -2, 3, -8},
             {OpCode::pow, -2, -2, 0.25},      {OpCode::pow, 0.5, -inf, inf},
             {OpCode::pow, 2, -inf, 0},        {OpCode::pow, -inf, 3, -inf},
             {OpCode::pow, -inf, -3, -0.0},    {OpCode::pow, -inf, 0.5, inf},
             {OpCode::pow, inf, -1, 0},        {OpCode::pow, 2, 1e30, inf},
             {OpCode::pow, -2, 1e30, inf},     {OpCode::pow, 2, nan, nan}}) {
        const Real found = value<Real>(code, x, y);
        INFO(std::string(ir::info(code).name), "(", x, ", ", y, ") = ", found);
        CHECK(error_in_ulp(found, expected) <= limit_in_ulp<Real>);
    }
    for (const OpCode odd : {OpCode::sin, OpCode::tan, OpCode::asin, OpCode::atan, OpCode::sinh,
                             OpCode::tanh, OpCode::expm1, OpCode::log1p, OpCode::cbrt}) {
        INFO(std::string(ir::info(odd).name), " of zero");
        CHECK(error_in_ulp(value<Real>(odd, 0.0), 0.0) == 0);
        CHECK(error_in_ulp(value<Real>(odd, -0.0), -0.0) == 0);
    }
    for (const Function& f : functions()) {
        INFO(name_of(f), " of NaN");
        CHECK(std::isnan(value<Real>(f.code, nan, 2)));
    }
}

TEST_CASE_TEMPLATE("angles beyond the stated range count as 0", Real, float, double) {
    const Real first = std::nextafter(static_cast<Real>(circular_limit<Real>),
                                      std::numeric_limits<Real>::infinity());
    for (const Real x :
         {first, -first, static_cast<Real>(1e30), std::numeric_limits<Real>::max()}) {
        CHECK(value<Real>(OpCode::sin, x) == 0);
        CHECK(value<Real>(OpCode::cos, x) == 1);
        CHECK(value<Real>(OpCode::tan, x) == 0);
    }
}

// The doubles nearest to a multiple of pi/2 below 2^40, relative to their size, from the continued
// fraction of pi/2.
TEST_CASE("circular functions keep their accuracy at the hardest arguments") {
    Oracle oracle;
    for (const double x : {0x1.6c6cbc45dc8dep+5, 0x1.6c6cbc45dc8dep+6, 0x1.b951f1572eba5p+23,
                           0x1.b951f1572eba5p+24}) {
        for (const OpCode code : {OpCode::sin, OpCode::cos, OpCode::tan})
            CHECK(oracle.error(function(code), x, 0.0, value<double>(code, x)) <= 2);
    }
}
