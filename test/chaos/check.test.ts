import { describe, expect, it } from '@jest/globals'
import { check } from './check/check.ts'
import type { Evidence } from './evidence.ts'
import { soundEvidence } from './sound-evidence.ts'

/** For each invariant, what a run would leave behind in which it was broken. */
const doctored: Record<string, (evidence: Evidence) => void> = {
  'every create-lead is acknowledged in the end': ({ leads }) => void (leads[0]!.leadId = null),
  'every acknowledged lead reads back, field by field': ({ views }) => void (views.get(1)!.lead.phone = '1'),
  'no lead is there twice, and none that nobody sent': ({ record }) =>
    record.leads.push({ ...record.leads[0]!, id: 3 }),
  'one Idempotency-Key, one answer': ({ calls }) => calls.push({ ...calls[1]!, body: '{"success":true}' }),
  'another partner’s lead and an unknown one get the same 404': ({ foreign }) =>
    void (foreign[0]!.body = '{"success":false}'),
  'every milestone is acknowledged in the end': ({ leads }) =>
    void (leads[0]!.milestones[0]!.acknowledgedAt = null),
  'a lead begins with its only lead_received': ({ record }) =>
    void (record.events[1]!.event_name = 'lead_received'),
  'every acknowledged milestone is recorded once, and no other': ({ record }) =>
    record.events.push({ ...record.events[2]!, position: 5 }),
  'milestones are recorded in the order in which they were acknowledged': ({ leads }) =>
    void (leads[0]!.milestones[0]!.acknowledgedAt = 25),
  'what an update was answered is what is recorded': ({ leads }) =>
    void (leads[0]!.milestones[0]!.answers[0]!.event_id = 'evt_2_2'),
  'positions have no gaps, and no event is older than the one before it': ({ record }) =>
    void (record.events[1]!.created_at = new Date(0)),
  'get-events returns what is recorded': ({ views }) => views.get(1)!.events.pop(),
  'what was read earlier is how the history still begins': ({ reads }) => reads[0]!.view.events.shift(),
  'the status is the furthest milestone': ({ views }) => void (views.get(1)!.lead.status = 'escrow_funded'),
  'the status never goes back': ({ reads }) => void (reads[0]!.view.lead.status = 'mortgage_ready'),
  'every webhook was accepted by its partner’s endpoint, or is listed as given up': ({ requests }) =>
    void (requests[1]!.status = 500),
  'every request is of a recorded event, at its own partner’s endpoint': ({ requests }) =>
    void (requests[1]!.partnerId = 2),
  'every attempt has the bytes of its delivery, and the webhook-id of its event alone': ({ requests }) =>
    void (requests[1]!.body += ' '),
  'every signature verifies, and is made for its attempt': ({ requests }) =>
    void (requests[1]!.verified = false),
  'sequences count each lead’s webhooks, without gaps': ({ record }) =>
    void (record.deliveries[1]!.sequence = 4),
  'no webhook is sent before the one before it was accepted': ({ requests }) => void (requests[2]!.at = 0),
  'a webhook is sent again though accepted only if a fault kept a worker from recording that': (evidence) => {
    for (const fault of evidence.faults) fault.on = 'temporal'
    evidence.requests.push({ ...evidence.requests[1]!, at: 5000, answeredAt: 5001 })
  },
  'such a fault repeats at most the ten requests that an endpoint is given at a time': ({ requests }) => {
    for (let count = 0; count < 1000; count += 1)
      requests.push({ ...requests[1]!, at: 5000, answeredAt: 5001 })
  },
  'every lead has one chain of workflow runs, which is running or completed': ({ workflows }) =>
    void (workflows[1]!.status = 'FAILED'),
  'every workflow has a lead': ({ workflows }) => workflows.push({ ...workflows[1]!, workflowId: 'lead-3' }),
  'no workflow task fails again and again': ({ workflows }) => void (workflows[1]!.taskAttempt = 9),
  'every message that a workflow received was decided about': ({ accounts }) =>
    void (accounts[0]!.decided = 3),
  'every answer of the API is one of the specification, and no 5xx but 503': ({ calls }) =>
    calls.push({
      ...calls[1]!,
      status: 500,
      body: '{"success":false,"error":{"code":"INTERNAL_ERROR","message":"Something went wrong on our side."}}',
    }),
  'no process of the service ends by itself': ({ ends }) => ends.push('worker 1: out of memory'),
  'nothing personal, no key and no secret is in Temporal’s files or in a log': ({ search }) =>
    search.leaks.push('a borrower in api-1.log'),
  'every kind of fault has hit something, and was noticed': ({ faults }) => void faults.pop(),
}

const brokenIn = (evidence: Evidence) =>
  check(evidence)
    .filter(({ broken }) => broken.length > 0)
    .map(({ invariant }) => invariant)

describe('the checker of chaos runs', () => {
  it('finds nothing where every promise was kept', () => {
    expect(brokenIn(soundEvidence())).toEqual([])
  })

  it.each(check(soundEvidence()).map(({ invariant }) => invariant))(
    'finds it when it is not so: %s',
    (invariant) => {
      const evidence = soundEvidence()
      doctored[invariant]?.(evidence)
      expect(brokenIn(evidence)).toContain(invariant)
    },
  )
})
