"""The words and tables of README.md; every number comes from the runs."""

import math
import textwrap

from evaluation import METRICS, is_exact
from figures import NAMES, PANELS

WITHIN = (0.001, 0.01, 0.1)
PAIRS = (("srtf", "muri-s"), ("srsf", "muri-s"), ("tiresias", "muri-l"), ("antman", "muri-l"), ("themis", "muri-l"))
CAPTIONS = {
    9: "durations known",
    10: "durations unknown",
    11: "what the parts of Muri-L are worth",
    12: "how many jobs may be in a group",
    13: "the mix of jobs",
}

HEAD = """# Muri (SIGCOMM'22), figures 9 to 13

Zhao et al., *Multi-Resource Interleaving for Deep Learning Training*. `scripts/paper muri` runs the configs of this folder, draws the
figures and writes this page. `figN.yaml` runs figure N under the semantics of the authors' simulator (`compat: muri`); `own.yaml` runs
the traces of figures 9 and 10 in braid's own mode. The traces and the published numbers are read from `../shared`.

The metrics are those of the authors: JCT is end - submission, the tail is element floor(0.99 n) of the ascending JCTs of n jobs, the
makespan is the last end, counted from 0. All times in seconds. Differences are ours / published - 1.
"""

WHY = """## What reproduces, and what does not

* **SRTF, SRSF, Tiresias, AntMan: yes.** {exact} of {of_exact} published numbers of figures 9, 10 and 13 are within 0.1 %; the largest
  difference is {exact_largest:.0e}. The same goes for AntMan in figure 12.
* **Muri-S, Muri-L: some.** {muri} of {of_muri} are within 0.1 % (each number counted in every figure that shows it), the farthest is
  {muri_far}. Where outputs of the released simulator are at hand, every job starts and ends at the same time as there (second table), on trace3 and trace3_pr among others, and those outputs differ from the paper as ours do: the released code gives other numbers
  than were printed; which version printed them is not known.
* **Parts of Muri-L (figures 11, 12): partly.** {parts} of {of_parts} are within 0.1 %, the farthest is {parts_far}. We have no outputs of
  the released simulator to compare jobs with, so that here a fault of ours cannot be told from another version of theirs.
* **Themis: no.** {themis} of {of_themis} are within 0.1 %, {themis_ten} within 10 %, the farthest is {themis_far}. At each event it
  minimises the largest unfairness; many shares of the cluster reach the same minimum, and the authors take the one at which their
  interior-point solver happens to stop. We take the one that is also least unfair to the second worst off, the third, and so on.
  The makespan hardly depends on this, the mean JCT does, most of all where all jobs are submitted at once. On trace3 the published
  makespan is below what the released model can reach ({themis_bound}): it comes from an older version.
"""

SPLIT = """Own mode once more on trace3 and trace3_pr, with the time for storage and CPU taken as half the one and half the other, which is
closest to what the authors' simulator does with it. What the traces measured cannot be told from them; the truth is likely between the two
columns.
"""

COSTS = """Where the time goes in braid's own mode: GPU time that overheads take, and GPU time worked alone for GPU time held by each job (1 is a job alone; in a group each member holds all GPUs of the group).
"""

JOBS = """Job by job against outputs of the released simulator. Those of Muri-S and Muri-L beyond trace3 are of an independent
re-implementation, equal to it wherever both ran.
"""

OWN = """## In braid's own mode

The ratios of the paper - how many times longer the baseline takes than Muri - as published, under the semantics of the authors'
simulator, and in braid's own mode. There, with the same jobs and the same 64 GPUs:

* a start, resume or move costs its overhead once, and no other job pays; in their simulator every running job pays its overhead anew
  at every event, whoever the event concerns, so that jobs in a busy trace lose much of their time, and members of a group pay the sum of
  all members' overheads;
* Tiresias needs real places as everyone else, where theirs counts GPUs;
* the slow-down of a group by its size is one for all policies, and jobs alone are not slowed;
* a group moves by the paper's closed form over storage, CPU, GPU and network. The traces give one time for storage and CPU together, and
  braid takes it for storage: two jobs whose time goes there cannot overlap, although one may wait for the disk and the other for the
  CPU. Theirs gives that stage two phases, in which two such jobs do overlap. What this is worth is shown last in this section;
* jobs that stay where they are are not moved; theirs places everything anew at each event, for free.

own.yaml has no AntMan and no Themis: their rows end with the semantics of the authors' simulator.
"""


def ratio(runs, trace, pair, metric):
    a, b = ((trace, policy) for policy in pair)
    return getattr(runs[a], metric) / getattr(runs[b], metric) if a in runs and b in runs else None


def line(*cells):
    return "| " + " | ".join(cells) + " |\n"


def header(*cells):
    """The first cell is text, those that begin with > are numbers."""
    rule = "| " + " | ".join("---:" if c.startswith(">") else "---" for c in cells) + " |\n"
    return line(*(c.removeprefix(">") for c in cells)) + rule


def percent(x):
    text = f"{100 * x:+.3f}"
    return "0.000 %" if float(text) == 0 else text + " %"


def farthest(rows):
    row = max(rows, key=lambda r: abs(r.apart))
    return f"{100 * row.apart:+.1f} % ({NAMES[row.policy]}, {row.trace}, {PANELS[row.metric]}, figure {row.figure})"


def near(rows, bound=WITHIN[0]):
    return sum(abs(r.apart) <= bound for r in rows)


def folded(text):
    """Paragraphs and items of lists, each in lines of 140 characters at most."""
    out, block = [], []
    for row in text.splitlines() + [""]:
        if block and (row == "" or row.startswith("* ")):
            indent = "  " if block[0].startswith("* ") else ""
            words = " ".join(part.strip() for part in block)
            out.append(textwrap.fill(words, 140, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))
            block = []
        if row == "" or row.startswith("#"):
            out.append(row)
        else:
            block.append(row)
    return "\n".join(out[:-1]) + "\n"


def verdicts(rows):
    """How many numbers reproduce, a line a figure and policy."""
    out = header("figure", "policy", ">numbers", ">within 0.1 %", ">within 1 %", ">within 10 %", ">largest difference")
    seen = {}
    for r in rows:
        seen.setdefault((r.figure, r.policy), []).append(r)
    for (figure, policy), those in seen.items():
        worst = max(those, key=lambda r: abs(r.apart))
        counts = (str(near(those, bound)) for bound in WITHIN)
        out += line(str(figure), NAMES[policy], str(len(those)), *counts, percent(worst.apart))
    return out + line("all", "", str(len(rows)), *(str(near(rows, bound)) for bound in WITHIN), percent(max((r.apart for r in rows), key=abs)))


def per_job(alike):
    out = header("trace", "policy", ">jobs", ">start and end alike to 1e-6", ">largest difference")
    for a in alike:
        out += line(a.trace, NAMES[a.label], str(a.jobs), str(a.alike), "below 1e-9" if a.largest < 1e-9 else f"{a.largest:.0e}")
    return out


def differences(rows):
    out = header("figure", "trace", "policy", "metric", ">published [s]", ">braid [s]", ">difference", "within 0.1 %")
    for r in rows:
        verdict = "yes" if abs(r.apart) <= WITHIN[0] else "**no**"
        out += line(
            str(r.figure), r.trace, NAMES[r.policy], PANELS[r.metric], f"{r.published:.1f}", f"{r.ours:.1f}", percent(r.apart), verdict
        )
    return out


def reasons(rows):
    exact = [r for r in rows if is_exact(r)]
    themis = [r for r in rows if r.policy == "themis"]
    muri = [r for r in rows if r.policy in ("muri-s", "muri-l")]
    parts = [r for r in rows if r.policy.startswith("muri-l-")]
    bound = next(r for r in themis if (r.trace, r.metric) == ("trace3", "makespan"))
    return WHY.format(
        exact=near(exact), of_exact=len(exact), exact_largest=max(abs(r.apart) for r in exact),
        muri=near(muri), of_muri=len(muri), muri_far=farthest(muri),
        parts=near(parts), of_parts=len(parts), parts_far=farthest(parts),
        themis=near(themis), of_themis=len(themis), themis_ten=near(themis, 0.1), themis_far=farthest(themis),
        themis_bound=f"{bound.published:.0f} s, ours {bound.ours:.0f} s",
    )  # fmt: skip


def mean(values):
    """Geometric: of ratios."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def three(ratios):
    return [f"{r:.2f}" if r is not None else "-" for r in ratios]


def costs(own):
    """What starting over and sharing take, in own mode."""
    out = header("trace", "policy", ">overhead, share of GPU time held", ">work done per time held")
    for (trace, label), run in sorted(own.items()):
        out += line(trace, NAMES[label], f"{100 * run.overhead:.2f} %", f"{run.speed:.2f}")
    return out


def halves(runs, own, split):
    out = header("ratio", "trace", "metric", ">compat: muri", ">own mode", ">own mode, half and half")
    for pair in PAIRS[:3]:
        for trace in sorted({trace for trace, _ in split}):
            for metric in METRICS:
                cells = three(ratio(source, trace, pair, metric) for source in (runs, own, split))
                out += line(f"{NAMES[pair[0]]} / {NAMES[pair[1]]}", trace, PANELS[metric], *cells)
    return out


def headlines(theirs, runs, own):
    """A line a pair of policies and metric: geometric mean and range over the traces, in the three ways."""
    traces = sorted({trace for trace, _ in own})
    out = header("ratio", "metric", ">published", ">compat: muri", ">own mode", ">published, range", ">compat, range", ">own, range")
    for pair in PAIRS:
        for metric in METRICS:
            means, ranges = [], []
            for source in (theirs, runs, own):
                values = [ratio(source, trace, pair, metric) for trace in traces]
                known = None not in values
                means.append(mean(values) if known else None)
                ranges.append(f"{min(values):.2f} to {max(values):.2f}" if known else "-")
            out += line(f"{NAMES[pair[0]]} / {NAMES[pair[1]]}", PANELS[metric], *three(means), *ranges)
    return out


def all_ratios(theirs, runs, own):
    columns = [f">{way}, {short}" for short in ("JCT", "makespan", "tail") for way in ("published", "compat", "own")]
    out = header("ratio", "trace", *columns)
    for pair in PAIRS:
        for trace in sorted({trace for trace, _ in own}):
            cells = [ratio(source, trace, pair, metric) for metric in METRICS for source in (theirs, runs, own)]
            out += line(f"{NAMES[pair[0]]} / {NAMES[pair[1]]}", trace, *three(cells))
    return out


def changes(runs, own):
    """In words: what own mode does to each pair."""
    traces = sorted({trace for trace, _ in own})
    out = ""
    for pair in PAIRS[:3]:
        parts = []
        for metric in METRICS:
            was, now = ([ratio(source, trace, pair, metric) for trace in traces] for source in (runs, own))
            wins = sum(r > 1.001 for r in now)
            parts.append(f"{PANELS[metric]} from {mean(was):.2f} to {mean(now):.2f} (Muri is ahead on {wins} of {len(now)} traces)")
        out += f"* {NAMES[pair[0]]} / {NAMES[pair[1]]}: " + "; ".join(parts) + ".\n"
    return out


class Printed:
    """Published metrics of one trace and policy, by attribute as a Run has them."""


def printed(rows):
    found = {}
    for r in rows:
        if r.figure in (9, 10):
            setattr(found.setdefault((r.trace, r.policy), Printed()), r.metric, r.published)
    return found


def page(rows, alike, runs, own, split):
    theirs = printed(rows)
    text = folded(HEAD) + "\n" + folded(reasons(rows)) + "\n" + verdicts(rows)
    text += "\n" + folded(JOBS) + "\n" + per_job(alike)
    text += "\n## Figures\n\nBars are braid under `compat: muri`, diamonds what was published.\n"
    for figure, caption in CAPTIONS.items():
        text += f"\nFigure {figure}: {caption}.\n\n![figure {figure}](figures/fig{figure}.png)\n"
    text += "\n" + folded(OWN) + "\nFrom the semantics of the authors' simulator to braid's own mode, geometric means over the eight traces:\n\n"
    text += folded(changes(runs, own)) + "\n" + headlines(theirs, runs, own)
    text += "\nThe same trace by trace:\n\n" + all_ratios(theirs, runs, own)
    text += "\n" + folded(COSTS) + "\n" + costs(own)
    text += "\n" + folded(SPLIT) + "\n" + halves(runs, own, split)
    return text + "\n## All published numbers\n\n" + differences(rows)
