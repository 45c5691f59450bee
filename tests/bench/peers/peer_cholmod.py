"""The workload implicit_cloth in NumPy, SciPy and CHOLMOD (implicit_cloth.py)."""
import importlib.metadata

import measure


def implicit_cloth(variant, options):
    measure.restrict_to(options.threads)
    from implicit_cloth import Cloth

    cloth = Cloth()

    def both():
        way = cloth.run(cloth.rest)
        return way, cloth.gradients(way)

    def results():
        way, gradients = both()
        return (way[-1] ** 2).sum(), {**gradients, "end": way[-1]}

    return measure.Program(importlib.metadata.version("scikit-sparse"), options.threads, 0.0,
                           lambda: cloth.run(cloth.rest), both, results, repeats=2, precision="f64")


if __name__ == "__main__":
    measure.main("cholmod", {"implicit_cloth": implicit_cloth}, precisions=("f64",))
