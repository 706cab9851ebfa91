"""Run as a module in a new process: the first call of a kernel, timed, as one line of JSON."""

import json
import sys
import time


def main() -> None:
    """Time the import of numba and our kernels, and one call; numpy and scipy are loaded before."""
    import numpy as np
    import scipy.sparse.csgraph  # noqa: F401  (ours to import, not ours to time)

    from cyclenet.datasets.cfi import cfi_graph
    from cyclenet.datasets.molecules import molecule_graphs

    kind = sys.argv[1]
    edges, num_nodes = cfi_graph(5) if kind.startswith("large graph") else molecule_graphs()[0]
    start = time.process_time()
    import cyclenet.topology as topology

    betti = topology.betti_number(edges, num_nodes)
    if kind == "projector":
        agree = abs(np.trace(topology.cycle_projector(edges, num_nodes)) - betti) < 1e-9
    elif kind.endswith("relevant cycles"):
        agree = topology.relevant_cycles(edges, num_nodes).num_cycles >= betti
    else:
        basis = topology.shortest_cycle_basis(edges, num_nodes)
        agree = basis.num_cycles == betti
    print(json.dumps({"seconds": time.process_time() - start, "agree": bool(agree)}))


if __name__ == "__main__":
    main()
