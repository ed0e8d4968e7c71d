import { deploy } from '../deployment.ts'
import { fill } from '../fill.ts'
import { compareLoad, type Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'

const FEW = 1000
const MANY = 1_000_000
const EVENTS = 10

/** Reading with a million leads and ten million events; its floor is reading with a thousand leads. */
export async function growth(bench: Bench): Promise<Row[]> {
  const [few, many] = [await deploy(bench.servers), await deploy(bench.servers)]
  await fill(few, FEW, EVENTS)
  await fill(many, MANY, EVENTS)
  const [fewApi, manyApi] = await Promise.all([few.startApi(), many.startApi()])
  const rows: Row[] = []
  for (const call of ['get-lead', 'get-events']) {
    const path = `/v1/${call}`
    const bodies = Array.from({ length: FEW }, (_, n) => JSON.stringify({ lead_id: 1 + n }))
    // from all over the table, not from pages that are in memory anyway
    const spread = Array.from({ length: FEW }, (_, n) => JSON.stringify({ lead_id: 1 + n * (MANY / FEW) }))
    const compared = await compareLoad(bench, `${call}, 1,000 → 1,000,000 leads`, {
      floor: { api: fewApi, path, headers: few.headers },
      services: { '': { api: manyApi, path, headers: many.headers, bodies: spread } },
      bodies,
    })
    rows.push(...compared.map((row) => (row.unit === '/s' ? { ...row, aim: { ratioFrom: 1 / 1.2 } } : row)))
  }
  await Promise.all([fewApi.stop(), manyApi.stop()])
  await Promise.all([few.close(), many.close()])
  return rows
}
