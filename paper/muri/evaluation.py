"""The numbers of the evaluation: runs of a config, their metrics by the definitions of Muri's authors, and what was published."""

import csv
import math
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "..", "shared")
TRACES = os.path.join(SHARED, "traces", "muri")
REFERENCES = os.path.join(SHARED, "reference", "muri")
METRICS = ("jct_mean", "makespan", "jct_p99")
SAME = 1e-6  # relative, of a job's start and end


class Run:
    """Submission, start and end of every job in seconds, and the three metrics."""

    def __init__(self, jobs, overhead=math.nan, speed=math.nan):
        self.overhead, self.speed = overhead, speed  # of the GPU time that the jobs held: overhead, and work / all of it
        self.jobs = jobs  # id -> (submit, start, end)
        jct = sorted(end - submit for submit, _, end in jobs.values())
        self.jct_mean = math.fsum(jct) / len(jct)
        self.makespan = max(end for _, _, end in jobs.values())  # from the trace's zero, whenever the first job comes
        self.jct_p99 = jct[int(0.99 * len(jct))]


def table(braid, results, what):
    """The rows of a table of a results file, as they come."""
    command = [braid, "export", results, "--what", what, "--format", "csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as export:
        yield from csv.DictReader(export.stdout)
    if export.returncode != 0:
        sys.exit(f"braid export --what {what} {results} failed")


def run_config(braid, config, results, paths=None):
    """Run it into `results`; what it cost goes to standard error. `paths`: the traces to run in place of its own."""
    command = [braid, "run", os.path.join(HERE, config + ".yaml"), "-j", "2", "--quiet", "-o", results]
    if paths:
        command += ["--set", "sweep.trace.path=[" + ", ".join(paths) + "]"]
    begin = time.monotonic()
    if subprocess.run(command).returncode != 0:
        sys.exit(f"braid run {config}.yaml failed")
    print_cost(os.path.splitext(os.path.basename(results))[0], results, run_names(braid, results), time.monotonic() - begin)


def trace_path(trace):
    return os.path.join(TRACES, trace + ".csv")


def split_stages(braid, trace, folder):
    """A copy of the trace in braid's csv whose stage of storage and CPU is half the one and half the other; its path."""
    path = os.path.join(folder, trace + ".csv")
    os.makedirs(folder, exist_ok=True)
    if subprocess.run([braid, "trace", "convert", trace_path(trace), "-o", path], stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"braid trace convert {trace_path(trace)} failed")
    with open(path) as f:
        rows = list(csv.DictReader(f))
    with open(path, "w", newline="") as f:
        out = csv.DictWriter(f, rows[0].keys(), lineterminator="\n")
        out.writeheader()
        for row in rows:
            row["stage_storage"] = row["stage_cpu"] = repr(float(row["stage_storage"]) / 2)
            out.writerow(row)
    return path


def run_names(braid, results):
    """run -> (trace, label)"""
    names = {}
    for row in table(braid, results, "summary"):
        names[row["run"]] = (os.path.splitext(os.path.basename(row["sweep.trace.path"]))[0], row["label"])
    return names


def read_results(braid, results):
    """(trace, label) -> Run"""
    names = run_names(braid, results)
    jobs = {run: {} for run in names}
    held = {run: [0.0, 0.0, 0.0] for run in names}  # GPU seconds: all, overhead, work
    for row in table(braid, results, "jobs"):
        if row["status"] != "finished":
            sys.exit(f"{results}: job {row['id']} of {names[row['run']]} is {row['status']}; all are expected to finish")
        jobs[row["run"]][row["id"]] = tuple(float(row[c]) for c in ("submit", "start", "end"))
        gpus = int(row["gpus"])
        for i, column in enumerate(("run_time", "overhead", "work")):
            held[row["run"]][i] += float(row[column]) * gpus
    return {names[run]: Run(jobs[run], held[run][1] / held[run][0], held[run][2] / held[run][0]) for run in names}


def print_cost(name, results, names, wall):
    with open(os.path.splitext(results)[0] + ".cost.csv") as f:
        costs = list(csv.DictReader(f))
    for row in sorted(costs, key=lambda row: names[row["run"]]):
        trace, label = names[row["run"]]
        print(f"  {trace:12}{label:24}cpu {float(row['cpu_s']):8.2f} s  wall {float(row['wall_s']):8.2f} s", file=sys.stderr)
    cpu = sum(float(row["cpu_s"]) for row in costs)
    print(f"{name}: {len(costs)} runs, cpu {cpu:.1f} s, wall {wall:.1f} s", file=sys.stderr)


def published():
    """[(figure, trace, policy, metric, seconds)], in the order of the file."""
    with open(os.path.join(REFERENCES, "published.csv")) as f:
        return [(int(r["figure"]), r["trace"], r["policy"], r["metric"], float(r["seconds"])) for r in csv.DictReader(f)]


class Row:
    """A published number and ours."""

    def __init__(self, number, runs):
        self.figure, self.trace, self.policy, self.metric, self.published = number
        self.key = number[:4]
        self.ours = getattr(runs[self.trace, self.policy], self.metric)
        self.apart = self.ours / self.published - 1


def compare(numbers, runs):
    """A row for each published number whose run is among `runs`."""
    return [Row(number, runs) for number in numbers if (number[1], number[2]) in runs]


class Reference:
    """The jobs of a reference run against ours: how many there are, how many start and end alike, how far the others are apart."""

    def __init__(self, trace, label, run, path):
        self.trace, self.label = trace, label
        with open(path) as f:
            rows = list(csv.DictReader(f))
        theirs = {row["job_id"]: (float(row["submit"]), float(row["start"]), float(row["end"])) for row in rows}
        if set(theirs) != set(run.jobs):
            sys.exit(f"{path}: other jobs than in the trace")
        apart = [max(map(distance, run.jobs[job], theirs[job])) for job in theirs]
        self.jobs, self.alike, self.largest = len(apart), sum(d <= SAME for d in apart), max(apart)
        them = Run(theirs)
        self.metrics_apart = [getattr(run, m) / getattr(them, m) - 1 for m in METRICS]


def distance(a, b):
    """Relative; of two zeros it is none."""
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0


def references(runs):
    """A reference for each file whose run is among `runs`."""
    for name in sorted(os.listdir(REFERENCES)):
        trace, _, label = name.removesuffix(".csv").rpartition("_")
        if (trace, label) in runs:
            yield Reference(trace, label, runs[trace, label], os.path.join(REFERENCES, name))


def is_exact(row):
    """Whether the authors' released simulator gives the published number."""
    return (
        (row.figure in (9, 10) and row.policy in ("srtf", "srsf", "tiresias", "antman"))
        or row.figure == 13
        and row.policy in ("srtf", "tiresias")
    )


def must_hold(rows, alike):
    """What ought to reproduce and does not, in words."""
    broken = [f"figure {r.figure}, {r.trace}, {r.policy}, {r.metric}: {100 * r.apart:+.3f} %"
              for r in rows if is_exact(r) and abs(r.apart) > 1e-3]
    for a in alike:
        if a.label.startswith("muri"):
            holds = max(map(abs, a.metrics_apart)) <= 0.01
        else:
            holds = a.alike == a.jobs
        if not holds:
            broken.append(f"jobs of {a.trace} under {a.label}: {a.alike} of {a.jobs} alike")
    return broken
