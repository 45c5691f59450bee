// DLPack's structures, versioned and old: what goes in, what comes out, and who ends it.
#include <doctest/doctest.h>

#include "engine/base/error.hpp"
#include "engine/interop/dlpack.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using interop::Strided;
using ir::Type;
namespace dlpack = interop::dlpack;
using Integers = std::vector<std::int64_t>;

namespace {

std::string refusal(const dlpack::Tensor& tensor) {
    return test::message([&] { dlpack::strided_of(tensor, false); });
}

}  // namespace

TEST_CASE("DLPack: there and back, with its owner") {
    alignas(8) double memory[12] = {};
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::u32, Type::i64, Type::u64}) {
        for (const int device : {-1, 0, 3}) {
            const Strided given{memory, type, {2, 0, 3}, {-3, 1, 2}, false, device};
            const auto owner = std::make_shared<int>(1);
            dlpack::Versioned* const fresh = dlpack::versioned(given, owner, true);
            dlpack::Unversioned* const old = dlpack::unversioned(given, owner);
            CHECK(owner.use_count() == 3);
            CHECK(fresh->major == 1);
            CHECK(fresh->flags == dlpack::Versioned::copied);
            for (const dlpack::Tensor* tensor : {&fresh->tensor, &old->tensor}) {
                CHECK(tensor->device.type == (device < 0 ? dlpack::cpu : dlpack::cuda));
                CHECK(tensor->scalar.bits == 8 * ir::size_of(type));
                const Strided back = dlpack::strided_of(*tensor, true);
                CHECK(back.data == memory);
                CHECK(back.type == type);
                CHECK(back.shape == given.shape);
                CHECK(back.strides == given.strides);
                CHECK(back.device == device);
                CHECK(back.read_only);
            }
            fresh->deleter(fresh);
            old->deleter(old);
            CHECK(owner.use_count() == 1);
        }
    }
    const Strided frozen{memory, Type::f64, {}, {}, true};
    dlpack::Versioned* const out = dlpack::versioned(frozen, {});
    CHECK(out->is_read_only());
    CHECK(dlpack::strided_of(out->tensor, out->is_read_only()).size() == 1);
    out->deleter(out);
    CHECK(test::message([&] { dlpack::unversioned(frozen, {}); }).find("cannot say") !=
          std::string::npos);
}

TEST_CASE("DLPack: what others say") {
    alignas(8) float memory[8] = {};
    Integers shape{2, 3};
    dlpack::Tensor t;
    t.data = memory;
    t.dimensions = 2;
    t.scalar = {dlpack::real, 32, 1};
    t.shape = shape.data();
    t.byte_offset = 4;
    const Strided s = dlpack::strided_of(t, false);
    CHECK(s.strides == Integers{3, 1});  // none: C order
    CHECK(s.data == memory + 1);
    t.device.type = dlpack::cuda_host;  // of the host, pinned
    CHECK(dlpack::strided_of(t, false).device == -1);
    t.device.type = 10;  // ROCm
    CHECK(refusal(t).find("type 10") != std::string::npos);
    t.device.type = dlpack::cpu;
    t.byte_offset = 2;
    CHECK(refusal(t).find("not aligned to 4 bytes") != std::string::npos);
    t.byte_offset = 0;
    t.scalar.bits = 16;
    CHECK(refusal(t).find("code 2, 16 bits") != std::string::npos);
    t.scalar = {dlpack::real, 32, 4};
    CHECK(refusal(t).find("4 lanes") != std::string::npos);
    t.scalar.lanes = 1;
    t.data = nullptr;
    CHECK(refusal(t).find("no memory") != std::string::npos);
    shape[1] = 0;
    CHECK(dlpack::strided_of(t, false).size() == 0);
}
