import { describe, expect, it } from '@jest/globals'
import { requireDeployment } from '../../src/database/deployment.ts'
import { restored } from '../../src/staff/record-command.ts'
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
