import { deploy } from '../deployment.ts'
import { fill } from '../fill.ts'
import { type Bench, compareLoad } from '../load/load.ts'
import type { Row } from '../rows.ts'

const LEADS = 1000

/** What partners ask and change of leads that are there: floor and service over the same rows. */
export async function leadCalls(bench: Bench, only: string): Promise<Row[]> {
  const deployment = await deploy(bench.servers)
  const { headers } = deployment
  const first = await fill(deployment, LEADS, 10)
  const long = await fill(deployment, 20, 1000)
  const [api, floorApi] = await Promise.all([deployment.startApi(), deployment.startFloorApi()])
  const calls = {
    'get-lead': { path: 'get-lead', bodies: bodies(first, LEADS) },
    'get-events of 10': { path: 'get-events', bodies: bodies(first, LEADS) },
    'get-events of 1,000': { path: 'get-events', bodies: bodies(long, 20) },
    'update-partner-info': {
      path: 'update-partner-info',
      bodies: bodies(first, LEADS, { loan_product: 'VA', property_state: 'TX' }),
    },
  }
  const rows: Row[] = []
  for (const [work, { path, bodies: sent }] of Object.entries(calls)) {
    if (!work.startsWith(only)) continue
    const floor = { api: floorApi, path: `/${path}` }
    const service = { api, path: `/v1/${path}`, headers }
    rows.push(...(await compareLoad(bench, work, { floor, services: { '': service }, bodies: sent })))
  }
  await Promise.all([api.stop(), floorApi.stop()])
  await deployment.close()
  return rows
}

function bodies(first: number, count: number, fields: object = {}): string[] {
  return Array.from({ length: count }, (_, index) => JSON.stringify({ lead_id: first + index, ...fields }))
}
