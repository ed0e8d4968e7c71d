import { beforeAll, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { beginAttempt } from '../../src/deliveries/begin-attempt.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { finishAttempt } from '../../src/deliveries/finish-attempt.ts'
import { insertLead } from '../support/insert-lead.ts'
import type { Sql } from '../../src/database/sql.ts'
import { sealing } from '../../src/seal.ts'
import { type AttemptTrigger, attemptTriggers, deliveryStates } from '../../src/deliveries/delivery-states.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { testKeys } from '../support/test-keys.ts'

const TAKEN = {
  ok: true,
  status: 200,
  durationMs: 1,
  errorCode: null,
  hint: null,
  responseHeaders: null,
  responseBody: null,
  retryAfter: null,
}
const SIGNED = { at: new Date(0), signature: 'v1,unused' }

let sql: Sql
let partnerId: number

beforeAll(async () => {
  ;({ sql, partnerId } = await openDatabase())
  await switchAsStaff(sql, partnerId, { url: 'https://lender.example', secret: sealing('unused', testKeys) })
})

const endpoint = () =>
  sql.selectFrom('endpoints').selectAll().where('partner_id', '=', partnerId).executeTakeFirstOrThrow()

/** A request in flight, and the state of its delivery and endpoint meanwhile. */
const anything = fc.record({
  trigger: fc.constantFrom(...attemptTriggers),
  state: fc.constantFrom(...deliveryStates),
  holdsLease: fc.boolean(),
  isCurrent: fc.boolean(),
  pausedBy: fc.option(fc.constantFrom('staff' as const, 'partner' as const, 'service' as const)),
  isFailing: fc.boolean(),
  incident: fc.boolean(),
})

it('the statement for a 2xx does what the table of outcomes says', async () => {
  await fc.assert(
    fc.asyncProperty(anything, async ({ incident, ...facts }) => {
      const { trigger, state, holdsLease, isCurrent, pausedBy, isFailing } = facts
      const { attemptId, eventId } = await underWay(trigger)
      const settledAt = state === 'pending' ? null : new Date(0)
      await sql
        .updateTable('deliveries')
        .set({ state, settled_at: settledAt, ...(!holdsLease && { lease: 'another' }) })
        .where('event_id', '=', eventId)
        .execute()
      const { round } = await endpoint()
      const since = isFailing ? new Date(0) : null
      await sql
        .updateTable('endpoints')
        .set({
          state: pausedBy === null ? 'active' : 'paused',
          paused_by: pausedBy,
          round: isCurrent ? round : round + 1,
          failing_since: since,
          incident,
        })
        .execute()
      await sql.deleteFrom('notices').execute()
      const before = await endpoint()
      const { end } = await finishAttempt(sql, { attemptId, eventId, trigger, signed: SIGNED }, TAKEN)

      expect(end).toBe(holdsLease ? 'delivered' : 'superseded')
      const delivery = sql.selectFrom('deliveries').selectAll().where('event_id', '=', eventId)
      const after = await delivery.executeTakeFirstOrThrow()
      const free = { lease: null, interruptions: 0, asked: null }
      expect(after).toMatchObject(
        holdsLease ? { ...free, state: 'delivered' } : { state, settled_at: settledAt, lease: 'another' },
      )
      // a webhook that was delivered before keeps its date
      expect(after.settled_at?.getTime() === 0).toBe(holdsLease ? state === 'delivered' : settledAt !== null)
      const counts = isCurrent && holdsLease
      const resumes = counts && pausedBy === 'service' && trigger === 'probe'
      expect(await endpoint()).toMatchObject({
        failing_since: counts ? null : since,
        incident: incident && !counts,
        state: resumes ? 'active' : before.state,
        paused_by: resumes ? null : before.paused_by,
        round: resumes ? before.round + 1 : before.round,
      })
      const notices = await sql.selectFrom('notices').select(['kind', 'recipient']).orderBy('id').execute()
      const recovered = ['partner', 'staff'].map((recipient) => ({ kind: 'recovered', recipient }))
      expect(notices).toEqual(incident && counts ? recovered : [])
    }),
    { numRuns: 60 },
  )
})

async function underWay(trigger: AttemptTrigger) {
  await putEndpoints(sql, trigger === 'probe' ? 'paused' : 'active', { by: 'service' })
  const leadId = await insertLead(sql, partnerId, LEAD, () => 'body')
  if (trigger === 'resend') {
    const asked = { state: 'delivered' as const, settled_at: new Date(0) }
    await sql.updateTable('deliveries').set(asked).where('lead_id', '=', leadId).execute()
  }
  const wanted = { leadId, sequence: 1, trigger }
  const begun = await beginAttempt(sql, wanted, testKeys, () => true)
  if (begun.kind !== 'send') throw new Error(begun.kind)
  return begun.started
}
