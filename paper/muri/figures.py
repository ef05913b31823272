"""Figures 9 to 13 in the paper's arrangement: a bar is ours, the diamond on it what was published."""

import os
import subprocess
import sys

from evaluation import HERE

PANELS = {"jct_mean": "mean JCT", "makespan": "makespan", "jct_p99": "99th percentile JCT"}
NAMES = {
    "srtf": "SRTF",
    "srsf": "SRSF",
    "tiresias": "Tiresias",
    "antman": "AntMan",
    "themis": "Themis",
    "muri-s": "Muri-S",
    "muri-l": "Muri-L",
    "muri-l-no-blossom": "Muri-L without Blossom",
    "muri-l-worst-ordering": "Muri-L with the worst ordering",
    "muri-l-2": "Muri-L-2",
    "muri-l-3": "Muri-L-3",
}
# figure -> policies in order of the bars, the policy that they are divided by, panels
NORMALISED = {
    9: (("srtf", "srsf", "muri-s"), "muri-s", ("jct_mean", "makespan", "jct_p99")),
    10: (("tiresias", "antman", "themis", "muri-l"), "muri-l", ("jct_mean", "makespan", "jct_p99")),
    11: (("muri-l-no-blossom", "muri-l-worst-ordering", "muri-l"), "muri-l", ("jct_mean", "makespan")),
    12: (("antman", "muri-l-2", "muri-l-3", "muri-l"), "muri-l", ("jct_mean", "makespan")),
}
SPEEDUPS = (("srtf", "muri-s"), ("tiresias", "muri-l"))


def short(trace):
    """As the paper writes it: 3' is trace3 with all submissions at 0."""
    return trace.removeprefix("trace").removeprefix("job_type_").replace("_pr", "'")


def panels_of(figure, theirs, ours):
    """[(title, [(tick, [(ours, published) a bar])])] of a figure, all as ratios; and the names of the bars."""
    traces = sorted({trace for f, trace, _, _ in theirs if f == figure})
    if figure == 13:
        bars = [NAMES[a] + " / " + NAMES[b] for a, b in SPEEDUPS]
        pairs = [(a, b, "jct_mean") for a, b in SPEEDUPS]
        return bars, [("speed-up: mean JCT", rows(13, traces, pairs, theirs, ours))]
    policies, by, metrics = NORMALISED[figure]
    return [NAMES[p] for p in policies], [
        (PANELS[m], rows(figure, traces, [(p, by, m) for p in policies], theirs, ours)) for m in metrics
    ]


def rows(figure, traces, pairs, theirs, ours):
    for trace in traces:
        yield short(trace), [
            tuple(x[figure, trace, a, m] / x[figure, trace, b, m] for x in (ours, theirs)) for a, b, m in pairs
        ]


def draw(figure, theirs, ours, scratch, path):
    """`theirs`, `ours`: (figure, trace, policy, metric) -> seconds."""
    bars, panels = panels_of(figure, theirs, ours)
    data = os.path.join(scratch, f"fig{figure}.dat")
    with open(data, "w") as f:
        for _, lines in panels:
            for tick, values in lines:
                f.write(tick + "".join(f" {a:.6f} {b:.6f}" for a, b in values) + "\n")
            f.write("\n\n")
    if figure == 13:
        x, y = "kinds of bottleneck in the trace", "times faster"
    else:
        x = "trace" + (" (': all jobs submitted at once)" if figure != 11 else "")
        y = f"ratio to {NAMES[NORMALISED[figure][1]]}"
    settings = {
        "data": data,
        "out": path,
        "titles": "|".join(title for title, _ in panels),
        "bars": "|".join(bars),
        "x": x,
        "y": y,
    }
    command = ["gnuplot"]
    for name, value in settings.items():
        command += ["-e", name + ' = "' + value + '"']
    if subprocess.run(command + [os.path.join(HERE, "bars.gp")]).returncode != 0:
        sys.exit(f"gnuplot could not draw {path}")
