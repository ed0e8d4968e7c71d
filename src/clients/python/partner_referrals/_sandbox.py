from __future__ import annotations

from collections.abc import Sequence

from ._calls import (
    ADVANCE_CLOCK,
    GET_CLOCK,
    GET_SINK,
    LIST_SCENARIOS,
    RUN_SCENARIO,
    SET_SINK,
    SIMULATE_EVENT,
    USE_SINK,
)
from ._transport import Transport, given
from .types import (
    AdvanceClockTo,
    Clock,
    ClockAdvance,
    Endpoint,
    EventToSimulateInput,
    Scenario,
    ScenarioName,
    ScenarioRun,
    ScoreGainsInput,
    SetSinkFault,
    SimulatedEventName,
    Simulation,
    Sink,
)


class Sandbox:
    """Only a sandbox has these calls."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def simulate(
        self,
        lead_id: int,
        event_name: SimulatedEventName | None = None,
        event_payload: ScoreGainsInput | None = None,
        *,
        days_ago: int | None = None,
        events: Sequence[EventToSimulateInput] | None = None,
        idempotency_key: str | None = None,
    ) -> Simulation:
        """Records one milestone, or several `events` in their order."""
        body = given(
            lead_id=lead_id,
            event_name=event_name,
            event_payload=event_payload,
            days_ago=days_ago,
            events=events,
        )
        return self._transport.call(SIMULATE_EVENT, body, idempotency_key=idempotency_key).data

    def advance_clock(
        self, lead_id: int, *, days: int | None = None, to: AdvanceClockTo | None = None
    ) -> ClockAdvance:
        return self._transport.call(ADVANCE_CLOCK, given(lead_id=lead_id, days=days, to=to)).data

    def clock(self, lead_id: int) -> Clock:
        return self._transport.call(GET_CLOCK, {"lead_id": lead_id}).data

    def scenarios(self) -> Sequence[Scenario]:
        return self._transport.call(LIST_SCENARIOS).data

    def run_scenario(self, scenario: ScenarioName, *, lead_id: int | None = None) -> ScenarioRun:
        return self._transport.call(RUN_SCENARIO, given(scenario=scenario, lead_id=lead_id)).data

    def use_sink(self) -> Endpoint:
        """Sends the webhooks to a receiver of the sandbox."""
        return self._transport.call(USE_SINK).data

    def set_sink(
        self,
        *,
        status: int | None = None,
        times: int | None = None,
        delay_ms: int | None = None,
        fault: SetSinkFault | None = None,
        retry_after: int | None = None,
    ) -> None:
        """What the sink answers next."""
        body = given(status=status, times=times, delay_ms=delay_ms, fault=fault, retry_after=retry_after)
        self._transport.call(SET_SINK, body)

    def sink(self) -> Sink:
        return self._transport.call(GET_SINK).data
