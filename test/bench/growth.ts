import { compareLoad, type Target } from './compare-load.ts'
import { fillLeads } from './fill.ts'
import { deploy, startServers } from './servers.ts'
import type { Row } from './table.ts'

/** get-lead with a million leads; the floor is the service with a thousand. */
export async function growth(): Promise<Row[]> {
  const servers = await startServers()
  const targetWith = async (leads: number): Promise<Target> => {
    const deployment = await deploy(servers)
    const ids = await fillLeads(deployment, leads)
    const bodies = ids.map((lead_id) => JSON.stringify({ lead_id }))
    return { api: await deployment.startApi(), path: '/v1/get-lead', bodies, key: deployment.partner.key }
  }
  return compareLoad(servers, {
    work: 'get-lead with 1,000,000 leads',
    floor: await targetWith(1000),
    service: await targetWith(1_000_000),
    aim: 0.9,
  })
}
