"""The searching policies on the Philly week: against the best simple policy, by budget, and part by part."""

import csv
import importlib.machinery
import importlib.util
import math
import os
import subprocess
import sys
import tempfile

from zoo import HERE, PHILLY, ROOT, mean, ratio  # first: it finds the one below, of paper/interleaving

from study import interval  # noqa: E402

LOAD = 1.05
SEEDS, BUDGET_SEEDS = (1, 2, 3, 4, 5), (1, 2, 3)
QUEUES, QUEUE_JOBS, QUEUE_BUDGETS = 20, 60, (12, 25, 50, 100, 200, 400, 800, 1600)
ABLATION = os.path.join(ROOT, "scripts", "search-ablation")
SEARCHING = {  # by whether they preempt
    False: ("ga", "pso", "sa", "ga (lookout)", "pso (lookout)", "sa (lookout)", "lookahead", "greedy_insert", "planner"),
    True: tuple(f"{n} (preempts)" for n in ("ga", "pso", "sa", "lookahead", "greedy_insert", "planner")),
}
# Simple policies of search.yaml by whether they preempt.
SIMPLE = {
    False: ("sjf", "sjf skip", "sjf easy", "qssf", "qssf skip", "qssf easy", "smallest strict", "smallest skip", "edf strict", "edf skip", "easy",
            "conservative", "dynamic_priority", "time_window qssf"),
    True: ("srtf", "srsf", "srtf strict", "srsf strict", "edf", "least_laxity", "rr_sjf", "themis", "themis_auction"),
}


def label(name, preempts):
    return f"{name} (preempts)" if preempts else name


class Search:
    """Nothing where the real trace is absent."""

    def __init__(self, study):
        self.study = study
        self.is_there = os.path.exists(PHILLY)
        if not self.is_there:
            return
        self.seeds = (1, 2, 3) if study.fast else SEEDS
        rows = self.rows("search", self.seeds)
        self.runs = rows
        self.best = {p: min(SIMPLE[p], key=lambda n: mean(rows, n, LOAD, "jct_mean").mean) for p in SIMPLE}
        budget_seeds = BUDGET_SEEDS
        fewer = ("sweep.policy.budget=[25, 200]",) if study.fast else ()
        found = self.rows("budget", budget_seeds, fewer)
        self.budgets = sorted({name[1] for name, _, _ in found})
        self.curves = {}
        for preempts in (False, True):
            for name in ("ga", "pso", "sa"):
                points = []
                for budget in self.budgets:
                    both = {(n[0] if n[1] == budget else "", at, s): run for (n, at, s), run in found.items()}
                    both |= {k: run for k, run in rows.items() if k[0] == self.best[preempts] and k[2] in budget_seeds}
                    points.append((budget, ratio(both, label(name, preempts), self.best[preempts], LOAD, "jct_mean")))
                self.curves.setdefault(preempts, {})[name] = points
        self.queues = self.one_decision()
        self.parts = self.ablation()

    def rows(self, config, seeds, sets=()):
        """{(label, load, seed): metrics}; of the budgets (label, budget) in the place of the label."""
        study = self.study
        found = {}
        for seed in seeds:
            path = study.run(os.path.join(HERE, config), f"{config}-{seed}",
                             (f"trace.path='{os.path.abspath(study.philly_draw(seed))}'", f"sweep.seed=[{seed}]", *sets))
            names = {}
            for row in study.table(path, "summary"):
                at = int(row["sweep.policy.budget"]) if "sweep.policy.budget" in row else None
                names[row["run"]] = row["label"] if at is None else (row["label"], at)
            found |= {(names[row_id], LOAD, seed): run for row_id, run in study.runs_of(path)}
        return found

    def one_decision(self):
        """{name: [(budget, Interval of mean JCT / best simple order)]} on the queues of scripts/search-ablation, each ordered by one decision."""
        path = self.study.file("queues.csv")
        if not self.study.redraw:
            self.run_queues(path)
        with open(path) as f:
            ratios = {}
            for row in csv.DictReader(f):
                ratios.setdefault((row["policy"], int(row["budget"])), []).append(math.log(float(row["ratio"])))
        budgets = sorted({budget for _, budget in ratios})
        return {name: [(b, interval(ratios[name, b]).map(math.exp)) for b in budgets] for name in ("ga", "pso", "sa")}

    def run_queues(self, path):
        loader = importlib.machinery.SourceFileLoader("search_ablation", ABLATION)
        queues = importlib.util.module_from_spec(importlib.util.spec_from_loader("search_ablation", loader))
        loader.exec_module(queues)
        cases, budgets = (3, (25, 200)) if self.study.fast else (QUEUES, QUEUE_BUDGETS)
        tried = [(name, budget) for name in ("ga", "pso", "sa") for budget in budgets]
        policies = [{"name": name, "budget": budget, "period": "1e9 s", "window_jobs": QUEUE_JOBS + 1} for name, budget in tried]
        with tempfile.TemporaryDirectory() as folder, open(path, "w") as f:
            f.write("policy,budget,case,ratio\n")
            for case in range(cases):
                trace = os.path.join(folder, "trace.csv")
                queues.write_case(trace, 1000 + case, QUEUE_JOBS)
                means = queues.means(os.path.abspath(self.study.braid), folder, trace, queues.SIMPLE + policies)
                best = min(means[:len(queues.SIMPLE)])
                for (name, budget), value in zip(tried, means[len(queues.SIMPLE):]):
                    f.write(f"{name},{budget},{case},{value / best:.9g}\n")

    def ablation(self):
        """The table of scripts/search-ablation, as it prints it."""
        path = self.study.file("ablation.md")
        if not self.study.redraw:
            small = ["--cases", "2", "--jobs", "20", "--budget", "100"] if self.study.fast else []
            with open(path, "w") as f:
                if subprocess.run([sys.executable, ABLATION, "--braid", self.study.braid, *small],
                                  stdout=f).returncode != 0:
                    sys.exit("scripts/search-ablation failed")
        with open(path) as f:
            return f.read()

    def against_simple(self):
        """[(preempts, name, best simple policy, ratio of mean JCT, ratio of p99, wins, draws, processor time of a run)]"""
        out = []
        for preempts in (False, True):
            best = self.best[preempts]
            for mine in SEARCHING[preempts]:
                wins = sum(self.runs[mine, LOAD, s]["jct_mean"] < self.runs[best, LOAD, s]["jct_mean"] for s in self.seeds)
                out.append((preempts, mine, best, ratio(self.runs, mine, best, LOAD, "jct_mean"), ratio(self.runs, mine, best, LOAD, "jct_p99"),
                            wins, len(self.seeds), mean(self.runs, mine, LOAD, "cpu_s").mean))
        return out
