import { expect, it } from '@jest/globals'
import { sandboxPartner } from '../sandbox/partner.ts'
import { leadsOf } from '../support/leads.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { holdRow } from '../support/row-lock.ts'
import type { Service } from '../support/service.ts'
import { until } from '../support/until.ts'

interface Stage {
  service: Service
  port: number | undefined
  /** The only one, which is killed. */
  worker: ServiceProcess
}

/**
 * What holds for a reset of any size.
 *
 * @param size how many leads are erased.
 * @param killedAt which of them is being erased when the worker is killed, counted from 0.
 */
export function goesOnAfterKill(
  { size, killedAt }: { size: number; killedAt: number },
  stageOf: () => Promise<Stage>,
): void {
  it('goes on after its worker was killed in the middle', async () => {
    const { service, port, worker } = await stageOf()
    const partner = await sandboxPartner(service, port)
    const progress = async () => (await partner.post('sandbox/get-reset', {})).data as object
    const leads = leadsOf(service, partner)
    const ids: number[] = []
    for (let count = 0; count < size; count += 1) ids.push(await leads.commit())
    const held = await holdRow(service.sql, 'leads', `id = ${ids[killedAt]}`)
    await partner.post('sandbox/reset-sandbox', { confirm: 'reset' })
    await held.reached()
    expect(await progress()).toMatchObject({ state: 'running', leads: size })
    await worker.kill()
    await held.release()
    await service.startWorker()
    const done = await until(async () => {
      const data = (await progress()) as { state: string }
      return data.state === 'done' && data
    })
    expect(done).toMatchObject({ leads: size, leads_left: 0 })
    const unchecked = await service.sql
      .selectFrom('leads')
      .leftJoin('erasures', 'erasures.lead_id', 'leads.id')
      .select('leads.id')
      .where('partner_id', '=', partner.id)
      .where((eb) => eb.or([eb('leads.erased_at', 'is', null), eb('checked_at', 'is', null)]))
      .execute()
    expect(unchecked).toEqual([])
  }, 120_000)
}
