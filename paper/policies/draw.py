"""The figures: data files in the results folder, drawn by load.gp, ladder.gp and budget.gp."""

import math
import os

from zoo import COSTLY, GROUPS, HERE, is_run, ratio, values  # first: it finds the two below, of paper/interleaving

from figures import gnuplot  # noqa: E402
from study import interval  # noqa: E402


def cell(i):
    return f"{i.mean:.6g} {i.low:.6g} {i.high:.6g}"


def worth(study, found, label):
    """Mean JCT as a multiple of srtf's: mean of the logarithms over workloads and loads."""
    return interval([math.log(ratio(rows, label, "srtf", load, "jct_mean").mean) for rows in found.values() for load in study.loads
                     if is_run(rows, label, load)]).mean


def chosen(study, found):
    """[(label, group)] of the policies that are drawn against load: the best of each group, the two best of the larger ones; of those that do
    the same all along, one. srtf is the measure; Muri has fewer loads."""
    lines = []
    for group in GROUPS:
        by_worth = {worth(study, found, p.label): p.label for p in reversed(study.policies)
                    if p.group == group and p.label != "srtf" and p.name not in COSTLY}
        lines += [(by_worth[w], group) for w in sorted(by_worth)[: 2 if group in ("no", "no+", "estimate") else 1]]
    return lines


def draw_load(study, found):
    """Rows: mean JCT and its 99th percentile, as a multiple of srtf's; columns: workloads."""
    lines = chosen(study, found)
    data = study.file("load.dat")
    with open(data, "w") as f:
        for metric in ("jct_mean", "jct_p99"):
            for w in study.workloads:
                for load in study.loads:
                    f.write(f"{load} " + " ".join(cell(ratio(found[w.key], label, "srtf", load, metric)) for label, _ in lines) + "\n")
                f.write("\n\n")
    colours = list(GROUPS)
    gnuplot(os.path.join(HERE, "load.gp"), {
        "data": data, "out": os.path.join(HERE, "figures", "load.png"), "titles": "|".join(w.title for w in study.workloads),
        "n_columns": len(study.workloads), "series": "|".join(label.replace("_", " ") for label, _ in lines),
        "colours": "|".join(str(colours.index(g) + 1) for _, g in lines),
        "symbols": "|".join(str(7 if i == 0 or lines[i - 1][1] != g else 9) for i, (_, g) in enumerate(lines))})
    return lines


PANELS = (("gap_jct", "gap to the bound (mean JCT)"), ("gpu_utilization", "utilisation, %"), ("jain_index", "Jain's index of users"),
          ("us", "processor time a decision, µs"))


def beside(rows, label, load, metric):
    """The mean with the interval of the paired difference to srtf: what the seeds have in common is not in it. On a logarithm where that is drawn."""
    is_log = metric in ("gap_jct", "us")
    f = math.log if is_log else float
    seeds = sorted(s for name, at, s in rows if name == label and at == load)
    diff = interval([f(rows[label, load, s][metric]) - f(rows["srtf", load, s][metric]) for s in seeds])
    level = interval(by_seed(rows, "srtf", load, metric, f)).mean  # of all seeds, also where the policy has fewer
    back = math.exp if is_log else float
    return diff.map(lambda d: back(d + level) * (100 if metric == "gpu_utilization" else 1))


def by_seed(rows, label, load, metric, f):
    return [f(v) for v in values(rows, label, load, metric)]


def draw_ladder(study, found, load):
    """A row a policy, by group; a panel a metric; a symbol a workload."""
    data = study.file("ladder.dat")
    labels, places, breaks = [], [], []
    y = 0
    with open(data, "w") as f:
        for group in GROUPS:
            mine = sorted((p.label for p in study.policies if p.group == group), key=lambda n: worth(study, found, n))
            for label in mine:
                f.write(f"{y} " + " ".join(cell(beside(found[w.key], label, load, m)) for m, _ in PANELS for w in study.workloads) + "\n")
                labels.append(label.replace("_", " "))
                places.append(y)
                y += 1
            if mine:
                breaks.append(y)
                y += 1
    gnuplot(os.path.join(HERE, "ladder.gp"), {
        "data": data, "out": os.path.join(HERE, "figures", "ladder.png"), "series": "|".join(w.title for w in study.workloads),
        "titles": "|".join(t for _, t in PANELS), "labels": "|".join(labels), "places": "|".join(map(str, places)),
        "breaks": "|".join(map(str, breaks[:-1])), "n_y": y - 1})


def draw_budget(study, search):
    """Mean JCT by the best simple one: one decision over a queue, and the week, never preempting and preempting."""
    data = study.file("budget.dat")
    with open(data, "w") as f:
        for part in (search.queues, search.curves[False], search.curves[True]):
            for points in zip(*part.values()):
                f.write(f"{points[0][0]} " + " ".join(cell(i) for _, i in points) + "\n")
            f.write("\n\n")
    gnuplot(os.path.join(HERE, "budget.gp"), {
        "data": data, "out": os.path.join(HERE, "figures", "budget.png"), "series": "ga|pso|sa",
        "titles": "one decision, queue of 60 jobs|the week, never preempting|the week, preempting"})
