"""The graph of includes: which folder's files include which, circles between sub-folders, and the fewest
includes to cut so that none is left."""
import collections
import os
import pathlib
import re

TOPS = ("engine", "kernels", "app")
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def sources(root: pathlib.Path, tops=TOPS, endings=(".hpp", ".cpp")) -> list[str]:
    """Paths from `root` of the files below these folders, tests of the Python module left out."""
    found = []
    for top in tops:
        for folder, _, names in os.walk(root / top):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith(endings) and not path.startswith("app/python/tests/"):
                    found.append(path)
    return sorted(found)


def includes(root: pathlib.Path, files: list[str]) -> list[tuple[str, str]]:
    """Pairs (file, file that it includes) among these files."""
    known = set(files)
    pairs = []
    for file in files:
        for line in (root / file).read_text(errors="replace").splitlines():
            if match := INCLUDE.match(line):
                beside = os.path.normpath(os.path.join(os.path.dirname(file), match[1]))
                for target in {match[1], beside} & known:
                    pairs.append((file, target))
    return pairs


def components(nodes, edges) -> list[list[str]]:
    """Strongly connected components (Tarjan 1972) of more than one node."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in sorted(edges[node]):
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(nodes):
        if node not in index:
            visit(node)
    return found


def best_order(nodes: list[str], weights) -> list[str]:
    """The order, lowest first, in which the fewest includes run upward: over all subsets, exact."""
    count = len(nodes)
    if count > 18:
        raise ValueError(f"{count} folders in one circle are too many to order exactly: {nodes}")
    least = {0: (0, None)}
    for chosen in range(1 << count):
        cost = least[chosen][0]
        for k in range(count):
            if chosen >> k & 1:
                continue
            upward = sum(
                weights.get((nodes[k], nodes[other]), 0)
                for other in range(count)
                if other != k and not chosen >> other & 1
            )
            then = chosen | 1 << k
            if then not in least or cost + upward < least[then][0]:
                least[then] = (cost + upward, k)
    order, chosen = [], (1 << count) - 1
    while chosen:
        k = least[chosen][1]
        order.append(nodes[k])
        chosen ^= 1 << k
    return order[::-1]


def circles(pairs: list[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """For each folder whose parts include each other in circles the includes to cut. A part is a
    sub-folder, or the files that lie in the folder itself."""
    folders = {str(parent) for pair in pairs for file in pair for parent in pathlib.PurePath(file).parents}
    found = {}
    for folder in sorted(folders):
        inside = "" if folder == "." else folder + "/"
        between = collections.defaultdict(list)
        for file, target in pairs:
            if not (file.startswith(inside) and target.startswith(inside)):
                continue
            a, b = (
                path[len(inside):].split("/")[0] if "/" in path[len(inside):] else "."
                for path in (file, target)
            )
            if a != b:
                between[a, b].append((file, target))
        edges = collections.defaultdict(set)
        for a, b in between:
            edges[a].add(b)
        weights = {edge: len(all_of) for edge, all_of in between.items()}
        cut = []
        for component in components({part for edge in between for part in edge}, edges):
            order = best_order(component, weights)
            for k, low in enumerate(order):
                for high in order[k + 1:]:
                    cut += between.get((low, high), [])
        if cut:
            found[folder] = cut
    return found
