"""Run as a module in a process of its own: measure the rows and print each as a line of JSON."""

import argparse
import json
import signal

from cyclenet.bench.rows import measured_rows


def main() -> None:
    """Measure what the arguments name."""
    # Ctrl-C reaches this process too; the one that shows the rows says what there is to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parser = argparse.ArgumentParser(prog="python -m cyclenet.bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("ids", nargs="*")
    arguments = parser.parse_args()
    for row in measured_rows(quick=arguments.quick, ids=arguments.ids):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
