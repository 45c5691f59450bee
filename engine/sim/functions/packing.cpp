#include "engine/sim/functions/packing.hpp"

#include "engine/base/error.hpp"
#include "engine/sim/functions/element.hpp"

namespace hindcast {

namespace {

using namespace lang;

// R: Float, or Single where the array is f32.
template <class R, int N>
KernelDef kernel_for(Packing how) {
    using T = ElementOf<R, N>;
    if (how == Packing::pack)
        return kernel("pack_numbers", {"array", "first", "vector"},
                      [](Int e, Read<T> array, Param<Int> first, WriteSlice<Float> vector) {
                          const T element = array[e];
                          for (int c = 0; c < N; ++c)
                              vector.store_once(first.value() + e * N + c,
                                                Float(component_of<N>(element, c)));
                      });
    const bool adds = how == Packing::add;
    return kernel(adds ? "add_numbers" : "unpack_numbers", {"array", "first", "vector"},
                  [adds](Int e, ReadWrite<T> array, Param<Int> first, Read<Float> vector) {
                      const T old = array[e];
                      const auto fresh = [&](int c) {
                          const Float number = vector[first.value() + e * N + c];
                          return R(adds ? Float(component_of<N>(old, c)) + number : number);
                      };
                      store_components<N>(array, e, fresh);
                  });
}

template <class R>
KernelDef kernel_for(Packing how, int components) {
    switch (components) {
        case 1: return kernel_for<R, 1>(how);
        case 2: return kernel_for<R, 2>(how);
        case 3: return kernel_for<R, 3>(how);
        case 4: return kernel_for<R, 4>(how);
        case 6: return kernel_for<R, 6>(how);
        case 9: return kernel_for<R, 9>(how);
        default:
            throw Error("arrays of " + std::to_string(components) +
                        " components are not packed on a device");
    }
}

}  // namespace

Launch packing(const std::shared_ptr<Device>& device, Packing how, const Array& array,
               const Array& vector, const Argument& first, const std::string& description) {
    if (!ir::is_real(array.type())) throw Error("integers are not packed");
    const KernelDef def = array.type() == ir::Type::f32
                              ? kernel_for<Single>(how, array.components())
                              : kernel_for<Float>(how, array.components());
    return {device, def, ir::Precision::f64, array.elements(), {array, first, vector}, description};
}

}  // namespace hindcast
