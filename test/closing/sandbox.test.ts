import { beforeAll, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

describe('close-lead in a sandbox', () => {
  let service: SharedService
  let partner: TestPartner
  let post: (path: string, body: object) => Promise<{ status: number; body: Answer }>

  interface Answer {
    data: Record<string, unknown>
    closing?: { state: string; at: string; reason: string }
    error: { code: string; message: string }
  }

  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
    post = partnerCalls(service.port, partner.key).post as unknown as typeof post
  }, 60_000)

  const start = () => leadsOf(service, partner).start()

  it('closes the lead at once', async () => {
    const lead = await start()
    const { status, body } = await post('close-lead', { lead_id: lead, reason: 'withdrew' })
    expect([status, body.data.reason]).toEqual([200, 'withdrew'])
    const closing = await until(async () => {
      const { body: read } = await post('get-lead', { lead_id: lead })
      return read.closing?.state === 'closed' && read
    })
    expect(closing).toMatchObject({
      data: { closed_at: closing && closing.closing?.at },
      closing: { reason: 'withdrew' },
    })
  })

  it('shows a closing beside the data, where no custom field takes its place', async () => {
    const lead = await start()
    await post('update-partner-info', { lead_id: lead, closing: 'mine', closed_at: 'mine' })
    expect((await post('get-lead', { lead_id: lead })).body).not.toHaveProperty('closing')
    await service.referrals.signal(lead, 'close', { reason: 'ineligible' })
    const read = await until(async () => {
      const { body } = await post('get-lead', { lead_id: lead })
      return body.closing !== undefined && body
    })
    expect(read).toMatchObject({
      data: { closing: 'mine', closed_at: 'mine' },
      closing: { state: 'closed', reason: 'ineligible' },
    })
  })

  it.each([
    [{}, 400, 'Invalid request: lead_id is required.'],
    [
      { lead_id: 1 },
      400,
      'Invalid request: reason must be one of withdrew, unreachable, ineligible, financed_elsewhere, duplicate, mistake, other; to cancel a closing, send "cancel": true instead.',
    ],
    [{ lead_id: 1, reason: 'he died' }, 400, 'Invalid request: reason must be one of withdrew, '],
    [{ lead_id: 1, reason: 'erased' }, 400, 'Invalid request: reason must be one of withdrew, '],
    [{ lead_id: 1, cancel: 'yes' }, 400, 'Invalid request: cancel must be true or false.'],
    [{ lead_id: 1, cancels: true }, 400, 'cancels'],
    [{ lead_id: 1, cancel: true, reason: 'other' }, 400, 'Invalid request: send either reason, or'],
    [{ lead_id: 2_000_000_000, reason: 'withdrew' }, 404, 'Lead not found.'],
    [{ lead_id: 2_000_000_000, cancel: true }, 404, 'Lead not found.'],
  ])('answers %j with %d', async (body, status, message) => {
    const answer = await post('close-lead', body)
    expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringContaining(message)])
  })

  it('does not know another partner’s lead', async () => {
    const other = await leadsOf(service, await service.addPartner()).start()
    for (const asked of [{ reason: 'withdrew' }, { cancel: true }])
      expect((await post('close-lead', { lead_id: other, ...asked })).status).toBe(404)
  })
})
