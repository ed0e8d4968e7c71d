import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { exportedLeadSchema } from '../../src/privacy/export-lead.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { recordClosing } from '../../src/leads/close-lead.ts'
import { recordAudit } from '../../src/audit.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { exportLead } from '../../src/privacy/staff.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'
import { record } from '../support/leads.ts'

describe('export-lead', () => {
  let api: Api
  let partner: ApiPartner
  let leadId: number
  /** On the same database, with more patience than the API. */
  let context: StaffContext

  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
    context = await contextOf(withoutTemporal(api.url))
    const sent = { ...borrower, notes: 'two late payments', partner_lead_id: 'LOAN-1' }
    leadId = (await partner.post('create-lead', sent, { 'idempotency-key': 'K-1' })).body.lead_id
    await partner.post('update-partner-info', { lead_id: leadId, loan_product: 'FHA', branch: 'Oakland' })
    await raw`insert into attempts (id, event_id, partner_id, number, trigger, round, url, finished_at, status, response_body)
      select 'att_' || n, event_id, partner_id, n, 'scheduled', 1, 'https://lender.example', now(), 503, 'try later' from deliveries, generate_series(1, 3) n
      where lead_id = ${leadId}`.execute(api.sql)
    await recordAudit(api.sql, 'Kim Staff', {
      action: 'milestone',
      outcome: 'done',
      leadId,
      partnerId: partner.id,
      detail: { name: 'contract_signed' },
    })
  })

  const exported = async (lead = leadId) => (await partner.post('export-lead', { lead_id: lead })).body.data

  it('returns everything that is kept of a lead, and says what each part is', async () => {
    const data = await exported()
    expect(exportedLeadSchema.parse(data)).toEqual(data)
    expect(Object.keys(data)).toEqual(['about', 'exported_at', ...Object.keys(data.about)])
    // a case of staff's
    expect(data).not.toHaveProperty('hold')
    expect(data).toMatchObject({
      lead: {
        ...borrower,
        lead_id: leadId,
        partner_id: partner.id,
        notes: 'two late payments',
        metadata: { loan_product: 'FHA', branch: 'Oakland' },
      },
      workflow: { workflow_id: `lead-${leadId}` },
      idempotency_keys: [{ key: 'K-1', created_at: expect.any(String) }],
      events: [{ sequence: 1, event_name: 'lead_received', event_payload: { partner_lead_id: 'LOAN-1' } }],
    })
    const [delivery] = data.deliveries
    expect(JSON.parse(delivery.body)).toMatchObject({ type: 'lead_received', data: { lead_id: leadId } })
    expect(delivery.attempts).toMatchObject(
      [1, 2, 3].map((number) => ({ number, response_body: 'try later' })),
    )
  })

  it('has no next attempt for a webhook that waits for another, as get-deliveries has none', async () => {
    const lead = await partner.createLead()
    await switchAsStaff(api.sql, partner.id, { url: 'https://lender.example/webhooks', secret: () => 'none' })
    await record(api.sql, lead, 'contract_signed')
    const { deliveries } = await exported(lead)
    const listed = (await partner.post('get-deliveries', { lead_id: lead })).body.data.toReversed()
    const nextOf = (rows: { next_attempt_at: string | null }[]) => rows.map((row) => row.next_attempt_at)
    expect(nextOf(deliveries)).toEqual([expect.any(String), null])
    expect(nextOf(deliveries)).toEqual(nextOf(listed))
  })

  it('says what was done with the lead, without names of staff', async () => {
    const { actions } = await exported()
    expect(actions).toEqual([{ at: expect.any(String), action: 'milestone', outcome: 'done', by: 'staff' }])
    expect(JSON.stringify(actions)).not.toMatch(/kim/i)
  })

  it('answers a lead of another partner byte for byte like an unknown one', async () => {
    const stranger = await api.addPartner()
    const foreign = await stranger.post('export-lead', { lead_id: leadId })
    const unknown = await stranger.post('export-lead', { lead_id: 999_999 })
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    expect((await stranger.post('export-lead', {})).status).toBe(400)
  })

  it('is made one at a time for each partner', async () => {
    const both = [leadId, leadId].map((lead_id) => partner.post('export-lead', { lead_id }))
    const answers = (await Promise.all(both)).toSorted((one, other) => one.status - other.status)
    expect(answers.map(({ status }) => status)).toEqual([200, 429])
    expect(answers[1]).toMatchObject({
      body: { error: { code: 'RATE_LIMITED' } },
      headers: { 'retry-after': '5' },
    })
    expect((await exported()).lead.lead_id).toBe(leadId)
  })

  it('says when the lead was closed, as get-lead does', async () => {
    const id = await partner.createLead()
    await recordClosing(api.sql, id, 'withdrew')
    const { closing } = (await partner.post('get-lead', { lead_id: id })).body
    expect((await exported(id)).closing).toMatchObject({ closed_at: closing.at, reason: 'withdrew' })
  })

  it('is for staff with their names, and is in the audit', async () => {
    const { json } = await exportLead(context, leadId)
    expect(json.lead).toEqual((await exported()).lead)
    expect(json.actions).toMatchObject([{ actor: 'Kim Staff', detail: { name: 'contract_signed' } }])
    expect((await auditOf(context)).map(({ action }) => action)).toEqual(['milestone', 'lead.export'])
    await expect(exportLead(context, 999_999)).rejects.toThrow('There is no lead 999999')
  })
})
