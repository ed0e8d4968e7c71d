import { formatTimestamp } from '../../src/core/values/timestamps.ts'
import type { Call, Evidence, LeadJournal, RecordedEvent, SentMilestone, View } from './evidence.ts'
import { faultKinds } from './fault-plan.ts'

const GAINS = {
  experian_gain: 1,
  equifax_gain: 2,
  transunion_gain: 3,
  estimated_time_remaining: '30-60 days',
}
const FIELDS = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '555-0100' }
const NOT_FOUND = '{"success":false,"error":{"code":"NOT_FOUND","message":"Lead not found."}}'

/** What a run leaves behind in which every promise was kept: two leads of two partners, and each kind of fault. */
export function soundEvidence(): Evidence {
  const leads = [1, 2].map(leadOf)
  const events = leads.flatMap(eventsOf)
  const worthy = events.filter((event) => event.event_name !== 'client_engaged_in_chat')
  const deliveries = worthy.map((event) => ({
    event_id: event.id,
    lead_id: event.lead_id,
    sequence: event.position === 4 ? 3 : event.position,
    state: 'delivered',
    body: JSON.stringify({ id: event.id }),
  }))
  const requests = deliveries.map(({ event_id: id, lead_id: leadId, sequence, body }) => ({
    partnerId: leadId,
    id,
    leadId,
    sequence,
    body,
    verified: true,
    ageSeconds: 0,
    at: sequence * 100,
    answeredAt: sequence * 100 + 1,
    status: 200,
  }))
  const views = new Map(leads.map((lead) => [lead.leadId ?? 0, viewOf(lead, events)]))
  return {
    leads,
    calls: leads.flatMap(({ key, leadId, partnerId }) => [
      { ...call('create-lead', partnerId, key), status: null, type: null, body: '' },
      { ...call('create-lead', partnerId, key), try: 2, body: `{"success":true,"lead_id":${leadId}}` },
    ]),
    reads: leads.map(({ leadId }) => ({
      leadId: leadId ?? 0,
      view: structuredClone(views.get(leadId ?? 0)!),
    })),
    views,
    foreign: [1, 2].map(() => ({ ...call('get-lead', 2, ''), status: 404, body: NOT_FOUND })),
    requests: [{ ...requests[0]!, at: 50, answeredAt: 51, status: 500 }, ...requests],
    faults: faultKinds.map((kind) => ({ kind, on: 'worker 1', at: 1000, until: 2000, hits: 1 })),
    record: {
      leads: leads.map(({ leadId, partnerId }) => ({
        id: leadId ?? 0,
        partner_id: partnerId,
        status: 'score_update',
      })),
      events,
      deliveries,
    },
    workflows: [
      { workflowId: 'lead-1', runId: 'a', status: 'CONTINUED_AS_NEW', taskAttempt: 0 },
      ...[1, 2].map((id) => ({
        workflowId: `lead-${id}`,
        runId: `b${id}`,
        status: 'RUNNING',
        taskAttempt: 1,
      })),
    ],
    accounts: [{ leadId: 1, received: 4, decided: 4, waiting: 0, acknowledged: 3 }],
    ends: [],
    search: { files: 3, leaks: [], found: 1 },
  }
}

function call(path: string, partnerId: number, request: string): Call {
  const answered = {
    at: 0,
    tookMs: 5,
    status: 200,
    type: 'application/json; charset=utf-8',
    body: '{"success":true}',
  }
  return { path, partnerId, request, try: 1, ...answered }
}

function leadOf(id: number): LeadJournal {
  const sent = { way: 'signal', tries: 2, answers: [] } as const
  const milestones: SentMilestone[] = [
    {
      ...sent,
      name: 'client_account_created',
      way: 'update',
      acknowledgedAt: 10,
      answers: [{ outcome: 'recorded', event_id: `evt_${id}_2` }],
    },
    { ...sent, answers: [], name: 'client_engaged_in_chat', id: 'c', acknowledgedAt: 20 },
    { ...sent, answers: [], name: 'score_update', id: 's', gains: GAINS, acknowledgedAt: 30 },
  ]
  return {
    partnerId: id,
    key: `lead-${id}`,
    fields: FIELDS,
    metadata: { branch: 'Oakland' },
    leadId: id,
    milestones,
  }
}

function eventsOf({ leadId, partnerId, milestones }: LeadJournal): RecordedEvent[] {
  const all = [{ name: 'lead_received', gains: null }, ...milestones]
  return all.map(({ name, gains }, index) => ({
    id: `evt_${leadId}_${index + 1}`,
    lead_id: leadId ?? 0,
    partner_id: partnerId,
    position: index + 1,
    event_name: name,
    event_payload: gains ?? null,
    created_at: new Date(1_700_000_000_000 + index * 1000),
  }))
}

function viewOf({ leadId, partnerId, fields, metadata }: LeadJournal, events: RecordedEvent[]): View {
  const dates = { created_at: '2026-03-02 15:04:05', updated_at: '2026-03-02 15:04:05' }
  return {
    lead: {
      ...fields,
      ...metadata,
      ...dates,
      id: leadId,
      lead_id: leadId,
      partner_id: partnerId,
      status: 'score_update',
    },
    events: events
      .filter((event) => event.lead_id === leadId)
      .map(({ event_name, event_payload, created_at }) => ({
        event_name,
        event_payload,
        created_at: formatTimestamp(created_at),
      })),
  }
}
