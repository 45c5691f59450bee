// Bending of a sheet as of a thin plate of stiffness D and Poisson's ratio nu. A triangle of area A
// has the energy
//     E = A D/2 ((H_uu + H_vv)^2 - 2 (1 - nu) (H_uu . H_vv - H_uv . H_uv)),  H = d2x/dX2 - K n
// (Timoshenko, Woinowsky-Krieger: Theory of Plates and Shells, 1959, eq. 46): products of vectors in
// space, n the normal, K the curvature at rest. A flat sheet's energy is quadratic in its points
// (Bergou et al. 2006: A Quadratic Bending Model for Inextensible Surfaces), that of a curved one as
// in Garg et al. 2007: Cubic Shells.
//
// The second derivative is constant in a triangle. With phi_c the turn from the triangle to edge c,
// of length l and with the unit normal m in the triangle's plane, it is that of Morley's element,
//     d2x/dX2 = 1/A  sum over c of  l m m^T phi_c.
// The turns at both sides of an edge add up to the jump J of the slope across it, so that triangles
// of equal moments balance, on any mesh. Morley has these turns as unknowns; here they are
// J/2 + sum a_f J_f, with the jumps at the other edges of both triangles: the smallest a with which
// all shapes of second order are exact. The turn at a border is such a sum alone. Nothing is
// prescribed there: a border is free.
//
// A triangle of three fixed points does not bend toward free ones: it clamps them. The whole jump at
// its edge is the turn of its neighbor.
//
// A triangle and its neighbors are a patch of 12 places, unfolded to the triangle's plane:
//     0 1 2       corners; edge c runs from c to c + 1
//     3 + c       the point across edge c of the triangle (c + 1, c, 3 + c)
//     6 + 2 c     across the edge (c, 3 + c) of that; 7 + 2 c: across (3 + c, c + 1)
// and 9 edges: c, then 3 + 2 c and 4 + 2 c in that order.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/minimization/energy/energy.hpp"

namespace hindcast::cloth {

inline constexpr int patch_places = 12, patch_edges = 9;

// Numbers of a patch that its shape does not change. At edge c of the triangle, phi_c is
// kind[c][0] J_c + sum over f of weight[c][f] a_f J_f, and the sum is exact where it shall be
// kind[c][1] times the triangle's part of J_c and kind[c][2] times that of its neighbor. bends: 1,
// or 0 for an edge across which lies a clamping triangle.
template <class R>
struct PatchNumbers {
    std::array<std::array<R, 3>, 3> kind;
    std::array<std::array<R, patch_edges>, 3> weight;
    std::array<R, patch_edges> bends;
    static constexpr int count = 9 + 3 * patch_edges + patch_edges;

    template <class At>
    static PatchNumbers from(At at) {
        PatchNumbers p;
        int k = 0;
        for (auto& row : p.kind)
            for (R& number : row) number = at(k++);
        for (auto& row : p.weight)
            for (R& number : row) number = at(k++);
        for (R& number : p.bends) number = at(k++);
        return p;
    }
};

// The geometry of a patch at rest, in scalars of type R: double, or traced ones.
template <class R>
class PatchShape {
public:
    using Pair = std::array<R, 2>;
    using Triple = std::array<R, 3>;  // of a symmetric tensor: uu, vv, uv

    PatchShape(const std::array<Triple, patch_places>& at_rest, const PatchNumbers<R>& numbers)
        : p_(numbers) {
        unfold(at_rest);
        for (int f = 0; f < patch_edges; ++f) {
            const auto [p, q, left, right] = corners(f);
            const Triple one = half(p, q, left), other = half(q, p, right);
            for (int k = 0; k < 3; ++k) jump_[f][k] = one[k] + p_.bends[f] * other[k];
        }
        find_turns();
    }

    // The coefficient of each place in d2x/dX2, 1/m^2. Their sum is 0.
    std::array<Triple, patch_places> coefficients() const {
        std::array<Triple, patch_places> sum;
        for (Triple& t : sum) t = {R(0), R(0), R(0)};
        for (int f = 0; f < patch_edges; ++f) {
            const auto [p, q, left, right] = corners(f);
            add(sum, f, p, q, left);
            add(sum, f, q, p, right);
        }
        return sum;
    }
    // K, and what in-plane parts of d2x/dX2 at rest take from the coefficients of the corners, if
    // the angles at the edges are these (positive where triangles bend toward their normals).
    Triple curvature(const std::array<R, patch_edges>& angle,
                     std::array<Triple, patch_places>& coefficients) const {
        using std::cos, std::sin;
        Triple normal{R(0), R(0), R(0)}, u = normal, v = normal;
        for (int f = 0; f < patch_edges; ++f) {
            const auto [p, q, left, right] = corners(f);
            const Pair m = across(p, q);
            const R bent = R(1) - cos(angle[f]);
            Triple jump{bent * m[0], bent * m[1], sin(angle[f])};
            if (f >= 3) jump = turned(jump, (f - 3) / 2, angle[(f - 3) / 2]);
            for (int k = 0; k < 3; ++k) {
                u[k] = u[k] + part_[f][k] * jump[0];
                v[k] = v[k] + part_[f][k] * jump[1];
                normal[k] = normal[k] + part_[f][k] * jump[2];
            }
        }
        // Less u dx/du + v dx/dv.
        const R width = at_[1][0], along = at_[2][0], height = at_[2][1];
        for (int k = 0; k < 3; ++k) {
            const R first = u[k] / width - v[k] * along / (width * height), second = v[k] / height;
            coefficients[1][k] = coefficients[1][k] - first;
            coefficients[2][k] = coefficients[2][k] - second;
            coefficients[0][k] = coefficients[0][k] + first + second;
        }
        return normal;
    }
    R area() const { return R(0.5) * at_[1][0] * at_[2][1]; }
    // The part of J_f that a shape with the second derivative H has: jump . (H_uu, H_vv, sqrt(2) H_uv).
    const Triple& jump(int f) const { return jump_[static_cast<std::size_t>(f)]; }

private:
    struct Corners {
        int p, q, left, right;  // an edge from p to q, and the points at both sides
    };
    static Corners corners(int f) {
        if (f < 3) return {f, (f + 1) % 3, (f + 2) % 3, 3 + f};
        const int c = (f - 3) / 2, a = c, b = (c + 1) % 3, apex = 3 + c;
        return f % 2 == 1 ? Corners{a, apex, b, 6 + 2 * c} : Corners{apex, b, a, 7 + 2 * c};
    }
    static R dot(const Triple& a, const Triple& b) {
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
    static Triple minus(const Triple& a, const Triple& b) {
        return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    }
    // Along an edge and from it, of the corner s of a triangle at the edge from p to q.
    static Triple seen(const Triple& p, const Triple& q, const Triple& s) {
        using std::sqrt;
        const Triple e = minus(q, p), d = minus(s, p);
        const R length = sqrt(dot(e, e));
        const Triple n{e[1] * d[2] - e[2] * d[1], e[2] * d[0] - e[0] * d[2],
                       e[0] * d[1] - e[1] * d[0]};
        return {dot(e, d) / length, sqrt(dot(n, n)) / length, length};
    }
    void unfold(const std::array<Triple, patch_places>& at_rest) {
        const Triple third = seen(at_rest[0], at_rest[1], at_rest[2]);
        at_[0] = {R(0), R(0)}, at_[1] = {third[2], R(0)}, at_[2] = {third[0], third[1]};
        for (int f = 0; f < patch_edges; ++f) {
            const auto [p, q, left, right] = corners(f);
            const Triple s = seen(at_rest[p], at_rest[q], at_rest[right]);
            const R tu = (at_[q][0] - at_[p][0]) / s[2], tv = (at_[q][1] - at_[p][1]) / s[2];
            at_[right] = {at_[p][0] + tu * s[0] + tv * s[1], at_[p][1] + tv * s[0] - tu * s[1]};
        }
    }
    R length(int p, int q) const {
        using std::sqrt;
        const R u = at_[q][0] - at_[p][0], v = at_[q][1] - at_[p][1];
        return sqrt(u * u + v * v);
    }
    // The unit normal to the left of an edge.
    Pair across(int p, int q) const {
        const R l = length(p, q);
        return {(at_[p][1] - at_[q][1]) / l, (at_[q][0] - at_[p][0]) / l};
    }
    // The place of the point left of the edge, seen from the edge's middle.
    Triple from_middle(int p, int q, int left) const {
        const Pair m = across(p, q);
        const R du = at_[left][0] - R(0.5) * (at_[p][0] + at_[q][0]),
                dv = at_[left][1] - R(0.5) * (at_[p][1] + at_[q][1]);
        return {du * m[1] - dv * m[0], du * m[0] + dv * m[1], R(0)};  // along, height
    }
    // The slope of the left triangle less that at the edge, by (H_uu, H_vv, sqrt(2) H_uv): with d
    // from the middle of the edge e to the point, 1/2 (d d^T - e e^T/4) : H / height.
    Triple half(int p, int q, int left) const {
        const R du = at_[left][0] - R(0.5) * (at_[p][0] + at_[q][0]),
                dv = at_[left][1] - R(0.5) * (at_[p][1] + at_[q][1]), eu = at_[q][0] - at_[p][0],
                ev = at_[q][1] - at_[p][1];
        const R part = R(0.5) / from_middle(p, q, left)[1];
        return {part * (du * du - R(0.25) * eu * eu), part * (dv * dv - R(0.25) * ev * ev),
                R(std::sqrt(2.0)) * part * (du * dv - R(0.25) * eu * ev)};
    }
    // Adds the left triangle's part of jump f.
    void add(std::array<Triple, patch_places>& sum, int f, int p, int q, int left) const {
        const Triple d = from_middle(p, q, left);
        const R along = d[0] / length(p, q);
        for (int k = 0; k < 3; ++k) {
            const R part = part_[f][k] / d[1];
            sum[left][k] = sum[left][k] + part;
            sum[p][k] = sum[p][k] - part * (R(0.5) - along);
            sum[q][k] = sum[q][k] - part * (R(0.5) + along);
        }
    }
    void find_turns() {
        for (auto& part : part_) part = {R(0), R(0), R(0)};
        for (int c = 0; c < 3; ++c) {
            const auto [p, q, left, right] = corners(c);
            const Pair m = across(p, q);
            const R share = length(p, q) / area();
            const Triple mm{share * m[0] * m[0], share * m[1] * m[1], share * m[0] * m[1]},
                one = half(p, q, left), other = half(q, p, right);
            Triple wanted;
            for (int k = 0; k < 3; ++k)
                wanted[k] = p_.kind[c][1] * one[k] + p_.kind[c][2] * other[k];
            const Triple solved = solve(c, wanted);
            for (int f = 0; f < patch_edges; ++f) {
                R a = p_.weight[c][f] * dot(jump_[f], solved);
                if (f == c) a = a + p_.kind[c][0];
                for (int k = 0; k < 3; ++k) part_[f][k] = part_[f][k] + mm[k] * a;
            }
        }
    }
    // (sum of w J J^T)^-1 b, by (that and a little)^-1 and refinement: where the edges do not see all
    // curvatures, those that they do not see are taken as 0.
    Triple solve(int c, const Triple& b) const {
        using Matrix = std::array<Triple, 3>;
        Matrix seen;
        for (Triple& row : seen) row = {R(0), R(0), R(0)};
        for (int f = 0; f < patch_edges; ++f)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    seen[i][j] = seen[i][j] + p_.weight[c][f] * jump_[f][i] * jump_[f][j];
        const R size = length(c, (c + 1) % 3),
                little = R(1e-5) * (seen[0][0] + seen[1][1] + seen[2][2]) + R(1e-9) * size * size;
        Matrix a = seen;
        for (int i = 0; i < 3; ++i) a[i][i] = a[i][i] + little;
        Matrix adjugate;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                adjugate[i][j] = a[(j + 1) % 3][(i + 1) % 3] * a[(j + 2) % 3][(i + 2) % 3] -
                                 a[(j + 1) % 3][(i + 2) % 3] * a[(j + 2) % 3][(i + 1) % 3];
        const R determinant =
            a[0][0] * adjugate[0][0] + a[0][1] * adjugate[1][0] + a[0][2] * adjugate[2][0];
        Triple x{R(0), R(0), R(0)};
        for (int round = 0; round < 3; ++round) {
            Triple rest;
            for (int i = 0; i < 3; ++i) rest[i] = b[i] - dot(seen[i], x);
            for (int i = 0; i < 3; ++i) x[i] = x[i] + dot(adjugate[i], rest) / determinant;
        }
        return x;
    }
    // A vector in the axes of the neighbor across edge c, which is bent up by an angle.
    Triple turned(const Triple& a, int c, const R& angle) const {
        using std::cos, std::sin;
        const Pair m = across(c, (c + 1) % 3);
        const R along = a[0] * m[1] - a[1] * m[0], inward = a[0] * m[0] + a[1] * m[1],
                in = inward * cos(angle) + a[2] * sin(angle);
        return {along * m[1] + in * m[0], in * m[1] - along * m[0],
                a[2] * cos(angle) - inward * sin(angle)};
    }

    PatchNumbers<R> p_;
    std::array<Pair, patch_places> at_;
    std::array<Triple, patch_edges> jump_,
        part_;  // J_f of H; phi_f's part in the second derivative
};

// The energy of a triangle that depends on N points, the first three its corners. shape: for every
// other point than the first, its three coefficients.
template <int N>
using PlateNumbers = lang::Vec<lang::Float, 3 * (N - 1)>;

template <int N>
std::array<lang::Vec3, 3> second_derivatives(const Points<3, N>& x, const PlateNumbers<N>& shape) {
    std::array<lang::Vec3, 3> h;
    for (int j = 0; j < 3; ++j) {
        h[static_cast<std::size_t>(j)] = (x[1] - x[0]) * shape[j];
        for (int k = 2; k < N; ++k)
            h[static_cast<std::size_t>(j)] +=
                (x[static_cast<std::size_t>(k)] - x[0]) * shape[3 * (k - 1) + j];
    }
    return h;
}

inline lang::Float plate_energy(const std::array<lang::Vec3, 3>& h, const lang::Float& area,
                                const lang::Float& stiffness, const lang::Float& ratio) {
    const lang::Vec3 mean = h[0] + h[1];
    return 0.5 * area * stiffness *
           (dot(mean, mean) - 2.0 * (1.0 - ratio) * (dot(h[0], h[1]) - dot(h[2], h[2])));
}

template <int N>
struct FlatPlate {
    using Float = lang::Float;
    Float operator()(lang::Int e, const Points<3, N>& x, lang::Read<PlateNumbers<N>> shape,
                     lang::Read<Float> area, lang::Property<Float> stiffness,
                     lang::Property<Float> ratio) const {
        return plate_energy(second_derivatives<N>(x, shape[e]), area[e], stiffness[e], ratio[e]);
    }
    static std::vector<std::string> names() {
        return {"shape", "area", "bending_stiffness", "poisson_ratio"};
    }
};

template <int N>
struct CurvedPlate {
    using Float = lang::Float;
    Float operator()(lang::Int e, const Points<3, N>& x, lang::Read<PlateNumbers<N>> shape,
                     lang::Read<Float> area, lang::Property<Float> stiffness,
                     lang::Property<Float> ratio, lang::Read<lang::Vec3> curvature) const {
        std::array<lang::Vec3, 3> h = second_derivatives<N>(x, shape[e]);
        const lang::Vec3 normal = cross(x[1] - x[0], x[2] - x[0]) / (2.0 * area[e]),
                         bent = curvature[e];
        for (int j = 0; j < 3; ++j) h[static_cast<std::size_t>(j)] -= normal * bent[j];
        return plate_energy(h, area[e], stiffness[e], ratio[e]);
    }
    static std::vector<std::string> names() {
        std::vector<std::string> all = FlatPlate<N>::names();
        all.emplace_back("curvature");
        return all;
    }
};

}  // namespace hindcast::cloth
