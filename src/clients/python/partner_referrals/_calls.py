# Generated from docs/openapi.json by npm run clients. Do not edit.
"""A method for each call of the API, named after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import types


class Calls:
    def _call(self, method: str, path: str, request: Any = None, keyed: bool = False, key: str | None = None) -> Any:
        raise NotImplementedError

    def ping(self) -> types.PingResponse:
        """Check that the service is online. Needs no key. If you send one, it is checked, so this call also tests a key."""
        answer: types.PingResponse = self._call("GET", "/ping")
        return answer

    def create_lead(self, request: types.CreateLeadRequest, *, idempotency_key: str | None = None) -> types.CreateLeadResponse:
        """Refer a borrower. Creates a lead and starts the borrower’s journey. A `lead_received` webhook follows. Unknown fields are ignored, and `ignored_fields` names them. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the header `Idempotent-Replayed`, and no second lead is created."""
        answer: types.CreateLeadResponse = self._call("POST", "/create-lead", request, True, idempotency_key)
        return answer

    def get_lead(self, request: types.GetLeadRequest) -> types.GetLeadResponse:
        """Get a lead’s current state. Returns a lead with its metadata. Optional fields without a value are left out. A lead that was closed has `closing` beside its data."""
        answer: types.GetLeadResponse = self._call("POST", "/get-lead", request)
        return answer

    def get_events(self, request: types.GetEventsRequest) -> types.GetEventsResponse:
        """List a lead’s events. Returns the complete history of one lead, oldest first, including events that are not sent as webhooks. list-events returns the events of all your leads, each with the `event_id` of its webhook and delivery."""
        answer: types.GetEventsResponse = self._call("POST", "/get-events", request)
        return answer

    def update_partner_info(self, request: Mapping[str, Any]) -> types.UpdatePartnerInfoResponse:
        """Change a lead and its metadata. Changes one lead, not your account. Fields that you do not send keep their value; `None` removes a field. `partner_lead_id`, `fico_range` and `loan_officer_id` change the lead. Any other field is stored as metadata under its own name: 1 to 64 printable characters, up to 50 custom fields for each lead. Fields that the service owns or that identify the borrower cannot be changed."""
        answer: types.UpdatePartnerInfoResponse = self._call("POST", "/update-partner-info", request)
        return answer

    def get_deliveries(self, request: types.GetDeliveriesRequest | None = None) -> types.GetDeliveriesResponse:
        """List webhook deliveries. Returns one delivery for each event that is sent to your endpoint, with its attempts and your endpoint’s responses; with `event_id`, also their bodies."""
        answer: types.GetDeliveriesResponse = self._call("POST", "/get-deliveries", request)
        return answer

    def resend_webhook(self, request: types.ResendWebhookRequest) -> types.ResendWebhookResponse:
        """Resend a webhook. An open delivery is attempted now, after the lead’s earlier webhooks; if that fails, its retry schedule is unchanged. A settled one is sent again with the same `webhook-id` and the header `webhook-replay: true`, unless it was canceled. Resends are sent one at a time, at most five a second, and none while your endpoint is paused; up to 1,000 can wait. Requesting a resend that already waits changes nothing."""
        answer: types.ResendWebhookResponse = self._call("POST", "/resend-webhook", request)
        return answer

    def get_endpoint(self, request: types.GetEndpointRequest | None = None) -> types.GetEndpointResponse:
        """Get your endpoint and its health. Returns the URL of your endpoint, its health with the reason, what waits, and the candidate with its certification."""
        answer: types.GetEndpointResponse = self._call("POST", "/get-endpoint", request)
        return answer

    def set_endpoint(self, request: types.SetEndpointRequest, *, idempotency_key: str | None = None) -> types.SetEndpointResponse:
        """Set the URL of your endpoint. Stores a candidate for the URL of your endpoint, with a signing secret of its own. Nothing is sent to it yet: configure your receiver with the secret, then call certify-endpoint. Until it has passed, webhooks go to the current URL. It replaces an earlier candidate. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret."""
        answer: types.SetEndpointResponse = self._call("POST", "/set-endpoint", request, True, idempotency_key)
        return answer

    def certify_endpoint(self, request: types.CertifyEndpointRequest | None = None) -> types.CertifyEndpointResponse:
        """Certify the new URL of your endpoint. Starts the certification of the URL that set-endpoint stored. We send six requests to it: your receiver must accept a signed webhook, the same one again, and one of an unknown type, and refuse a forged signature, an old timestamp and a changed body. get-endpoint shows the result of each, and what to change. When all pass, the URL and its secret take effect at once, held webhooks are sent in order, and we email your contact. Calling it again while a certification runs changes nothing."""
        answer: types.CertifyEndpointResponse = self._call("POST", "/certify-endpoint", request)
        return answer

    def rotate_endpoint_secret(self, request: types.RotateEndpointSecretRequest | None = None, *, idempotency_key: str | None = None) -> types.RotateEndpointSecretResponse:
        """Replace your signing secret. Creates a new signing secret. During the overlap, each webhook is signed with both secrets, so that your receiver can change over at any time. The new secret signs at once, and we email your contact. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret."""
        answer: types.RotateEndpointSecretResponse = self._call("POST", "/rotate-endpoint-secret", request, True, idempotency_key)
        return answer

    def test_endpoint(self, request: types.TestEndpointRequest | None = None) -> types.TestEndpointResponse:
        """Send a test request to your endpoint. Sends one signed request of type `endpoint.ping` to your endpoint, even while it is paused, and returns how it responded. It is not an event: it appears in no history and is not retried. While a test request is in progress, another call returns the response to that request."""
        answer: types.TestEndpointResponse = self._call("POST", "/test-endpoint", request)
        return answer

    def pause_endpoint(self, request: types.PauseEndpointRequest | None = None) -> types.PauseEndpointResponse:
        """Pause your endpoint. Holds all webhooks until you call resume-endpoint. Nothing is lost, and nothing is tried meanwhile. Pausing a paused endpoint keeps it paused."""
        answer: types.PauseEndpointResponse = self._call("POST", "/pause-endpoint", request)
        return answer

    def resume_endpoint(self, request: types.ResumeEndpointRequest | None = None) -> types.ResumeEndpointResponse:
        """Resume your endpoint. Sends webhooks again, held ones first and in order. It ends a pause by you or by the service; only our staff can end a pause by our staff. Webhooks that failed and wait for their next attempt are all tried now. If they are already being sent, nothing changes."""
        answer: types.ResumeEndpointResponse = self._call("POST", "/resume-endpoint", request)
        return answer

    def list_events(self, request: types.ListEventsRequest | None = None) -> types.ListEventsResponse:
        """Poll for events of all leads. Returns the events of all your leads in the order in which they were committed; get-events returns those of one lead. `lead.closed` says that a lead was closed: it is not a milestone, is not sent as a webhook, and has no `sequence`. Send `next` as `after` in the following request: no event is skipped or repeated. Store `next` only after you have processed the page, or each event’s `cursor` after the event. With `wait`, the response comes as soon as there are events."""
        answer: types.ListEventsResponse = self._call("POST", "/list-events", request)
        return answer

    def list_leads(self, request: types.ListLeadsRequest | None = None) -> types.ListLeadsResponse:
        """List your leads. Returns your leads, newest first, without personal data: get-lead returns that. Send `next` as `after` to get older ones."""
        answer: types.ListLeadsResponse = self._call("POST", "/list-leads", request)
        return answer

    def close_lead(self, request: types.CloseLeadRequest, *, idempotency_key: str | None = None) -> types.CloseLeadResponse:
        """Close a lead. Closes a lead for good, for example because the borrower withdrew. Milestones that have arrived are recorded first; then no more are recorded, and no more score updates are made. Open webhooks are still sent. get-lead and list-leads show when. A repeat changes nothing, and returns when and why the lead was closed. After a 503 the lead may still be closed: send the request again."""
        answer: types.CloseLeadResponse = self._call("POST", "/close-lead", request, True, idempotency_key)
        return answer

    def export_lead(self, request: types.ExportLeadRequest) -> types.ExportLeadResponse:
        """Export all data of a lead. Returns everything that we keep about a borrower, as of one moment, for example to answer the borrower’s own request. Exports are made one at a time."""
        answer: types.ExportLeadResponse = self._call("POST", "/export-lead", request)
        return answer

    def erase_lead(self, request: types.EraseLeadRequest, *, idempotency_key: str | None = None) -> types.EraseLeadResponse:
        """Erase a borrower’s personal data. Erases the personal data of a lead at once and for good: name, email address, phone number, notes, metadata, and what belongs to them. No more webhooks are sent, and calls for the lead return 404, as for a lead that does not exist. list-events and get-deliveries keep its ids and milestones. With an `Idempotency-Key`, a repeat within 24 hours gets the same response."""
        answer: types.EraseLeadResponse = self._call("POST", "/erase-lead", request, True, idempotency_key)
        return answer

    def simulate_event(self, request: types.SimulateEventRequest, *, idempotency_key: str | None = None) -> types.SimulateEventResponse:
        """Simulate milestones. Makes milestones of a lead happen now, on the lead’s clock. They are recorded and sent as in production. Send `event_name` for one, or `events` for up to 50 in their order. `lead_received` cannot be simulated: create-lead records it. A milestone that happens only once is not recorded again if the lead has it. After a 503 the milestones may still be recorded; a repeat with the same `Idempotency-Key` records none of them twice."""
        answer: types.SimulateEventResponse = self._call("POST", "/sandbox/simulate-event", request, True, idempotency_key)
        return answer

    def advance_clock(self, request: types.AdvanceClockRequest) -> types.AdvanceClockResponse:
        """Advance a lead’s clock. Moves the clock of one lead forward. Whatever falls due on the way happens in order, each at its own date: score updates, the lead’s end, and the retries of a failing webhook. Other leads are not affected. The response comes when all of it has happened, or after ten seconds as 409 `CLOCK_MOVING`: the rest continues on its own, get-clock shows where it is, and the same request within a minute waits for it. A clock can be at most 20 years ahead, and 10 of your requests can move clocks at a time. If nothing that `to` names is due, the clock does not move."""
        answer: types.AdvanceClockResponse = self._call("POST", "/sandbox/advance-clock", request)
        return answer

    def get_clock(self, request: types.GetClockRequest) -> types.GetClockResponse:
        """Get a lead’s clock. Returns the time on a lead’s clock, whether it is moving, and what is due next."""
        answer: types.GetClockResponse = self._call("POST", "/sandbox/get-clock", request)
        return answer

    def list_scenarios(self) -> types.ListScenariosResponse:
        """List the scenarios. Returns the journeys that run-scenario plays. A lead that is created with an email address ending with `+<scenario>@example.com` plays one, too."""
        answer: types.ListScenariosResponse = self._call("GET", "/sandbox/scenarios")
        return answer

    def run_scenario(self, request: types.RunScenarioRequest) -> types.RunScenarioResponse:
        """Play a whole journey. Plays a scenario with a lead, or with a new one if you name none. Its milestones are recorded and sent as in production, on the lead’s own clock, which moves as far as the scenario takes. `GET /v1/sandbox/scenarios` lists the scenarios. Milestones that the lead already has are not repeated. The response comes when the scenario is over, or after ten seconds: the rest continues on its own. 10 of your requests can move clocks at a time."""
        answer: types.RunScenarioResponse = self._call("POST", "/sandbox/run-scenario", request)
        return answer

    def use_sink(self, request: types.UseSinkRequest | None = None) -> types.UseSinkResponse:
        """Receive webhooks at our sink. Makes our sink your endpoint, for example if you have no public address. It verifies what arrives, and keeps the last 100 webhooks for get-sink. set-sink decides how it answers. Your webhooks go there at once. Calling it again makes the sink answer 200 again. Only our staff can end a pause by our staff."""
        answer: types.UseSinkResponse = self._call("POST", "/sandbox/use-sink", request)
        return answer

    def set_sink(self, request: types.SetSinkRequest | None = None) -> types.SetSinkResponse:
        """Decide how the sink answers. Decides how the sink answers the next webhooks, to watch retries, order and recovery. A webhook whose signature is not valid always gets 400. With an empty body, `{}`, it answers 200 again."""
        answer: types.SetSinkResponse = self._call("POST", "/sandbox/set-sink", request)
        return answer

    def get_sink(self, request: types.GetSinkRequest | None = None) -> types.GetSinkResponse:
        """Read the webhooks at the sink. Returns the last 100 webhooks that arrived at your sink, newest first, and how it answers."""
        answer: types.GetSinkResponse = self._call("POST", "/sandbox/get-sink", request)
        return answer
