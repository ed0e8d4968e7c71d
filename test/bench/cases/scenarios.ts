import { forEachInFlight } from '../../../src/temporal/in-flight.ts'
import { LEAD } from '../lead.ts'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import { addCaller } from './caller.ts'
import { LEADS, measure, PER_SECOND } from './isolation.ts'
import { type Sides, startSides } from './milestone-sides.ts'

const SCENARIOS = 300
const CONNECTIONS = 32
const ROUNDS = 2
const SCENARIO = 'ready_after_two_updates'

/**
 * What one partner's webhooks notice of another whose key starts 300 scenarios: the floor is the same work without them,
 * beside as many leads where they come with leads.
 */
export async function scenarios({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  await sides.service.begin(LEADS)
  const neighbour = await addNeighbour(sides)
  const rows: Row[] = []
  for (const { call, ask, without } of neighbour.ways) {
    const p50 = { floor: [] as number[], service: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      p50.floor.push(await measure(sides, 0.5, without))
      p50.service.push(await measure(sides, 0.5, ask))
      sides.verify()
      await neighbour.rest()
    }
    rows.push({
      work: `milestone → webhook at ${PER_SECOND}/s beside ${SCENARIOS} scenarios by ${call}, p50`,
      unit: 'ms',
      ...p50,
      aim: { ratioTo: 1.1 },
      note: `floor: ${without === undefined ? 'none' : 'as many leads without a scenario'}`,
    })
  }
  await neighbour.close()
  await sides.close()
  return rows
}

/** A partner that asks for all of its scenarios at once. */
async function addNeighbour({ deployment }: Sides) {
  const { client } = deployment
  const { id, post, close } = await addCaller(deployment)
  const askForAll = (path: string, body: object) => async () => {
    const all = Array.from({ length: SCENARIOS })
    const [failed] = await forEachInFlight(all, () => post(path, body), { limit: CONNECTIONS })
    if (failed !== undefined) throw failed.error
  }
  const tagged = { ...LEAD, email: `ada+${SCENARIO}@example.com` }
  return {
    ways: [
      {
        call: 'run-scenario',
        ask: askForAll('sandbox/run-scenario', { scenario: SCENARIO }),
        without: undefined,
      },
      { call: 'create-lead', ask: askForAll('create-lead', tagged), without: askForAll('create-lead', LEAD) },
    ],
    /** Takes away what is played. */
    async rest() {
      const referrals = `WorkflowType = 'referral' and ExecutionStatus = 'Running' and PartnerId = ${id}`
      for await (const { workflowId } of client.workflow.list({ query: referrals }))
        await client.workflow.getHandle(workflowId).terminate()
    },
    close,
  }
}
