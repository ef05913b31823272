"""The figures: data files in the results folder, drawn by panels.gp and time.gp."""

import os
import subprocess
import sys

from study import HERE, KINDS, MEASURED, points, ratio

NAMES = {"fifo": "FIFO", "sjf": "SJF", "srtf": "SRTF", "srsf": "SRSF", "tiresias": "Tiresias", "muri_s": "Muri-S", "muri_l": "Muri-L"}
BASELINES = ("fifo", "sjf", "srtf", "srsf", "tiresias")
TWINS = (("muri_s", "srsf"), ("muri_l", "tiresias"))  # each Muri and the policy of its order that does not share
KIND_NAMES = ("storage", "CPU", "GPU", "network")
JCT = "mean JCT, ratio"
HELD = "use of held GPUs, ratio"


def gnuplot(script, settings):
    command = ["gnuplot"]
    for name, value in settings.items():
        command += ["-e", f"{name} = {value}" if isinstance(value, (int, float)) else f'{name} = "{value}"']
    if subprocess.run(command + [os.path.join(HERE, script)]).returncode != 0:
        sys.exit(f"gnuplot could not draw {settings['out']}")


def panels(study, name, blocks, **settings):
    """`blocks`: a panel each, row by row: [(x, [Interval a series])]."""
    data = os.path.join(study.results, name + ".dat")
    with open(data, "w") as f:
        for block in blocks:
            for x, values in block:
                f.write(f"{x}" + "".join(f" {v.mean:.6g} {v.low:.6g} {v.high:.6g}" for v in values) + "\n")
            f.write("\n\n")
    n = settings["series"].count("|") + 1
    defaults = {"xtics": "", "bottom": 0, "joined": 0, "step": 0, "keyrows": 1, "colours": "|".join(map(str, range(1, n + 1))),
                "symbols": "|".join(["7"] * n)}
    gnuplot("panels.gp", {"data": data, "out": os.path.join(HERE, "figures", name + ".png"), **defaults, **settings})


def twins(study, name, places, series, **settings):
    """2 x 2 panels: each Muri against its twin; mean JCT above, the use of held GPUs below. `places`: [(x, [(runs, at) a series])]."""
    blocks = [[(x, [ratio(runs, muri, twin, at, metric) for runs, at in of]) for x, of in places]
              for metric in ("jct_mean", "use_held") for muri, twin in TWINS]
    panels(study, name, blocks, n_rows=2, n_columns=2, titles="|".join(f"{NAMES[a]} / {NAMES[b]}" for a, b in TWINS),
           ylabels=f"{JCT}|{HELD}", series=series, claims="0.85|1.2", nones="1|1", **settings)


def draw_claim(study, claims):
    """`claims`: [(title, runs)]"""
    loads = sorted({at for _, runs in claims for _, at, _ in runs}, key=lambda at: float(at[0]))
    pairs = [(policy, at) for policy in ("muri_s", "muri_l") for at in loads]
    blocks = [[(i, [how(runs, policy, baseline, at, metric) for policy, at in pairs]) for i, baseline in enumerate(BASELINES)]
              for how, metric in ((ratio, "jct_mean"), (ratio, "use"), (ratio, "use_held"), (points, "satisfied_rate"))
              for _, runs in claims]
    n = len(loads)
    panels(study, "claim", blocks, n_rows=4, n_columns=len(claims), titles="|".join(title for title, _ in claims),
           ylabels=f"{JCT}|use of the cluster, ratio|{HELD}|slowdown <= 2, % points",
           series="|".join(f"{NAMES[policy]}, load {at[0]}" for policy, at in pairs), claims="0.85|1.2|1.2|0", nones="1|1|1|0",
           x="compared with", keyrows=4, xtics="|".join(NAMES[b] for b in BASELINES), step=0.11,
           colours="|".join(map(str, list(range(1, n + 1)) * 2)), symbols="|".join(["7"] * n + ["6"] * n))


def draw_load(study, runs):
    loads = sorted({at[0] for _, at, _ in runs}, key=float)
    twins(study, "load", [(load, [(runs, (load, i)) for i in (MEASURED, "[1]")]) for load in loads],
          "groups slowed as measured|not slowed", x="load", joined=1)


def draw_kinds(study, runs):
    kinds = sorted({at[1] for _, at, _ in runs}, key=lambda k: k.count(","))
    twins(study, "kinds", [(i, [(runs, (slow, k)) for slow in (MEASURED, "[1]")]) for i, k in enumerate(kinds)],
          "groups slowed as measured|not slowed", xtics="|".join(str(k.count(",") + 1) for k in kinds), step=0.08,
          x="kinds of resource")


def draw_mix(study, runs, mixes):
    twins(study, "mix", [(i, [(runs, (mix,))]) for i, mix in enumerate(mixes)], "groups slowed as measured",
          x="networks bound by", xtics="|".join(mix_name(m) for m in mixes), bottom=80)


def draw_error(study, runs):
    errors = sorted({at[0] for _, at, _ in runs}, key=float)
    twins(study, "error", [(100 * float(e), [(runs, (e,))]) for e in errors], "groups slowed as measured",
          x="error of the profiles, %", joined=1)


def mix_name(mix):
    weights = [float(w) for w in mix.strip("[]").split(",")]
    names = [n for n, w in zip(KIND_NAMES, weights) if w > 0]
    if len(names) < 4:
        return ", ".join(names)
    most = names[weights.index(max(weights))]
    return "all alike" if len(set(weights)) == 1 else "mostly " + most


def draw_time(study, path):
    """From /series of srsf and muri_s."""
    labels = {row["run"]: row["label"] for row in study.table(path, "summary")}
    values = {}
    for row in study.table(path, "series"):
        if row["scope"] == "cluster" and row["name"] in KINDS:
            values[labels[row["run"]], float(row["time"]), row["name"]] = 100 * float(row["value"])
    times = sorted({time for _, time, _ in values})
    data = os.path.join(study.results, "time.dat")
    with open(data, "w") as f:
        for time in times:
            cells = [values.get((label, time, kind), 0.0) for label in ("srsf", "muri_s") for kind in KINDS]
            f.write(f"{time / 86400:g} " + " ".join(f"{v:.3f}" for v in cells) + "\n")
    gnuplot("time.gp", {"data": data, "out": os.path.join(HERE, "figures", "time.png")})
