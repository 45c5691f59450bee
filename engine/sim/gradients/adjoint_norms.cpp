#include "engine/sim/gradients/adjoint_norms.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "engine/base/files.hpp"
#include "engine/document/text.hpp"

namespace hindcast {

using document::number_text;

std::string describe(const Rollout::AdjointNorms& n, const std::string& culprit) {
    std::string text;
    const auto put = [&text]<class... A>(fmt::format_string<A...> format, A&&... arguments) {
        fmt::format_to(std::back_inserter(text), format, std::forward<A>(arguments)...);
    };
    if (n.norms.size() < 2) return text;
    const std::size_t steps = n.norms.size() - 1;
    const double end = n.norms.back(), start = n.norms.front();
    put("adjoint of the state: norm {:.4g} after {} steps, {:.4g} after {}", end,
        n.first + static_cast<std::int64_t>(steps), start, n.first);
    if (end > 0 && start > 0 && std::isfinite(start))
        put(", growth {:.6g} per step back",
            std::exp((std::log(start) - std::log(end)) / static_cast<double>(steps)));
    double most = 0;
    std::size_t at = 0;
    for (std::size_t k = 0; k < steps; ++k)
        if (n.norms[k + 1] > 0 && n.norms[k] / n.norms[k + 1] > most) {
            most = n.norms[k] / n.norms[k + 1];
            at = k + 1;
        }
    if (most > 0)
        put(", at most {:.4g}, in step {}", most, n.first + static_cast<std::int64_t>(at));
    put("\n");
    if (n.not_finite >= 0)
        put("going back, the adjoint of {} is first not finite after step {}\n",
            culprit.empty() ? "an array" : "'" + culprit + "'", n.not_finite);
    return text;
}

void write_csv(const std::filesystem::path& file, const Rollout::AdjointNorms& n) {
    std::string text = "steps_done,norm,growth\n";
    for (std::size_t k = 0; k < n.norms.size(); ++k)
        text += fmt::format(
            "{},{},{}\n", n.first + static_cast<std::int64_t>(k), number_text(n.norms[k]),
            k + 1 < n.norms.size() ? number_text(n.norms[k] / n.norms[k + 1]) : std::string());
    write_file_atomically(file, text);
}

}  // namespace hindcast
