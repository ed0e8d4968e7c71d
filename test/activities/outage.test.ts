import { beforeAll, describe, expect, it } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/common'
import { sql as raw } from 'kysely'
import { deliverWebhookActivity } from '../../activities/deliver-webhook.ts'
import { setEndpoint } from '../../src/db/endpoints.ts'
import { insertLead } from '../../src/db/new-lead.ts'
import type { Sql } from '../../src/db/orm.ts'
import { webhookBody } from '../../src/webhooks/body.ts'
import { encryptSecret, generateSecret } from '../../src/webhooks/secrets.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { atEnd } from '../support/at-end.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { type PartnerEndpoint, startPartnerEndpoint } from '../support/partner-endpoint.ts'

const KEY = Buffer.alloc(32, 7)
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** The waits after each failure, before the jitter of up to a fifth. */
const WAITS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

describe('an endpoint that is away for three days', () => {
  let sql: Sql
  let endpoint: PartnerEndpoint
  let deliver: ReturnType<typeof deliverWebhookActivity>
  let leadId: number

  beforeAll(async () => {
    const database = await openDatabase()
    sql = database.sql
    endpoint = await startPartnerEndpoint()
    endpoint.secret = generateSecret()
    const ciphertext = encryptSecret(endpoint.secret, [KEY])
    await setEndpoint(sql, database.partnerId, { url: endpoint.url, ciphertext })
    const sender = createSender({ environment: 'sandbox', allowPrivateNetwork: true })
    atEnd(sender.close)
    deliver = deliverWebhookActivity({ sql, send: sender.send, encryptionKeys: [KEY], signalLead: () => {} })
    leadId = await sql
      .transaction()
      .execute((trx) =>
        insertLead(trx, database.partnerId, LEAD, (facts) =>
          webhookBody({ ...facts, environment: 'sandbox' }),
        ),
      )
  })

  const waitAfter = async (status: number, headers: Record<string, string> = {}) => {
    endpoint.answer = (_, response) => void response.writeHead(status, headers).end()
    const failure = await deliver(leadId, 1, 'scheduled').then(
      () => undefined,
      (error: unknown) => error,
    )
    if (!(failure instanceof ApplicationFailure)) throw new Error('it was not told to come back')
    return Number(failure.nextRetryDelay)
  }
  /** Lets the time until the next attempt pass. */
  const passTime = () =>
    sql
      .updateTable('deliveries')
      .set({ next_attempt_at: raw<Date>`clock_timestamp()` })
      .execute()

  it('is tried on the schedule, each time up to a fifth later', async () => {
    for (const wait of WAITS) {
      const afterMs = await waitAfter(503)
      expect(afterMs).toBeGreaterThanOrEqual(wait - 1)
      expect(afterMs).toBeLessThanOrEqual(1.2 * wait + 1)
      await passTime()
    }
    expect(endpoint.arrivals).toHaveLength(WAITS.length)
  })

  it('gets the webhook once it is back, with the id and bytes of the first attempt', async () => {
    endpoint.answer = (_, response) => void response.writeHead(200).end()
    expect(await deliver(leadId, 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    expect(new Set(endpoint.arrivals.map(({ id, body }) => `${id} ${body}`)).size).toBe(1)
    expect(endpoint.arrivals.every(({ verified }) => verified)).toBe(true)
  })

  it.each([
    ['seconds', '60', 60 * SECOND],
    ['a date', new Date(Date.now() + HOUR).toUTCString(), HOUR],
    ['more than a day: a day', '999999', 24 * HOUR],
    ['less than the schedule: the schedule', '0', 5 * SECOND],
    ['garbage: the schedule', 'soon', 5 * SECOND],
    ['a negative number: the schedule', '-5', 5 * SECOND],
  ])('is left alone as long as Retry-After asks, in %s', async (_, header, expectedMs) => {
    await sql
      .updateTable('deliveries')
      .set({ state: 'pending', settled_at: null, failures: 0, next_attempt_at: raw<Date>`clock_timestamp()` })
      .execute()
    const afterMs = await waitAfter(429, { 'retry-after': header })
    expect(afterMs).toBeGreaterThan(expectedMs - 5 * SECOND)
    expect(afterMs).toBeLessThanOrEqual(1.2 * expectedMs)
  })
})
