"""A stand-in between the plugin and a real MLflow server, which fails as it is told to."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["FAULTS", "PLACES", "Proxy", "proxied"]

HOP_BY_HOP = ("connection", "transfer-encoding", "content-length", "date", "server")


class Proxy(ThreadingHTTPServer):
    """Hands every request on, but for those at the place of the fault."""

    daemon_threads = True

    def __init__(self, behind: int, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.behind = behind
        self.fault: Callable[[Handler], None] | None = None
        self.place = ""
        self.caught = threading.Event()
        self.let_go = threading.Event()
        self.paths: list[str] = []

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def fail(self, fault: str, place: str) -> None:
        """From now on, do this where a part of the address is that."""
        self.fault, self.place = FAULTS[fault], place
        self.caught.clear()
        self.let_go.clear()

    def mend(self) -> None:
        """Work again, and let go of what hangs."""
        self.fault = None
        self.let_go.set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that went away are part of the test."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Proxy

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.server.fault
        if fault is not None and self.server.place in self.path:
            self.server.caught.set()
            fault(self)
        else:
            self.answer(*self.hand_on())

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def hand_on(self) -> tuple[int, dict[str, str], bytes]:
        """What the real server makes of the request."""
        connection = HTTPConnection("127.0.0.1", self.server.behind, timeout=60)
        headers = {name: text for name, text in self.headers.items() if name.lower() != "host"}
        connection.request(self.command, self.path, self.sent, headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), body

    def answer(self, code: int, headers: dict[str, str], body: bytes) -> None:
        self.begin(code, headers, len(body))
        self.wfile.write(body)

    def begin(self, code: int, headers: dict[str, str], length: int) -> None:
        self.send_response(code)
        for name, text in headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, text)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Nothing."""


def refuse(handler: Handler) -> None:
    """As if nobody listened: the connection is reset, and the request not even read by MLflow."""
    reset = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    handler.connection.close()


def status(code: int) -> Callable[[Handler], None]:
    def fail(handler: Handler) -> None:
        handler.answer(code, {}, b'{"error_code": "INTERNAL_ERROR", "message": "no"}')

    return fail


def hang(handler: Handler) -> None:
    handler.server.let_go.wait(60)
    status(503)(handler)


def hang_in_the_body(handler: Handler) -> None:
    half_a_body(handler)
    handler.wfile.flush()
    handler.server.let_go.wait(60)


def half_a_body(handler: Handler) -> None:
    code, headers, body = handler.hand_on()
    handler.begin(code, headers, len(body) + 100)
    handler.wfile.write(body[: len(body) // 2])


def no_json(handler: Handler) -> None:
    handler.hand_on()
    handler.answer(200, {"Content-Type": "text/html"}, b"<html>Welcome to our hotel</html>")


def wrong_json(handler: Handler) -> None:
    handler.answer(200, {"Content-Type": "application/json"}, b'{"welcome": "to our hotel"}')


def wrong_kind_of_json(handler: Handler) -> None:
    handler.hand_on()
    handler.answer(200, {"Content-Type": "application/json"}, b"[1, 2]")


def redirect(handler: Handler) -> None:
    if "login" in handler.path:
        handler.answer(200, {"Content-Type": "text/html"}, b"<html>Who are you?</html>")
    else:
        handler.answer(302, {"Location": f"{handler.server.uri}/login?{handler.server.place}"}, b"")


def close(handler: Handler) -> None:
    """The server has done it, and its answer is lost."""
    handler.hand_on()
    handler.connection.shutdown(socket.SHUT_RDWR)


def drip(handler: Handler) -> None:
    """A byte at a time, for seconds: no pause is long."""
    handler.hand_on()
    handler.begin(200, {}, 20)
    with suppress(OSError):
        for _ in range(20):
            handler.server.let_go.wait(0.1)
            handler.wfile.write(b" ")
            handler.wfile.flush()


FAULTS: dict[str, Callable[[Handler], None]] = {
    "connection refused": refuse,
    "401": status(401),
    "403": status(403),
    "404": status(404),
    "429": status(429),
    "500": status(500),
    "502": status(502),
    "503": status(503),
    "hangs before the headers": hang,
    "hangs in the body": hang_in_the_body,
    "half a body": half_a_body,
    "no JSON": no_json,
    "wrong JSON": wrong_json,
    "wrong kind of JSON": wrong_kind_of_json,
    "redirection": redirect,
    "closed connection": close,
    "slow drip": drip,
}
"""What a server does wrong; a run that is deleted in between is a test of its own."""

PLACES = {
    "everywhere": "",
    "new run": "runs/create",
    "search": "runs/search",
    "run": "runs/get",
    "key": "runs/log-parameter",
    "files": "mlflow-artifacts",
    "data set": "runs/log-inputs",
    "numbers": "runs/log-batch",
    "look at the numbers": "metrics/get-history",
    "end of the run": "runs/update",
}
"""Where it does so, by a part of the address."""


@contextmanager
def proxied(behind: int) -> Iterator[Proxy]:
    """A stand-in for the server on a port."""
    proxy = Proxy(behind)
    threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}).start()
    try:
        yield proxy
    finally:
        proxy.mend()
        proxy.shutdown()
        proxy.server_close()
