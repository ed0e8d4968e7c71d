"""HTTP connections that are kept open and shared by threads, with a limit for a whole exchange."""

from __future__ import annotations

import os
import selectors
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from io import BufferedReader, RawIOBase
from time import monotonic
from typing import Any
from urllib.parse import SplitResult


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes


class Connections:
    """Redirects are not followed: the key must not go to another host."""

    def __init__(self, url: SplitResult, ssl_context: ssl.SSLContext | None) -> None:
        self._url = url
        self._ssl_context = ssl_context
        # the last that was used is the first to be used again; append, insert and pop are safe between threads
        self._free: list[Open] = []
        self._process = os.getpid()

    def exchange(self, request: Request, limit: float, fresh: bool) -> Response:
        """
        `fresh`: on a connection of its own, because the service may be about to end one that is kept open. `limit` is in
        seconds, and applies to each address of the host while connecting, then to all that follows.

        Raises `OSError` or `HTTPException` if no answer came.
        """
        ends = monotonic() + limit
        one = (None if fresh else self._take()) or self._open(limit)
        one.timed.ends = ends
        try:
            one.connection.request(request.method, request.path, request.body, dict(request.headers))
            response = one.connection.getresponse()
            body = response.read()
        except BaseException:
            one.connection.close()
            raise
        if not response.will_close:
            self._free.append(one)
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Response(response.status, headers, body)

    def close(self) -> None:
        while (one := self._pop()) is not None:
            one.connection.close()

    def _take(self) -> Open | None:
        if self._process != os.getpid():
            # a fork must not use the connections of its parent; to close them here leaves them open there
            self.close()
            self._process = os.getpid()
        one = self._pop_quiet(-1)
        # the service ends first what was used longest ago, which may never be the next one to be used
        if (oldest := self._pop_quiet(0)) is not None:
            self._free.insert(0, oldest)
        return one

    def _pop_quiet(self, index: int) -> Open | None:
        """Closes those before it, which the service has ended."""
        while (one := self._pop(index)) is not None:
            if one.timed.is_quiet():
                return one
            one.connection.close()
        return None

    def _pop(self, index: int = -1) -> Open | None:
        try:
            return self._free.pop(index)
        except IndexError:
            return None

    def _open(self, limit: float) -> Open:
        host, port = self._url.hostname or "", self._url.port
        connection: HTTPConnection
        if self._url.scheme == "https":
            # made once: it reads the certificates of all authorities
            self._ssl_context = self._ssl_context or ssl.create_default_context()
            connection = HTTPSConnection(host, port, timeout=limit, context=self._ssl_context)
        else:
            connection = HTTPConnection(host, port, timeout=limit)
        try:
            connection.connect()
        except BaseException:
            # its socket may be open, and refused by TLS
            connection.close()
            raise
        timed = TimedSocket(connection.sock)
        connection.sock = timed
        return Open(connection, timed)


class TimedSocket:
    """As much of a socket as http.client uses. A socket's own timeout would begin anew with each byte that arrives."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.ends = 0.0

    def sendall(self, data: bytes) -> None:
        self.limit()
        self._sock.sendall(data)

    def makefile(self, _mode: str) -> BufferedReader:
        return BufferedReader(TimedReader(self, self._sock.makefile("rb", buffering=0)))

    def close(self) -> None:
        self._sock.close()

    def limit(self) -> None:
        left = self.ends - monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)

    def is_quiet(self) -> bool:
        """Otherwise the service has ended the connection."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._sock, selectors.EVENT_READ)
            return not selector.select(0)


class TimedReader(RawIOBase):
    def __init__(self, timed: TimedSocket, raw: RawIOBase) -> None:
        self._timed = timed
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        self._timed.limit()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


@dataclass(frozen=True)
class Open:
    connection: HTTPConnection
    timed: TimedSocket
