// A scene as Python holds it, and arrays of NumPy from its numbers.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/python/src/guarded.hpp"
#include "app/python/src/scenes/physics_warnings.hpp"
#include "app/python/src/scenes/scenes.hpp"

namespace hindcast::python {

class SharedScene : public Guarded<SceneRuns> {
public:
    SharedScene(Scene scene, SimulationOptions options, std::shared_ptr<PendingWarnings> warnings)
        : Guarded(std::move(scene), all_modules(), std::move(options)),
          warnings_(std::move(warnings)) {}

    // As in Guarded; then issues the warnings that were found.
    template <class F>
    auto with(F f) {
        if constexpr (std::is_void_v<std::invoke_result_t<F, SceneRuns&>>) {
            Guarded::with(std::move(f));
            issue_warnings();
        } else {
            auto result = Guarded::with(std::move(f));
            issue_warnings();
            return result;
        }
    }
    void issue_warnings() { warnings_->issue(); }

    std::shared_ptr<Frames> frames;  // of the last run that kept some
    std::shared_ptr<void> painter;   // of pictures, once there was one

private:
    std::shared_ptr<PendingWarnings> warnings_;
};
using Shared = std::shared_ptr<SharedScene>;

// An array of NumPy that has these numbers; one number is one of NumPy's.
nb::object to_numpy(std::vector<double> numbers, const Shape& shape);
// One array per shape, as they lie in the flat vector.
nb::list leaves_of(const std::vector<double>& flat, const std::vector<Shape>& shapes);
std::vector<Shape> shapes_of(const SceneRuns::Set& set);

}  // namespace hindcast::python
