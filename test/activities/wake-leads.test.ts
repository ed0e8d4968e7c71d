import { beforeAll, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { wakeLeadsActivity } from '../../activities/wake-leads.ts'
import { findDraining } from '../../src/db/endpoints/draining.ts'
import { prepareDelivering } from '../support/delivering.ts'

describe('waking the leads of an endpoint that works again', () => {
  let wakeLeads: ReturnType<typeof wakeLeadsActivity>
  let endpointId: number
  let since: string
  const leadIds: number[] = []
  const woken: number[] = []

  beforeAll(async () => {
    const { sql, partnerId, commitLead } = await prepareDelivering()
    for (let count = 0; count < 3; count += 1) leadIds.push(await commitLead())
    const row = await sql
      .selectFrom('endpoints')
      .select('id')
      .where('partner_id', '=', partnerId)
      .executeTakeFirstOrThrow()
    endpointId = row.id
    since = (await findDraining(sql, endpointId))?.since ?? ''
    const signal = async (leadId: number) => {
      woken.push(leadId)
      return true
    }
    wakeLeads = wakeLeadsActivity({ sql, wakeLead: signal })
  })

  const run = async (progress?: object) => {
    woken.length = 0
    const environment = new MockActivityEnvironment({ heartbeatDetails: progress })
    return environment.run(wakeLeads, endpointId)
  }

  it('wakes each one, in the order of their ids', async () => {
    expect(await run()).toBe(since)
    expect(woken).toEqual(leadIds)
  })

  it('goes on after a crash where its last heartbeat said it was', async () => {
    await run({ since, leadId: leadIds[0] })
    expect(woken).toEqual(leadIds.slice(1))
  })

  it('begins anew when the endpoint was resumed again since', async () => {
    await run({ since: 'before', leadId: leadIds[1] })
    expect(woken).toEqual(leadIds)
  })
})
