"""How far platen's arrays are from the reference's, and what to say about it. numpy only.

Differences of logits are measured in standard deviations of the reference's row, so that models with large and small
logits are judged alike. docs/ACCEPTANCE.md argues the limits below.
"""
from dataclasses import dataclass, field

import numpy as np

TOP = 32  # most likely ids of a row that a compact golden keeps

# Largest difference of a logit in f32: so many times what the reference differs from itself, within the bounds.
F32_FACTOR, F32_LEAST, F32_MOST = 20, 1e-4, 1e-3
INT8_DIVERGENCE = 0.08  # mean over the rows that decide the answer, nats
INT8_SPREAD = 0.15  # median over rows of the root mean square difference
INT8_ERROR = 1.6  # largest difference of a logit
INT8_MARGIN = 0.6  # by which the reference prefers its choice to platen's, where they choose differently in an answer

# Stages in the order of computation: name of the array, what makes it, and what a first difference there usually means.
STAGES = (
    ("input_ids", "the prompt", "tokenizer.json, chat_template.jinja or the number of image tokens is read differently"),
    ("position_ids", "the positions", "the grid of image tokens or the rotary positions are counted differently"),
    ("pixel_values", "the image's patches", "preprocessor_config.json (pixel limits, mean, deviation) or the resizing"),
    ("vision_embeds", "the image encoder", "a vision weight, its rotary tables, norms or epsilons"),
    ("layer", "the decoder's layers", "a text weight, its rotary tables, norms or epsilons"),
    ("logits", "the head", "the final norm, lm_head.weight, or whether it is tied to the embeddings"),
    ("tokens", "decoding", "not the model: its cache, positions behind the prompt, stop tokens or speculation"),
)


def softmax_sum(rows):
    """[R, V] -> log of the sum of exponentials [R], float64."""
    rows = rows.astype(np.float64)
    top = rows.max(axis=1)
    return top + np.log(np.exp(rows - top[:, None]).sum(axis=1))


def top_ids(rows, count):
    """[R, V] -> the `count` most likely ids [R, count], most likely first, lowest id first among equals."""
    return np.argsort(-rows, axis=1, kind="stable")[:, :count].astype(np.int32)


def compact(rows, following):
    """What a compact golden keeps of logits [R, V]; `following` [R] are the ids that follow in the text."""
    ids = top_ids(rows, min(TOP, rows.shape[1]))
    return {"top_ids": ids, "top_logits": np.take_along_axis(rows, ids.astype(np.int64), 1),
            "following": np.asarray(following, np.int32),
            "following_logits": rows[np.arange(len(rows)), following],
            "log_sum": softmax_sum(rows), "deviation": rows.astype(np.float64).std(axis=1)}


@dataclass
class RowMeasures:
    """Of every row of logits: [R] each."""
    error: np.ndarray  # largest difference, deviations of the row; infinite where platen's row has no finite numbers
    spread: np.ndarray  # root mean square difference, deviations
    divergence: np.ndarray  # Kullback-Leibler, reference || platen, nats; of a compact golden at least this much
    chosen: np.ndarray  # platen's most likely id
    agrees: np.ndarray  # ... is the reference's
    margin: np.ndarray  # the reference's logit of its own choice minus that of platen's, deviations


def divergence_of(reference, actual):
    """Kullback-Leibler divergence of rows of logarithms of probabilities [R, N] -> [R]."""
    return (np.exp(reference) * (reference - actual)).sum(axis=1).clip(min=0)


def rest_of(log_probabilities):
    """Logarithm of the probability that is left beside [R, N] -> [R, 1]."""
    left = 1 - np.exp(log_probabilities).sum(axis=1, keepdims=True)
    return np.log(left.clip(min=1e-12))


def measure_whole(expected, actual):
    """Logits [R, V] of both sides -> RowMeasures."""
    e, a = expected.astype(np.float64), actual.astype(np.float64)
    deviation = e.std(axis=1)
    difference = np.abs(e - a) / deviation[:, None]
    chosen, own = top_ids(a, 1)[:, 0], top_ids(e, 1)[:, 0]
    row = np.arange(len(e))
    return RowMeasures(difference.max(axis=1), np.sqrt((difference ** 2).mean(axis=1)),
                       divergence_of(e - softmax_sum(e)[:, None], a - softmax_sum(a)[:, None]),
                       chosen, chosen == own, (e[row, own] - e[row, chosen]) / deviation)


def measure_compact(kept, actual):
    """The arrays of compact() and platen's logits [R, V] -> RowMeasures, over the ids that were kept."""
    a, row = actual.astype(np.float64), np.arange(len(actual))
    ids, top = kept["top_ids"].astype(np.int64), kept["top_logits"].astype(np.float64)
    deviation = kept["deviation"]
    following = kept["following"].astype(np.int64)
    e = np.concatenate([top, kept["following_logits"].astype(np.float64)[:, None]], axis=1)
    at = np.concatenate([np.take_along_axis(a, ids, 1), a[row, following][:, None]], axis=1)
    # The sums of both softmaxes see the ids that were not kept.
    sums = np.abs(kept["log_sum"] - softmax_sum(a)) / deviation
    difference = np.abs(e - at) / deviation[:, None]
    p, q = top - kept["log_sum"][:, None], np.take_along_axis(a, ids, 1) - softmax_sum(a)[:, None]
    divergence = divergence_of(np.concatenate([p, rest_of(p)], 1), np.concatenate([q, rest_of(q)], 1))
    chosen = top_ids(a, 1)[:, 0]
    place = np.argmax(ids == chosen[:, None], axis=1)
    # An id that was not kept is at most as likely as the last one that was.
    place = np.where((ids == chosen[:, None]).any(axis=1), place, ids.shape[1] - 1)
    return RowMeasures(np.maximum(difference.max(axis=1), sums), np.sqrt((difference ** 2).mean(axis=1)), divergence,
                       chosen, chosen == ids[:, 0], (top[:, 0] - top[row, place]) / deviation)


def measure_rows(golden, logits, at_once=64):
    """A golden's arrays and platen's logits [R, V] (may be mapped from a file) -> RowMeasures."""
    parts = []
    for first in range(0, len(logits), at_once):
        rows = slice(first, min(first + at_once, len(logits)))
        actual = np.asarray(logits[rows])
        broken = ~np.isfinite(actual).all(axis=1)
        actual = np.where(broken[:, None], 0, actual)
        if "logits" in golden:
            part = measure_whole(np.asarray(golden["logits"][rows]), actual)
        else:
            part = measure_compact({name: golden[name][rows] for name in
                                    ("top_ids", "top_logits", "following", "following_logits", "log_sum", "deviation")}, actual)
        part.error[broken] = part.spread[broken] = part.divergence[broken] = np.inf
        part.agrees[broken], part.chosen[broken] = False, -1
        parts.append(part)
    return RowMeasures(*(np.concatenate([getattr(p, name) for p in parts]) for name in RowMeasures.__annotations__))


def number_of_rows(golden):
    return len(golden["logits"] if "logits" in golden else golden["top_ids"])


def number_of_ids(golden):
    return golden["logits"].shape[1] if "logits" in golden else int(golden["vocab"])


@dataclass
class CaseResult:
    """One image in one precision."""
    name: str
    problems: list = field(default_factory=list)  # (stage, text): what fails the case
    stages: dict = field(default_factory=dict)  # stage -> largest difference, deviations of the reference's array
    rows: RowMeasures = None
    answer_rows: slice = None  # the rows that decide the answer and its end
    tokens: str = ""  # how the answers compare, in words
    own_difference: float = 0  # the golden's: of the reference to itself, deviations

    def fail(self, stage, text):
        self.problems.append((stage, text))


def stage_difference(expected, actual):
    """Largest difference in standard deviations of the reference's array; above every limit if shape or numbers are wrong."""
    if expected.shape != actual.shape:
        return np.inf
    return float(np.abs(expected.astype(np.float64) - actual).max() / expected.astype(np.float64).std())


def compare_ids(result, golden, dump):
    """False if the two sides do not even read the same prompt."""
    for name in ("input_ids", "position_ids"):
        expected, actual = golden[name], dump[name]
        if expected.shape != actual.shape:
            result.fail(name, f"shape {list(actual.shape)}, the reference has {list(expected.shape)}")
            return False
        places = np.argwhere(expected != actual)
        if len(places):
            at = tuple(places[0])
            result.fail(name, f"{len(places)} differ, first at {[int(i) for i in at]}: {actual[at]}, the reference has {expected[at]}")
            return False
    return True


def compare_stages(result, golden, dump):
    """Fills result.stages; what is missing on either side is left out."""
    for name in [n for n in golden if n in ("pixel_values", "vision_embeds") or n.startswith("layer")]:
        actual = dump.get(name)
        if actual is not None:
            expected = golden[name]
            result.stages[name] = stage_difference(expected, actual[-len(expected):])


def compare_tokens(result, golden, dump):
    """The answers; only what cannot be rounding is a problem."""
    expected, actual = list(golden["answer"]), list(dump["tokens"])
    first = next((i for i, (e, a) in enumerate(zip(expected, actual)) if e != a), min(len(expected), len(actual)))
    if first == len(expected) == len(actual):
        result.tokens = f"{first} equal"
        return
    if first == len(actual) and "repetition" in dump["ended_by"]:
        result.tokens = f"{first} equal, then platen's guard against endless repetition"
        return
    if first == len(expected) and golden["ended_by"] != "stop":  # platen has more tokens than it was allowed
        result.fail("tokens", f"{len(actual)} tokens, {len(expected)} were allowed")
        return
    row = result.answer_rows.start + first
    margin = float(result.rows.margin[row])
    result.tokens = f"{first} of {len(expected)} equal; the reference's margin there is {margin:.2g} deviations"
    chose = actual[first] if first < len(actual) else None  # None: platen stopped
    says = int(result.rows.chosen[row])
    # Up to here both have read the same tokens, so the row of logits is the one that platen decided by.
    if (chose is None and says not in golden["stop"]) or (chose is not None and chose != says):
        result.fail("tokens", f"place {first} is {'the end' if chose is None else chose}, but platen's own logits there say {says}")


def compare_case(name, golden, dump):
    """The arrays of a golden and of a dump -> CaseResult; the precision is not looked at."""
    result = CaseResult(name)
    if not compare_ids(result, golden, dump):
        return result
    compare_stages(result, golden, dump)
    shape = (number_of_rows(golden), number_of_ids(golden))
    if dump["logits"].shape != shape:
        result.fail("logits", f"shape {list(dump['logits'].shape)}, the reference has {list(shape)}")
        return result
    result.rows = measure_rows(golden, dump["logits"])
    prompt = len(golden["input_ids"])
    result.answer_rows = slice(prompt - 1, shape[0])
    broken = np.flatnonzero(~np.isfinite(result.rows.error))
    if len(broken):
        result.fail("logits", f"{len(broken)} rows have values that are no numbers, first row {broken[0]}")
        return result
    compare_tokens(result, golden, dump)
    return result


def f32_limit(results):
    """Largest difference allowed in f32, deviations."""
    noise = max((r.own_difference for r in results), default=0)
    return float(np.clip(F32_FACTOR * noise, F32_LEAST, F32_MOST))


def judge_f32(result, limit):
    """Adds what float32 must not show."""
    if result.rows is None:
        return
    worst = int(np.argmax(result.rows.error))
    if not result.rows.error[worst] <= limit:
        result.fail("logits", f"row {worst} differs by {result.rows.error[worst]:.2g} deviations, {limit:.2g} are allowed")


def answer_values(results, name):
    """One measure of the rows that decide the answers, all cases together."""
    return np.concatenate([getattr(r.rows, name)[r.answer_rows] for r in results])


def judge_int8(results):
    """What rounding to int8 does not explain, over all cases together."""
    measured = [r for r in results if r.rows is not None]
    if not measured:
        return []
    spread = np.median(np.concatenate([r.rows.spread for r in measured]))
    figures = (("mean divergence of the answers, nats", answer_values(measured, "divergence").mean(), INT8_DIVERGENCE),
               ("median difference of a row, deviations", spread, INT8_SPREAD),
               ("largest difference, deviations", max(r.rows.error.max() for r in measured), INT8_ERROR),
               ("another choice although the reference's margin is, deviations", answer_values(measured, "margin").max(),
                INT8_MARGIN))
    return [f"{what}: {value:.2g}, {limit:g} are allowed" for what, value, limit in figures if not value <= limit]


def first_stage(result, limit):
    """The earliest stage that differs by more than float32 explains, and what that usually means."""
    found = {stage for stage, _ in result.problems}
    for name, maker, meaning in STAGES:
        differ = sorted((s for s in result.stages if s.startswith(name) and not result.stages[s] <= limit),
                        key=lambda s: (len(s), s))  # layer2 before layer10
        if differ or name in found:
            return f"{differ[0] if differ else name} ({maker}): {meaning}"
    return ""


def verdict(precision, results):
    """(agrees, sentences). Called once: it adds to the problems of the results."""
    limit = f32_limit(results)
    if precision == "f32":
        for result in results:
            judge_f32(result, limit)
    shared = judge_int8(results) if precision == "int8" else []
    failed = [r for r in results if r.problems]
    if not failed and not shared:
        return True, [f"{precision}: {summary(precision, results)}"]
    lines = [f"{precision}: does not agree with the reference."]
    for result in failed:
        lines += [f"  {result.name}: {stage}: {text}" for stage, text in result.problems]
    lines += [f"  all images: {text}" for text in shared]
    if precision == "f32" and failed:
        lines.append(f"  What differs first is {first_stage(failed[0], limit)}.")
    elif shared and not failed:
        lines.append("  If f32 agrees, the weights need smaller groups: platen compare scans --choose-groups (docs/NUMERICS.md).")
    return False, lines


def summary(precision, results):
    """One sentence about cases that agree."""
    error = max(r.rows.error.max() for r in results)
    rows = sum(len(r.rows.error) for r in results)
    answers = answer_values(results, "agrees")
    same = sum(r.tokens.endswith(" equal") for r in results)
    text = (f"{rows} positions of {len(results)} images, largest difference {error:.2g} deviations; the same choice at "
            f"{answers.sum()} of {len(answers)} places of the answers; {same} of {len(results)} answers equal.")
    if precision == "f32":
        return "agrees with the reference: " + text
    divergence = answer_values(results, "divergence").mean()
    return f"as close to the reference as rounding to int8 allows: mean divergence {divergence:.2g} nats; " + text
