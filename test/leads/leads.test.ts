import { beforeAll, describe, expect, it } from '@jest/globals'
import { milestoneNames } from '../../src/leads/milestones.ts'
import { formatTimestamp } from '../../src/values.ts'
import { GAINS } from '../support/leads.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

let api: Api
let partner: ApiPartner
let stranger: ApiPartner
let leadId: number

beforeAll(async () => {
  api = await prepareApi()
  partner = await api.addPartner()
  stranger = await api.addPartner()
  leadId = await partner.createLead({
    partner_lead_id: 'LOAN-1',
    fico_range: '550-579',
    loan_officer_id: 'LO-7',
    notes: 'private',
  })
})

const paths = ['get-lead', 'get-events', 'update-partner-info']

describe.each(paths)('POST /%s', (path) => {
  it('says that lead_id is required when it is missing', async () => {
    for (const body of ['{}', '', '[]', 'null', '"1"']) {
      const answer = await partner.post(path, body)
      expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
      expect(answer.body.error.message).toMatch(/lead_id.* is required/)
    }
    const none = await partner.send({ method: 'POST', url: `/v1/${path}` })
    expect([none.status, none.body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
  })

  it.each(['1.5', 'null', '[1]', '""', '1e999'])(
    'refuses the lead_id %s, which is not an integer',
    async (value) => {
      const { status, body } = await partner.post(path, `{"lead_id": ${value}}`)
      expect([status, body.error]).toEqual([
        400,
        {
          code: 'INVALID_PAYLOAD',
          message: 'Invalid request: lead_id must be an integer.',
          fields: [{ field: 'lead_id', problem: 'must be an integer' }],
        },
      ])
    },
  )

  it.each(['2147483647', '2147483648', '1e300', '-0', '-2147483649'])(
    'answers 404 NOT_FOUND for the unknown lead %s',
    async (value) => {
      const { status, text } = await partner.post(path, `{"lead_id": ${value}}`)
      expect([status, text]).toEqual([
        404,
        '{"success":false,"error":{"code":"NOT_FOUND","message":"Lead not found."}}',
      ])
    },
  )

  it('answers a lead of another partner byte for byte like one that never was', async () => {
    const bodies = [{}, { loan_product: 'FHA' }, Object.fromEntries(fields(51))]
    for (const body of bodies) {
      const foreign = await stranger.post(path, { lead_id: leadId, ...body })
      const unknown = await stranger.post(path, { lead_id: 2_000_000_000, ...body })
      expect(foreign.status).toBe(404)
      expect(foreign.text).toBe(unknown.text)
      expect(Object.keys(foreign.headers)).toEqual(Object.keys(unknown.headers))
    }
    expect(await partner.readLead(leadId)).not.toHaveProperty('loan_product')
  })

  it('takes an integer in any of JSON’s spellings, and the last of two', async () => {
    for (const body of [`{"lead_id": ${leadId}.0}`, `{"lead_id": 5, "lead_id": ${leadId}}`]) {
      expect((await partner.post(path, body)).status).toBe(200)
    }
  })
})

describe('POST /get-lead', () => {
  it('answers exactly the specified fields, with id and lead_id equal and without notes', async () => {
    const { status, body } = await partner.post('get-lead', { lead_id: leadId, unknown: 1 })
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: {
        id: leadId,
        lead_id: leadId,
        partner_id: partner.id,
        ...borrower,
        partner_lead_id: 'LOAN-1',
        fico_range: '550-579',
        loan_officer_id: 'LO-7',
        status: 'lead_received',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      },
    })
  })

  it('gives timestamps in UTC', async () => {
    const id = await partner.createLead()
    const createdAt = new Date('2026-01-31T23:59:59.999Z')
    await api.sql.updateTable('leads').set({ created_at: createdAt }).where('id', '=', id).execute()
    expect(await partner.readLead(id)).toMatchObject({ created_at: '2026-01-31 23:59:59' })
  })
})

describe('POST /get-events', () => {
  it('answers the complete history, oldest first, with payloads as recorded', async () => {
    const id = await partner.createLead()
    const rows = milestoneNames.slice(1).map((name, index) => ({
      id: `evt_${id}_${index}`,
      lead_id: id,
      partner_id: partner.id,
      position: index + 2,
      event_name: name,
      event_payload: name === 'score_update' ? JSON.stringify(GAINS) : null,
      dedupe_key: name,
      created_at: new Date(Date.UTC(2030, 0, 1, 0, 0, index)),
    }))
    // its rows were written in another order than the history's
    for (const row of rows.toReversed())
      await api.sql
        .insertInto('lead_events')
        .values(row as never)
        .execute()
    const { body } = await partner.post('get-events', { lead_id: id })
    expect(body.data.map((event: { event_name: string }) => event.event_name)).toEqual(milestoneNames)
    const index = milestoneNames.indexOf('score_update')
    expect(body.data[index]).toEqual({
      event_name: 'score_update',
      event_payload: GAINS,
      created_at: formatTimestamp(rows[index - 1]!.created_at),
    })
    expect(body.data[1]).toEqual({
      event_name: 'client_account_created',
      event_payload: null,
      created_at: '2030-01-01 00:00:00',
    })
  })
})

function fields(count: number): [string, string][] {
  return Array.from({ length: count }, (_, index) => [`f${index}`, 'x'])
}
