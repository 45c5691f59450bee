// Potential: the sum of energies as a function of its unknowns, with its gradient; hessian.hpp has
// its Hessian. The unknowns are the components of the free points, then the coordinates of
// carriers. All in f64 and on the host.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/device/device.hpp"
#include "engine/runtime/minimization/energy/carried_points.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"

namespace hindcast {

// The most rows of an element: those of its points' components (EnergyKernels).
inline constexpr int most_rows = 36;

// Arrays of all unknowns: one like the points, one like the coordinates of each carrier.
struct UnknownArrays {
    Array points;
    std::vector<Array> coordinates;

    UnknownArrays gradient() const { return derived(&Array::gradient); }
    UnknownArrays tangent() const { return derived(&Array::tangent); }
    UnknownArrays second_tangent() const { return derived(&Array::second_tangent); }
    void clear() const {
        points.clear();
        for (const Array& a : coordinates) a.clear();
    }

private:
    UnknownArrays derived(Array (Array::*which)() const) const {
        UnknownArrays result{(points.*which)(), {}};
        for (const Array& a : coordinates) result.coordinates.push_back((a.*which)());
        return result;
    }
};

class Potential {
public:
    // `device`: of the host. `fixed`: of each point, whether it is none of the unknowns; a carried
    // point is none. Throws Error for an item that names a point twice, or one that is not there,
    // and for a point that two carriers carry.
    Potential(std::shared_ptr<Device> device, int dimension, std::vector<char> fixed,
              std::vector<EnergyTerm> terms, const std::vector<Carrier>& carriers = {});

    int unknowns() const { return unknowns_; }
    int dimension() const { return dimension_; }
    // The point of an unknown, or a carrier's coordinate.
    struct Owner {
        std::int64_t number = 0;
        const CarriedPoints* carrier = nullptr;  // null: a point
    };
    Owner owner_of(int unknown) const;

    // All points, then those of carriers' frames, f64 {points, dimension}; those that are free are
    // unknowns. Their derivatives are where the launches of terms() find them.
    const Array& positions() const { return x_; }
    // The step that limits are asked about, as positions().
    const Array& direction() const { return direction_; }
    // The arrays of all unknowns, and those that the launches add their gradients to.
    UnknownArrays state() const;
    UnknownArrays force() const;
    // gather() reads the unknowns from arrays like state(); scatter() writes them back and leaves
    // what else there is in the arrays.
    void gather(const UnknownArrays& from, std::span<double> unknowns) const;
    void scatter(std::span<const double> unknowns, const UnknownArrays& to) const;
    void clear_unknowns(const UnknownArrays& of) const;
    // Sets the unknowns, and places carried points.
    void set(std::span<const double> unknowns);
    // Places carried points as the coordinates say, see CarriedPoints::place().
    void place(Direction direction = Direction::forward);
    // The launches of the gradient in a direction: forward and in tangents to force(), which is
    // cleared before; in adjoints from the gradients of force().
    void run_gradient(Direction direction);

    // At state().
    double value();
    double magnitude() const { return magnitude_; }  // the sum of the terms' |values|, at value()
    void gradient(std::span<double> unknowns);
    // The part of the step `direction` from the unknowns `from`, which are state(), that passes no
    // obstacle, at most `most`. Carried points do not go straight where their bodies turn: the part
    // is one after which all points could have gone straight to where they are.
    double step_limit(std::span<const double> from, std::span<const double> direction,
                      double most = 1);
    // True if a part of a step that passes no obstacle may have a smaller part that does.
    bool has_arcs() const { return !carried_.empty(); }

    // An element's block between two points of which a carrier carries at least one.
    struct CarriedBlock {
        std::int64_t item = 0;
        int first = 0, second = 0;  // points of the item; the second one is carried
    };
    struct Term {
        std::string name;
        LaunchDirections value, gradient, hessian;
        std::optional<LaunchDirections> limit = {};
        Array numbers;  // of the points of each item
        Array value_at, columns, fraction = {};
        int size = 0;  // rows of an element's Hessian
        std::vector<std::int64_t> points;
        std::vector<CarriedBlock> carried = {};
    };
    std::vector<Term>& terms() { return terms_; }
    std::span<const std::unique_ptr<CarriedPoints>> carriers() const { return carried_; }
    // The carrier of a point, and which of its points that is.
    struct Carrying {
        CarriedPoints* carrier = nullptr;
        std::size_t point = 0;
    };
    Carrying carrying(std::int64_t point) const {
        return carrying_.empty() ? Carrying{} : carrying_[static_cast<std::size_t>(point)];
    }
    // The unknown of a point's component; -1: fixed or carried.
    int unknown_of(std::int64_t point, int component) const {
        return unknown_of_[static_cast<std::size_t>(point * dimension_ + component)];
    }
    const std::shared_ptr<Device>& device() const { return device_; }

private:
    void carry(const std::vector<Carrier>& carriers, std::vector<char>& fixed);
    void add(EnergyTerm term);
    void chord(std::span<const double> from, std::span<const double> step, double part);
    double limit_along_direction();

    std::shared_ptr<Device> device_;
    int dimension_;
    Array x_, g_, direction_;
    std::vector<int> unknown_of_;  // per component of a point; -1: fixed or carried
    std::vector<std::int64_t> point_of_;
    int unknowns_ = 0;
    std::vector<std::unique_ptr<CarriedPoints>> carried_;
    std::vector<Carrying> carrying_;  // of each point; empty without carriers
    std::vector<Term> terms_;
    double magnitude_ = 0;
    std::vector<double> part_;  // of a step, for step_limit()
};

}  // namespace hindcast
