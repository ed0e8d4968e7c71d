from __future__ import annotations

import ssl
from collections.abc import Iterable
from copy import copy

from ._calls import PING
from ._deliveries import Deliveries
from ._endpoint import EndpointCalls
from ._events import Events
from ._leads import Leads
from ._sandbox import Sandbox
from ._transport import Transport, positive
from ._webhooks import Webhooks
from .types import PingResponse


class Referrals:
    """
    The Partner Referral Service for a lender's systems. One instance for a process is enough; threads may share it.

    Every call raises an `ApiError` if the API refused it, and a `NoAnswerError` if the service could not be reached
    until the deadline.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        webhook_secrets: str | Iterable[str] = (),
        timeout: float = 20.0,
        deadline: float = 60.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """
        `base_url` is for example `https://api.example.com/v1`. `webhook_secrets` is for `webhooks`: the endpoint's
        secret, and while it is rotated, the previous one too. `timeout` is for one attempt and `deadline` for a call
        with all its attempts, both in seconds; what a call waits for comes on top. `ssl_context` is for authorities that
        Python does not know.
        """
        self.webhooks = Webhooks(secrets=webhook_secrets)
        self._use(Transport(api_key, base_url, timeout, deadline, ssl_context))

    def within(self, seconds: float) -> Referrals:
        """A client with another deadline, on the same connections: `referrals.within(5).leads.get(7)`."""
        other = copy(self)
        other._use(self._transport.within(positive("seconds", seconds)))
        return other

    def ping(self) -> PingResponse:
        """Whether the service is there, in which environment, and its time."""
        return self._transport.call(PING)

    def close(self) -> None:
        """Ends the connections that are kept open; a call opens another one."""
        self._transport.close()

    def __enter__(self) -> Referrals:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _use(self, transport: Transport) -> None:
        self._transport = transport
        self.leads = Leads(transport)
        self.events = Events(transport)
        self.deliveries = Deliveries(transport)
        self.endpoint = EndpointCalls(transport)
        self.sandbox = Sandbox(transport)
