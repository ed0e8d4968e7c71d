import { setTimeout as delay } from 'node:timers/promises'
import { issueKey } from '../../../src/partners/keys.ts'
import { forEachInFlight } from '../../../src/temporal/in-flight.ts'
import { fillDeliveries } from '../../support/deliveries.ts'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import { addHangingPartner, LEADS, measure, PER_SECOND, ROUNDS } from './isolation.ts'
import { type Sides, startSides } from './milestone-sides.ts'

const RESENDS = 600

/**
 * What one partner's webhooks notice of another that asks for 600 resends at once while its endpoint hangs: the floor
 * is the same work without that.
 */
export async function resends({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  await sides.service.begin(LEADS)
  const neighbour = await addNeighbour(sides)
  const p50 = { floor: [] as number[], service: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    p50.floor.push(await measure(sides, 0.5))
    await neighbour.hang()
    p50.service.push(await measure(sides, 0.5, () => neighbour.askForAll()))
    sides.verify()
    await neighbour.rest()
  }
  await neighbour.close()
  await sides.close()
  return [
    {
      work: `milestone → webhook at ${PER_SECOND}/s beside ${RESENDS} resends, p50`,
      unit: 'ms',
      ...p50,
      aim: { ratioTo: 1.1 },
      note: `floor: none; service: another partner asks for ${RESENDS} at once, and its endpoint hangs`,
    },
  ]
}

/** A partner with settled webhooks and an endpoint that takes connections and never answers. */
async function addNeighbour({ deployment }: Sides) {
  const { sql, orm, client } = deployment
  const { id, server, held, put } = await addHangingPartner(deployment)
  const { key } = await issueKey(orm.em.fork(), id, 'sandbox')
  const api = await deployment.startApi()
  const eventIds = await fillDeliveries(sql, id, RESENDS, 'delivered')
  const ask = async (event_id: string) => {
    const { status } = await fetch(`http://127.0.0.1:${api.port}/v1/resend-webhook`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ event_id }),
    })
    if (status !== 200) throw new Error(`resend-webhook answered ${status}`)
  }
  return {
    hang: () => put('active'),
    async askForAll() {
      held.clear()
      await forEachInFlight(eventIds, ask)
      while (held.size === 0) await delay(50)
    },
    /** Takes what waits away, and ends the request in flight. */
    async rest() {
      await put('paused')
      server.closeAllConnections()
      await client.workflow.getHandle(`resend-${id}`).terminate()
    },
    async close() {
      server.close().closeAllConnections()
      await api.stop()
    },
  }
}
