import { describe, expect, it } from '@jest/globals'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { restored } from '../../src/core/record/commands/record.ts'
import { openDatabase } from '../support/open-database.ts'
import { auditOf, contextOf, withoutTemporal } from './context.ts'

describe('staff record', () => {
  it('begins another epoch, and keeps who said so', async () => {
    const context = await contextOf(withoutTemporal((await openDatabase()).url))
    await requireDeployment(context.sql, 'sandbox')
    const { epoch } = (await restored(context)).json
    expect((await restored(context)).json.epoch).toBeGreaterThan(epoch)
    expect(await auditOf(context)).toEqual([
      expect.objectContaining({ action: 'record.restored', outcome: 'done', detail: { epoch } }),
      expect.objectContaining({ action: 'record.restored' }),
    ])
  })
})
