"""A server of embeddings on the loopback interface, which answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cortex.embedder.models import HashingEmbedder


@dataclass
class Server:
    """answers: what to send, one a request, the last one again for all that follow."""

    url: str
    answers: list[Answer]
    requests: list[Request] = field(default_factory=list)


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


Answer = Callable[[Any], Reply]


def embeddings(body: Any) -> Reply:
    """As a good server answers: the vectors of `hashing-48`, not of unit length."""
    vectors = HashingEmbedder(48).embed_documents(body["input"]) * 3
    rows = [{"index": row, "embedding": vector.tolist()} for row, vector in enumerate(vectors)]
    return Reply(json.dumps({"object": "list", "data": rows, "model": body["model"]}).encode())


def says(value: Any) -> Answer:
    return lambda body: Reply(json.dumps(value).encode())


def fails(status: int, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda body: Reply(b"the text and the key: " + json.dumps(body).encode(), status, named)


@contextmanager
def serving(*answers: Answer) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(Request(self.path, dict(self.headers), body))
            answer = server.answers[0]
            if len(server.answers) > 1:
                del server.answers[0]
            reply = answer(body)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{listener.server_port}/v1", list(answers or [embeddings]))
    thread = threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
