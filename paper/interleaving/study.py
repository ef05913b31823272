"""Runs of this folder's configs, and gains of one policy over another, paired by seed."""

import csv
import math
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# 97.5 % quantiles of Student's t by degrees of freedom, for the intervals of 3, 5, 10 and 20 pairs
T975 = {2: 4.302652729911275, 4: 2.7764451051977987, 9: 2.2621571627409915, 19: 2.093024054408263}
KINDS = ("storage_utilization", "cpu_utilization", "gpu_busy", "network_utilization")
MEASURED = "[1, 1.3103448, 1.4778325, 1.3497537]"  # the slow-down by group size of the configs
SWEPT = ("trace.load", "model.interleave.inflation", "trace.profiles.mix", "model.interleave.kinds", "model.profile_error")


class Study:
    """A results folder, the simulator, and how much is run: all of a config, or a small part of it (fast)."""

    def __init__(self, braid, results, fast, redraw):
        self.braid, self.results, self.fast, self.redraw = braid, results, fast, redraw
        self.cpu_s = self.wall_s = 0.0
        os.makedirs(results, exist_ok=True)

    def run(self, config, name=None, sets=(), small=()):
        """Run a config with `--set` each of `sets` (and, where it is to be fast, of `small`); the path of its results."""
        name = name or config
        path = os.path.join(self.results, name + ".h5")
        if self.redraw:
            return path
        command = [self.braid, "run", os.path.join(HERE, config + ".yaml"), "-j", "2", "--quiet", "-o", path]
        for setting in (*sets, *(small if self.fast else ())):
            command += ["--set", setting]
        begin = time.monotonic()
        if subprocess.run(command).returncode != 0:
            sys.exit(f"braid run {config}.yaml failed")
        wall = time.monotonic() - begin
        with open(path.removesuffix(".h5") + ".cost.csv") as f:
            costs = [float(row["cpu_s"]) for row in csv.DictReader(f)]
        self.cpu_s += sum(costs)
        self.wall_s += wall
        print(f"{name}: {len(costs)} runs, cpu {sum(costs):.1f} s, wall {wall:.1f} s", file=sys.stderr)
        return path

    def table(self, path, what):
        """The rows of a table of a results file, as they come."""
        with subprocess.Popen([self.braid, "export", path, "--what", what, "--format", "csv"], stdout=subprocess.PIPE, text=True) as p:
            yield from csv.DictReader(p.stdout)
        if p.returncode != 0:
            sys.exit(f"braid export --what {what} {path} failed")

    def runs(self, path):
        """{(policy, values of the swept keys that there are, seed): Run}"""
        found = {}
        for row in self.table(path, "summary"):
            if row["status"] != "ok" or row["unfinished"] != "0":
                sys.exit(f"{path}: run {row['run']} is {row['status']} with {row['unfinished']} jobs unfinished")
            at = tuple(row["sweep." + key] for key in SWEPT if "sweep." + key in row)
            found[row["label"], at, int(row["seed"])] = Run(row)
        return found

    def last_submissions(self, config, small=()):
        """{(values of the swept keys, seed): time of the last submission}, told from runs of fifo that keep their jobs."""
        path = self.run(config, config + "-submissions", ("sweep.policy=[fifo]", "output.jobs=on"), (*small, "output.series=off"))
        at = {row.id: (key[1], key[2]) for key, row in self.runs(path).items()}
        last = {}
        for row in self.table(path, "jobs"):
            key = at[row["run"]]
            last[key] = max(last.get(key, 0.0), float(row["submit"]))
        return last


class Run:
    """The metrics of a run by name, and what the four resources do."""

    def __init__(self, row):
        self.id = row["run"]
        self.v = {k: float(v) for k, v in row.items() if k in METRICS and v != ""}
        self.v["use_held"] = sum(self.v[k] for k in KINDS) / 4 / self.v["gpu_utilization_makespan"]

    def __getitem__(self, name):
        return self.v[name]


METRICS = {"jobs", "jct_mean", "satisfied_rate", "makespan", "gpu_utilization", "gpu_utilization_makespan", *KINDS}


def add_window_use(study, path, runs, last):
    """To each run `use`, the mean use of the four resources until the last submission, `gpu`, that of the GPUs, and `held`, the share of the
    GPUs that is allocated; from the bins of /series that end before it."""
    names = {run.id: (run, last[at, seed]) for (_, at, seed), run in runs.items()}
    sums = {run_id: {} for run_id in names}
    for row in study.table(path, "series"):
        if row["scope"] == "cluster" and row["name"] in (*KINDS, "gpu_utilization") and float(row["time"]) <= names[row["run"]][1]:
            total = sums[row["run"]].setdefault(row["name"], [0.0, 0])
            total[0] += float(row["value"])
            total[1] += 1
    for run_id, total in sums.items():
        mean = {name: value / n for name, (value, n) in total.items()}
        run = names[run_id][0]
        run.v["use"] = sum(mean[k] for k in KINDS) / 4
        run.v["gpu"] = mean["gpu_busy"]
        run.v["held"] = mean["gpu_utilization"]


class Interval:
    """A mean with its 95 % interval."""

    def __init__(self, mean, low, high):
        self.mean, self.low, self.high = mean, low, high

    def map(self, f):
        """Through a function that ascends or descends."""
        ends = sorted((f(self.low), f(self.high)))
        return Interval(f(self.mean), *ends)


def interval(values):
    """Of a mean, by Student's t."""
    n = len(values)
    mean = math.fsum(values) / n
    if n - 1 not in T975:
        return Interval(mean, math.nan, math.nan)
    half = T975[n - 1] * math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1) / n)
    return Interval(mean, mean - half, mean + half)


def pairs(runs, policy, baseline, at):
    """[(policy's run, baseline's run)] with equal seeds and equal swept values."""
    seeds = sorted(seed for label, where, seed in runs if label == policy and where == at)
    return [(runs[policy, at, seed], runs[baseline, at, seed]) for seed in seeds]


def ratio(runs, policy, baseline, at, metric):
    """policy / baseline: the geometric mean over seeds."""
    return interval([math.log(a[metric] / b[metric]) for a, b in pairs(runs, policy, baseline, at)]).map(math.exp)


def points(runs, policy, baseline, at, metric):
    """policy - baseline, in per cent points."""
    return interval([100 * (a[metric] - b[metric]) for a, b in pairs(runs, policy, baseline, at)])


def check_against_compare(study, path, runs, by):
    """The intervals here and those of `braid compare` are the same, or this ends."""
    command = [study.braid, "compare", path, "--baseline", "srsf", "--metrics", "jct_mean", "--by", by, "--format", "csv"]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if out.returncode != 0:
        sys.exit("braid compare failed")
    n = 0
    for row in csv.DictReader(out.stdout.splitlines()):
        if row["policy"] != "muri_s":
            continue
        mine = ratio(runs, "srsf", "muri_s", (row[by.split(",")[1]],), "jct_mean")  # it has baseline / policy
        for a, b in ((mine.mean, row["ratio"]), (mine.low, row["ratio_low"]), (mine.high, row["ratio_high"])):
            if abs(a / float(b) - 1) > 1e-9:
                sys.exit(f"the interval of {row} is not {mine.mean} [{mine.low}, {mine.high}]")
        n += 1
    if n == 0:
        sys.exit("braid compare gave no row of muri_s")
