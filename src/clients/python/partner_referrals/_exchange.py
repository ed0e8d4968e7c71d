from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Timer
from time import monotonic
from urllib.parse import SplitResult


def exchange(
    url: SplitResult, tls: ssl.SSLContext | None, method: str, headers: dict[str, str], body: bytes | None, limit: float
) -> tuple[int, dict[str, str], bytes]:
    """
    Status, headers by their names in lower case, and body of the answer, on a connection of its own. `limit` is in seconds, and applies to each address of the host while connecting,
    then to all that follows. Redirects are not followed: the key must not go to another host.

    Raises `OSError` or `HTTPException` if no answer came.
    """
    ends = monotonic() + limit
    host, port = url.hostname or "", url.port
    connection = (
        HTTPConnection(host, port, timeout=limit)
        if tls is None
        else HTTPSConnection(host, port, timeout=limit, context=tls)
    )
    # a socket's own timeout begins anew with each byte that arrives
    watchdog = Timer(limit, end, [connection])
    watchdog.daemon = True
    watchdog.start()
    try:
        connection.request(method, url.path, body, headers)
        response = connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        received = response.status, names, response.read()
        if monotonic() < ends:
            return received
        # ended by the watchdog, it looks like the whole
        raise TimeoutError("timed out")
    except (OSError, HTTPException) as error:
        raise TimeoutError("timed out") if monotonic() >= ends else error
    finally:
        watchdog.cancel()
        connection.close()


def end(connection: HTTPConnection) -> None:
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)
