"""What the program found, as data. All of it is read from the JSON that the program writes; nothing is judged here."""
from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from precision._program import Completed, PrecisionError, Scratch, StrPath, run, warnings_of, why

__all__ = ["Cause", "CheckResult", "Finding", "Metric", "Operator", "Reason", "Result", "Root", "Tensor"]

#: A metric: NaN and infinities are floats; None is a metric that was not computed.
Metric = Optional[float]


def number(value: Any) -> Metric:
    """A number of the JSON, where NaN and infinities are texts. None stays None: it was not computed."""
    return None if value is None else float(value)


def _plain(value: Any) -> float:
    return float("nan") if value is None else float(value)


@dataclass(frozen=True)
class Cause:
    """Why a tensor is bad or suspect: what was measured, and the limit of the profile."""

    kind: str
    value: float
    limit: float
    count: Optional[int] = None
    of: Optional[int] = None
    first: Optional[int] = None
    waived: bool = False


@dataclass(frozen=True)
class Reason:
    """Why a value is missing, or what to know when reading it: a kind and its arguments."""

    kind: str
    args: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Tensor:
    """A pair of tensors: an input or an output of an operator on both sides."""

    #: conv1:output:0
    tensor: str
    #: The operator it belongs to.
    op: str
    #: Type of the operator, such as Conv2D; empty where it has none.
    type: str
    #: input or output
    role: str
    slot: int
    #: good, suspect, bad, uncompared or damaged
    verdict: str
    #: Whether metrics were computed.
    compared: bool
    #: Shape that was compared, None where nothing was.
    shape: Optional[Tuple[int, ...]]
    left_dtype: Optional[str]
    right_dtype: Optional[str]
    left_file: str
    right_file: str
    #: By the names of the csv. None: not computed. NaN: computed, and not a number.
    metrics: Dict[str, Metric] = field(default_factory=dict)
    causes: Tuple[Cause, ...] = ()
    reasons: Tuple[Reason, ...] = ()
    #: Its place in the table.
    row: int = -1

    @property
    def name(self) -> str:
        """conv1:output:0"""
        return self.tensor

    @property
    def cosine(self) -> Metric:
        """The cosine similarity."""
        return self.metrics.get("CosineSimilarity")


@dataclass(frozen=True)
class Operator:
    """An operator, call or stored tensor."""

    op: str
    type: str
    index: int
    #: good, suspect, bad, inherited, uncompared or damaged
    state: str
    #: Roots whose error it inherits.
    inherits: Tuple[str, ...] = ()
    outputs: Tuple[Tensor, ...] = ()
    inputs: Tuple[Tensor, ...] = ()
    reasons: Tuple[Reason, ...] = ()

    @property
    def name(self) -> str:
        """Its name, op."""
        return self.op


@dataclass(frozen=True)
class Root:
    """An operator at which an error begins."""

    op: str
    type: str
    index: int
    #: The worst output.
    output: int
    #: wrong, differs, golden, input or weight
    kind: str
    #: certain, region, likely or order
    certainty: str
    causes: Tuple[Cause, ...] = ()
    #: The kind of wrong that its numbers show, None where none was found, and what that rests on.
    pattern: Optional[str] = None
    evidence: Dict[str, Any] = field(default_factory=dict)
    framework_operators: Tuple[str, ...] = ()
    #: Operators that it may be instead.
    region: Tuple[str, ...] = ()
    #: How many operators inherit its error, and which outputs of the network it reaches.
    inherited: int = 0
    reaches: Tuple[str, ...] = ()
    #: The line of the user's program that made the call, and the lines that led there.
    source: Optional[str] = None
    stack: Tuple[str, ...] = ()
    #: Other calls that have the same fault.
    places: Tuple[str, ...] = ()
    #: All that the JSON says of it.
    json: Dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Its name, op."""
        return self.op


def _causes(list_: Any) -> Tuple[Cause, ...]:
    return tuple(
        Cause(c["kind"], _plain(c["value"]), _plain(c["limit"]), c.get("count"), c.get("of"), c.get("first"), bool(c.get("waived"))) for c in list_ or ()
    )


def _reasons(list_: Any) -> Tuple[Reason, ...]:
    return tuple(Reason(r["kind"], tuple(r.get("args") or ())) for r in list_ or ())


class _Columns:
    """The columns of a table: one list for every fact; one that is 0, false or empty in all rows is left out."""

    def __init__(self, columns: Dict[str, Any]) -> None:
        self._columns = columns

    def at(self, name: str, row: int) -> Any:
        column = self._columns.get(name)
        if column is None:
            return None
        if isinstance(column, dict):
            return column["of"][column["at"][row]]
        return column[row]


#: The two sides' mean and standard deviation, which are one metric of four numbers.
_FOUR = ("StandardDeviationMean", "StandardDeviation", "StandardDeviationRightMean", "StandardDeviationRight")


class Result:
    """What a comparison found.

    `verdict` is good, suspect, bad or inconclusive; `roots` are the operators at which errors begin; `operators` and `tensors` are all
    of them, in execution order. In a notebook the result shows the report.
    """

    def __init__(self, data: Dict[str, Any], summary: str = "", status: int = 0, warnings: Tuple[str, ...] = (), command: Tuple[str, ...] = ()) -> None:
        if not str(data.get("schema", "")).startswith("precision/verdict/"):
            raise PrecisionError("no result of a comparison: found the schema %r" % data.get("schema"))
        #: The JSON of the program, docs/verdict.md.
        self.json = data
        #: What the program printed: the verdict in words.
        self.summary = summary
        #: Exit status: 0, 2 where nothing could be compared, 3 where a gate failed.
        self.status = status
        self.warnings = warnings
        self.command = command
        self._operators: Optional[Tuple[Operator, ...]] = None

    @property
    def verdict(self) -> str:
        """good, suspect, bad or inconclusive."""
        return str(self.json["verdict"])

    @property
    def left(self) -> str:
        return str(self.json["left"])

    @property
    def right(self) -> str:
        return str(self.json["right"])

    @property
    def graph(self) -> Optional[str]:
        """The graph that was used, None without one."""
        return self.json.get("graph") or None

    @property
    def coverage(self) -> Dict[str, int]:
        """How many tensors were expected, and compared."""
        return dict(self.json["coverage"])

    @property
    def counts(self) -> Dict[str, int]:
        """Operators by state."""
        return dict(self.json["counts"])

    @property
    def roots(self) -> Tuple[Root, ...]:
        """The operators at which errors begin, in execution order."""
        return tuple(
            Root(
                op=r["op"],
                type=r["type"],
                index=r["index"],
                output=r.get("output", 0),
                kind=r["kind"],
                certainty=r["certainty"],
                causes=_causes(r.get("causes")),
                pattern=r.get("pattern"),
                evidence=dict(r.get("evidence") or {}),
                framework_operators=tuple(r.get("framework_ops") or ()),
                region=tuple(r.get("region") or ()),
                inherited=r.get("inherited", 0),
                reaches=tuple(r.get("reaches") or ()),
                source=r.get("source"),
                stack=tuple(r.get("stack") or ()),
                places=tuple(r.get("places") or ()),
                json=r,
            )
            for r in self.json["roots"]
        )

    @property
    def operators(self) -> Tuple[Operator, ...]:
        """All operators, in execution order."""
        if self._operators is None:
            rows = _Columns(self.json["table"]["rows"])
            dtypes = {int(k): v for k, v in (self.json.get("dtypes") or {}).items()}
            metrics = tuple(self.json["table"]["meta"].get("metrics") or ())
            self._operators = tuple(
                Operator(
                    op=o["op"],
                    type=o["type"],
                    index=o["index"],
                    state=o["state"],
                    inherits=tuple(o.get("from") or ()),
                    outputs=tuple(_tensor(o, "output", t, rows, dtypes, metrics) for t in o["outputs"]),
                    inputs=tuple(_tensor(o, "input", t, rows, dtypes, metrics) for t in o["inputs"]),
                    reasons=_reasons(o.get("reasons")),
                )
                for o in self.json["operators"]
            )
        return self._operators

    @property
    def tensors(self) -> Tuple[Tensor, ...]:
        """All pairs of tensors, in the order of the table."""
        return tuple(sorted((t for o in self.operators for t in o.inputs + o.outputs), key=lambda t: t.row))

    def operator(self, name: str) -> Operator:
        """The operator of a name."""
        for o in self.operators:
            if o.op == name:
                return o
        raise KeyError(name)

    def to_pandas(self) -> Any:
        """The tensors as a pandas.DataFrame, one row each, with the columns of docs/parquet.md that the JSON has.

        Metrics are of pandas' nullable type: <NA> was not computed, NaN was and is not a number.
        """
        try:
            import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError as error:
            raise ImportError("to_pandas needs pandas, which is not installed: pip install pandas") from error
        import numpy  # type: ignore[import-not-found,unused-ignore]

        roots = {r.op for r in self.roots}
        states = {o.op: o.state for o in self.operators}
        tensors = self.tensors
        columns: Dict[str, Any] = {}
        for name in ("op", "type", "tensor", "role", "slot", "left_dtype", "right_dtype", "shape", "left_file", "right_file", "compared", "verdict"):
            columns[name] = [getattr(t, name) for t in tensors]
        columns["state"] = [states[t.op] for t in tensors]
        columns["root"] = [t.op in roots for t in tensors]
        columns["causes"] = [[c.kind for c in t.causes] for t in tensors]
        columns["reasons"] = [[r.kind for r in t.reasons] for t in tensors]
        for name in self._metric_names():
            values = [t.metrics.get(name) for t in tensors]
            columns[name] = pandas.arrays.FloatingArray(
                numpy.array([0.0 if v is None else v for v in values], dtype="float64"), numpy.array([v is None for v in values], dtype="bool")
            )
        return pandas.DataFrame(columns)

    def _metric_names(self) -> List[str]:
        names: Dict[str, None] = {}
        for name in self.json["table"]["meta"].get("metrics") or ():
            for part in _FOUR if name == "StandardDeviation" else (name,):
                names[part] = None
        for t in self.tensors:
            for part in t.metrics:
                names[part] = None
        return list(names)

    def save(self, path: StrPath) -> None:
        """Writes the result; `precision.load` and `precision report` read it."""
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self.json, f, ensure_ascii=False, separators=(",", ":"))

    def html(self, path: Optional[StrPath] = None) -> str:
        """The report, a single page for the browser; with a path it is written there, too."""
        with Scratch() as folder:
            page = os.path.join(folder, "report.html")
            run("report", self._saved(folder), "-html=" + page, accept=(0, 2, 3))
            with open(page, encoding="utf-8") as f:
                text = f.read()
        if path is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return text

    def why(self, operator: str, **options: Any) -> str:
        """How the outputs of an operator are wrong: it is recomputed from its recorded inputs."""
        if self.graph is None:
            return why(operator, self.left, **options)
        return why(operator, self.left, self.graph, self.right, **options)

    def advise(self, limit: int = 1) -> str:
        """What to try for the roots."""
        with Scratch() as folder:
            text = run("advise", self._saved(folder), "-o", os.path.join(folder, "files"), "-l", str(limit)).stdout
            return without(text, folder)

    def _saved(self, folder: str) -> str:
        path = os.path.join(folder, "result.json")
        self.save(path)
        return path

    def _repr_html_(self) -> str:
        try:
            page = self.html()
        except (PrecisionError, OSError) as error:
            return "<pre>%s\n\n%s</pre>" % (html.escape(self.summary), html.escape(str(error)))
        return (
            '<iframe srcdoc="%s" sandbox="allow-scripts allow-downloads" style="width:100%%;height:720px;border:1px solid #8884" title="precision"></iframe>'
            % html.escape(page, quote=True)
        )

    def __repr__(self) -> str:
        c = self.coverage
        roots = ", ".join(r.op for r in self.roots[:3])
        return "<precision.Result %s: %d of %d tensors compared%s>" % (self.verdict, c["compared"], c["expected"], ", roots: " + roots if roots else "")

    def __str__(self) -> str:
        return self.summary or repr(self)


def _tensor(o: Dict[str, Any], role: str, t: Dict[str, Any], rows: _Columns, dtypes: Dict[int, str], names: Tuple[str, ...]) -> Tensor:
    row = int(t["row"])
    metrics: Dict[str, Metric] = {}
    for name in names:
        for part in _FOUR if name == "StandardDeviation" else (name,):
            metrics[part] = None
    for name, value in t["metrics"].items():
        if isinstance(value, list):
            metrics.update(zip(_FOUR, (number(v) for v in value)))
        else:
            metrics[name] = number(value)
    shape = rows.at("shape", row)

    def dtype(side: str) -> Optional[str]:
        if rows.at(side + "_shape", row) is None:
            return None
        return dtypes.get(rows.at(side + "_dtype", row) or 0)

    return Tensor(
        tensor="%s:%s:%d" % (o["op"], role, t["index"]),
        op=o["op"],
        type=o["type"],
        role=role,
        slot=t["index"],
        verdict=t["verdict"],
        compared=bool(rows.at("compared", row)),
        shape=None if shape is None else tuple(shape),
        left_dtype=dtype("left"),
        right_dtype=dtype("right"),
        left_file=rows.at("left_file", row) or "",
        right_file=rows.at("right_file", row) or "",
        metrics=metrics,
        causes=_causes(t.get("causes")),
        reasons=_reasons(t.get("reasons")),
        row=row,
    )


@dataclass(frozen=True)
class Finding:
    """What recomputing an output from its own inputs came to."""

    op: str
    type: str
    index: int
    #: Number of the output.
    output: int
    #: ok, suspect, wrong or unknown
    verdict: str
    #: Largest error over what rounding explains.
    ratio: Metric
    #: Place of it, and the two numbers there.
    worst: Tuple[int, ...] = ()
    expected: Metric = None
    found: Metric = None
    reason: str = ""
    pattern: Optional[str] = None
    json: Dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


class CheckResult:
    """What a check found: which outputs do not follow from the inputs recorded with them."""

    def __init__(self, data: Dict[str, Any], summary: str = "", status: int = 0, warnings: Tuple[str, ...] = (), command: Tuple[str, ...] = ()) -> None:
        if not str(data.get("schema", "")).startswith("precision/check/"):
            raise PrecisionError("no result of a check: found the schema %r" % data.get("schema"))
        self.json = data
        self.summary = summary
        self.status = status
        self.warnings = warnings
        self.command = command

    @property
    def verdict(self) -> str:
        """good, suspect, bad or inconclusive."""
        return str(self.json["verdict"])

    @property
    def coverage(self) -> Dict[str, Any]:
        return dict(self.json["coverage"])

    @property
    def counts(self) -> Dict[str, int]:
        """Outputs by verdict."""
        return dict(self.json["counts"])

    @property
    def findings(self) -> Tuple[Finding, ...]:
        """All outputs, in execution order."""
        return tuple(
            Finding(
                op=o["op"],
                type=o["type"],
                index=o["index"],
                output=t["index"],
                verdict=t["verdict"],
                ratio=number(t.get("ratio")),
                worst=tuple(t.get("worst") or ()),
                expected=number(t.get("expected")),
                found=number(t.get("found")),
                reason=t.get("reason", ""),
                pattern=t.get("pattern"),
                json=t,
            )
            for o in self.json["operators"]
            for t in o["outputs"]
        )

    @property
    def wrong(self) -> Tuple[Finding, ...]:
        """Outputs that rounding does not explain."""
        return tuple(f for f in self.findings if f.verdict == "wrong")

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __repr__(self) -> str:
        return "<precision.CheckResult %s: %s>" % (self.verdict, ", ".join("%d %s" % (n, k) for k, n in self.counts.items()))

    def __str__(self) -> str:
        return self.summary or repr(self)


def result_of(path: str, done: Completed, folder: str) -> Result:
    return Result(_read(path, done), without(done.stdout, folder), done.status, tuple(warnings_of(done)), tuple(done.command))


def check_of(path: str, done: Completed, folder: str) -> CheckResult:
    return CheckResult(_read(path, done), without(done.stdout, folder), done.status, tuple(warnings_of(done)), tuple(done.command))


def without(text: str, folder: str) -> str:
    """A text without the lines that name files of a folder that is gone when it is read."""
    return "\n".join(line for line in text.splitlines() if folder not in line).strip("\n")


def _read(path: str, done: Completed) -> Dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as f:
            data: Dict[str, Any] = json.load(f)
    except (OSError, ValueError) as error:
        raise PrecisionError("the program wrote no result: %s\n%s" % (error, done.stderr or done.stdout), done.status, done.command) from error
    return data


AnyResult = Union[Result, CheckResult]
