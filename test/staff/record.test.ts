import { describe, expect, it } from '@jest/globals'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { addLostLead, addLostMilestones } from '../../src/core/record/statements/losses.ts'
import * as record from '../../src/capabilities/restore/commands/record.ts'
import { openDatabase } from '../support/open-database.ts'
import { auditOf, contextOf, withoutTemporal } from './context.ts'

describe('staff record', () => {
  it('says that the record was restored, and lists what was lost by the latest restore', async () => {
    const context = await contextOf(withoutTemporal((await openDatabase()).url))
    await requireDeployment(context.sql, 'sandbox')
    expect((await record.showRestore(context)).text).toBe('The record has never been restored.')

    await record.restored(context)
    await addLostLead(context.sql, 7, 1)
    const { generation } = (await record.restored(context)).json
    expect((await record.showRestore(context)).text).toMatch(/Nothing is known to be lost by the latest\.$/)
    await addLostMilestones(context.sql, 5, 1, [
      { name: 'contract_signed', dedupeKey: 'contract_signed', at: Date.UTC(2026, 2, 9, 10, 30) },
    ])
    await addLostLead(context.sql, 8, 1)

    const { text } = await record.showRestore(context)
    expect(text).toContain(`${generation}  `)
    const lost = text.slice(text.indexOf('Lost by the latest:')).split('\n').slice(1)
    expect(lost.map((line) => line.split(/ {2,}/))).toEqual([
      ['lead', 'partner', 'what', 'happened', 'recorded again'],
      ['8', '1', 'the lead itself', '-', 'no'],
      ['5', '1', 'contract_signed', '2026-03-09 10:30:00', 'yes'],
    ])
    expect(await auditOf(context)).toEqual([
      expect.objectContaining({ action: 'record.restored', outcome: 'done' }),
      expect.objectContaining({ action: 'record.restored', detail: { generation } }),
    ])
  })
})
