"""What a tracking server may cost, and what it may be told."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ucvtest import UcvtestWarning, hooks

pytest.importorskip("mlflow", reason="MLflow is missing: pip install 'ucvtest[mlflow]'")

import mlflow
import ucvtest_mlflow as um
from mlflow import MlflowClient
from ucvtest_mlflow import delivery, hook, pause
from ucvtest_mlflow.records import Record

from tests.support.mlflow_runs import (
    RESULT,
    WARNINGS,
    closed_port,
    finish,
    hanging_server,
    keep,
)

pytestmark = WARNINGS


def test_a_server_that_kept_a_test_waiting_is_asked_once_a_minute(
    client: MlflowClient, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, seconds = [1000.0], [7.0]

    def fail(record: Record, *_: object) -> None:
        now[0] += seconds[0]
        raise delivery.Unreachable("no answer")

    um.autolog(spool_dir=spool)
    monkeypatch.setattr(hook, "monotonic", lambda: now[0])
    monkeypatch.setattr(hook, "LONG_SECONDS", 2.0)
    monkeypatch.setattr(hook, "send", fail)
    mlflow.set_tracking_uri("http://user:secret@example.org:5000")
    # After, of it or of another server, and what is said.
    paused = "http://example.org:5000 has kept an earlier test waiting, and is asked again in"
    rows = [(0.0, "no answer"), (20.0, f"{paused} 40 s"), (39.0, f"{paused} 1 s")]
    for passed, said in [*rows, (1.0, "no answer"), (60.0, "no answer"), (1.0, f"{paused} 59 s")]:
        now[0] += passed
        with pytest.warns(UcvtestWarning, match=said):
            finish()
    # A quick failure costs the next test nothing, and local stores are always asked.
    seconds[0] = 1.0
    for uri in ("http://elsewhere:5000", "sqlite:///mlflow.db"):
        mlflow.set_tracking_uri(uri)
        for _ in range(2):
            with pytest.warns(UcvtestWarning, match="no answer"):
                finish()
        seconds[0] = 7.0
    # Options that are called anew ask anew.
    um.autolog(spool_dir=spool)
    (new,) = hooks.installed_hooks()
    assert new.ask_again == {}


def test_no_request_waits_for_longer_than_is_promised() -> None:
    """Nor where a server names a time, unless the user has set MLflow's variables."""
    seconds = float(pause.BRIEF["MLFLOW_HTTP_REQUEST_TIMEOUT"])
    assert seconds * (1 + int(pause.BRIEF["MLFLOW_HTTP_REQUEST_MAX_RETRIES"])) <= 8 - 1
    assert pause.BRIEF["MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER"] == "false"


def test_variables_are_set_while_somebody_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in pause.BRIEF:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "100")
    before = dict(os.environ)
    one, other = pause.brief(), pause.brief()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert os.environ == {**pause.BRIEF, **before}
    other.__exit__(None, None, None)
    assert os.environ == before


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
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setattr(hook, "LONG_SECONDS", 0.5)
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


# -------------------------------------------------------------------------- credentials


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("TOKEN", "AUTH", "AWS_SIGV4", "CLIENT_CERT_PATH", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)


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
    assert hook._without_passwords("http://u:p@host/x and https://t@h:5 not a@b") == (
        "http://host/x and https://h:5 not a@b"
    )
    with closed_port() as uri:
        mlflow.set_tracking_uri(uri.replace("//", "//user:secret@"))
        try:
            with pytest.raises(ConnectionError) as error:
                um.log_result(RESULT)
        finally:
            mlflow.set_tracking_uri(None)
    assert str(error.value) == f"no answer from {uri} (ConnectionError)"
