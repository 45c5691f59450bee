#include <algorithm>

#include "engine/geometry/kinds/all.hpp"

namespace hindcast::geometry {

std::span<const KindRow> kind_rows() { return AllKinds::rows; }

const KindRow& row(ShapeKind kind) {
    const auto found = std::ranges::find(AllKinds::rows, kind, &KindRow::kind);
    if (found == std::end(AllKinds::rows)) throw no_such_kind();
    return *found;
}

const KindRow* find_row(std::string_view name) {
    const auto found = std::ranges::find(AllKinds::rows, name, &KindRow::name);
    return found == std::end(AllKinds::rows) ? nullptr : &*found;
}

bool has_solid(ShapeKind kind, bool surface) {
    bool has = false;
    AllKinds::with(kind, [&](auto shape) {
        if (surface) has = requires(const Size<double>& s) {
                shape.shell(s);
            };
        else
            has = requires(const Size<double>& s) { shape.solid(s); };
    });
    return has;
}

template <class T>
Solid<T> solid_of(ShapeKind kind, bool surface, const std::array<T, 3>& size) {
    std::optional<Solid<T>> found;
    AllKinds::with(kind, [&](auto shape) {
        if constexpr (requires { shape.solid(size); })
            if (!surface) found.emplace(shape.solid(size));
        if constexpr (requires { shape.shell(size); })
            if (surface) found.emplace(shape.shell(size));
    });
    if (!found) throw Error("internal: a shape of this kind has no volume by its size");
    return *found;
}
template Solid<double> solid_of(ShapeKind, bool, const std::array<double, 3>&);
template Solid<Float> solid_of(ShapeKind, bool, const std::array<Float, 3>&);

SurfaceMesh surface_of(ShapeKind kind, const numeric::Vec3& extent, double radius, int dimension,
                       int around) {
    SurfaceMesh mesh;
    AllKinds::with(kind, [&](auto shape) {
        if constexpr (requires { shape.surface(extent, radius, dimension, around); })
            mesh = shape.surface(extent, radius, dimension, around);
        else
            throw Error("internal: a shape of this kind has no surface by its size");
    });
    return mesh;
}

SurfaceMesh surface_of(ShapeKind kind, const numeric::Vec3& size, int around) {
    const numeric::Vec3 extent = row(kind).has_axis() ? numeric::Vec3{0, 0, size[1]} : size;
    return surface_of(kind, extent, size[0], 3, around);
}

}  // namespace hindcast::geometry
