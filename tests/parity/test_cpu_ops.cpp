// Every op on the CPU against evaluate_op, bit by bit, on special and random values, at every
// width.
#include <doctest/doctest.h>

#include <limits>

#include "engine/lang/kernel.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

namespace {

using ir::Bits;
using ir::OpCode;
using ir::Type;
using ir::Value;

constexpr Type numbers[] = {Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64};

std::vector<Bits> samples(Type type, std::mt19937_64& random) {
    std::vector<Bits> values;
    const auto real = [&](double v) { values.push_back(ir::bits_of(v, type)); };
    if (ir::is_real(type)) {
        const double inf = std::numeric_limits<double>::infinity();
        const double tiny = type == Type::f32 ? 1.4e-45 : 4.94e-324,
                     small = type == Type::f32 ? 1.1754943508222875e-38 : 2.2250738585072014e-308;
        for (const double v : {0.0,
                               1.0,
                               0.5,
                               1.5,
                               2.5,
                               3.0,
                               0.1,
                               tiny,
                               small,
                               small / 2,
                               1e30,
                               inf,
                               2147483647.0,
                               2147483648.0,
                               2147483520.0,
                               4294967295.0,
                               4294967296.0,
                               4294967040.0,
                               9223372036854775807.0,
                               9223371487098961920.0,
                               18446744073709551616.0,
                               1.8446742974197924e19,
                               0.49999999999999994,
                               8388609.0,
                               4503599627370497.5})
            real(v), real(-v);
        real(std::nan(""));
    } else {
        const int bits = static_cast<int>(ir::size_of(type)) * 8;
        for (const std::int64_t v : {0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 65, 100})
            values.push_back(static_cast<Bits>(v)), values.push_back(static_cast<Bits>(-v));
        for (int k = 0; k < bits; k += 3)
            values.push_back(Bits{1} << k), values.push_back((Bits{1} << k) - 1);
        values.push_back(Bits{1} << (bits - 1));
        values.push_back((Bits{1} << (bits - 1)) - 1);
    }
    for (int k = 0; k < 60; ++k) {
        Bits bits = random();
        if (ir::is_real(type) && k % 2 == 0)
            bits = ir::bits_of(
                std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -62), type);
        else if (k % 3 == 0)
            bits >>= random() % 64;
        values.push_back(bits);
    }
    if (ir::size_of(type) == 4)
        for (Bits& b : values) b &= 0xffffffffu;
    return values;
}

// One kernel with an output per op: out_k[i] = op_k(a[i], b[i], c[i]).
struct Table {
    struct Row {
        OpCode code;
        Type type, operand_type;
        std::string name;
    };
    std::vector<Row> rows;
    ir::Kernel kernel;

    Table(Type type, bool conversions) : builder_("ops", ir::Precision::f64) {
        builder_.contract = false;
        const char* names[] = {"a", "b", "c"};
        for (int k = 0; k < 3; ++k) {
            const int symbol = builder_.add_parameter(
                {.name = names[k], .access = ir::Access::read, .type = type});
            x_[k] = builder_.load(symbol, 0, builder_.item());
        }
        const bool real = ir::is_real(type);
        if (conversions) {
            for (const Type to : numbers)
                if (to != type) add(OpCode::convert, to, type, "to " + std::string(name_of(to)));
            for (const Type to : numbers)
                if (to != type && ir::size_of(to) == ir::size_of(type))
                    add(OpCode::bitcast, to, type, "bits as " + std::string(name_of(to)));
            add(OpCode::convert, Type::boolean, type, "to bool");
        } else {
            for (int k = 0; k < ir::op_count; ++k) {
                const auto code = static_cast<OpCode>(k);
                const ir::OpInfo& row = ir::info(code);
                if (!ir::can_evaluate(code) || code == OpCode::logical_not ||
                    row.op_class == ir::OpClass::conversion)
                    continue;
                const bool reals_only =
                    code == OpCode::fma || code == OpCode::sqrt || code == OpCode::floor ||
                    code == OpCode::ceil || code == OpCode::trunc || code == OpCode::round ||
                    code == OpCode::mulz || code == OpCode::mulg || code == OpCode::divz ||
                    code == OpCode::norm2 || code == OpCode::norm3;
                const bool integers_only = code == OpCode::bit_and || code == OpCode::bit_or ||
                                           code == OpCode::bit_xor || code == OpCode::rem ||
                                           code == OpCode::shift_left ||
                                           code == OpCode::shift_right;
                if ((real && integers_only) || (!real && reals_only)) continue;
                add(code, row.op_class == ir::OpClass::comparison ? Type::boolean : type, type,
                    row.name);
            }
        }
        kernel = builder_.finish();
    }

private:
    void add(OpCode code, Type type, Type operand_type, const std::string& name) {
        Value v;
        if (code == OpCode::select)
            v = builder_.select(builder_.compare(OpCode::lt, x_[0], x_[1]), x_[1], x_[2]);
        else
            v = builder_.emit(code, type, x_[0], ir::info(code).operands > 1 ? x_[1] : ir::no_value,
                              ir::info(code).operands > 2 ? x_[2] : ir::no_value);
        if (type == Type::boolean) v = builder_.emit(OpCode::convert, Type::i32, v);
        const Type stored = builder_.type_of(v);
        rows.push_back({code, type, operand_type, name});
        const int symbol = builder_.add_parameter({.name = "out " + std::to_string(rows.size() - 1),
                                                   .access = ir::Access::write,
                                                   .type = stored});
        builder_.write(builder_.own(symbol, builder_.item(), 0), v);
    }
    ir::Builder builder_;
    Value x_[3];
};

void check_table(Type type, bool conversions) {
    std::mt19937_64 random(11);
    const Table table(type, conversions);
    const std::vector<Bits> values = samples(type, random);
    const std::size_t n = values.size();
    std::vector<Bits> a, b, c;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < (conversions ? 1 : n); ++j) {
            a.push_back(values[i]);
            b.push_back(values[j]);
            c.push_back(values[random() % n]);
        }
    Launch launch(table.kernel, static_cast<std::int64_t>(a.size()));
    launch.set_bits("a", a).set_bits("b", b).set_bits("c", c);
    for (const int width : {1, 4, 8, 16}) {
        const auto out = launch.run(*backend::compile_cpu(table.kernel, {.width = width}));
        if (width == 1) launch.expect_on_cuda(out);
        for (std::size_t k = 0; k < table.rows.size(); ++k) {
            const Table::Row& row = table.rows[k];
            int wrong = 0;
            for (std::size_t i = 0; i < a.size(); ++i) {
                Bits expected =
                    row.code == OpCode::select
                        ? (ir::evaluate_op(OpCode::lt, Type::boolean, type, a[i], b[i], 0) ? b[i]
                                                                                           : c[i])
                        : ir::evaluate_op(row.code, row.type, type, a[i], b[i], c[i]);
                if (ir::is_real(row.type) && std::isnan(ir::real_of(expected, row.type)))
                    expected = ir::bits_of(std::nan(""), row.type);
                if (out[3 + k][i] == expected || ++wrong > 3) continue;
                CAPTURE(a[i]);
                CAPTURE(b[i]);
                CAPTURE(c[i]);
                FAIL_CHECK("width " << width << ": " << row.name << " of " << name_of(type)
                                    << " gives " << out[3 + k][i] << " instead of " << expected);
            }
        }
    }
}

}  // namespace

TEST_CASE("CPU: arithmetic, comparisons and selection have the bits of evaluate_op") {
    HINDCAST_NEEDS_LLVM();
    for (const Type type : numbers) check_table(type, false);
}

TEST_CASE("CPU: conversions have the bits of evaluate_op") {
    HINDCAST_NEEDS_LLVM();
    for (const Type type : numbers) check_table(type, true);
}

TEST_CASE("CPU: booleans") {
    HINDCAST_NEEDS_LLVM();
    using namespace lang;
    const KernelDef k =
        kernel("booleans", {"a", "b", "out"}, [](Int i, Read<Int> a, Read<Int> b, Write<Int> out) {
            const Bool p = a[i] == 1, q = b[i] == 1;
            const auto bit = [](const Bool& x, int weight) {
                return select(x, Int(weight), Int(0));
            };
            out[i] = bit(p && q, 1) + bit(p || q, 2) + bit(!p, 4) + bit(p == q, 8) +
                     bit(p != q, 16) + bit(Int(3) < a[i], 32);
        });
    Launch launch(k.trace(ir::Precision::f32), 37);
    std::vector<double> a, b;
    for (int i = 0; i < 37; ++i) a.push_back(i % 2), b.push_back(i / 2 % 2);
    CHECK(launch.set("a", a).set("b", b).differences() == "");
    // The same for all lanes.
    const KernelDef uniform = kernel(
        "uniform_booleans", {"p", "x", "out"},
        [](Int i, Param<Int> p, Read<Int> x, Write<Int> out) {
            const Bool first = p.value() == 1, second = !first;
            out[i] = select(second, x[i], Int(7)) + select(second && x[i] == 1, Int(10), Int(0)) +
                     select(first || !(p.value() < 0), Int(100), Int(0));
        });
    for (const double p : {0, 1, -1}) {
        Launch one(uniform.trace(ir::Precision::f32), 37);
        CHECK(one.set("p", {p}).set("x", a).differences() == "");
    }
}

TEST_CASE("CPU: elementary functions have the interpreter's bits") {
    HINDCAST_NEEDS_LLVM();
    using namespace lang;
    const KernelDef k =
        kernel("elementary", {"a", "b", "out"},
               [](Int i, Read<Float> a, Read<Float> b, Write<Vec<Float, 16>> out) {
                   Float x = a[i], y = b[i];
                   Vec<Float, 16> r;
                   const OpCode codes[] = {OpCode::sin,   OpCode::cos,  OpCode::tan,   OpCode::asin,
                                           OpCode::acos,  OpCode::atan, OpCode::sinh,  OpCode::cosh,
                                           OpCode::tanh,  OpCode::exp,  OpCode::expm1, OpCode::log,
                                           OpCode::log1p, OpCode::cbrt};
                   int n = 0;
                   for (const OpCode code : codes)
                       r[n++] = Float::from(builder().emit(code, builder().real(), x.value()));
                   r[n++] = Float::from(builder().binary(OpCode::atan2, x.value(), y.value()));
                   r[n++] = Float::from(builder().binary(OpCode::pow, x.value(), y.value()));
                   out[i] = r;
               });
    for (const auto precision : {ir::Precision::f32, ir::Precision::f64}) {
        std::mt19937_64 random(5);
        const Type type = ir::real_type(precision);
        std::vector<Bits> a, b;
        for (const Bits x : samples(type, random))
            for (int k2 = 0; k2 < 3; ++k2)
                a.push_back(x), b.push_back(samples(type, random)[random() % 60]);
        for (int i = 0; i < 300; ++i) {
            a.push_back(ir::bits_of(static_cast<double>(i - 150) * 0.37, type));
            b.push_back(ir::bits_of(static_cast<double>(i % 7) - 2.5, type));
        }
        Launch launch(k.trace(precision), static_cast<std::int64_t>(a.size()));
        CHECK(launch.set_bits("a", a).set_bits("b", b).differences() == "");
    }
}

}  // namespace hindcast::test
