// Which kernels may be fused, cell by cell of the table in ir/fuse.hpp, and what fusion leaves.
#include <doctest/doctest.h>

#include "engine/base/error.hpp"
#include "engine/ir/fuse.hpp"
#include "engine/lang/kernel.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::OpCode;

namespace {

// One kernel per way to touch a buffer: parameter 0 is that buffer, "other" is a buffer of its own.
const KernelDef own_read =
    kernel("own_read", {"a", "other"},
           [](Int i, Read<Float> a, Write<Float> other) { other[i] = a[i] * 2.0; });
const KernelDef own_write =
    kernel("own_write", {"a", "other"},
           [](Int i, Write<Float> a, Read<Float> other) { a[i] = other[i] + 1.0; });
const KernelDef own_update =
    kernel("own_update", {"a", "other"},
           [](Int i, ReadWrite<Float> a, Read<Float> other) { a[i] = a[i] * other[i]; });
const KernelDef foreign_read =
    kernel("foreign_read", {"a", "other"},
           [](Int i, Read<Float> a, Write<Float> other) { other[i] = a[select(i > 0, i - 1, 0)]; });
const KernelDef own_sum =
    kernel("own_sum", {"a", "other"},
           [](Int i, Accumulate<Float> a, Read<Float> other) { a[i] += other[i]; });
const KernelDef foreign_sum = kernel(
    "foreign_sum", {"a", "other"},
    [](Int i, Accumulate<Float> a, Read<Float> other) { a[select(i > 0, i - 1, 0)] += other[i]; });
const KernelDef value =
    kernel("value", {"a", "other"},
           [](Int i, Param<Float> a, Write<Float> other) { other[i] = a.value(); });
const KernelDef total = kernel("total", {"a", "other"},
                               [](Int i, Reduce<Float> a, Read<Float> other) { a += other[i]; });

bool fits(const KernelDef& first, const KernelDef& second) {
    const ir::Kernel k = first.trace(ir::Precision::f32), l = second.trace(ir::Precision::f32);
    return ir::cannot_fuse({{&k, {0, 1}}, {&l, {0, 2}}}).empty();
}

}  // namespace

TEST_CASE("fusion: what two kernels may do to one buffer") {
    const auto row = [](const KernelDef& first) {
        std::string text;
        for (const KernelDef* second : {&own_read, &own_write, &own_update, &own_sum, &foreign_read,
                                        &foreign_sum, &value, &total})
            text += fits(first, *second) ? 'y' : '-';
        return text;
    };
    //            read write update sum | foreign read, foreign sum, value, total
    CHECK(row(own_read) == "yyyyy-y-");
    CHECK(row(own_write) == "yyyy----");
    CHECK(row(own_update) == "yyyy----");
    CHECK(row(own_sum) == "yyyy----");
    CHECK(row(foreign_read) == "y---y-y-");
    CHECK(row(foreign_sum) == "--------");
    CHECK(row(value) == "y---y-y-");
    CHECK(row(total) == "-------y");
}

TEST_CASE("fusion: kernels that share nothing fit, whatever they do") {
    for (const KernelDef* first : {&own_write, &foreign_sum, &total})
        for (const KernelDef* second : {&foreign_read, &foreign_sum, &total}) {
            const ir::Kernel k = first->trace(ir::Precision::f64),
                             l = second->trace(ir::Precision::f64);
            CHECK(ir::cannot_fuse({{&k, {0, 1}}, {&l, {2, 3}}}).empty());
        }
}

TEST_CASE("fusion: the third kernel is held against both before it") {
    const ir::Kernel read = foreign_read.trace(ir::Precision::f64),
                     copy = own_read.trace(ir::Precision::f64),
                     write = own_write.trace(ir::Precision::f64);
    CHECK(ir::cannot_fuse({{&read, {0, 1}}, {&copy, {0, 2}}}).empty());
    CHECK_FALSE(ir::cannot_fuse({{&read, {0, 1}}, {&copy, {0, 2}}, {&write, {0, 2}}}).empty());
}

TEST_CASE("fusion: precisions do not mix, and a refusal is an error that says why") {
    const ir::Kernel k = own_read.trace(ir::Precision::f32), l = own_read.trace(ir::Precision::f64);
    CHECK_FALSE(ir::cannot_fuse({{&k, {0, 1}}, {&l, {0, 2}}}).empty());
    const ir::Kernel sum = foreign_sum.trace(ir::Precision::f32);
    CHECK_THROWS_AS(ir::fuse("both", {{&k, {0, 1}}, {&sum, {0, 2}}}), Error);
}

TEST_CASE("fusion: a value that is stored and read stays a value, and is stored once") {
    const ir::Kernel write = own_write.trace(ir::Precision::f64),
                     update = own_update.trace(ir::Precision::f64),
                     read = own_read.trace(ir::Precision::f64);
    const ir::FusedKernel fused =
        ir::fuse("chain", {{&write, {0, 1}}, {&update, {0, 2}}, {&read, {0, 3}}});
    CHECK(ir::count_ops(fused.kernel, OpCode::own_load) == 0);
    CHECK(ir::count_ops(fused.kernel, OpCode::load) == 2);  // the two others that are read
    CHECK(ir::count_ops(fused.kernel, OpCode::own_store) == 2);
    CHECK(fused.kernel.parameters.size() == 4);
    CHECK(fused.parameters[0][0] == fused.parameters[1][0]);
    CHECK(fused.parameters[1][0] == fused.parameters[2][0]);
    CHECK(fused.kernel.parameter(fused.parameters[0][0]).access == ir::Access::write);
}

TEST_CASE("fusion: own elements that two kernels read and neither stores are read") {
    const KernelDef look =
        kernel("look", {"a", "other"},
               [](Int i, ReadWrite<Float> a, Write<Float> other) { other[i] = a[i] * 2.0; });
    const ir::Kernel k = look.trace(ir::Precision::f64);
    const ir::FusedKernel fused = ir::fuse("both", {{&k, {0, 1}}, {&k, {0, 2}}});
    CHECK(fused.kernel.parameters.size() == 3);
    CHECK(fused.kernel.parameter(fused.parameters[1][0]).access == ir::Access::read);
    CHECK(ir::count_ops(fused.kernel, OpCode::load) == 1);
    CHECK(ir::count_ops(fused.kernel, OpCode::mul) == 1);  // shared after differentiation
}

TEST_CASE(
    "fusion: own elements at a declared index stay stored, and share their buffer with none") {
    const KernelDef turned = kernel(
        "turned", {"a", "other"},
        [](Int i, ReadWrite<Float> a, Read<Float> other) { a[injective(3 - i)] += other[i]; });
    for (const KernelDef* other : {&own_read, &own_update, &foreign_read}) {
        CHECK(!fits(turned, *other));
        CHECK(!fits(*other, turned));
    }
    const ir::Kernel k = turned.trace(ir::Precision::f32), l = own_update.trace(ir::Precision::f32);
    const ir::FusedKernel fused = ir::fuse("both", {{&k, {0, 1}}, {&l, {2, 3}}});
    CHECK(fused.kernel.parameter(fused.parameters[0][0]).access == ir::Access::read_write);
}

TEST_CASE("fusion: a product of one kernel is not contracted with a sum of the next") {
    const ir::Kernel first = own_read.trace(ir::Precision::f64);  // a * 2
    const ir::Kernel second = own_sum.trace(ir::Precision::f64);  // += other
    const ir::FusedKernel fused = ir::fuse("both", {{&first, {0, 1}}, {&second, {2, 1}}});
    CHECK(ir::count_ops(fused.kernel, OpCode::fma) == 0);
    CHECK(ir::count_ops(fused.kernel, OpCode::mul) == 1);
}

TEST_CASE("fusion: what a kernel stores can be passed on without being stored") {
    const ir::Kernel write = own_write.trace(ir::Precision::f64),
                     update = own_update.trace(ir::Precision::f64),
                     read = own_read.trace(ir::Precision::f64),
                     foreign = foreign_read.trace(ir::Precision::f64),
                     sum = own_sum.trace(ir::Precision::f64);
    // From one buffer to another, as it was and as it becomes.
    const ir::FusedKernel fused = ir::fuse("both", {{&update, {0, 1}, {9, -1}}, {&read, {9, 2}}});
    CHECK(ir::count_ops(fused.kernel, OpCode::own_store) == 1);  // of what is read
    CHECK(fused.kernel.parameters.size() == 3);
    CHECK(fused.parameters[1][0] == -1);
    CHECK(fused.kernel.parameter(fused.parameters[0][0]).access == ir::Access::read);
    // Under its own number, if it does not read it.
    const ir::FusedKernel same = ir::fuse("both", {{&write, {0, 1}, {0, -1}}, {&read, {0, 2}}});
    CHECK(ir::count_ops(same.kernel, OpCode::own_store) == 1);
    CHECK(same.kernel.parameters.size() == 2);
    CHECK_FALSE(ir::cannot_fuse({{&update, {0, 1}, {0, -1}}, {&read, {0, 2}}}).empty());
    // What nobody reads is not computed.
    const ir::FusedKernel unread = ir::fuse("both", {{&write, {0, 1}, {9, -1}}, {&read, {2, 3}}});
    CHECK(unread.parameters[0] == std::vector<int>{-1, 0});
    CHECK(ir::count_ops(unread.kernel, OpCode::add) == 0);
    // Other items cannot read it, nor can anybody store it again; sums are not passed on.
    CHECK_FALSE(ir::cannot_fuse({{&write, {0, 1}, {0, -1}}, {&foreign, {0, 2}}}).empty());
    CHECK_FALSE(ir::cannot_fuse({{&write, {0, 1}, {0, -1}}, {&update, {0, 2}}}).empty());
    CHECK_FALSE(ir::cannot_fuse({{&read, {0, 2}}, {&write, {0, 1}, {0, -1}}}).empty());
    CHECK_FALSE(ir::cannot_fuse({{&sum, {0, 1}, {0, -1}}, {&read, {0, 2}}}).empty());
}

TEST_CASE("fusion: what is zero before and after is no memory") {
    const ir::Kernel sum = own_sum.trace(ir::Precision::f64),
                     read = own_read.trace(ir::Precision::f64),
                     update = own_update.trace(ir::Precision::f64);
    const KernelDef take_def =
        kernel("take", {"a", "other"}, [](Int i, ReadWrite<Float> a, Write<Float> other) {
            other[i] = a[i] * 2.0;
            a[i] = Float(0);
        });
    const ir::Kernel take = take_def.trace(ir::Precision::f64);
    const ir::FusedKernel fused = ir::fuse("both", {{&sum, {0, 1}}, {&take, {0, 2}}}, {0});
    CHECK(fused.parameters[0][0] == -1);
    CHECK(fused.parameters[1][0] == -1);
    CHECK(ir::count_ops(fused.kernel, OpCode::own_store) == 1);
    // 0 + x is not x where x is -0.
    CHECK(ir::count_ops(fused.kernel, OpCode::add) == 1);
    // Not if something else is left, or is left to be read.
    CHECK_FALSE(ir::cannot_fuse({{&take, {0, 2}}, {&sum, {0, 1}}}, {0}).empty());
    CHECK_FALSE(ir::cannot_fuse({{&sum, {0, 1}}, {&update, {0, 2}}}, {0}).empty());
    CHECK_FALSE(ir::cannot_fuse({{&sum, {0, 1}}, {&read, {0, 2}}}, {0}).empty());
}
