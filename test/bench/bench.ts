import { parseArgs } from 'node:util'
import { cases } from './cases/cases.ts'
import { describeMachine } from './machine.ts'
import { startLoad } from './load/load.ts'
import { judge, type Judged, toTable } from './rows.ts'
import { startServers } from './servers.ts'

const help = `npm run bench -- [--only NAME[,NAME…]] [--json]

Measures the service against floors: the least that the same work could cost, on the same machine, database and
Temporal server, in turn with it. DATABASE_URL and TEMPORAL_ADDRESS name running servers to use instead of
starting some. All takes about five minutes; names:

${cases.map(({ name, about, byNameOnly }) => `  ${name.padEnd(20)} ${about}${byNameOnly ? ' (by name only)' : ''}`).join('\n')}
`

const flag = { type: 'boolean' } as const
const { values } = parseArgs({ options: { only: { type: 'string' }, json: flag, help: flag } })
if (values.help) process.stdout.write(help)
else await bench(values.only?.split(','), values.json === true)

async function bench(only: string[] | undefined, json: boolean): Promise<void> {
  const unknown = only?.find((name) => cases.every((one) => one.name !== name))
  if (unknown !== undefined) throw new Error(`There is no ${unknown}. See npm run bench -- --help.`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const servers = await startServers(process.env)
  try {
    const load = await startLoad(servers)
    const machine = await describeMachine(servers)
    const rows: Judged[] = []
    for (const { name, byNameOnly, run } of cases) {
      if (only === undefined ? byNameOnly : !only.includes(name)) continue
      process.stderr.write(`${name} …\n`)
      const judged = (await run({ servers, load })).map(judge)
      rows.push(...judged)
      // whoever stops it after minutes has at least these
      process.stderr.write(`${toTable(judged)}\n\n`)
    }
    const report = json
      ? JSON.stringify({ machine, rows }, null, 2)
      : [...Object.entries(machine).map(([what, is]) => `${what}: ${is}`), '', toTable(rows)].join('\n')
    process.stdout.write(`${report}\n`)
  } finally {
    servers.stopAll()
  }
}
