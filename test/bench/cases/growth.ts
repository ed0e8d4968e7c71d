import { deploy, type Deployment } from '../deployment.ts'
import { grow, type GrownTable, READABLE } from '../grow.ts'
import { type Bench, compareLoad } from '../load/load.ts'
import type { Cost } from '../pages.ts'
import type { Row } from '../rows.ts'
import { hotStatements } from './hot-statements.ts'

const FEW = READABLE
const MANY = 3_000_000
const EVENTS = 10
/** Nobody is called: only what is written is measured. */
const WEBHOOKS_TO = 'http://127.0.0.1:9/webhooks'
const LOADED = `${FEW.toLocaleString('en')} → ${MANY.toLocaleString('en')} leads`

/** The service with three million leads and thirty million events, webhooks and attempts; its floor is the service with a thousand leads. */
export async function growth(bench: Bench): Promise<Row[]> {
  const few = await grown(bench, FEW)
  const began = performance.now()
  const many = await grown(bench, MANY)
  process.stderr.write(`filled in ${Math.round((performance.now() - began) / 1000)} s\n`)
  const rows = [...(await calls(bench, few, many)), ...(await statements(few, many)), ...sizes(few, many)]
  await Promise.all([few.close(), many.close()])
  return rows
}

type Grown = Deployment & { tables: GrownTable[] }

async function grown({ servers }: Bench, leads: number): Promise<Grown> {
  const deployment = await deploy(servers, WEBHOOKS_TO)
  return { ...deployment, tables: await grow(deployment, leads, EVENTS) }
}

const MEASURES = {
  rowBytes: ['a row', 'bytes'],
  indexBytes: ['a row’s entries in indexes', 'bytes'],
  reindexSeconds: ['making all indexes', 's'],
} as const

function sizes(few: Grown, many: Grown): Row[] {
  return many.tables.flatMap((large, index) =>
    (Object.keys(MEASURES) as (keyof typeof MEASURES)[]).map((key) => {
      const [what, unit] = MEASURES[key]
      const small = few.tables[index]?.[key] ?? Number.NaN
      return { work: `${large.table}, ${what}`, unit, floor: [small], service: [large[key]] }
    }),
  )
}

const leadAt = (leads: number) => (n: number) => 1 + n * Math.floor(leads / READABLE)

async function calls(bench: Bench, few: Deployment, many: Deployment): Promise<Row[]> {
  const [fewApi, manyApi] = await Promise.all([few.startApi(), many.startApi()])
  const bodiesOf = (leads: number) =>
    Array.from({ length: READABLE }, (_, n) => JSON.stringify({ lead_id: leadAt(leads)(n) }))
  const rows: Row[] = []
  for (const call of ['get-lead', 'get-events']) {
    const path = `/v1/${call}`
    const compared = await compareLoad(bench, `${call}, ${LOADED}`, {
      floor: { api: fewApi, path, headers: few.headers },
      // from all over the table, not from pages that are in memory anyway
      services: { '': { api: manyApi, path, headers: many.headers, bodies: bodiesOf(MANY) } },
      bodies: bodiesOf(FEW),
    })
    rows.push(...compared.map((row) => (row.unit === '/s' ? { ...row, aim: { ratioFrom: 1 / 1.2 } } : row)))
  }
  await Promise.all([fewApi.stop(), manyApi.stop()])
  return rows
}

const UNITS = {
  ms: ['', 'ms'],
  pages: [', looked at', 'pages'],
  missed: [', not in PostgreSQL’s memory', 'pages'],
  walKiB: [', written to its log', 'KiB'],
} as const satisfies Record<keyof Cost, readonly [string, string]>

async function statements(few: Deployment, many: Deployment): Promise<Row[]> {
  const small = await hotStatements(few, leadAt(FEW), EVENTS)
  const large = await hotStatements(many, leadAt(MANY), EVENTS)
  return Object.entries(large).flatMap(([name, cost]) =>
    (Object.keys(UNITS) as (keyof Cost)[])
      .filter((key) => cost[key] > 0)
      .map((key) => {
        const [what, unit] = UNITS[key]
        const floor = small[name]?.[key] ?? 0
        // nothing has a ratio to nothing
        return { work: `${name}${what}`, unit, floor: floor > 0 ? [floor] : [], service: [cost[key]] }
      }),
  )
}
