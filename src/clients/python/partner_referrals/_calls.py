# Generated from docs/openapi.json by npm run clients. Do not edit.
"""Which calls there are, and what has to be converted in their answers."""

from . import types
from ._shapes import ISO, REST, TIME, Call, ListOf, OneOf, Shape

EVENT = OneOf("event_name", {
    "lead_received": types.LeadReceivedEvent,
    "score_update": types.ScoreUpdateEvent,
    "client_account_created": types.MilestoneEvent,
    "credit_scan_completed": types.MilestoneEvent,
    "client_engaged_in_chat": types.MilestoneEvent,
    "contract_signed": types.MilestoneEvent,
    "escrow_funded": types.MilestoneEvent,
    "mortgage_ready": types.MilestoneEvent,
}, types.OtherEvent)
EXPORTED_EVENT = OneOf("event_name", {
    "lead_received": types.LeadReceivedExportedEvent,
    "score_update": types.ScoreUpdateExportedEvent,
    "client_account_created": types.MilestoneExportedEvent,
    "credit_scan_completed": types.MilestoneExportedEvent,
    "client_engaged_in_chat": types.MilestoneExportedEvent,
    "contract_signed": types.MilestoneExportedEvent,
    "escrow_funded": types.MilestoneExportedEvent,
    "mortgage_ready": types.MilestoneExportedEvent,
}, types.OtherExportedEvent)
FEED_EVENT = OneOf("event_name", {
    "lead_received": types.LeadReceivedFeedEvent,
    "score_update": types.ScoreUpdateFeedEvent,
    "client_account_created": types.MilestoneFeedEvent,
    "credit_scan_completed": types.MilestoneFeedEvent,
    "client_engaged_in_chat": types.MilestoneFeedEvent,
    "contract_signed": types.MilestoneFeedEvent,
    "escrow_funded": types.MilestoneFeedEvent,
    "mortgage_ready": types.MilestoneFeedEvent,
    "lead.closed": types.LeadClosedFeedEvent,
}, types.OtherFeedEvent)
HAPPENED = OneOf("what", {
    "event": types.HappenedEvent,
    "webhook": types.HappenedWebhook,
    "end": types.HappenedEnd,
}, None)
SIMULATED_EVENT = OneOf("event_name", {
    "score_update": types.ScoreUpdateSimulatedEvent,
    "client_account_created": types.MilestoneSimulatedEvent,
    "credit_scan_completed": types.MilestoneSimulatedEvent,
    "client_engaged_in_chat": types.MilestoneSimulatedEvent,
    "contract_signed": types.MilestoneSimulatedEvent,
    "escrow_funded": types.MilestoneSimulatedEvent,
    "mortgage_ready": types.MilestoneSimulatedEvent,
}, types.OtherSimulatedEvent)
WEBHOOK_EVENT = OneOf("type", {
    "lead_received": types.LeadReceivedWebhook,
    "score_update": types.ScoreUpdateWebhook,
    "client_account_created": types.MilestoneWebhook,
    "credit_scan_completed": types.MilestoneWebhook,
    "contract_signed": types.MilestoneWebhook,
    "escrow_funded": types.MilestoneWebhook,
    "mortgage_ready": types.MilestoneWebhook,
    "endpoint.ping": types.EndpointPing,
    "endpoint.certification": types.EndpointCertification,
}, types.OtherWebhook)

SHAPES: dict[type, dict[str, Shape]] = {
    types.AdvanceClockResponse: {"data": types.ClockAdvance},
    types.Attempt: {"started_at": TIME},
    types.Certification: {"requested_at": TIME, "finished_at": TIME, "checks": ListOf(types.CertificationCheck)},
    types.CertifyEndpointResponse: {"data": types.Endpoint},
    types.Clock: {"now": TIME, "next": types.Due},
    types.ClockAdvance: {"now": TIME, "happened": ListOf(HAPPENED), "next": types.Due},
    types.CloseLeadResponse: {"data": types.Closing},
    types.Closing: {"closed_at": TIME},
    types.Delivery: {"created_at": TIME, "next_attempt_at": TIME, "waits_for": types.BlockingWebhook, "settled_at": TIME, "attempts": ListOf(types.Attempt)},
    types.Due: {"at": TIME},
    types.Endpoint: {"since": TIME, "recent_attempts": types.RecentAttempts, "last_success_at": TIME, "last_error": types.EndpointError, "oldest_waiting": types.OldestWaiting, "next_attempt_at": TIME, "next_probe_at": TIME, "candidate": types.EndpointCandidate, "certification": types.Certification},
    types.EndpointCandidate: {"requested_at": TIME},
    types.EndpointCertification: {"timestamp": ISO, "data": types.EndpointCertificationData},
    types.EndpointError: {"at": TIME},
    types.EndpointPing: {"timestamp": ISO, "data": types.EndpointPingData},
    types.EndpointWithSecret: {"since": TIME, "recent_attempts": types.RecentAttempts, "last_success_at": TIME, "last_error": types.EndpointError, "oldest_waiting": types.OldestWaiting, "next_attempt_at": TIME, "next_probe_at": TIME, "candidate": types.EndpointCandidate, "certification": types.Certification},
    types.EraseLeadResponse: {"data": types.Erasure},
    types.Erasure: {"erased_at": TIME},
    types.ExportLeadResponse: {"data": types.ExportedLead},
    types.ExportedAction: {"at": TIME},
    types.ExportedAttempt: {"started_at": TIME, "finished_at": TIME},
    types.ExportedDelivery: {"next_attempt_at": TIME, "settled_at": TIME, "attempts": ListOf(types.ExportedAttempt)},
    types.ExportedFields: {"created_at": TIME, "updated_at": TIME},
    types.ExportedIdempotencyKey: {"created_at": TIME},
    types.ExportedLead: {"exported_at": TIME, "lead": types.ExportedFields, "onboarding_email": types.ExportedLeadOnboardingEmail, "clock": types.ExportedLeadClock, "score_updates": types.ExportedLeadScoreUpdates, "closing": types.ExportedLeadClosing, "workflow": types.ExportedLeadWorkflow, "idempotency_keys": ListOf(types.ExportedIdempotencyKey), "events": ListOf(EXPORTED_EVENT), "deliveries": ListOf(types.ExportedDelivery), "actions": ListOf(types.ExportedAction)},
    types.ExportedLeadClosing: {"closed_at": TIME},
    types.ExportedLeadOnboardingEmail: {"sent_at": TIME},
    types.ExportedLeadScoreUpdates: {"since": TIME},
    types.ExportedLeadWorkflow: {"started_at": TIME},
    types.GetClockResponse: {"data": types.Clock},
    types.GetDeliveriesResponse: {"data": ListOf(types.Delivery)},
    types.GetEndpointResponse: {"data": types.OwnEndpoint},
    types.GetEventsResponse: {"data": ListOf(EVENT)},
    types.GetLeadResponse: {"data": types.Lead, "closing": types.LeadClosing},
    types.GetSinkResponse: {"data": types.Sink},
    types.HappenedEnd: {"at": TIME},
    types.HappenedEvent: {"at": TIME},
    types.HappenedWebhook: {"at": TIME},
    types.Lead: {"created_at": TIME, "updated_at": TIME, "metadata": REST},
    types.LeadClosedFeedEvent: {"event_payload": types.LeadClosedPayload, "created_at": TIME},
    types.LeadClosing: {"at": TIME},
    types.LeadReceivedEvent: {"event_payload": types.LeadReceivedPayload, "created_at": TIME},
    types.LeadReceivedExportedEvent: {"event_payload": types.LeadReceivedPayload, "created_at": TIME},
    types.LeadReceivedFeedEvent: {"event_payload": types.LeadReceivedPayload, "created_at": TIME},
    types.LeadReceivedWebhook: {"timestamp": ISO, "data": types.LeadReceivedWebhookData},
    types.LeadReceivedWebhookData: {"event_payload": types.LeadReceivedPayload, "created_at": TIME},
    types.LeadSummary: {"closed_at": TIME, "created_at": TIME, "updated_at": TIME},
    types.ListEventsResponse: {"data": ListOf(FEED_EVENT)},
    types.ListLeadsResponse: {"data": ListOf(types.LeadSummary)},
    types.ListScenariosResponse: {"data": ListOf(types.Scenario)},
    types.MilestoneEvent: {"created_at": TIME},
    types.MilestoneExportedEvent: {"created_at": TIME},
    types.MilestoneFeedEvent: {"created_at": TIME},
    types.MilestoneSimulatedEvent: {"created_at": TIME},
    types.MilestoneWebhook: {"timestamp": ISO, "data": types.MilestoneWebhookData},
    types.MilestoneWebhookData: {"created_at": TIME},
    types.OldestWaiting: {"waiting_since": TIME},
    types.OtherEvent: {"created_at": TIME},
    types.OtherExportedEvent: {"created_at": TIME},
    types.OtherFeedEvent: {"created_at": TIME},
    types.OtherSimulatedEvent: {"created_at": TIME},
    types.OtherWebhook: {"timestamp": ISO},
    types.OwnEndpoint: {"since": TIME, "recent_attempts": types.RecentAttempts, "last_success_at": TIME, "last_error": types.EndpointError, "oldest_waiting": types.OldestWaiting, "next_attempt_at": TIME, "next_probe_at": TIME, "candidate": types.EndpointCandidate, "certification": types.Certification},
    types.PauseEndpointResponse: {"data": types.Endpoint},
    types.PingResponse: {"time": TIME},
    types.ResumeEndpointResponse: {"data": types.Endpoint},
    types.RotateEndpointSecretResponse: {"data": types.EndpointWithSecret},
    types.RunScenarioResponse: {"data": types.ScenarioRun},
    types.ScenarioRun: {"next": types.Due},
    types.ScoreUpdateEvent: {"event_payload": types.ScoreGains, "created_at": TIME},
    types.ScoreUpdateExportedEvent: {"event_payload": types.ScoreGains, "created_at": TIME},
    types.ScoreUpdateFeedEvent: {"event_payload": types.ScoreGains, "created_at": TIME},
    types.ScoreUpdateSimulatedEvent: {"event_payload": types.ScoreGains, "created_at": TIME},
    types.ScoreUpdateWebhook: {"timestamp": ISO, "data": types.ScoreUpdateWebhookData},
    types.ScoreUpdateWebhookData: {"event_payload": types.ScoreGains, "created_at": TIME},
    types.SetEndpointResponse: {"data": types.EndpointWithSecret},
    types.SimulateEventResponse: {"data": types.Simulation},
    types.Simulation: {"events": ListOf(SIMULATED_EVENT), "next": types.Due},
    types.Sink: {"ends_at": TIME, "webhooks": ListOf(types.SinkWebhook)},
    types.SinkWebhook: {"received_at": TIME},
    types.TestEndpointResponse: {"data": types.TestRequest},
    types.UseSinkResponse: {"data": types.Endpoint},
}

PING = Call("GET", "/ping", types.PingResponse)
CREATE_LEAD = Call("POST", "/create-lead", types.CreateLeadResponse, keyed=True)
GET_LEAD = Call("POST", "/get-lead", types.GetLeadResponse)
GET_EVENTS = Call("POST", "/get-events", types.GetEventsResponse)
UPDATE_PARTNER_INFO = Call("POST", "/update-partner-info", types.UpdatePartnerInfoResponse)
GET_DELIVERIES = Call("POST", "/get-deliveries", types.GetDeliveriesResponse)
RESEND_WEBHOOK = Call("POST", "/resend-webhook", types.ResendWebhookResponse)
GET_ENDPOINT = Call("POST", "/get-endpoint", types.GetEndpointResponse)
SET_ENDPOINT = Call("POST", "/set-endpoint", types.SetEndpointResponse, keyed=True)
CERTIFY_ENDPOINT = Call("POST", "/certify-endpoint", types.CertifyEndpointResponse)
ROTATE_ENDPOINT_SECRET = Call("POST", "/rotate-endpoint-secret", types.RotateEndpointSecretResponse, keyed=True)
TEST_ENDPOINT = Call("POST", "/test-endpoint", types.TestEndpointResponse)
PAUSE_ENDPOINT = Call("POST", "/pause-endpoint", types.PauseEndpointResponse)
RESUME_ENDPOINT = Call("POST", "/resume-endpoint", types.ResumeEndpointResponse)
LIST_EVENTS = Call("POST", "/list-events", types.ListEventsResponse)
LIST_LEADS = Call("POST", "/list-leads", types.ListLeadsResponse)
CLOSE_LEAD = Call("POST", "/close-lead", types.CloseLeadResponse, keyed=True)
EXPORT_LEAD = Call("POST", "/export-lead", types.ExportLeadResponse)
ERASE_LEAD = Call("POST", "/erase-lead", types.EraseLeadResponse, keyed=True)
SIMULATE_EVENT = Call("POST", "/sandbox/simulate-event", types.SimulateEventResponse, keyed=True)
ADVANCE_CLOCK = Call("POST", "/sandbox/advance-clock", types.AdvanceClockResponse)
GET_CLOCK = Call("POST", "/sandbox/get-clock", types.GetClockResponse)
LIST_SCENARIOS = Call("GET", "/sandbox/scenarios", types.ListScenariosResponse)
RUN_SCENARIO = Call("POST", "/sandbox/run-scenario", types.RunScenarioResponse)
USE_SINK = Call("POST", "/sandbox/use-sink", types.UseSinkResponse)
SET_SINK = Call("POST", "/sandbox/set-sink", types.SetSinkResponse)
GET_SINK = Call("POST", "/sandbox/get-sink", types.GetSinkResponse)
