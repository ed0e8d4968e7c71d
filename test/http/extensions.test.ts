import { beforeAll, describe, expect, it } from '@jest/globals'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { addAttempts } from '../support/attempts.ts'
import { record } from '../support/leads.ts'
import { until } from '../support/until.ts'
import { type Api, type ApiPartner, prepareApi } from '../support/api.ts'
import { putEndpoints } from '../support/endpoint-states.ts'

describe('the endpoints beyond the specification', () => {
  let api: Api
  let partner: ApiPartner
  let stranger: ApiPartner
  let leadId: number

  beforeAll(async () => {
    api = await prepareApi()
    ;[partner, stranger] = [await api.addPartner(), await api.addPartner()]
    leadId = await partner.createLead({ partner_lead_id: 'LOAN-1' })
    await record(api.sql, leadId, 'contract_signed', 'client_engaged_in_chat')
  })

  const deliveries = async (body: object = {}, who = partner) => (await who.post('get-deliveries', body)).body
  const events = async (body: object = {}, who = partner) => (await who.post('list-events', body)).body

  describe('get-deliveries', () => {
    it('lists a lead’s webhooks with their attempts, held while there is no endpoint', async () => {
      const { data } = await deliveries({ lead_id: leadId })
      expect(data).toEqual([
        expect.objectContaining({ event_name: 'contract_signed', sequence: 2, state: 'held', attempts: [] }),
        expect.objectContaining({ event_name: 'lead_received', sequence: 1, next_attempt_at: null }),
      ])
      const { event_id: id, body } = data[1]
      expect(JSON.parse(body)).toMatchObject({ type: 'lead_received', data: { event_id: id, sequence: 1 } })
      await addAttempts(api.sql, partner.id, [{ errorCode: 'http_error' }])
      expect((await deliveries({ lead_id: leadId })).data[1].attempts).toEqual([
        expect.objectContaining({ number: 1, error_code: 'http_error', url: 'https://lender.example/hook' }),
      ])
    })

    it('says that a webhook waits for us, and not what for', async () => {
      const faultOf = async () => (await deliveries({ lead_id: leadId })).data[1].fault
      expect(await faultOf()).toBeNull()
      const first = api.sql.updateTable('deliveries').where('lead_id', '=', leadId).where('sequence', '=', 1)
      await first.set({ fault: 'ENCRYPTION_KEY lacks the key 0a1b2c3d' }).execute()
      expect(await faultOf()).toBe('we cannot read your signing secret')
      await first.set({ fault: null }).execute()
    })

    it('shows which webhook another one of its lead waits for, and when the next attempt is', async () => {
      const lender = await api.addPartner()
      await switchAsStaff(api.sql, lender.id, {
        url: 'https://lender.example/webhooks',
        secret: () => 'none',
      })
      await putEndpoints(api.sql, 'active', { partnerId: lender.id })
      const id = await lender.createLead()
      await record(api.sql, id, 'contract_signed', 'client_engaged_in_chat')
      const at = '2026-03-09 10:35:07'
      const open = api.sql.updateTable('deliveries').where('lead_id', '=', id)
      await open
        .where('sequence', '=', 1)
        .set({ next_attempt_at: new Date(`${at}Z`) })
        .execute()
      const [second, first] = (await deliveries({}, lender)).data
      expect(first).toMatchObject({ sequence: 1, next_attempt_at: at, waits_for: null })
      const waits_for = { event_id: first.event_id, sequence: 1 }
      expect(second).toMatchObject({ sequence: 2, next_attempt_at: null, waits_for })
      expect((await lender.post('get-endpoint', {})).body.data.next_attempt_at).toBe(at)
      const { body } = await lender.post('resend-webhook', { event_id: second.event_id })
      expect(body.message).toBe(
        `The webhook waits for ${first.event_id} (sequence 1) of the same lead. Resend that one.`,
      )
      // transactions of other tests on this server hold events back for a moment
      const chat = await until(async () => (await events({}, lender)).data[2])
      for (const call of ['resend-webhook', 'get-deliveries']) {
        const refusal = async (event_id: string, by = lender) => {
          const { status, body: answer } = await by.post(call, { event_id })
          return [status, answer.error.code, answer.error.message]
        }
        const unsent = [400, 'INVALID_PAYLOAD', 'This event is not sent as a webhook.']
        expect(await refusal(chat.event_id)).toEqual(unsent)
        const unknown = [404, 'NOT_FOUND', 'Event not found.']
        expect(await refusal('evt_1')).toEqual(unknown)
        for (const event of [chat, first]) expect(await refusal(event.event_id, partner)).toEqual(unknown)
      }
      // an event that the filter leaves out is not an unknown one
      expect(await deliveries({ event_id: first.event_id, states: ['delivered'] }, lender)).toMatchObject({
        data: [],
      })
      await open.set({ state: 'canceled', settled_at: new Date() }).execute()
      const canceled = await lender.post('resend-webhook', { event_id: first.event_id })
      expect([canceled.status, canceled.body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
      expect(canceled.body.error.message).toMatch(/^This webhook was canceled and cannot be sent/)
    })

    it('pages through all webhooks of a partner, each once', async () => {
      const other = await partner.createLead()
      const pages = []
      for (let after: string | null | undefined; after !== null;) {
        const page: { data: { event_id: string }[]; next: string | null } = await deliveries({
          limit: 2,
          ...(after && { after }),
        })
        pages.push(page.data.map((row) => row.event_id))
        after = page.next
      }
      expect(pages.map((page) => page.length)).toEqual([2, 1])
      expect(new Set(pages.flat()).size).toBe(3)
      expect((await deliveries({ lead_id: other })).data).toHaveLength(1)
    })

    it('filters by state', async () => {
      expect((await deliveries({ states: ['delivered', 'given_up'] })).data).toEqual([])
      expect((await deliveries({ states: ['held'] })).data).toHaveLength(3)
      for (const state of ['held', 'pending'])
        expect(await deliveries({ states: [state, state] })).toEqual(await deliveries({ states: [state] }))
      expect((await deliveries({ states: ['pending'] })).data).toHaveLength(3)
    })

    it('shows no other partner’s webhooks', async () => {
      expect((await deliveries({}, stranger)).data).toEqual([])
      const foreign = await stranger.post('get-deliveries', { lead_id: leadId })
      const unknown = await stranger.post('get-deliveries', { lead_id: 2 ** 31 })
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    })
  })

  describe('resend-webhook', () => {
    it('sends a partner’s own webhook again, and does not find another’s', async () => {
      const [{ event_id: eventId }] = (await deliveries({ lead_id: leadId })).data
      expect(await partner.post('resend-webhook', { event_id: eventId })).toMatchObject({
        status: 200,
        body: { success: true, message: expect.stringMatching(/^The webhook waits for/) },
      })
      expect(api.resent).toEqual([expect.any(String), eventId])
      const foreign = await stranger.post('resend-webhook', { event_id: eventId })
      const unknown = await stranger.post('resend-webhook', { event_id: 'evt_\u0000' })
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
      expect(api.resent).toHaveLength(2)
    })
  })
})
