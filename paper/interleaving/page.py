"""The words and tables of README.md; every number, and what is said to hold, comes from the runs."""

import math
import textwrap

from figures import BASELINES, NAMES, TWINS, mix_name
from study import MEASURED, points, ratio

CLAIM_USE, CLAIM_JCT = 1.2, 0.85
POLICIES = ("muri_s", "muri_l")

HEAD = """# What interleaving gains

The published evaluation of Muri is in [paper/muri](../muri/README.md), the error of the closed form in
[paper/interleaving-model](../interleaving-model/README.md). This page goes past them, in braid's own mode: does interleaving gain on
other workloads what this project set out to show (20 % more utilisation, 15 % less mean JCT), and on what does the gain depend?

    ./scripts/paper interleaving

runs the configs of this folder ({runs} runs, {jobs} jobs simulated), draws the figures and writes this page; `--fast` runs a small part and
prints the tables. Nothing here is measured on a machine: jobs are generated, and stage times are those of
[configs/profiles/muri.yaml](../../configs/profiles/muri.yaml), drawn for each job with equal weights.

**How it is compared.** Every policy has the same jobs, seed by seed. Ratios are geometric means of the paired ratios over {seeds} seeds, differences means
of the paired differences, both with a 95 % interval by Student's t (the same numbers as `braid compare`, which the script checks).

**What is compared.** *Muri-S* takes jobs in the order of the remaining GPU-service, as SRSF does, *Muri-L* in that of the attained
GPU-service, as Tiresias does in queues; both group jobs. Starts, resumes and moves take what Muri's authors measured
([overhead.csv](../muri/overhead.csv)). Groups are *slowed as measured* (by 1.31, 1.48 and 1.35 for 2, 3 and 4 jobs, beyond the period of the
closed form: what Muri's simulator puts on groups against jobs alone) where nothing else is said.

**Which utilisation.** Three can be meant, and they differ:

* *use of the cluster*: the mean of the four resources (storage, CPU, GPU, network: time that each works / time that it could), over the
  time from the first to the last submission. Below saturation it is given by the jobs that arrive and no policy can change it much;
* *use of held GPUs*: the same work / the GPU time that is allocated, to the last end. This is what interleaving itself raises: more
  work for the GPUs that a job holds;
* *allocation*: GPU time allocated / available, the usual number of cluster reports. A shared GPU counts once, so that interleaving lowers it.
"""

ASSUMED = """## What to keep in mind

* The stages of the eight networks are measured, the division of loading into storage and CPU is not (see the table's head). The last table
  of the claim shows what another division does.
* The factors by group size are those of Muri's authors, one number a size whoever the members are. How much
  depends on them is in the tables above, where groups are also not slowed.
* Networks are drawn with equal weights. The traces of Philly and Helios do not say what their jobs trained.
* Fewer jobs than in the real traces, on fewer GPUs, and loads are of the whole trace. The tail of a few very long jobs decides the makespan of both.
* The model of a group and its limits: [docs/interleaving.md](../../docs/interleaving.md).
"""


def fill(text):
    """Paragraphs and list items to 120 columns; tables, headings and code as they are."""
    out = []
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        if block.startswith(("|", "#", "!", "    ")):
            out.append(block)
            continue
        items = []
        for line in lines:
            if line.startswith("* ") or not items:
                items.append(line)
            else:
                items[-1] += " " + line.strip()
        out.append("\n".join(textwrap.fill(i, 120, subsequent_indent="  " if i.startswith("* ") else "", break_on_hyphens=False,
                                           break_long_words=False) for i in items))
    return "\n\n".join(out) + "\n"


def r(i, digits=2):
    """An interval as text."""
    if math.isnan(i.low):
        return f"{i.mean:.{digits}f}"
    return f"{i.mean:.{digits}f} ({i.low:.{digits}f} to {i.high:.{digits}f})"


def p(i):
    return f"{i.mean:+.1f} ({i.low:+.1f} to {i.high:+.1f})"


def holds(i, bound, is_more):
    """Whether all of the interval, none of it or a part of it is beyond the bound."""
    beyond = (i.low >= bound, i.high < bound) if is_more else (i.high <= bound, i.low > bound)
    return "yes" if beyond[0] else "no" if beyond[1] else "open"


def table(head, rows, left=1):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * left + ["---:"] * (len(head) - left)) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def span(values, digits=2):
    """The means of intervals: from the lowest to the highest."""
    means = sorted(v.mean for v in values)
    low, high = (f"{m:.{digits}f}" for m in (means[0], means[-1]))
    return low if low == high else f"{low} to {high}"


def mixes(runs):
    """Mixes in order: one class, two, all."""
    found = {at[0] for _, at, _ in runs}
    weights = {m: [float(w) for w in m.strip("[]").split(",")] for m in found}
    return sorted(found, key=lambda m: (sum(w > 0 for w in weights[m]), max(weights[m]) == min(weights[m]), [-w for w in weights[m]]))


class Page:
    def __init__(self, study, titles, variant_names, claims, variants, load, mix, kinds, error):
        self.study, self.titles, self.variant_names = study, titles, variant_names
        self.claims, self.variants = claims, variants
        self.load, self.mix, self.kinds, self.error = load, mix, kinds, error

    # ---- the claim

    def loads(self, config):
        return sorted({at for _, at, _ in self.claims[config]}, key=lambda at: float(at[0]))

    def gains(self, config, policy, baseline, metric, how=ratio):
        return [how(self.claims[config], policy, baseline, at, metric) for at in self.loads(config)]

    def claim_table(self, config):
        rows = []
        for baseline in BASELINES:
            for policy in POLICIES:
                for at in self.loads(config):
                    runs = self.claims[config]
                    jct, use, held = (ratio(runs, policy, baseline, at, m) for m in ("jct_mean", "use", "use_held"))
                    rows.append([f"{NAMES[policy]} / {NAMES[baseline]}", at[0], r(jct), holds(jct, CLAIM_JCT, False), r(use),
                                 p(points(runs, policy, baseline, at, "use")), holds(use, CLAIM_USE, True), r(held),
                                 p(points(runs, policy, baseline, at, "use_held")), holds(held, CLAIM_USE, True),
                                 p(points(runs, policy, baseline, at, "satisfied_rate"))])
        return table(["pair", "load", "mean JCT", "-15 %", "use of the cluster", "points", "+20 %", "use of held GPUs", "points", "+20 %",
                      "slowdown <= 2, points"], rows)

    def level_table(self, config):
        """What the policies reach, means over the seeds."""
        rows = []
        for at in self.loads(config):
            for policy in (*BASELINES, *POLICIES):
                runs = [run for (label, where, _), run in self.claims[config].items() if label == policy and where == at]
                mean = {m: sum(run[m] for run in runs) / len(runs)
                        for m in ("jct_mean", "use", "gpu", "held", "use_held", "satisfied_rate")}
                rows.append([at[0], NAMES[policy], f"{mean['jct_mean'] / 3600:.2f}",
                             *(f"{100 * mean[m]:.1f}" for m in ("held", "use", "gpu", "use_held", "satisfied_rate"))])
        return table(["load", "policy", "mean JCT, h", "allocation, %", "use of the cluster, %", "GPU alone, %", "use of held GPUs, %",
                      "slowdown <= 2, % of jobs"], rows, left=2)

    def variant_table(self, config):
        """At load 0.9, each Muri against itself when nobody shares, and against its twin."""
        at = ("0.9",)
        rows = []
        for name, text in (("", "as above"), *((n, t) for n, t in self.variant_names.items() if not n.endswith("alone"))):
            runs = self.variants[config, name] if name else self.claims[config]
            alone = self.variants[config, "halves-alone" if name == "halves" else "alone"]  # the same stages
            for policy, twin in TWINS:
                both = {(policy, at, seed): run for (label, where, seed), run in runs.items() if label == policy and where == at}
                both |= {("alone", at, seed): run for (label, where, seed), run in alone.items() if label == policy and where == at}
                rows.append([text, NAMES[policy], r(ratio(both, policy, "alone", at, "jct_mean")),
                             r(ratio(both, policy, "alone", at, "use_held")), p(points(both, policy, "alone", at, "satisfied_rate")),
                             NAMES[twin], r(ratio(runs, policy, twin, at, "jct_mean"))])
        return table(["groups", "policy", "mean JCT", "use of held GPUs", "slowdown <= 2, points", "twin", "mean JCT / twin"], rows, left=2)

    def verdicts(self):
        """A list item a baseline, in words."""
        items = []
        for baseline in BASELINES:
            parts = []
            for metric, bound, is_more, what in (("jct_mean", CLAIM_JCT, False, "15 % less mean JCT"),
                                                 ("use", CLAIM_USE, True, "20 % more use of the cluster"),
                                                 ("use_held", CLAIM_USE, True, "20 % more use of held GPUs")):
                all_gains = [g for c in self.claims for policy in POLICIES for g in self.gains(c, policy, baseline, metric)]
                n = sum(holds(g, bound, is_more) == "yes" for g in all_gains)
                parts.append(f"{what} in {n} of {len(all_gains)} cases (ratio {span(all_gains)})")
            share = [g for c in self.claims for policy in POLICIES for g in self.gains(c, policy, baseline, "satisfied_rate", points)]
            low, high = min(g.mean for g in share), max(g.mean for g in share)
            parts.append(f"jobs with a slowdown of at most 2: {low:+.1f} to {high:+.1f} points")
            items.append(f"* **{NAMES[baseline]}**: " + "; ".join(parts) + ".")
        return "\n".join(items)

    def claim_words(self):
        def count(metric, bound, is_more, baselines):
            gains = [g for c in self.claims for b in baselines for policy in POLICIES for g in self.gains(c, policy, b, metric)]
            return sum(holds(g, bound, is_more) == "yes" for g in gains), len(gains)

        strong = ("srtf", "srsf")
        jct_all, jct_strong = count("jct_mean", CLAIM_JCT, False, BASELINES), count("jct_mean", CLAIM_JCT, False, strong)
        use, held = count("use", CLAIM_USE, True, BASELINES), count("use_held", CLAIM_USE, True, BASELINES)
        own = []
        for config, title in self.titles.items():
            at, alone = ("0.9",), self.variants[config, "alone"]
            for policy in POLICIES:
                both = {("alone", *key[1:]): run for key, run in alone.items() if key[0] == policy}
                for name, text in (("", "slowed as measured"), ("unslowed", "not slowed")):
                    runs = self.variants[config, name] if name else self.claims[config]
                    mine = both | {k: v for k, v in runs.items() if k[0] == policy and k[1] == at}
                    own.append((title, policy, text, ratio(mine, policy, "alone", at, "jct_mean"), ratio(mine, policy, "alone", at, "use_held")))
        slowed = [o for o in own if o[2] == "slowed as measured"]
        free = [o for o in own if o[2] == "not slowed"]
        return f"""A case is a workload, a load, one of the two Muris and a baseline. The claim holds in a case when the whole interval is beyond it.

* **-15 % mean JCT** holds in {jct_all[0]} of {jct_all[1]} cases; against SRTF and SRSF in {jct_strong[0]} of {jct_strong[1]}.
* **+20 % utilisation**, as use of the cluster, holds in {use[0]} of {use[1]} cases; as use of held GPUs in {held[0]} of {held[1]}.

Much of the gain over FIFO and SJF is that of an order with preemption, which SRTF and SRSF have as well. What sharing itself adds is the
same Muri with and without it (`groups: 1`), at load 0.9: when groups are slowed as measured, the mean JCT is multiplied by {span([o[3] for o in slowed])} and the
use of held GPUs by {span([o[4] for o in slowed])}; if groups were not slowed at all, by {span([o[3] for o in free])} and {span([o[4] for o in free])}.
"""

    # ---- what the gain depends on

    def twin_table(self, first, places):
        """`places`: [(name, [(series, runs, at)])]"""
        rows = []
        for name, of in places:
            for series, runs, at in of:
                row = [name] + ([series] if series else [])
                for muri, twin in TWINS:
                    row += [r(ratio(runs, muri, twin, at, m)) for m in ("jct_mean", "use_held", "makespan")]
                rows.append(row)
        has_series = any(series for _, of in places for series, _, _ in of)
        heads = [f"{NAMES[a]} / {NAMES[b]}: {m}" for a, b in TWINS for m in ("mean JCT", "use of held GPUs", "makespan")]
        return table([first] + (["groups"] if has_series else []) + heads, rows, left=1 + has_series)

    def load_table(self):
        loads = sorted({at[0] for _, at, _ in self.load}, key=float)
        return self.twin_table("load", [(load, [("slowed", self.load, (load, MEASURED)), ("not slowed", self.load, (load, "[1]"))])
                                        for load in loads])

    def mix_table(self):
        return self.twin_table("networks bound by", [(mix_name(m), [("", self.mix, (m,))]) for m in mixes(self.mix)])

    def kinds_table(self):
        kinds = sorted({at[1] for _, at, _ in self.kinds}, key=lambda k: k.count(","))
        return self.twin_table("kinds", [(k.strip("[]"), [("slowed", self.kinds, (MEASURED, k)), ("not slowed", self.kinds, ("[1]", k))])
                                         for k in kinds])

    def error_table(self):
        errors = sorted({at[0] for _, at, _ in self.error}, key=float)
        return self.twin_table("error", [(f"{100 * float(e):g} %", [("", self.error, (e,))]) for e in errors])

    def tables(self):
        """All of them, for --fast."""
        out = []
        for config in self.claims:
            out += [config, self.level_table(config), self.claim_table(config), self.variant_table(config)]
        return "\n".join(out + [self.load_table(), self.mix_table(), self.kinds_table(), self.error_table()])

    def load_words(self):
        loads = sorted({at[0] for _, at, _ in self.load}, key=float)
        ends = {s: [ratio(self.load, "muri_s", "srsf", (load, i), m) for load in (loads[0], loads[-1]) for m in ("jct_mean", "use_held")]
                for s, i in (("slowed", MEASURED), ("not slowed", "[1]"))}
        a, b = ends["slowed"], ends["not slowed"]
        return (f"From load {loads[0]} to {loads[-1]}, Muri-S / SRSF goes from {a[0].mean:.2f} to {a[2].mean:.2f} in mean JCT and from {a[1].mean:.2f} to "
                f"{a[3].mean:.2f} in the use of held GPUs when groups are slowed as measured; from {b[0].mean:.2f} to {b[2].mean:.2f} and from "
                f"{b[1].mean:.2f} to {b[3].mean:.2f} when they are not. Groups are only made when there is not room for all, so that at low load "
                f"there is little to gain. {self.first_loads(loads)}")

    def first_loads(self, loads):
        """From which load on the claim holds against the twin that does not share."""
        parts = []
        for series, slow in (("slowed as measured", MEASURED), ("not slowed", "[1]")):
            for metric, bound, is_more, what in (("jct_mean", CLAIM_JCT, False, "15 % less mean JCT"),
                                                 ("use_held", CLAIM_USE, True, "20 % more use of held GPUs")):
                met = [load for load in loads if holds(ratio(self.load, "muri_s", "srsf", (load, slow), metric), bound, is_more) == "yes"]
                parts.append(f"{series}: {what} at {'load ' + ', '.join(met) if met else 'no load'}")
        return "The claims hold against SRSF, when groups are " + "; ".join(parts) + "."

    def mix_words(self):
        held = {m: ratio(self.mix, "muri_s", "srsf", (m,), "use_held") for m in mixes(self.mix)}
        best, worst = max(held, key=lambda m: held[m].mean), min(held, key=lambda m: held[m].mean)
        jct = {m: ratio(self.mix, "muri_s", "srsf", (m,), "jct_mean") for m in held}
        worst_jct = max(jct, key=lambda m: jct[m].mean)
        return (f"The use of held GPUs gains most, {held[best].mean:.2f}, with networks bound by {mix_name(best)}, and least, {held[worst].mean:.2f}, with "
                f"{mix_name(worst)}. The mean JCT suffers most, {jct[worst_jct].mean:.2f}, with {mix_name(worst_jct)}. The class is the network's, not the "
                "job's: a job has a second and third stage, and the network's own is none on one GPU, so that jobs of one class can gain from "
                "each other.")

    def kinds_words(self):
        kinds = sorted({at[1] for _, at, _ in self.kinds}, key=lambda k: k.count(","))
        free = [ratio(self.kinds, "muri_s", "srsf", ("[1]", k), "use_held").mean for k in kinds]
        order = ratio(self.kinds, "muri_l", "tiresias", ("[1]", kinds[0]), "jct_mean")
        steps = ", ".join(f"{f:.2f}" for f in free)
        return (f"With one kind nobody shares. Not slowed, Muri-S / SRSF in the use of held GPUs is {steps} for 1, 2, 3 and 4 kinds. Without sharing Muri-L "
                f"still has {r(order)} of Tiresias' mean JCT: that is its order, which has no queues, and no merit of interleaving.")

    def error_words(self):
        errors = sorted({at[0] for _, at, _ in self.error}, key=float)
        first, last = ([ratio(self.error, "muri_s", "srsf", (e,), m) for m in ("jct_mean", "use_held")] for e in (errors[0], errors[-1]))
        return (f"With exact profiles Muri-S / SRSF is {r(first[0])} in mean JCT and {r(first[1])} in the use of held GPUs; with an error of "
                f"{100 * float(errors[-1]):g} % it is {r(last[0])} and {r(last[1])}. The stages of these networks differ by factors, not by per cents: who goes "
                "well with whom is told by rough profiles too.")

    def page(self):
        studies = [*self.claims.values(), *self.variants.values(), self.load, self.mix, self.kinds, self.error]
        seeds = len({seed for _, _, seed in self.load})
        n_runs = sum(map(len, studies))
        jobs = sum(run["jobs"] for runs in studies for run in runs.values())
        parts = [fill(HEAD.format(runs=f"{n_runs:,}", jobs=f"{jobs / 1e6:.1f} million", seeds=seeds)), "## The founding claim\n", fill(self.claim_words()),
                 "By baseline, over both workloads, all loads and both Muris:\n", fill(self.verdicts()),
                 "Ratios are Muri / baseline: below 1 is better in mean JCT, above 1 in use. Dashed: what was claimed.\n",
                 "![the claim](figures/claim.png)\n"]
        for config, title in self.titles.items():
            parts += [f"### {title[0].upper()}{title[1:]}\n", "What the policies reach, means over the seeds:\n", self.level_table(config),
                      "Pair by pair:\n", self.claim_table(config),
                      "At load 0.9, each Muri against itself without sharing, under other assumptions; and against the policy of its order:\n",
                      self.variant_table(config)]
        parts += ["## What the gain depends on\n",
                  fill("From here on the jobs are like those of Muri's evaluation: 1500 from the generator's model `muri`, many of 8 GPUs, on 64 GPUs, at "
                       "load 1.05 unless it is the load that varies."),
                  "### The four resources over time\n", "![resources over time](figures/time.png)\n",
                  "### Load\n", fill(self.load_words()), "![load](figures/load.png)\n", self.load_table(),
                  "### The mix of bottlenecks\n", fill(self.mix_words()), "![mix](figures/mix.png)\n", self.mix_table(),
                  "### The number of kinds of resource\n",
                  fill("`model.interleave.kinds` joins kinds that cannot be used at the same time."), fill(self.kinds_words()),
                  "![kinds](figures/kinds.png)\n", self.kinds_table(),
                  "### The error of profiles\n",
                  fill("`model.profile_error`: policies see each stage time of each job off by up to so much, jobs run as they are."),
                  fill(self.error_words()), "![error](figures/error.png)\n", self.error_table(), fill(ASSUMED)]
        return "\n".join(parts)
