import { describe, expect, it } from '@jest/globals'
import { anyPort } from '../support/any-port.ts'
import { until } from '../support/until.ts'
import { goesOnAfterKill } from './killed-population.ts'
import { expectedOf, populationsOf } from './population.ts'

describe('a population whose worker and API are killed in the middle', () => {
  const serviceOf = goesOnAfterKill({
    drawn: { seed: 9, size: 12, mix: { steady_climb: 2, closed: 1, repeated_milestones: 1 } },
    killedAfter: 30,
  })

  it('has lost nothing when its sink, which is the API, was away', async () => {
    const service = serviceOf()
    const other = await service.addPartner()
    const PORT = String(await anyPort())
    const api = await service.startApi({ PORT })
    const populations = populationsOf(service, Number(PORT), other)
    expect((await populations.call('use-sink', {})).status).toBe(200)
    const drawn = { seed: 3, size: 6, mix: { steep_climb: 1 } }
    const id = await populations.run(drawn)
    await until(async () => (await populations.read(id)).progress.webhooks > 5)
    await api.kill()
    await service.startApi({ PORT })
    const { status, report } = await populations.ended(id)
    expect([status, report!.webhooks.accepted]).toEqual(['done', expectedOf(drawn).flat().length])
    expect([report!.leads.refused, report!.never_accepted.count]).toEqual([0, 0])
  }, 120_000)
})
