import { randomInt } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { StaffContext } from '../../src/staff/context.ts'
import * as endpoint from '../../src/endpoints/staff.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { switchTo } from '../../src/endpoints/switch-endpoint.ts'
import { addSecret } from '../../src/endpoints/secrets.ts'
import { columnsOf, lockEndpoint } from '../../src/endpoints/endpoint.ts'
import { sealing } from '../../src/seal.ts'
import { pause, resume, test } from '../../src/endpoints/staff.ts'
import { add } from '../../src/partners/staff.ts'
import { compareNow } from '../support/compared.ts'
import { leadsOf } from '../support/leads.ts'
import { type PartnerEndpoint, startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'

describe('an endpoint', () => {
  let service: SharedService
  let context: StaffContext
  let away: StaffContext
  let id: number
  let receiver: PartnerEndpoint
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await sharedService()
    ;[context, away] = await Promise.all([
      contextOf(service.environment),
      contextOf({
        ...withoutTemporal(service.environment.DATABASE_URL),
        ENCRYPTION_KEY: service.environment.ENCRYPTION_KEY,
      }),
    ])
  })

  beforeEach(async () => {
    id = (await add(context, 'Acme', {})).json.partner_id
    receiver = await startPartnerEndpoint()
    leads = leadsOf(service, { id, key: '', endpoint: receiver })
  })

  const state = async () => (await endpoint.showEndpoint(context, id)).json.health
  const active = () => until(async () => (await state()) === 'active')
  async function set(at = context, options = {}): Promise<Record<string, unknown>> {
    const { json } = await endpoint.set(at, id, receiver.url, options)
    receiver.secret ||= String(json.secret)
    return json
  }
  /** A lead whose first webhook is held because there is no URL. */
  async function waitingLead(): Promise<number> {
    const leadId = await leads.start()
    const handle = service.client.workflow.getHandle(`lead-${leadId}`)
    await handle.query('state')
    await until(async () => (await handle.describe()).raw.pendingActivities?.length === 0)
    return leadId
  }
  const history = (leadId: number) => receiver.until(() => leads.arrivals(leadId).length > 0)

  it('that is set gets the webhooks that waited, and its secret is shown once', async () => {
    const waiting = await waitingLead()
    const { secret, state: shown } = await set()
    expect([secret, shown]).toEqual([expect.stringMatching(/^whsec_/), 'active'])
    const done = (await auditOf(context)).filter(({ partner_id }) => partner_id === id)
    expect(done.map(({ action }) => action)).toEqual(['partner.add', 'endpoint.set'])
    expect(JSON.stringify(done)).not.toContain(secret)
    await history(waiting)
    expect(leads.arrivals(waiting)).toMatchObject([{ verified: true, event: { type: 'lead_received' } }])
    await active()
    expect(await set()).toMatchObject({ secret: null })
    await active()
  })

  it('that is set with --from-now never gets the webhooks that waited, and gets later ones', async () => {
    const waiting = await waitingLead()
    expect(await set(context, { fromNow: true })).toMatchObject({ canceled_deliveries: 1 })
    await service.referrals.signal(waiting, 'contract_signed')
    await history(waiting)
    expect(leads.arrivals(waiting)).toMatchObject([
      { event: { type: 'contract_signed', data: { sequence: 2 } } },
    ])
  })

  it('goes back to its previous URL and secret within seven days', async () => {
    await set()
    await active()
    await service.sql.transaction().execute(async (trx) => {
      const secret = sealing(generateSecret(), await context.encryptionKeys())
      const secretId = await addSecret(trx, id, secret)
      const url = 'https://lender.example/elsewhere'
      await switchTo(trx, await lockEndpoint(trx, id), { url, secretId }, columnsOf('staff'))
    })
    const undo = () => endpoint.set(context, id, undefined, { previous: true })
    expect((await undo()).json).toMatchObject({ url: receiver.url, secret: null })
    await active()
    const leadId = await leads.start()
    await history(leadId)
    expect(leads.arrivals(leadId)).toMatchObject([{ verified: true }])
    const row = service.sql.updateTable('endpoints').where('partner_id', '=', id)
    const { previous_until: end } = await row
      .set({ previous_until: raw<Date>`previous_until - interval '7 days'` })
      .returning('previous_until')
      .executeTakeFirstOrThrow()
    expect(Math.abs(Date.now() - end!.getTime())).toBeLessThan(60_000)
    await expect(undo()).rejects.toThrow('no other URL in the last seven days')
  })

  it('that is set while Temporal is away is sent what waits as soon as a worker can', async () => {
    const waiting = await waitingLead()
    const answer = await endpoint.set(away, id, receiver.url)
    receiver.secret = String(answer.json.secret)
    expect(answer.text).toContain('once Temporal is back')
    await compareNow(service)
    await history(waiting)
    await active()
  })

  it('that is paused holds webhooks until it is resumed', async () => {
    await set()
    await active()
    await pause(context, id)
    const waiting = await leads.start()
    await service.referrals.signal(waiting, 'contract_signed')
    await leads.recorded(waiting, 'contract_signed')
    expect(leads.arrivals(waiting)).toEqual([])
    const { json, text } = await endpoint.showEndpoint(context, id)
    expect(json).toMatchObject({ health: 'paused', open_deliveries: 2, next_probe_at: null })
    expect(text).toMatch(/^open webhooks +2$/m)
    expect((await resume(context, id)).text).toContain('Webhooks that wait, if any, are now sent in order.')
    await receiver.until(() => leads.arrivals(waiting).length === 2)
    expect(leads.arrivals(waiting).map(({ event }) => event.type)).toEqual([
      'lead_received',
      'contract_signed',
    ])
    await active()
  })

  it('signs with both secrets while they are rotated', async () => {
    const { secret: before } = await set()
    const { json } = await endpoint.rotate(context, id, { overlap: 60_000 })
    const sent = await test(context, id)
    expect(sent.json).toMatchObject({ ok: true, status: 200 })
    expect(receiver.arrivals.at(-1)).toMatchObject({ verified: true, event: { type: 'endpoint.ping' } })
    receiver.secret = json.secret
    await test(context, id)
    expect(receiver.arrivals.at(-1)).toMatchObject({ verified: true })
    await endpoint.rotate(context, id, { overlap: 0 })
    await test(context, id)
    expect(receiver.arrivals.at(-1)).toMatchObject({ verified: false })
    expect(before).not.toBe(json.secret)
  })

  it('that fails its test is told why', async () => {
    await endpoint.set(context, id, `http://127.0.0.1:${randomInt(1, 9)}/`)
    const { json, failed } = await test(context, id)
    expect({ json, failed }).toMatchObject({
      failed: true,
      json: { ok: false, error_code: 'connection_refused' },
    })
    const events = await service.sql
      .selectFrom('lead_events')
      .select('id')
      .where('partner_id', '=', id)
      .execute()
    expect(events).toEqual([])
  })

  it('must have a URL that can be called, and exist', async () => {
    await expect(endpoint.set(context, id, 'ftp://lender.example')).rejects.toThrow(
      'must begin with https://',
    )
    await expect(resume(context, id)).rejects.toThrow('has no endpoint yet')
    await expect(test(context, id)).rejects.toThrow('has no endpoint yet')
    await expect(endpoint.set(context, 2_000_000_000, receiver.url)).rejects.toThrow(
      'There is no partner 2000000000',
    )
  })
})
