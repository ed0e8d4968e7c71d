import type { Sql } from '../../../src/database/sql.ts'
import { readBacklog } from '../../../src/deliveries/backlog.ts'
import { finishAttempt } from '../../../src/deliveries/finish-attempt.ts'
import { findDeliveries } from '../../../src/deliveries/list-deliveries.ts'
import { BEGINNING, eventsAfter } from '../../../src/leads/event-feed.ts'
import { leadPage } from '../../../src/leads/list-leads.ts'
import type { WebhookBody } from '../../../src/leads/new-lead.ts'
import { findEvents } from '../../../src/leads/get-events.ts'
import { findLead } from '../../../src/leads/get-lead.ts'
import { recordMilestones } from '../../../src/leads/record-milestones.ts'
import { insertLead } from '../../support/insert-lead.ts'
import { LEAD } from '../lead.ts'
import { type Cost, costOf } from '../pages.ts'

interface Grown {
  sql: Sql
  encryptionKeys: readonly Buffer[]
}

const TIMES = 200
const BATCHES = 10
const PAGE = 50
const PARTNER = 1
const NEW_LEAD = { ...LEAD, partner_lead_id: null, fico_range: null, loan_officer_id: null, notes: null }
const SIGNED = { at: new Date(), signature: 'v1,signature' }
const ACCEPTED = {
  ok: true,
  status: 200,
  responseHeaders: { 'content-type': 'text/plain' },
  responseBody: 'ok',
  retryAfter: null,
  address: '127.0.0.1',
  durationMs: 5,
  errorCode: null,
  hint: null,
}

/**
 * What each statement costs that partners or webhooks wait for, and some that run beside them.
 *
 * @param leadAt the id of the n-th lead that is measured.
 * @param events how many events each lead has.
 */
export async function hotStatements(
  { sql, encryptionKeys }: Grown,
  leadAt: (n: number) => number,
  events: number,
) {
  const read = (partner: number, lead: number) => findLead({ sql, encryptionKeys }, partner, lead)
  const body: WebhookBody = (facts) => JSON.stringify(facts).padEnd(300)
  const costs: Record<string, Cost> = {}
  const measure = async (name: string, work: (n: number) => Promise<unknown>, times = TIMES) => {
    costs[name] = await costOf(sql, times, work)
  }
  await measure('get-lead', async (n) => required(await read(PARTNER, leadAt(n))))
  await measure('get-events of 10', async (n) => required(await findEvents(sql, PARTNER, leadAt(n))))
  await measure('list-leads, 50', (n) => leadPage(sql, PARTNER, { after: leadAt(900 - n), limit: PAGE }))
  await measure('get-deliveries, 50', () => findDeliveries(sql, { partnerId: PARTNER, limit: PAGE }))
  await measure('list-events, 50', () => eventsAfter(sql, PARTNER, BEGINNING, PAGE))
  await measure('create-lead', () => insertLead(sql, PARTNER, NEW_LEAD, body, encryptionKeys))
  await measure('a milestone, from the signal to its delivered webhook', async (n) => {
    const items = [{ name: 'score_update' as const, dedupeKey: 'score_update:99' }]
    const opening = { after: events, encryptionKeys }
    const recorded = await recordMilestones(sql, leadAt(n), items, body, { opening })
    await finishAttempt(sql, { ...required(recorded?.started), signed: SIGNED }, ACCEPTED)
  })
  await measure('what waits, for the metrics', () => readBacklog(sql), BATCHES)
  return costs
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('there is nothing to measure')
  return value
}
