import { beforeAll, describe, expect, it } from '@jest/globals'
import { emptyLeads } from '../../src/privacy/erase.ts'
import {
  changeableFields,
  eachField,
  type OptionalField,
  optionalFieldNames,
  optionalFields,
  returnedFields,
} from '../../src/leads/lead-fields.ts'
import { openRecord, requireLead } from '../../src/leads/require-lead.ts'
import { showLead } from '../../src/leads/staff-show.ts'
import { contextOf } from '../staff/context.ts'
import { partnerCalls } from '../support/service.ts'
import { sharedService } from '../support/shared-service.ts'

/** Two values of each field. */
const VALUES: Record<OptionalField, [string, string]> = {
  partner_lead_id: ['LOAN-1', 'LOAN-2'],
  fico_range: ['550-579', '580-619'],
  loan_officer_id: ['LO-7', 'LO-8'],
  notes: ['first note', 'second note'],
}
const first = eachField(optionalFieldNames, (name) => VALUES[name][0])
const second = eachField(optionalFieldNames, (name) => VALUES[name][1])

describe('the optional fields of a lead', () => {
  let calls: ReturnType<typeof partnerCalls>
  let context: Awaited<ReturnType<typeof contextOf>>
  let leadId: number

  beforeAll(async () => {
    const service = await sharedService()
    const { port } = service
    calls = partnerCalls(port, (await service.addPartner()).key)
    context = await contextOf(service.environment)
    leadId = await calls.createLead(first)
  })

  const read = async () => {
    const data: object = (await calls.post('get-lead', { lead_id: leadId })).body.data
    return Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(optionalFields, name)))
  }
  const returned = (values: object) =>
    Object.fromEntries(
      Object.entries(values).filter(([name]) => returnedFields.some((each) => each === name)),
    )

  it('are read back with get-lead after create-lead, and shown to staff', async () => {
    expect(await read()).toEqual(returned(first))
    const { json, text } = await showLead(context, await requireLead(context.sql, leadId))
    expect(json).toMatchObject(first)
    for (const name of optionalFieldNames)
      expect(text).toMatch(new RegExp(`^${optionalFields[name].label} +${first[name]}$`, 'm'))
  })

  it('are changed with update-partner-info where they may be', async () => {
    const changes = eachField(changeableFields, (name) => second[name])
    expect(await calls.post('update-partner-info', { lead_id: leadId, ...changes })).toMatchObject({
      status: 200,
    })
    expect(await read()).toEqual(returned({ ...first, ...changes }))
    const record = await requireLead(context.sql, leadId)
    expect(openRecord(record, await context.openingKeys())).toMatchObject({
      ...first,
      ...changes,
      metadata: {},
    })
  })

  it('are emptied by an erasure where the table says so, and kept where it does not', async () => {
    await context.sql.transaction().execute((trx) => emptyLeads(trx, [leadId]))
    const rows = context.sql.selectFrom('leads').select(optionalFieldNames).where('id', '=', leadId)
    const row = await rows.executeTakeFirstOrThrow()
    expect(optionalFieldNames.filter((name) => row[name] === null)).toEqual(
      optionalFieldNames.filter((name) => optionalFields[name].erased),
    )
  })
})
