"""The words and tables of README.md and the rows of data.csv; every number comes from the runs."""

import csv
import io
import math

from page import fill, table  # of paper/interleaving
from zoo import COSTLY_SEEDS, GROUPS, LEFT_OUT, SEEDS, is_run, mean, ratio, values

AT = 0.9  # the load of the tables

HEAD = """# The policies compared

Every policy of the program (`braid policy list`) on the same jobs, in one engine, under one model. `scripts/paper policies` runs
[configs/policy-zoo.yaml](../../configs/policy-zoo.yaml) on {n_workloads} workloads and the configs of this folder ({runs} runs, {jobs} million jobs
simulated), draws the figures and writes this page; `--fast` runs a small part and prints the tables.

**Workloads.** {workloads}

**Model.** Starts, resumes and moves take what Muri's authors measured ([overhead.csv](../muri/overhead.csv)); groups of jobs that share GPUs are
slowed as in [paper/interleaving](../interleaving/README.md). Estimates of run times are exact. Every job has a deadline, 1.5 to 10 times
its run time after its submission, and stage times of a network that is drawn for it; who may not know them runs as if they were not
there. Jobs have no priorities. `quota` guarantees to each user its part of the GPU time; `auction` and `proportional_price` give all users the same
income; `antman` may give company to any job. Left out: {left_out}.

**How it is compared.** A policy is compared with the simple one of its group, jobs for jobs: ratios are geometric means of the paired ratios over {seeds} seeds
(the first {costly} for Muri, which takes long: its means are over other jobs than those beside it, its ratios are not, and with heavy tails
only load 0.9 was run), with 95 % intervals by Student's t, as in `braid compare`.
Means are over the jobs that finish; only `edf (admission)` rejects any. A load is GPUs x run time over
capacity. The bound on the mean JCT holds for every schedule, whatever it knows. *{mu}s* is the processor time of a run, all of it, for
each decision that took effect: the engine's own work is the greater part of the lowest.
"""

AFTER = """## What to keep in mind

* Which policy is best in its group was chosen on the runs that are shown. Where intervals overlap there is no winner.
* The shares of users, the income, the length of quanta and thresholds are the defaults; tuned to a workload, some of these policies
  would do better.
* Estimates are exact. Policies that live on them lose when they are wrong; `estimate: {source: noise}` shows by how much.
* A week, or a few days, with one long job more or less: intervals over seeds are wide where the longest jobs decide.
* Deadlines in proportion to run times tell much about these: `edf` comes close to `srtf` for that reason.
"""


def r(i, digits=2):
    """An interval as text."""
    digits = 3 if i.mean < 0.095 else digits
    if i.mean >= 10:
        return f"{i.mean:.0f} ({i.low:.0f} to {i.high:.0f})"
    if math.isnan(i.low):
        return f"{i.mean:.{digits}f}"
    return f"{i.mean:.{digits}f} ({i.low:.{digits}f} to {i.high:.{digits}f})"


def number(value):
    """To three digits."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


class Page:
    def __init__(self, study, found, search, lines):
        self.study, self.found, self.search, self.lines = study, found, search, lines
        self.group = {p.label: p.group for p in study.policies}

    def labels(self, group):
        return [p.label for p in self.study.policies if p.group == group]

    # ---- tables

    def workload_table(self, w):
        rows = self.found[w.key]
        out = []
        for group, (title, baseline) in GROUPS.items():
            if not self.labels(group):
                continue
            out.append([f"**{title}**"] + [""] * 10)
            for label in sorted(self.labels(group), key=lambda n: mean(rows, n, AT, "jct_mean").mean):
                m = {k: mean(rows, label, AT, k).mean for k in ("jct_mean", "jct_p99", "gpu_utilization", "jain_index", "ftf_mean", "gap_jct",
                                                                "deadline_miss_rate", "preemptions", "jobs", "us")}
                same = label == baseline
                out.append([f"`{label}`", number(m["jct_mean"] / 3600), f"/ `{baseline}`" if same else r(ratio(rows, label, baseline, AT, "jct_mean")),
                            number(m["jct_p99"] / 3600), "" if same else r(ratio(rows, label, baseline, AT, "jct_p99")),
                            f"{100 * m['gpu_utilization']:.1f}", f"{m['jain_index']:.3f}", number(m["ftf_mean"]), number(m["gap_jct"]),
                            f"{100 * m['deadline_miss_rate']:.1f}", number(m["us"])])
        return table(["policy", "mean JCT, h", "ratio", "p99, h", "ratio", "GPUs used, %", "Jain", "ftf", "gap", "late, %", "µs"], out)

    def data(self):
        """All of it, as csv: a row a workload, load and policy."""
        out = io.StringIO()
        metrics = ("jct_mean", "jct_p99", "gpu_utilization", "jain_index", "ftf_mean", "gap_jct", "deadline_miss_rate", "preemptions",
                   "rejected", "us")
        csv_out = csv.writer(out, lineterminator="\n")
        csv_out.writerow(["workload", "load", "knowledge", "policy", "seeds"] + [f"{m}{end}" for m in metrics for end in ("", "_low", "_high")] +
                         ["baseline"] + [f"{m}_ratio{end}" for m in ("jct_mean", "jct_p99") for end in ("", "_low", "_high")])
        for w in self.study.workloads:
            rows = self.found[w.key]
            for load in self.study.loads:
                for p in self.study.policies:
                    if not is_run(rows, p.label, load):
                        continue
                    baseline = GROUPS[p.group][1]
                    cells = [x for m in metrics for x in _ends(mean(rows, p.label, load, m))]
                    cells += [baseline] + [x for m in ("jct_mean", "jct_p99") for x in _ends(ratio(rows, p.label, baseline, load, m))]
                    csv_out.writerow([w.key, load, p.group, p.label, len(values(rows, p.label, load, "jct_mean"))] + cells)
        return out.getvalue()

    # ---- who wins

    def best(self, rows, labels, metric, load=AT, least=True):
        return (min if least else max)(labels, key=lambda n: mean(rows, n, load, metric).mean)

    def winners(self):
        classes = (("nothing of lengths", ("no", "no+")), ("run times", ("estimate", "search", "estimate+", "search+")))
        out = []
        for what, metric, least, show in (("mean JCT", "jct_mean", True, lambda v: f"{number(v / 3600)} h"),
                                          ("p99 of the JCT", "jct_p99", True, lambda v: f"{number(v / 3600)} h"),
                                          ("GPUs used", "gpu_utilization", False, lambda v: f"{100 * v:.1f} %"),
                                          ("Jain's index of users", "jain_index", False, lambda v: f"{v:.3f}"),
                                          ("deadlines missed", "deadline_miss_rate", True, lambda v: f"{100 * v:.1f} %")):
            for name, groups in classes:
                row = [what, name]
                for w in self.study.workloads:
                    rows = self.found[w.key]
                    best = self.best(rows, [n for g in groups for n in self.labels(g)], metric, least=least)
                    row.append(f"`{best}` {show(mean(rows, best, AT, metric).mean)}")
                out.append(row)
        return table(["best", "knows"] + [w.title for w in self.study.workloads], out, left=2 + len(self.study.workloads))

    def pair(self, mine, other, metric="jct_mean", load=AT):
        """`mine` and `other`: labels, or lists of which the best by mean JCT on each workload is taken. 'A / B: x (..) on W' for all workloads."""
        parts = []
        for w in self.study.workloads:
            rows = self.found[w.key]
            a, b = (n if isinstance(n, str) else self.best(rows, n, "jct_mean", load) for n in (mine, other))
            names = "" if isinstance(mine, str) and isinstance(other, str) else f"`{a}` / `{b}` "
            parts.append(f"{names}{r(ratio(rows, a, b, load, metric))} ({w.title})")
        return "; ".join(parts)

    def words(self):
        fair = [n for n in ("fair_share", "max_min", "drf", "hierarchical", "quota", "auction")]
        strict = self.labels("estimate")
        low, high = self.us_span(lambda g: not g.startswith("search") and "profile" not in g)
        s_low, s_high = self.us_span(lambda g: g.startswith("search"))
        m_low, m_high = self.us_span(lambda g: "profile" in g)
        return f"""Ratios of mean JCTs at load {AT}; *best* is the policy with the least mean JCT of its group on that workload.

* **Whether a head that does not fit holds up the rest**: `fifo_skip` / `fifo` {self.pair('fifo_skip', 'fifo')}. Knowing run times but letting the head hold
  up the rest: `sjf` / `fifo` {self.pair('sjf', 'fifo')}.
* **Preemption against knowledge.** The best that preempts without knowing run times, by the best that knows them and never preempts:
  {self.pair(self.labels('no+'), strict)}. Below 1 preemption is worth more.
* **The price of ignorance.** The best that knows no run times, by the best simple one that does, both preempting:
  {self.pair(self.labels('no+'), self.labels('estimate+'))}.
* **Fairness between users** and the mean JCT: the best of {', '.join(f'`{n}`' for n in fair)}, by `fifo_skip`: {self.pair(fair, 'fifo_skip')};
  Jain's index of the same two: {self.jain(fair, 'fifo_skip')}.
* **Sharing GPUs.** `muri_s` / `srsf`: {self.pair('muri_s', 'srsf')}; `muri_l` / `las`: {self.pair('muri_l', 'las')}. Muri regroups at every event, and every
  regrouped job pays for its start: {self.churn()} preemptions a job under `muri_l`. On what the gain depends is the matter of
  [paper/interleaving](../interleaving/README.md).
* **Searching**, by the best simple policy that may do the same: never preempting {self.pair(self.labels('search'), strict)}; preempting
  {self.pair(self.labels('search+'), self.labels('estimate+'))}. More below.
* **The longest first** instead of the shortest: `ljf` / `sjf` {self.pair('ljf', 'sjf')}.
* **What deciding costs**: {number(low)} to {number(high)} µs a decision for policies that neither search nor group (means over seeds, all loads), {number(s_low)} to
  {number(s_high)} µs for those that search, {number(m_low)} to {number(m_high)} µs for those that group.
"""

    def us_span(self, is_in):
        means = [mean(self.found[w.key], p.label, load, "us").mean for w in self.study.workloads for load in self.study.loads
                 for p in self.study.policies if is_in(p.group) and is_run(self.found[w.key], p.label, load)]
        return min(means), max(means)

    def jain(self, fair, other):
        parts = []
        for w in self.study.workloads:
            rows = self.found[w.key]
            best = self.best(rows, fair, "jct_mean")
            parts.append(f"{mean(rows, best, AT, 'jain_index').mean:.2f} and {mean(rows, other, AT, 'jain_index').mean:.2f} ({w.title})")
        return "; ".join(parts)

    def churn(self):
        return " / ".join(number(mean(self.found[w.key], "muri_l", AT, "preemptions").mean / mean(self.found[w.key], "muri_l", AT, "jobs").mean)
                          for w in self.study.workloads)

    # ---- search

    def search_table(self):
        rows = []
        for preempts, name, best, jct, p99, wins, n, cpu in self.search.against_simple():
            rows.append([f"`{name}`", "yes" if preempts else "no", f"`{best}`", r(jct, 3), f"{wins} of {n}", r(p99, 3), f"{cpu:.2f}"])
        return table(["policy", "preempts", "best simple policy", "mean JCT, ratio", "draws won", "p99, ratio", "CPU of a run, s"], rows, left=3)

    def search_words(self):
        from search import BUDGET_SEEDS
        found = self.search.against_simple()

        def verdict(preempts):
            mine = [f for f in found if f[0] == preempts]
            clear = [f"`{f[1]}`" for f in mine if f[3].high < 1]
            open_ = [f"`{f[1]}`" for f in mine if f[3].low <= 1 <= f[3].high]
            worse = [f"`{f[1]}`" for f in mine if f[3].low > 1]
            top = min(mine, key=lambda f: f[3].mean)
            parts = []
            for names, text in ((clear, "better"), (open_, "not to be told apart"), (worse, "worse")):
                if names:
                    parts.append(f"{text}: {', '.join(names)}")
            return f"{'; '.join(parts)}. The least ratio is that of `{top[1]}`, {r(top[3], 3)}"

        ends = {}
        for preempts in (False, True):
            ends[preempts] = "; ".join(f"`{n}` {p[0][1].mean:.3f} with {p[0][0]} plans, {p[-1][1].mean:.3f} with {p[-1][0]}"
                                       for n, p in self.search.curves[preempts].items())
        queue = "; ".join(f"`{n}` {p[0][1].mean:.3f} with {p[0][0]} plans, {r(p[-1][1], 3)} with {p[-1][0]}" for n, p in self.search.queues.items())
        return f"""* **Never preempting**, against `{self.search.best[False]}`: {verdict(False)}.
* **Preempting**, against `{self.search.best[True]}`: {verdict(True)}.
* **More plans, one decision.** Mean JCT of a queue that waits at one moment, by the best simple order: {queue}.
* **More plans, all week** (the first {len(BUDGET_SEEDS)} draws). Ratio of the mean JCT to the same simple policies, from the fewest plans to the most: never preempting {ends[False]}; preempting {ends[True]}.
  A decision is made for the jobs that wait (and with *lookout* for such as may come): what it gains on these need not be gained on the week.
"""

    def search_part(self):
        s = self.search
        if not s.is_there:
            return "The real trace is absent: this part was not run.\n"
        return (fill(f"""The Philly week at load 1.05, {len(s.seeds)} draws of days. All are given the mean JCT as objective and judged by it: every 300 s or more, the
first 64 waiting jobs, 200 plans a decision; with *lookout* also jobs that may come in the next 6 hours, drawn from those that came before; with preemption
also the 64 running jobs that would end last. Opponent is the best, on these draws, of
{len(self.simple(False))} simple policies that never preempt and {len(self.simple(True))} that do ([search.yaml](search.yaml)), all of which may know the same.""") + "\n" +
                fill(self.search_words()) + "\n" + self.search_table() + "\n![Mean JCT against plans a decision](figures/budget.png)\n\n" +
                fill("""**Part by part.** `scripts/search-ablation` switches each part of the searching policies off in turn, on queues that wait at one moment, so
that one decision orders them all and its objective is the mean JCT of the run. *Change* above 0: without it, the order found is worse.""") +
                "\n" + s.parts)

    def simple(self, preempts):
        from search import SIMPLE
        return SIMPLE[preempts]

    # ---- the whole

    def tables(self):
        out = [self.winners()]
        for w in self.study.workloads:
            out += [w.title, self.workload_table(w)]
        if self.search.is_there:
            out += [self.search_table(), self.search.parts]
        return "\n".join(out)

    def page(self):
        study = self.study
        workloads = "; ".join(f"*{w.title}*: {self.described(w)}" for w in study.workloads)
        if len(study.workloads) < 3:
            workloads += "; the real trace was absent when this page was written"
        parts = [fill(HEAD.format(n_workloads=len(study.workloads), runs=f"{study.n_runs:,}", jobs=f"{study.n_jobs / 1e6:.1f}", workloads=workloads + ".",
                                  left_out="; ".join(f"`{n}` ({why})" for n, why in LEFT_OUT.items()), seeds=len(SEEDS),
                                  costly=len(COSTLY_SEEDS), mu="µ")),
                 "## What wins where\n", self.winners(), fill(self.words()),
                 "![Mean JCT and p99 against load](figures/load.png)\n",
                 fill(f"""The best of each group against load, paired with `srtf`; the best were chosen by their mean JCT over all that is shown. Below every policy at
load {AT}; its intervals are those of the paired difference to `srtf`, for the workloads themselves differ more from seed to seed:"""),
                 "![Gap, utilisation, fairness and cost of every policy](figures/ladder.png)\n",
                 f"## Every policy at load {AT}\n",
                 fill("""*ratio*: to the simple policy of the group, with its interval. *Jain*: index of users' 1 / mean slowdown. *ftf*: mean of JCT / JCT on an equal
share. *gap*: mean JCT / lower bound - 1. *late*: deadlines missed, which most policies know nothing of. All loads and all intervals:
[data.csv](data.csv).""")]
        for w in study.workloads:
            parts += [f"### {w.title}\n", self.workload_table(w)]
        parts += ["## Do the searching policies find more?\n", self.search_part(), fill(AFTER)]
        return "\n".join(parts)

    def described(self, w):
        jobs = values(self.found[w.key], "fifo", AT, "jobs")
        size = f"{min(jobs):,.0f} to {max(jobs):,.0f}" if min(jobs) < max(jobs) else f"{jobs[0]:,.0f}"
        what = {"philly": "2 to 8 October 2017, days drawn anew for each seed; a virtual cluster stands for a user",
                "helios": "the generator's `helios`", "heavy": "the generator's `heavy`, bounded Pareto run times of exponent 1.1 in bursts"}[w.key]
        return f"{what}, {size} jobs on {w.gpus} GPUs"


def _ends(i):
    return [f"{x:.6g}" for x in (i.mean, i.low, i.high)]
