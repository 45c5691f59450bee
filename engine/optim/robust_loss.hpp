// Losses of residuals: a sum over residuals of rho(r) / 2.
//
//     squared   rho(r) = r^2
//     huber     rho(r) = r^2 for |r| <= w, 2 w |r| - w^2 beyond (Huber 1964)
//     cauchy    rho(r) = w^2 log(1 + (r / w)^2)
//
// All agree where r is small.
#pragma once

#include <cmath>
#include <cstdint>

namespace hindcast::optim {

enum class Loss : std::uint8_t { squared, huber, cauchy };

struct RobustLoss {
    Loss loss = Loss::squared;
    double width = 1;  // w, above 0

    double rho(double r) const {
        const double x = std::fabs(r) / width;
        if (loss == Loss::huber && x > 1) return width * width * (2 * x - 1);
        if (loss == Loss::cauchy) return width * width * std::log1p(x * x);
        return r * r;
    }
    // d rho / d r^2, so that the derivative of rho / 2 is weight(r) r: 1 for squares.
    double weight(double r) const {
        const double x = std::fabs(r) / width;
        if (loss == Loss::huber && x > 1) return 1 / x;
        if (loss == Loss::cauchy) return 1 / (1 + x * x);
        return 1;
    }
    // d^2 (rho / 2) / d r^2.
    double curvature(double r) const {
        const double x = std::fabs(r) / width;
        if (loss == Loss::huber) return x > 1 ? 0 : 1;
        if (loss == Loss::cauchy) return (1 - x * x) / ((1 + x * x) * (1 + x * x));
        return 1;
    }
};

}  // namespace hindcast::optim
