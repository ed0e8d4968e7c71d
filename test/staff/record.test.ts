import { describe, expect, it } from '@jest/globals'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { addLostLead, addLostMilestones } from '../../src/core/record/statements/losses.ts'
import { restoresInbox } from '../../src/capabilities/restore/commands/inbox.ts'
import { finishRestore, markSeen } from '../../src/capabilities/restore/statements/restores.ts'
import * as record from '../../src/capabilities/restore/commands/record.ts'
import { openDatabase } from '../support/open-database.ts'
import { auditOf, contextOf, withoutTemporal } from './context.ts'

describe('staff record', () => {
  it('says that the record was restored, and lists what was lost by the restores that nobody has seen', async () => {
    const context = await contextOf(withoutTemporal((await openDatabase()).url))
    await requireDeployment(context.sql, 'sandbox')
    expect((await record.showRestore(context)).text).toBe('The record has never been restored.')

    await record.restored(context)
    expect((await record.showRestore(context)).text).toMatch(/Nothing is known to be lost by the latest\.$/)
    await addLostLead(context.sql, 7, 1)
    const [first] = (await record.showRestore(context)).json.restores
    const { generation } = (await record.restored(context)).json
    await addLostMilestones(context.sql, 5, 1, [
      { name: 'contract_signed', dedupeKey: 'contract_signed', at: Date.UTC(2026, 2, 9, 10, 30) },
    ])
    await addLostLead(context.sql, 8, 1)

    const { text } = await record.showRestore(context)
    expect(text).toContain(`${generation}  `)
    const both = `${first?.generation}, ${generation}`
    const lost = text
      .slice(text.indexOf(`Lost by the restores ${both}:`))
      .split('\n')
      .slice(1)
    const ofLatest = [
      [`${generation}`, '8', '1', 'the lead itself', '-', 'no'],
      [`${generation}`, '5', '1', 'contract_signed', '2026-03-09 10:30:00', 'yes'],
    ]
    const columns = ['generation', 'lead', 'partner', 'what', 'happened', 'recorded again']
    expect(lost.map((line) => line.split(/ {2,}/))).toEqual([
      columns,
      [`${first?.generation}`, '7', '1', 'the lead itself', '-', 'no'],
      ...ofLatest,
    ])
    const { mend } = (await restoresInbox.find(context, 1)).items[0] ?? {}
    expect(mend).toBe(`wait for restore-${generation}`)
    await finishRestore(context.sql, generation)
    await markSeen(context.sql, Number(first?.generation))
    expect((await record.showRestore(context)).text).toMatch(/Lost by the latest:\n/)
    expect(await auditOf(context)).toEqual([
      expect.objectContaining({ action: 'record.restored', outcome: 'done' }),
      expect.objectContaining({ action: 'record.restored', detail: { generation } }),
    ])
  })
})
