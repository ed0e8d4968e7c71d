import { setTimeout as delay } from 'node:timers/promises'
import { MOST_LEADS } from '../../../src/capabilities/sandbox/populations/decisions/population.ts'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import { addCaller } from './caller.ts'
import { LEADS, measure, PER_SECOND } from './isolation.ts'
import { startSides } from './milestone-sides.ts'

const ROUNDS = 2

/** What one partner's webhooks notice of another's population: the floor is the same work without it. */
export async function population({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  await sides.service.begin(LEADS)
  const { sql } = sides.deployment
  const neighbour = await addCaller(sides.deployment)
  const open = sql.selectFrom('populations').select('id').where('ended_at', 'is', null)
  const finished = sql.selectFrom('population_leads').select('lead_id').where('outcome', 'is not', null)
  const p50 = { floor: [] as number[], service: [] as number[] }
  const perSecond: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    p50.floor.push(await measure(sides, 0.5))
    const [before, began] = [(await finished.execute()).length, performance.now()]
    const run = { size: MOST_LEADS, seed: round, mix: { steady_climb: 1 } }
    p50.service.push(await measure(sides, 0.5, () => neighbour.post('sandbox/run-population', run)))
    perSecond.push((((await finished.execute()).length - before) * 1000) / (performance.now() - began))
    for (const { id } of await open.execute())
      await neighbour.post('sandbox/cancel-population', { population_id: id })
    while ((await open.execute()).length > 0) await delay(200)
    sides.verify()
  }
  await neighbour.close()
  await sides.close()
  return [
    {
      work: `milestone → webhook at ${PER_SECOND}/s beside a population of ${MOST_LEADS}, p50`,
      unit: 'ms',
      ...p50,
      aim: { ratioTo: 1.1 },
      note: 'floor: none',
    },
    { work: 'leads of that population, a year each', unit: '/s', floor: [], service: perSecond },
  ]
}
