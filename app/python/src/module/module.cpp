// The module hindcast._core; hindcast/__init__.py is its face.
#include <pthread.h>

#include <atomic>
#include <regex>

#include "app/python/src/arrays/devices.hpp"
#include "app/python/src/kernels/kernels.hpp"
#include "engine/base/error.hpp"
#include "engine/base/version.hpp"

namespace hindcast::python {

namespace {

std::atomic<bool> forked{false};

}  // namespace

void require_own_process() {
    if (!forked.load(std::memory_order_relaxed)) return;
    throw Error(
        "this process was forked after hindcast had been imported, and threads do not "
        "survive that")
        .remedy(
            "start processes with multiprocessing.get_context('spawn'), or import hindcast "
            "only after the fork");
}

std::string in_words_of_python(std::string text) {
    static const std::pair<std::regex, const char*> words[] = {
        {std::regex("--(device|precision) (\\w+)"), "$1='$2'"},
        {std::regex("--set "), "the value of "},
        {std::regex(", or allow its folder with --allow-path"), ""},
        {std::regex("array\\.gradient\\(\\)"), "array.grad"},
        {std::regex(", or keep a copy and give it to the adjoint by bind_memory\\(\\)"),
         ", which keeps the old values"},
        {std::regex("pass Argument::shared, or "), "give a number, or "},
        {std::regex("SceneBatch::gradients\\(\\)"), "value_and_grad()"},
        {std::regex("SceneRuns::make_per_element\\(\\)"), "sim[path] = an array"},
        {std::regex("SceneRuns::paths\\(\\)"), "sim.paths()"}};
    for (const auto& [theirs, ours] : words) text = std::regex_replace(text, theirs, ours);
    return text;
}

void bind_errors(nb::module_& m) {
    static nb::exception<Error> error(m, "Error", PyExc_RuntimeError);
    error.attr("__doc__") = "What went wrong, where, and what to do about it.";
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const Error& e) {
            PyErr_SetString(error.ptr(), in_words_of_python(e.what()).c_str());
        }
    });
}

}  // namespace hindcast::python

NB_MODULE(_core, m) {
    using namespace hindcast::python;
    // At the end of a process Python need not take its modules apart, which nanobind reports.
    nanobind::set_leak_warnings(false);
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
    m.attr("__version__") = hindcast::version();
    bind_errors(m);
    bind_devices(m);
    bind_streams(m);
    bind_arrays(m);
    bind_kernels(m);
    bind_launches(m);
    bind_scenes(m);
    bind_batches(m);
    bind_scene_functions(m);
    bind_kernel_functions(m);
    bind_pickling(m);
#ifdef HINDCAST_PYTHON_RENDER
    bind_pictures(m);
#else
    m.attr("_renderer_needs") = HINDCAST_RENDERER_NEEDS;  // packages that were not there
#endif
#ifdef HINDCAST_JAX
    bind_jax(m);
    bind_jax_cuda(m);
    bind_jax_cuda_kernels(m);
    bind_jax_kernels(m);
#endif
}
