import os from 'node:os'
import { parseArgs } from 'node:util'
import { asProgram, endAll } from '../support/at-end.ts'
import { cases } from './cases.ts'
import { type Row, toTable } from './table.ts'

const help = `npm run bench -- [--only NAME[,NAME…]]

Measures the service against floors: the least that the same work could cost, on the same machine, database and
Temporal server, in turn with it. All takes about five minutes; names:

${cases.map(({ name, about, byNameOnly }) => `  ${name.padEnd(12)} ${about}${byNameOnly ? ' (by name only)' : ''}`).join('\n')}
`

const { values } = parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean' } } })
const only = values.only?.split(',')
const unknown = only?.find((name) => cases.every((one) => one.name !== name))
if (values.help) process.stdout.write(help)
else if (unknown === undefined) await asProgram(bench)
else throw new Error(`There is no ${unknown}. See npm run bench -- --help.`)

async function bench(): Promise<void> {
  const [cpu] = os.cpus()
  const load = os.loadavg()[0]?.toFixed(1)
  process.stdout.write(
    `${os.availableParallelism()} × ${cpu?.model}, Node ${process.version}, load ${load}\n\n`,
  )
  const rows: Row[] = []
  for (const { name, byNameOnly, run } of cases) {
    if (only === undefined ? byNameOnly : !only.includes(name)) continue
    process.stderr.write(`${name} …\n`)
    rows.push(...(await run()))
    // each case has servers of its own
    await endAll()
  }
  process.stdout.write(`${toTable(rows)}\n`)
}
