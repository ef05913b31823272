"""Runs of configs/policy-zoo.yaml on three workloads, and what the policies in it may know."""

import csv
import math
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(1, os.path.join(HERE, os.pardir, "interleaving"))  # runs, intervals, tables, gnuplot

from study import Study, interval  # noqa: E402

CONFIG = os.path.join(ROOT, "configs", "policy-zoo")
PHILLY = os.path.join(ROOT, os.pardir, "shared", "traces", "philly", "philly.csv")
WEEK = "27:36"  # days of the trace: 2 to 8 October 2017, and one more on each side, which the bootstrap does not draw
LEFT_OUT = {
    "optimal": "for a few jobs",
    "recorded": "needs a trace that says when jobs started",
    "sjf_skip": "sjf with another fill, and younger than the runs of the page",
    "sjf_easy": "likewise",
}
SEARCHING = {"ga", "pso", "sa", "lookahead", "greedy_insert", "planner"}
COSTLY = {"muri_s", "muri_l"}  # fewer seeds
GIVEN = "profiles: {table: profiles/muri.yaml}, deadlines: {factor: [1.5, 10]}"
LOADS = (0.7, 0.9, 1.05)
SEEDS, COSTLY_SEEDS = (1, 2, 3, 4, 5), (1, 2, 3)
METRICS = ("jct_mean", "jct_p99", "gpu_utilization", "jain_index", "ftf_mean", "gap_jct", "deadline_miss_rate", "preemptions", "us")
COUNTS = ("jobs", "finished", "rejected", "decisions")

# Who is compared with whom: those that may know the same and may, or may not, take GPUs away from running jobs. In this order on the page.
GROUPS = {  # key: (title, baseline)
    "no": ("Know what a job asks for and what it has had; never preempt", "fifo"),
    "no+": ("Know the same; preempt", "las"),
    "profile": ("Know the stage times as well; jobs share GPUs", "las"),
    "estimate": ("Know how long a job runs; never preempt", "sjf"),
    "search": ("Know the same and search; never preempt", "sjf"),
    "estimate+": ("Know how long a job runs; preempt", "srtf"),
    "search+": ("Know the same and search; preempt", "srtf"),
    "deadline": ("Know deadlines as well; preempt", "srtf"),
    "estimate, profile": ("Know run times and stage times; jobs share GPUs", "srtf"),
    "duration": ("Know the distribution of all run times of the trace; preempt", "las"),
}


class Workload:
    def __init__(self, key, title, nodes, jobs, costly_loads=LOADS):
        self.key, self.title, self.nodes, self.jobs, self.costly_loads = key, title, nodes, jobs, costly_loads

    @property
    def gpus(self):
        return 8 * self.nodes


WORKLOADS = (
    Workload("philly", "Philly, a week", 64, None),
    Workload("helios", "like Helios", 64, 10000),
    Workload("heavy", "heavy tails", 32, 8000, costly_loads=(0.9,)),
)


class Policy:
    """An item of the config's sweep."""

    def __init__(self, item, listed):
        self.item = item
        found = re.match(r"\{name: (\w+)", item)
        self.name = found.group(1) if found else item
        label = re.search(r"label: ([^,}]+)", item)
        self.label = label.group(1).strip() if label else self.name
        knows, preempts = listed[self.name]
        self.preempts = preempts or "victims:" in item
        if self.name in SEARCHING:
            group = "search"
        elif "profile" in knows:
            group = ", ".join(sorted(knows))
        elif "duration" in knows:
            group = "duration"
        elif "deadline" in knows and self.preempts:
            group = "deadline"
        elif "estimate" in knows:
            group = "estimate"
        else:
            group = "no"
        self.group = group + ("+" if self.preempts and group in ("no", "estimate", "search") else "")


def listed_policies(braid):
    """{name: (what it knows, whether it preempts)} from `braid policy list`."""
    out = subprocess.run([braid, "policy", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for line in out.splitlines()[1:]:
        if not line:
            break
        name, knows, preempts = re.split(r"  +", line)[:3]
        found[name] = (set(knows.split(", ")) - {"-"}, preempts == "yes")
    return found


def policies(braid):
    """Those of the config, in its order; ends when one of the program's is neither in it nor known to be left out."""
    listed = listed_policies(braid)
    found = []
    with open(CONFIG + ".yaml") as f:
        for line in f:
            if line.startswith("    - "):
                found.append(Policy(line[6:].strip(), listed))
    missing = set(listed) - set(LEFT_OUT) - {p.name for p in found}
    if missing:
        sys.exit(f"{CONFIG}.yaml has no {', '.join(sorted(missing))}; add them, or say in {__file__} why they are left out")
    return found


def braid_or_end(braid, *words):
    out = subprocess.run([braid, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if out.returncode != 0:
        sys.exit(f"braid {' '.join(words)} failed: {out.stderr}")
    return out.stdout


class Zoo(Study):
    """All policies on all workloads that there are."""

    def __init__(self, braid, results, fast, redraw):
        super().__init__(braid, results, fast, redraw)
        self.policies = policies(braid)
        self.n_runs = self.n_jobs = 0
        self.seeds = (1, 2, 3) if fast else SEEDS
        self.loads = (0.9,) if fast else LOADS
        self.workloads = [w for w in WORKLOADS if w.key != "philly" or os.path.exists(PHILLY)]
        if len(self.workloads) < len(WORKLOADS):
            print(f"{os.path.relpath(PHILLY)} is absent: the real trace is left out", file=sys.stderr)

    def file(self, *parts):
        path = os.path.join(self.results, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    # ---- traces

    def philly_draw(self, seed):
        """A week drawn from the days of the real one. The trace names no users: a virtual cluster stands for one."""
        path = self.file("traces", f"philly-{seed}.csv")
        if not self.redraw:
            week, drawn = self.file("traces", "week.csv"), self.file("traces", "drawn.csv")
            braid_or_end(self.braid, "trace", "sample", PHILLY, "--days", WEEK, "-o", week)
            braid_or_end(self.braid, "trace", "sample", week, "--bootstrap", "--seed", str(seed), "-o", drawn)
            with open(drawn) as f, open(path, "w") as out:
                for n, line in enumerate(f):
                    if self.fast and n > 1000:
                        break
                    out.write(line.rstrip("\n") + ("," + ("user" if n == 0 else line.rstrip("\n").split(",")[4])) + "\n")
        return path

    def trace_path(self, workload, seed):
        """A csv of the jobs of this seed, where one is needed as a file."""
        if workload.key == "philly":
            return self.philly_draw(seed)
        path = self.file("traces", f"{workload.key}-{seed}.csv")
        if not self.redraw:
            braid_or_end(self.braid, "trace", "generate", "--model", workload.key, "--jobs", str(self.jobs(workload)), "--seed", str(seed),
                         "--lean", "-o", path)
        return path

    def jobs(self, workload):
        return 1000 if self.fast else workload.jobs

    def shares(self, workload):
        """A csv of guarantees: to each user who is in the traces of all seeds its part of their GPU time, in whole GPUs."""
        path = self.file("traces", f"{workload.key}-shares.csv")
        used, common = {}, None
        for seed in self.seeds:
            users = set()
            with open(self.trace_path(workload, seed)) as f:
                for row in csv.DictReader(f):
                    users.add(row["user"])
                    used[row["user"]] = used.get(row["user"], 0.0) + float(row["duration"]) * int(row["gpus"])
            common = users if common is None else common & users
        total = math.fsum(used.values())
        with open(path, "w") as f:
            f.write("name,guarantee\n")
            for user in sorted(common):
                guarantee = math.floor(workload.gpus * used[user] / total)
                if guarantee > 0:
                    f.write(f"{user},{guarantee}\n")
        return path

    # ---- runs

    def run_on(self, workload, name, items, seeds, loads, config=CONFIG):
        """Paths of the results of these policies on a workload: one, or one a seed of the real trace."""
        sweep = (f"sweep.policy=[{', '.join(items)}]", f"sweep.trace.load=[{', '.join(map(str, loads))}]",
                 f"cluster.nodes=[{{count: {workload.nodes}, gpus: 8, gpu_memory: 32 GiB}}]")
        if workload.key != "philly":
            return [self.run(config, f"{workload.key}-{name}",
                             (f"trace.generate={{model: {workload.key}, jobs: {self.jobs(workload)}}}",
                              f"sweep.seed=[{', '.join(map(str, seeds))}]", *sweep))]
        return [self.run(config, f"philly-{name}-{seed}",
                         (f"trace={{path: '{os.path.abspath(self.philly_draw(seed))}', {GIVEN}}}", f"sweep.seed=[{seed}]", *sweep))
                for seed in seeds]

    def run_all(self):
        """{workload: {(label, load, seed): {metric: value}}}"""
        found = {}
        for w in self.workloads:
            shares = "" if self.redraw else os.path.abspath(self.shares(w))
            items = {p.label: p.item.replace("policy-zoo-shares.csv", f"'{shares}'") for p in self.policies}
            costly = [p.label for p in self.policies if p.name in COSTLY]
            paths = self.run_on(w, "all", [item for label, item in items.items() if label not in costly], self.seeds, self.loads)
            paths += self.run_on(w, "muri", [items[label] for label in costly], self.seeds[:1] if self.fast else COSTLY_SEEDS,
                                 [load for load in self.loads if load in w.costly_loads])
            found[w.key] = self.rows(paths)
        return found

    def check_against_compare(self, found):
        """The intervals here and those of `braid compare` are the same, or this ends."""
        path = self.file("helios-all.h5")
        out = braid_or_end(self.braid, "compare", path, "--baseline", "sjf", "--metrics", "jct_mean", "--by", "policy,trace.load", "--format", "csv")
        told = [row for row in csv.DictReader(out.splitlines()) if row["policy"] == "srsf"]
        for row in told:
            mine = ratio(found["helios"], "sjf", "srsf", float(row["trace.load"]), "jct_mean")  # it has baseline / policy
            for a, b in ((mine.mean, row["ratio"]), (mine.low, row["ratio_low"]), (mine.high, row["ratio_high"])):
                if abs(a / float(b) - 1) > 1e-9:
                    sys.exit(f"the interval of {row} is not {mine.mean} [{mine.low}, {mine.high}]")
        if len(told) != len(self.loads):
            sys.exit("braid compare gave no row of srsf")

    def runs_of(self, path):
        """[(run id, metrics)]; `us`: microseconds of processor time for each decision that took effect, engine included."""
        with open(path.removesuffix(".h5") + ".cost.csv") as f:
            cpu = {row["run"]: float(row["cpu_s"]) for row in csv.DictReader(f)}
        for row in self.table(path, "summary"):
            if row["status"] != "ok" or row["unfinished"] != "0":
                sys.exit(f"{path}: run {row['run']} ({row['label']}) is {row['status']} with {row['unfinished']} jobs unfinished")
            run = {k: float(row[k]) for k in (*METRICS, *COUNTS) if row.get(k)}
            run["cpu_s"] = cpu[row["run"]]
            run["us"] = 1e6 * run["cpu_s"] / run["decisions"]
            run["at"] = (row["label"], float(row.get("sweep.trace.load", "nan")), int(row["seed"]))
            self.n_runs += 1
            self.n_jobs += run["jobs"]
            yield row["run"], run

    def rows(self, paths):
        """{(label, load, seed): metrics}"""
        return {run["at"]: run for path in paths for _, run in self.runs_of(path)}


def is_run(rows, label, load):
    return any(name == label and at == load for name, at, _ in rows)


def values(rows, label, load, metric):
    """By seed, ascending."""
    return [rows[k][metric] for k in sorted(k for k in rows if k[0] == label and k[1] == load)]


def mean(rows, label, load, metric):
    """Over the seeds, with its interval."""
    return interval(values(rows, label, load, metric))


def ratio(rows, label, baseline, load, metric):
    """policy / baseline: geometric mean over the seeds that both have, with the interval of the pairs."""
    seeds = sorted(s for name, at, s in rows if name == label and at == load)
    return interval([math.log(rows[label, load, s][metric] / rows[baseline, load, s][metric]) for s in seeds]).map(math.exp)
