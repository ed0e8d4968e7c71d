import { beforeAll, describe, expect, it } from '@jest/globals'
import { raiseGeneration } from '../../src/core/record/statements/generation.ts'
import { erasuresOf } from '../../src/capabilities/erasure/statements/requests.ts'
import { lossesOf } from '../../src/capabilities/restore/statements/restores.ts'
import { erase } from '../../src/capabilities/erasure/commands/lead-erasure.ts'
import { contextOf } from '../staff/context.ts'
import { temporaryFolder } from '../support/folder.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A failover, of which nobody tells the workers. */
describe('a record that goes back to before an erasure while the service runs', () => {
  let service: Service
  let leads: ReturnType<typeof leadsOf>
  let lead: number

  beforeAll(async () => {
    service = await prepareService({ ERASURE_JOURNAL: temporaryFolder() })
    leads = leadsOf(service, await service.addPartner())
    const context = await contextOf(service.environment)
    await context.deployment()
    await service.startWorker()
    lead = await leads.start()
    await leads.recorded(lead, 'lead_received')
    await erase(context, lead, { reason: 'other' })
  }, 60_000)

  /** Puts the lead back as it was, without its erasure. */
  async function goBack(): Promise<number> {
    const open = { erased_at: null, closed_at: null, close_reason: null, personal: 'sealed' }
    return service.sql.transaction().execute(async (trx) => {
      await trx.deleteFrom('erasures').where('lead_id', '=', lead).execute()
      await trx.updateTable('leads').set(open).where('id', '=', lead).execute()
      return raiseGeneration(trx, 'staff')
    })
  }

  it('is erased again by a worker, before any workflow goes on with the lead', async () => {
    const generation = await goBack()
    const [erasure] = await until(async () => {
      const found = await erasuresOf(service.sql, lead)
      return found.length > 0 && found
    })
    expect(erasure).toMatchObject({ erased_by: 'journal' })
    await until(async () => {
      const restores = service.sql.selectFrom('restores').select('finished_at')
      return (
        (await restores.where('generation', '=', generation).executeTakeFirst())?.finished_at ?? undefined
      )
    })
    const row = service.sql.selectFrom('leads').select(['personal', 'close_reason']).where('id', '=', lead)
    expect(await row.executeTakeFirst()).toEqual({ personal: null, close_reason: 'erased' })
    expect(await lossesOf(service.sql, [generation])).toEqual([])
    expect((await service.client.workflow.getHandle(`lead-${lead}`).describe()).status.name).toBe('COMPLETED')
  }, 60_000)
})
