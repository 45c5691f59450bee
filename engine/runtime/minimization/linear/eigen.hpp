// Eigen without vector instructions: with them the order of its sums depends on where memory happens
// to lie, and so would the bits of a minimum. The only place that includes it.
#pragma once

#define EIGEN_DONT_VECTORIZE

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
