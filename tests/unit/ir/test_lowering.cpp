// The lowering: every composite op computes, bit for bit, what evaluate.hpp says, with core ops
// that are safe on every machine. The lowered code is run op by op through evaluate_op.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/ir/builder.hpp"
#include "engine/ir/evaluate.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/lang/lowering.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Bits;
using ir::OpClass;
using ir::OpCode;
using ir::Type;

namespace {

constexpr Type all_types[] = {Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64};
constexpr OpCode composites[] = {
    OpCode::min,        OpCode::max,         OpCode::mulz,    OpCode::mulg, OpCode::divz,
    OpCode::norm2,      OpCode::norm3,       OpCode::abs,     OpCode::div,  OpCode::rem,
    OpCode::shift_left, OpCode::shift_right, OpCode::variable};

bool defined_for(OpCode code, Type type) {
    switch (code) {
        case OpCode::mulz:
        case OpCode::mulg:
        case OpCode::divz:
        case OpCode::norm2:
        case OpCode::norm3: return ir::is_real(type);
        case OpCode::rem:
        case OpCode::shift_left:
        case OpCode::shift_right: return ir::is_integer(type);
        default: return true;
    }
}

// r[i] = code(a[i], b[i], c[i])
ir::Kernel one_op(OpCode code, Type type) {
    ir::Builder b("one_op", ir::Precision::f64);
    ir::Value operand[3] = {ir::no_value, ir::no_value, ir::no_value};
    for (int k = 0; k < ir::info(code).operands; ++k) {
        const int symbol =
            b.add_parameter({std::string(1, static_cast<char>('a' + k)), ir::Access::read, type});
        operand[k] = b.load(symbol, 0, b.item());
    }
    const int result = b.add_parameter({"r", ir::Access::write, type});
    b.write(b.own(result, b.item(), 0), b.emit(code, type, operand[0], operand[1], operand[2]));
    return b.finish();
}

// What a straight-line kernel stores, given what its loads return. Checks that core integer ops are
// safe.
Bits run(const ir::Kernel& kernel, const Bits (&inputs)[3]) {
    std::vector<Bits> value(kernel.ops.size());
    for (std::size_t v = 0; v < kernel.ops.size(); ++v) value[v] = kernel.ops[v].bits;
    for (const ir::Value v : kernel.region(0).ops) {
        const ir::Op& op = kernel.op(v);
        const auto operand = [&](int k) {
            return op.operand[k] < 0 ? 0 : value[static_cast<std::size_t>(op.operand[k])];
        };
        if (op.code == OpCode::own_store) return operand(1);
        Bits& result = value[static_cast<std::size_t>(v)];
        if (op.code == OpCode::load) {
            result = inputs[op.symbol];
            continue;
        }
        REQUIRE(ir::can_evaluate(op.code));
        const std::int64_t second = ir::integer_of(operand(1), op.type);
        if ((op.code == OpCode::div && !ir::is_real(op.type)) || op.code == OpCode::rem) {
            REQUIRE(second != 0);
            if (ir::is_signed(op.type)) REQUIRE(second != -1);
        }
        if (op.code == OpCode::shift_left || op.code == OpCode::shift_right) {
            REQUIRE(second >= 0);
            REQUIRE(second < static_cast<std::int64_t>(ir::size_of(op.type)) * 8);
        }
        result = ir::evaluate_op(op.code, op.type, kernel.op(op.operand[0]).type, operand(0),
                                 operand(1), operand(2));
    }
    FAIL("the kernel stores nothing");
    return 0;
}

Bits with_one_nan(Bits bits, Type type) {
    return ir::is_real(type) && std::isnan(ir::real_of(bits, type))
               ? ir::bits_of(std::nan(""), type)
               : bits;
}

std::vector<Bits> interesting(Type type, std::mt19937_64& random) {
    std::vector<Bits> list;
    const Bits mask = ir::size_of(type) == 4 ? 0xffffffffu : ~Bits{0};
    if (ir::is_real(type)) {
        const bool single = type == Type::f32;
        const double smallest = single ? 0x1p-149 : 0x1p-1074,
                     normal = single ? 0x1p-126 : 0x1p-1022;
        const double largest = single ? static_cast<double>(std::numeric_limits<float>::max())
                                      : std::numeric_limits<double>::max();
        for (const double v :
             {0.0, smallest, normal, 0.5, 1.0, 3.0, largest,
              std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
            for (const double s : {v, -v}) list.push_back(ir::bits_of(s, type));
    } else {
        const std::int64_t lowest = type == Type::i32 ? std::numeric_limits<std::int32_t>::min()
                                                      : std::numeric_limits<std::int64_t>::min();
        for (const std::int64_t v :
             {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{31},
              std::int64_t{32}, std::int64_t{33}, std::int64_t{63}, std::int64_t{64},
              std::int64_t{65}, lowest, lowest + 1})
            for (const Bits s : {static_cast<Bits>(v), -static_cast<Bits>(v)})
                list.push_back(s & mask);
    }
    for (int k = 0; k < 40; ++k) list.push_back(random() & mask);
    for (int k = 0; k < 20; ++k) list.push_back((random() >> (random() % 64)) & mask);
    return list;
}

bool contains_composites(const ir::Kernel& kernel) {
    for (const ir::Region& region : kernel.regions) {
        for (const ir::Value v : region.ops) {
            const ir::Op& op = kernel.op(v);
            if (ir::info(op.code).op_class == OpClass::elementary) return true;
            switch (op.code) {
                case OpCode::min:
                case OpCode::max:
                case OpCode::mulz:
                case OpCode::mulg:
                case OpCode::divz:
                case OpCode::norm2:
                case OpCode::norm3:
                case OpCode::variable: return true;
                case OpCode::abs:
                    if (ir::is_integer(op.type)) return true;
                    break;
                default: break;
            }
        }
    }
    return false;
}

}  // namespace

TEST_CASE("lowered composite ops compute what the op table says, bit for bit") {
    std::mt19937_64 random(7);
    for (const Type type : all_types) {
        for (const OpCode code : composites) {
            if (!defined_for(code, type)) continue;
            INFO(std::string(ir::info(code).name), " of ", std::string(ir::name_of(type)));
            const ir::Kernel lowered = lower(one_op(code, type), Lowering::all);
            CHECK_FALSE(contains_composites(lowered));
            const std::vector<Bits> values = interesting(type, random);
            for (const Bits a : values) {
                for (const Bits b : values) {
                    const Bits inputs[3] = {a, b, values[random() % values.size()]};
                    const Bits expected =
                        with_one_nan(ir::evaluate_op(code, type, type, a, b, inputs[2]), type);
                    const Bits found = with_one_nan(run(lowered, inputs), type);
                    if (found == expected) continue;
                    FAIL_CHECK("operands ", a, ", ", b, ", ", inputs[2], ": ", found,
                               " instead of ", expected);
                }
            }
        }
    }
}

TEST_CASE("guards of constant divisors and shift amounts fold away") {
    const KernelDef definition = kernel(
        "constants", {"x", "r"},
        [](Int i, Read<Int> x, Write<Int> r) { r[i] = ((x[i] / 3) << 4) + ((x[i] % 7) >> 2); });
    const ir::Kernel lowered = lower(definition.trace(ir::Precision::f32), Lowering::all);
    CHECK(ir::count_ops(lowered, OpCode::select) == 0);
    CHECK(ir::count_ops(lowered) == 7);  // load, div, rem, two shifts, add, store
}

TEST_CASE("for the interpreter only elementary functions are expanded") {
    const KernelDef definition =
        kernel("mixed", {"x", "r"},
               [](Int i, Read<Float> x, Write<Float> r) { r[i] = min(sin(x[i]), x[i]); });
    const ir::Kernel traced = definition.trace(ir::Precision::f64);
    const ir::Kernel for_interpreter = lower(traced, Lowering::elementary),
                     for_compiler = lower(traced, Lowering::all);
    CHECK(ir::count_ops(for_interpreter, OpCode::sin) == 0);
    CHECK(ir::count_ops(for_interpreter, OpCode::min) == 1);
    CHECK(ir::count_ops(for_compiler, OpCode::min) == 0);
}

TEST_CASE("lowering works inside loops and branches and leaves the structure alone") {
    const KernelDef definition =
        kernel("nested", {"n", "x", "r"}, [](Int i, Read<Int> n, Read<Float> x, Write<Float> r) {
            Float sum = 0;
            for_(0, n[i], [&](Int k) {
                if_(
                    x[k] < 1, [&] { sum += pow(x[k], 1.5); }, [&] { sum = max(sum, cbrt(x[k])); });
            });
            r[i] = sum;
        });
    const ir::Kernel lowered =
        lower(definition.trace(ir::Precision::f32), Lowering::all);  // verified
    CHECK_FALSE(contains_composites(lowered));
    CHECK(ir::count_ops(lowered, OpCode::for_) == 1);
    CHECK(ir::count_ops(lowered, OpCode::if_) == 1);
}

TEST_CASE("ops of an expansion carry the source place and the name of their op") {
    int line = 0;
    const auto body = [&line](Int i, Read<Float> x, Write<Float> r) {
        line = __LINE__ + 1;
        Float e = exp(x[i]).name("energy");
        r[i] = e;
    };
    const KernelDef definition = kernel("placed", {"x", "r"}, body);
    const ir::Kernel lowered = lower(definition.trace(ir::Precision::f64), Lowering::all);
    int arithmetic = 0, named = 0;
    for (const ir::Value v : lowered.region(0).ops) {
        const ir::Op& op = lowered.op(v);
        if (!ir::is_pure(op.code)) continue;
        ++arithmetic;
        CHECK(lowered.place_of(v).line == line);
        named += op.name >= 0 && lowered.names[static_cast<std::size_t>(op.name)] == "energy";
    }
    CHECK(arithmetic > 10);
    CHECK(named == 1);
}

TEST_CASE("elementary functions of constants fold to constants") {
    const KernelDef constant = kernel("constant", {"r"}, [](Int i, Write<Float> r) {
        r[i] = pow(Float(3), 2.5) + sin(Float(1));
    });
    for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64})
        CHECK(ir::count_ops(lower(constant.trace(precision), Lowering::all)) == 1);  // the store
}

TEST_CASE("sin and cos of one angle share its reduction") {
    const KernelDef one =
        kernel("one", {"x", "r"}, [](Int i, Read<Float> x, Write<Float> r) { r[i] = sin(x[i]); });
    const KernelDef both = kernel("both", {"x", "r"}, [](Int i, Read<Float> x, Write<Float> r) {
        r[i] = sin(x[i]) + cos(x[i]);
    });
    const auto ops = [](const KernelDef& k) {
        return ir::count_ops(lower(k.trace(ir::Precision::f64), Lowering::all));
    };
    CHECK(ops(both) <= ops(one) + 10);
}
