import { deploy } from '../deployment.ts'
import { fill } from '../fill.ts'
import { type Bench, compareLoad } from '../load/load.ts'
import type { Row } from '../rows.ts'

const LEADS = 1000

/** Statements with their names, as floor, and without: DATABASE_STATEMENT_NAMES=false, for an old PgBouncer. */
export async function statementNames(bench: Bench): Promise<Row[]> {
  const deployment = await deploy(bench.servers)
  const { headers } = deployment
  const first = await fill(deployment, LEADS, 10)
  const [named, unnamed] = await Promise.all([
    deployment.startApi(),
    deployment.startApi({ DATABASE_STATEMENT_NAMES: 'false' }),
  ])
  const rows: Row[] = []
  for (const [name, fields] of Object.entries({
    'get-lead': {},
    'update-partner-info': { loan_product: 'VA', property_state: 'TX' },
  })) {
    const bodies = Array.from({ length: LEADS }, (_, index) =>
      JSON.stringify({ lead_id: first + index, ...fields }),
    )
    const at = (api: typeof named) => ({ api, path: `/v1/${name}`, headers })
    const comparison = { floor: at(named), services: { ' without names': at(unnamed) }, bodies }
    rows.push(...(await compareLoad(bench, name, comparison)))
  }
  await Promise.all([named.stop(), unnamed.stop()])
  await deployment.close()
  return rows
}
