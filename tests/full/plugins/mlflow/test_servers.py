"""What a tracking server may cost, and what it may be told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from ucvtest import UcvtestWarning, hooks

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient
from ucvtest_mlflow import servers
from ucvtest_mlflow.records import Record
from ucvtest_mlflow.servers import Paused, RetryPolicy, hide_passwords

from tests.support.mlflow_runs import (
    RESULT,
    WARNINGS,
    closed_port,
    finish,
    hanging_server,
    keep,
)

pytestmark = WARNINGS


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


URI = "http://user:secret@example.org:5000"


def ask(retry_policy: RetryPolicy, clock: Clock, seconds: float, uri: str = URI) -> None:
    with retry_policy.request(uri):
        clock.now += seconds
        raise TimeoutError


def fail_after(seconds: float, clock: Clock, retry_policy: RetryPolicy, uri: str = URI) -> None:
    with pytest.raises(TimeoutError):
        ask(retry_policy, clock, seconds, uri)


def test_a_server_that_kept_a_test_waiting_is_asked_once_a_minute() -> None:
    clock = Clock()
    retry_policy = RetryPolicy(clock)
    fail_after(7.0, clock, retry_policy)
    for passed, left in ((0.0, 60), (20.0, 40), (39.0, 1)):
        clock.now += passed
        with pytest.raises(Paused) as error, retry_policy.request(URI):
            pass
        assert str(error.value) == (
            f"http://example.org:5000 has kept an earlier test waiting, and is asked again in "
            f"{left} s"
        )
    with retry_policy.request("http://elsewhere:5000"):
        pass
    clock.now += 1.0
    fail_after(7.0, clock, retry_policy)
    clock.now += 60.0
    # Others that come meanwhile do not wait as well.
    with retry_policy.request(URI), pytest.raises(Paused), retry_policy.request(URI):
        pass
    # It answers again.
    with retry_policy.request(URI), retry_policy.request(URI):
        pass


def test_a_quick_failure_costs_the_next_test_nothing() -> None:
    clock = Clock()
    retry_policy = RetryPolicy(clock)
    fail_after(1.0, clock, retry_policy)
    with retry_policy.request(URI):
        pass


def test_local_stores_are_always_asked() -> None:
    clock = Clock()
    retry_policy = RetryPolicy(clock)
    for _ in range(2):
        fail_after(30.0, clock, retry_policy, "sqlite:///mlflow.db")


class Listener(ThreadingHTTPServer):
    """Notes every request, and answers as it is told to."""

    daemon_threads = True

    def __init__(self, location: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.location = location
        self.seen: list[tuple[str, str | None]] = []

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_GET(self) -> None:
        self.server.seen.append((self.path, self.headers.get("Authorization")))
        if self.server.location is not None:
            self.send_response(302)
            self.send_header("Location", self.server.location + self.path)
        else:
            self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_PATCH = do_PUT = do_GET

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def listening(**options: Any) -> Iterator[Listener]:
    listener = Listener(**options)
    threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}).start()
    try:
        yield listener
    finally:
        listener.shutdown()
        listener.server_close()


def test_a_server_that_hangs_is_asked_once_and_everything_kept(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "REACH_SECONDS", 0.3)
    monkeypatch.setattr(servers, "LONG_SECONDS", 0.2)
    um.autolog(spool_dir=spool)
    with hanging_server() as uri:
        mlflow.set_tracking_uri(uri)
        for reason in ("no answer from", *["has kept an earlier test waiting"] * 2):
            with pytest.warns(UcvtestWarning, match=reason):
                finish()
    assert len(list(spool.iterdir())) == 3
    # What was not tried is no attempt that a flush would leave alone.
    with listening() as other:
        for path in spool.iterdir():
            path.write_text(path.read_text().replace(uri, other.uri))
        with pytest.warns(UcvtestWarning) as caught:
            assert um.flush_spool(spool) == []
    assert not [item for item in caught if "is being sent already" in str(item.message)]


def test_options_that_are_called_anew_ask_anew(client: MlflowClient, spool: Path) -> None:
    um.autolog(spool_dir=spool)
    (first,) = hooks.installed_hooks()
    um.autolog(spool_dir=spool)
    (second,) = hooks.installed_hooks()
    assert first.retry_policy is not second.retry_policy


# -------------------------------------------------------------------------- credentials


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (*servers.CREDENTIALS, "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD"])
def test_credentials_go_to_no_server_that_only_a_record_names(
    client: MlflowClient,
    spool: Path,
    no_credentials: None,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(name, "secret")
    if name.endswith("PASSWORD"):
        monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "somebody")
    with listening() as listener:
        keep(spool, Record(RESULT, listener.uri))
        for uri in (client.tracking_uri, "https://example.org", listener.uri.replace(":", "s:", 1)):
            mlflow.set_tracking_uri(uri)
            with pytest.warns(UcvtestWarning) as caught:
                assert um.flush_spool(spool) == []
            assert f"{listener.uri} would be sent the credentials of the present" in str(
                caught[0].message
            )
            assert listener.seen == []
        # The server that is configured gets them, and the record is free to be sent.
        mlflow.set_tracking_uri(f"{listener.uri}/")
        with pytest.warns(UcvtestWarning, match="not in MLflow"):
            um.flush_spool(spool)
        assert {word for _, word in listener.seen} - {None}


def test_without_credentials_a_record_goes_to_its_server(
    client: MlflowClient, spool: Path, no_credentials: None
) -> None:
    with listening() as listener:
        keep(spool, Record(RESULT, listener.uri))
        with pytest.warns(UcvtestWarning, match="not in MLflow"):
            assert um.flush_spool(spool) == []
        assert {word for _, word in listener.seen} == {None}


def test_a_token_does_not_follow_a_redirection(
    client: MlflowClient, spool: Path, no_credentials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "secret")
    with listening() as other, listening(location=other.uri) as listener:
        mlflow.set_tracking_uri(listener.uri)
        keep(spool, Record(RESULT, listener.uri))
        with pytest.warns(UcvtestWarning, match="not in MLflow"):
            assert um.flush_spool(spool) == []
        assert "Bearer secret" in {word for _, word in listener.seen}
        assert {word for _, word in other.seen} <= {None}
    assert len(list(spool.iterdir())) == 1


def test_passwords_are_hidden() -> None:
    assert hide_passwords("http://u:p@host/x and https://t@h:5 not a@b") == (
        "http://host/x and https://h:5 not a@b"
    )
    with closed_port() as uri, pytest.raises(ConnectionError) as error:
        servers.require_server(uri.replace("//", "//user:secret@"))
    assert str(error.value) == f"no answer from {uri} (ConnectionError)"


def test_what_stands_before_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = nullcontext(SimpleNamespace(status_code=502))
    monkeypatch.setattr(requests, "get", lambda *args, **kwargs: proxy)
    with pytest.raises(ConnectionError, match=r"https://example.org answers with HTTP status 502"):
        servers.require_server("https://example.org/mlflow")

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise requests.exceptions.SSLError

    # Certificates are left to MLflow.
    monkeypatch.setattr(requests, "get", refuse)
    servers.require_server("https://example.org")
