#include "engine/runtime/minimization/energy/potential.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/backend/executable.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

namespace {

double* doubles(const Array& array) { return static_cast<double*>(array.data()); }

}  // namespace

Potential::Potential(std::shared_ptr<Device> device, int dimension, std::vector<char> fixed,
                     std::vector<EnergyTerm> terms, const std::vector<Carrier>& carriers)
    : device_(std::move(device)), dimension_(dimension) {
    for (const Carrier& carrier : carriers)
        fixed.resize(fixed.size() + carrier.frames.size() * frame_points, 1);
    const auto points = static_cast<std::int64_t>(fixed.size());
    for (Array* a : {&x_, &g_, &direction_}) *a = Array(ir::Type::f64, {points, dimension});
    carry(carriers, fixed);
    unknown_of_.assign(fixed.size() * static_cast<std::size_t>(dimension), -1);
    for (std::int64_t p = 0; p < points; ++p) {
        if (fixed[static_cast<std::size_t>(p)] != 0) continue;
        for (int c = 0; c < dimension; ++c) {
            unknown_of_[static_cast<std::size_t>(p * dimension + c)] = unknowns_++;
            point_of_.push_back(p);
        }
    }
    for (const Carrier& carrier : carriers) {
        carried_.push_back(std::make_unique<CarriedPoints>(device_, carrier, x_, g_, unknowns_));
        unknowns_ += carried_.back()->size();
        const auto list = carried_.back()->points();
        for (std::size_t k = 0; k < list.size(); ++k)
            carrying_[static_cast<std::size_t>(list[k])] = {carried_.back().get(), k};
    }
    for (EnergyTerm& term : terms) add(std::move(term));
}

// Carried points are none of the free ones.
void Potential::carry(const std::vector<Carrier>& carriers, std::vector<char>& fixed) {
    if (carriers.empty()) return;
    if (dimension_ != 3)
        throw Error("'" + carriers.front().name + "' carries points in " +
                    std::to_string(dimension_) + " dimensions, and bodies have frames in 3");
    carrying_.resize(fixed.size());
    std::vector<char> taken(fixed.size());
    for (const Carrier& carrier : carriers)
        for (const std::int64_t p : carrier.points) {
            if (p < 0 || p >= x_.elements()) continue;  // CarriedPoints reports it
            if (std::exchange(taken[static_cast<std::size_t>(p)], 1) != 0)
                throw Error("'" + carrier.name + "' carries a point that is carried already")
                    .at_item(p);
            fixed[static_cast<std::size_t>(p)] = 1;
        }
}

void Potential::add(EnergyTerm given) {
    const auto fail = [&](const std::string& what, std::int64_t item) {
        throw Error(what).in_kernel(given.name).at_item(item);
    };
    const int K = given.kernels.points, size = K * given.kernels.dimension;
    if (size > most_rows)
        fail("an item has " + std::to_string(K) + " points, and at most " +
                 std::to_string(most_rows / given.kernels.dimension) + " are possible",
             0);
    std::vector<std::int64_t> numbers;
    for (const double p : given.points.to_doubles())
        numbers.push_back(static_cast<std::int64_t>(p));
    for (std::int64_t e = 0; e < given.items; ++e)
        for (int k = 0; k < K; ++k) {
            const std::int64_t p = numbers[static_cast<std::size_t>(e * K + k)];
            if (p < 0 || p >= x_.elements()) fail("there is no point " + std::to_string(p), e);
            for (int l = 0; l < k; ++l)
                if (numbers[static_cast<std::size_t>(e * K + l)] == p)
                    fail("point " + std::to_string(p) + " stands twice in one item", e);
        }
    const auto launch = [&](const lang::KernelDef& kernel, std::int64_t items,
                            std::vector<NamedArgument> arguments, const char* what) {
        arguments.insert(arguments.end(), {{"points", given.points}, {"x", x_}});
        arguments.insert(arguments.end(), given.arguments.begin(), given.arguments.end());
        return LaunchDirections{
            Launch(device_, kernel, ir::Precision::f64, items, arguments, given.name + what)};
    };
    const Array value(ir::Type::f64, {1}), columns(ir::Type::f64, {given.items * size, size});
    const EnergyKernels& kernels = given.kernels;
    Term term{
        .name = given.name,
        .value = launch(kernels.value, given.items, {{"scale", 1.0}, {"value", value}}, ": value"),
        .gradient = launch(kernels.gradient, given.items, {{"gradient", g_}}, ": gradient"),
        .hessian = launch(kernels.hessian, given.items * size, {{"column", columns}}, ": Hessian"),
        .numbers = given.points,
        .value_at = value,
        .columns = columns,
        .size = size,
        .points = std::move(numbers)};
    if (given.limit) {
        term.fraction = Array(ir::Type::f64, {given.items});
        std::vector<NamedArgument> arguments{{"points", given.points},
                                             {"x", x_},
                                             {"direction", direction_},
                                             {"fraction", term.fraction}};
        arguments.insert(arguments.end(), given.limit->arguments.begin(),
                         given.limit->arguments.end());
        term.limit = LaunchDirections{Launch(device_, given.limit->kernel, ir::Precision::f64,
                                             given.items, arguments, given.name + ": step limit")};
    }
    if (!carrying_.empty())
        for (std::int64_t e = 0; e < given.items; ++e)
            for (int a = 0; a < K; ++a)
                for (int b = 0; b <= a; ++b) {
                    const auto moves = [&](int k) {
                        const std::int64_t p = term.points[static_cast<std::size_t>(e * K + k)];
                        return std::pair(carrying_[static_cast<std::size_t>(p)].carrier != nullptr,
                                         unknown_of(p, 0) >= 0);
                    };
                    const auto [a_carried, a_free] = moves(a);
                    const auto [b_carried, b_free] = moves(b);
                    if (b_carried && (a_carried || a_free))
                        term.carried.push_back({e, a, b});
                    else if (a_carried && b_free)
                        term.carried.push_back({e, b, a});
                }
    terms_.push_back(std::move(term));
}

Potential::Owner Potential::owner_of(int unknown) const {
    if (unknown < static_cast<int>(point_of_.size()))
        return {point_of_[static_cast<std::size_t>(unknown)], nullptr};
    for (const auto& c : carried_)
        if (unknown < c->first() + c->size()) return {unknown - c->first(), c.get()};
    return {};
}

UnknownArrays Potential::state() const {
    UnknownArrays arrays{x_, {}};
    for (const auto& c : carried_) arrays.coordinates.push_back(c->coordinates());
    return arrays;
}

UnknownArrays Potential::force() const {
    UnknownArrays arrays{g_, {}};
    for (const auto& c : carried_) arrays.coordinates.push_back(c->force());
    return arrays;
}

void Potential::gather(const UnknownArrays& from, std::span<double> unknowns) const {
    const double* values = doubles(from.points);
    for (std::size_t k = 0; k < unknown_of_.size(); ++k)
        if (unknown_of_[k] >= 0) unknowns[static_cast<std::size_t>(unknown_of_[k])] = values[k];
    for (std::size_t c = 0; c < carried_.size(); ++c)
        std::copy_n(doubles(from.coordinates[c]), carried_[c]->size(),
                    unknowns.begin() + carried_[c]->first());
}

void Potential::scatter(std::span<const double> unknowns, const UnknownArrays& to) const {
    double* values = doubles(to.points);
    for (std::size_t k = 0; k < unknown_of_.size(); ++k)
        if (unknown_of_[k] >= 0) values[k] = unknowns[static_cast<std::size_t>(unknown_of_[k])];
    to.points.touch();
    for (std::size_t c = 0; c < carried_.size(); ++c) {
        std::copy_n(unknowns.begin() + carried_[c]->first(), carried_[c]->size(),
                    doubles(to.coordinates[c]));
        to.coordinates[c].touch();
    }
}

void Potential::clear_unknowns(const UnknownArrays& of) const {
    double* values = doubles(of.points);
    for (std::size_t k = 0; k < unknown_of_.size(); ++k)
        if (unknown_of_[k] >= 0) values[k] = 0;
    of.points.touch();
    for (const Array& a : of.coordinates) a.clear();
}

void Potential::set(std::span<const double> unknowns) {
    scatter(unknowns, state());
    place();
}

void Potential::place(Direction direction) {
    for (const auto& c : carried_) c->place(direction);
}

void Potential::run_gradient(Direction direction) {
    const auto of_terms = [&] {
        for (Term& term : terms_) term.gradient.in(direction).run();
    };
    if (goes_back(direction)) {
        for (const auto& c : carried_) c->collect(direction);
        of_terms();
        return place(direction);
    }
    place(direction);
    g_.clear();
    if (direction != Direction::forward) g_.tangent().clear();
    if (direction == Direction::tangent_tangent) {
        g_.second_tangent().clear();
        g_.tangent().second_tangent().clear();
    }
    of_terms();
    for (const auto& c : carried_) c->collect(direction);
}

double Potential::value() {
    double sum = 0;
    magnitude_ = 0;
    for (Term& term : terms_) {
        term.value_at.clear();
        term.value.in().run();
        const double value = term.value_at.value(0);
        sum += value;
        magnitude_ += std::abs(value);
    }
    for (const auto& c : carried_) {
        const double value = c->value();
        sum += value;
        magnitude_ += std::abs(value);
    }
    return sum;
}

void Potential::gradient(std::span<double> unknowns) {
    run_gradient(Direction::forward);
    gather(force(), unknowns);
}

double Potential::limit_along_direction() {
    double limit = 1;
    for (Term& term : terms_) {
        if (!term.limit) continue;
        term.limit->in().run();
        const double* fraction = doubles(term.fraction);
        for (std::int64_t e = 0; e < term.fraction.elements(); ++e)
            limit = std::min(limit, fraction[e]);
    }
    return limit;
}

// Makes direction() the straight way of every point to where it is after a part of the step.
void Potential::chord(std::span<const double> from, std::span<const double> step, double part) {
    part_.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) part_[i] = from[i] + part * step[i];
    set(part_);
    direction_.copy_from(x_);
    set(from);
    double* way = doubles(direction_);
    const double* start = doubles(x_);
    for (std::int64_t k = 0; k < x_.size(); ++k) way[k] -= start[k];
    direction_.touch();
}

double Potential::step_limit(std::span<const double> from, std::span<const double> direction,
                             double most) {
    const auto has_limit = [](const Term& term) { return term.limit.has_value(); };
    if (std::ranges::none_of(terms_, has_limit)) return most;
    if (carried_.empty()) {
        direction_.clear();
        scatter(direction, {direction_, {}});
        return std::min(most, limit_along_direction());
    }
    constexpr int most_parts = 200;
    for (int k = 0; k < most_parts; ++k) {
        chord(from, direction, most);
        const double limit = limit_along_direction();
        if (limit >= 1) break;
        most *= std::min(limit, 0.9);
    }
    return most;
}

}  // namespace hindcast
