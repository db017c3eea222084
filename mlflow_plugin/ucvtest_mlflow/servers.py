"""Tracking servers: whether they live, how often they are asked, and the data for them."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import mlflow
import requests
from mlflow.utils.credentials import read_mlflow_creds

REACH_SECONDS = 5.0
# A failure that took longer than this kept a test waiting, which the next ones are spared.
LONG_SECONDS = 2.0
PAUSE_SECONDS = 60.0

# What MLflow sends to any server apart from a user and a password.
CREDENTIALS = (
    "MLFLOW_TRACKING_TOKEN",
    "MLFLOW_TRACKING_AUTH",
    "MLFLOW_TRACKING_AWS_SIGV4",
    "MLFLOW_TRACKING_CLIENT_CERT_PATH",
)
PORTS = {"http": 80, "https": 443}


class Unreachable(ConnectionError):
    """The tracking server does not answer, or not in time, or with something else."""


class Paused(Unreachable):
    """The server was not asked, because it has kept an earlier test waiting."""


def is_local(tracking_uri: str) -> bool:
    """Whether it is a folder or a database file, which hangs on nobody."""
    return urlsplit(tracking_uri).scheme in ("", "file", "sqlite")


def displayed_address(tracking_uri: str) -> str:
    """The server's name; the address may contain a password, which belongs in no message."""
    address = urlsplit(tracking_uri)
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}"


def hide_passwords(text: str) -> str:
    """The text without users and passwords in the addresses that it names."""
    return re.sub(r"(?<=://)[^/\s]+@", "", text)


def require_server(tracking_uri: str) -> None:
    """Ask a server for a sign of life, because MLflow's own retries take minutes.

    Raises
    ------
    Unreachable
        If there is none within `REACH_SECONDS`, or a proxy says that there is no server.
    """
    if urlsplit(tracking_uri).scheme not in PORTS:
        return
    server = displayed_address(tracking_uri)
    try:
        with requests.get(
            f"{tracking_uri.rstrip('/')}/health", timeout=REACH_SECONDS, stream=True
        ) as response:
            code = response.status_code
    except requests.exceptions.SSLError:
        # It answers; whether its certificate is accepted is for MLflow's settings to say.
        return
    except requests.exceptions.RequestException as error:
        raise Unreachable(f"no answer from {server} ({type(error).__name__})") from error
    if code >= 500:
        raise Unreachable(f"{server} answers with HTTP status {code}")


def require_same_server(tracking_uri: str) -> None:
    """Refuse a server that only a record names, where MLflow would send it credentials.

    Raises
    ------
    ValueError
        If the present configuration has credentials, and another tracking server.
    """
    if urlsplit(tracking_uri).scheme not in PORTS or not _has_credentials():
        return
    if _origin(tracking_uri) != _origin(mlflow.get_tracking_uri()):
        raise ValueError(
            f"{displayed_address(tracking_uri)} would be sent the credentials of the present "
            "configuration, which names another tracking server: set MLFLOW_TRACKING_URI to that "
            "server, with its own credentials"
        )


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)


def _has_credentials() -> bool:
    user = read_mlflow_creds()
    return bool(user.username or user.password or any(os.environ.get(name) for name in CREDENTIALS))


class RetryPolicy:
    """Asks a server that has kept a test waiting at most once a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._again: dict[str, float] = {}

    @contextmanager
    def request(self, tracking_uri: str) -> Iterator[None]:
        """Surround a request to a server.

        Raises
        ------
        Paused
            If it is too early to ask this server again.
        """
        server, start = displayed_address(tracking_uri), self._clock()
        self._take_turn(server, start)
        try:
            yield
        except Exception:
            now = self._clock()
            if now - start >= LONG_SECONDS and not is_local(tracking_uri):
                self._again[server] = now + PAUSE_SECONDS
            raise
        self._again.pop(server, None)

    def _take_turn(self, server: str, now: float) -> None:
        with self._lock:
            again = self._again.get(server)
            if again is None:
                return
            if now < again:
                raise Paused(
                    f"{server} has kept an earlier test waiting, and is asked again in "
                    f"{again - now:.0f} s"
                )
            # This one asks; others that come meanwhile do not wait as well.
            self._again[server] = now + PAUSE_SECONDS
