import { compareLoad } from './compare-load.ts'
import { fillLeads } from './fill.ts'
import { deploy, startServers } from './servers.ts'
import type { Row } from './table.ts'

/** What partners ask and change of leads that are there: floor and service over the same rows. */
export async function reads(): Promise<Row[]> {
  const servers = await startServers()
  const deployment = await deploy(servers)
  const leads = await fillLeads(deployment, 1000)
  const [api, floorApi] = [await deployment.startApi(), await deployment.startFloor('api')]
  const compare = (
    path: string,
    work: string,
    { fields = {}, ...aims }: { fields?: object; aim: number; p99: number },
  ) => {
    const bodies = leads.map((lead_id) => JSON.stringify({ lead_id, ...fields }))
    return compareLoad(servers, {
      work,
      floor: { api: floorApi, path: `/${path}`, bodies },
      service: { api, path: `/v1/${path}`, bodies, key: deployment.partner.key },
      ...aims,
    })
  }
  const fields = { loan_product: 'VA', property_state: 'TX' }
  return [
    ...(await compare('get-lead', 'get-lead', { aim: 0.75, p99: 1.5 })),
    ...(await compare('get-events', 'get-events of 10', { aim: 0.85, p99: 1.5 })),
    ...(await compare('update-partner-info', 'update-partner-info', { fields, aim: 0.7, p99: 2 })),
  ]
}
