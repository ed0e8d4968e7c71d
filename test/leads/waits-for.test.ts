import { describe, expect, it } from '@jest/globals'
import { type LeadFacts, waitsFor } from '../../src/leads/waits-for.ts'

const at = new Date('2026-03-02T15:04:05Z')
const idle: LeadFacts = {
  lead_id: 7,
  partner_id: 3,
  status: 'contract_signed',
  erased_at: null,
  closed_at: null,
  close_reason: null,
  workflow_started_at: at,
  is_paused: false,
  has_no_url: false,
  event_id: null,
  event_name: null,
  failures: null,
  last_status: null,
  last_error_code: null,
  given_up_event_id: null,
}
const open = { event_id: 'evt_1', event_name: 'contract_signed', failures: 0 } as const
const closed = { closed_at: at, close_reason: 'withdrew' } as const
const webhook = 'the webhook contract_signed (evt_1)'

describe('a lead', () => {
  it.each<[string, Partial<LeadFacts>, string, Date | null, string]>([
    ['that is idle', {}, 'the milestone after contract_signed', null, 'lead show 7'],
    ['that was erased', { ...closed, erased_at: at }, 'nothing: it was erased', at, 'lead show 7'],
    [
      'without a workflow',
      { ...open, workflow_started_at: null },
      'its workflow, which was not started',
      null,
      'workflow rebuild',
    ],
    [
      'that was closed before it had a workflow',
      { ...closed, workflow_started_at: null },
      'nothing: it was closed, withdrew',
      at,
      'lead show 7',
    ],
    [
      'without a URL',
      { ...open, is_paused: true, has_no_url: true },
      `a URL to send ${webhook} to`,
      null,
      'endpoint show 3',
    ],
    [
      'whose endpoint is paused',
      { ...open, is_paused: true, failures: 3 },
      `its endpoint, which is paused, to take ${webhook}`,
      null,
      'endpoint show 3',
    ],
    [
      'whose webhook has failed once',
      { ...open, failures: 1, last_error_code: 'timeout' },
      `the next attempt at ${webhook}, which failed once, last with timeout`,
      null,
      'delivery list --lead 7',
    ],
    [
      'whose webhook has failed often',
      { ...open, failures: 4, last_status: 503, last_error_code: 'status' },
      `the next attempt at ${webhook}, which failed 4 times, last with 503`,
      null,
      'delivery list --lead 7',
    ],
    ['whose webhook is due', open, webhook, null, 'delivery list --lead 7'],
    [
      'one of whose webhooks was given up',
      { given_up_event_id: 'evt_0' },
      'somebody to send evt_0 again, which was given up',
      null,
      'delivery resend evt_0',
    ],
    ['that was closed', closed, 'nothing: it was closed, withdrew', at, 'lead show 7'],
  ])('%s', (_, facts, what, since, next) => {
    expect(waitsFor({ ...idle, ...facts })).toEqual({ waitsFor: what, since, next })
  })
})
