import { beforeAll, describe, expect, it } from '@jest/globals'
import { wakeLeadsActivity, type WakeProgress } from '../../activities/wake-leads.ts'
import { cancelOpen } from '../../src/deliveries/delivery.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { createLogger } from '../../src/observe/log.ts'
import { prepareDelivering } from '../support/delivering.ts'
import { resumeEndpoint } from '../support/endpoint-states.ts'

const AT_A_TIME = 20

describe('waking the leads of an endpoint that takes webhooks again', () => {
  let on: Awaited<ReturnType<typeof prepareDelivering>>
  let wakeLeads: ReturnType<typeof wakeLeadsActivity>
  const leadIds: number[] = []
  const woken: number[] = []
  const logged: string[] = []
  let refused: number | undefined

  beforeAll(async () => {
    on = await prepareDelivering()
    for (let count = 0; count < AT_A_TIME + 3; count += 1) leadIds.push(await on.commitLead())
    const wakeLead = async (leadId: number) => {
      if (leadId === refused) throw new Error('its history is full')
      woken.push(leadId)
    }
    const log = createLogger('info', 'worker', { destination: { write: (line) => void logged.push(line) } })
    wakeLeads = wakeLeadsActivity({ sql: on.sql, wakeLead, log })
  })

  const endpoint = () => on.sql.selectFrom('endpoints').selectAll().executeTakeFirstOrThrow()
  const wake = async (progress: WakeProgress = { round: 0, leadId: 0 }) => {
    woken.length = 0
    return wakeLeads(on.partnerId, progress)
  }
  const first = () => leadIds.slice(0, AT_A_TIME)

  it('wakes a few in the order of their ids, and the round is over with the last', async () => {
    const { round, woken_round: before } = await endpoint()
    expect(before).toBeLessThan(round)
    expect(await wake()).toEqual({ round, leadId: leadIds[AT_A_TIME - 1] })
    expect(woken.toSorted((a, b) => a - b)).toEqual(first())
    expect((await endpoint()).woken_round).toBe(before)
    expect(await wake({ round, leadId: leadIds[AT_A_TIME - 1] ?? 0 })).toEqual({
      round,
      leadId: leadIds.at(-1),
    })
    expect(woken).toEqual(leadIds.slice(AT_A_TIME))
    expect((await endpoint()).woken_round).toBe(round)
  })

  it('wakes the others though one cannot be woken, and says which', async () => {
    refused = leadIds[1]
    await wake()
    refused = undefined
    expect(woken).toHaveLength(AT_A_TIME - 1)
    expect(logged).toEqual([expect.stringContaining(`"lead_id":${leadIds[1]}`)])
  })

  it('begins anew when the endpoint was resumed again since', async () => {
    const { round } = await endpoint()
    await resumeEndpoint(on.sql, on.partnerId)
    expect(await wake({ round, leadId: leadIds.at(-1) ?? 0 })).toMatchObject({ round: round + 1 })
    expect(woken.toSorted((a, b) => a - b)).toEqual(first())
  })

  it('wakes leads whose webhooks were canceled, too', async () => {
    await on.sql.transaction().execute(async (trx) => {
      await cancelOpen(trx, on.partnerId)
      await switchAsStaff(trx, on.partnerId, { url: on.endpoint.url, secret: () => 'unused', fromNow: true })
    })
    await wake()
    expect(woken.toSorted((a, b) => a - b)).toEqual(first())
  })
})
