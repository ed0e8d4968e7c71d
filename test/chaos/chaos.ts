import { parseArgs } from 'node:util'
import { asProgram } from '../support/at-end.ts'
import { check } from './check/check.ts'
import { report } from './report.ts'
import { run } from './run.ts'

const help = `npm run chaos -- [--seed N] [--leads N] [--restore] [--clock]

Kills, freezes, cuts off and replaces the parts of a service of its own while it is under load, then checks what it promises.
The same seed makes the same faults and the same load. The exit code is 1 if a promise is broken.

  --seed N      1 by default
  --leads N     200 by default
  --restore     PostgreSQL also comes back with its files of a minute ago
  --clock       wall clocks also step an hour forth, and back: of an API process and a worker, then of the whole machine
`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const { values } = parseArgs({ options: { seed: text, leads: text, restore: flag, clock: flag, help: flag } })
const { seed = '1', leads = '200', restore, clock } = values
if (values.help) process.stdout.write(help)
else if ([seed, leads].every((given) => /^[1-9]\d{0,8}$/.test(given))) await asProgram(chaos)
else throw new Error('--seed and --leads must be whole numbers from 1 on.')

async function chaos(): Promise<void> {
  const outcome = await run({ seed: Number(seed), leads: Number(leads), restore, clock })
  const verdicts = check(outcome.evidence)
  process.stdout.write(`seed ${seed}\n${report(outcome, verdicts)}\n`)
  process.exitCode = verdicts.some(({ broken }) => broken.length > 0) ? 1 : 0
}
