import { parseArgs } from 'node:util'
import { endAll } from '../support/at-end.ts'
import { rehearseAlerts } from './alerts/alerts.ts'
import { check } from './check/check.ts'
import { report } from './report.ts'
import { run } from './run.ts'
import { product, sabotagedProduct, sabotages } from './sabotage.ts'

const help = `npm run chaos -- [--seed N] [--leads N] [--fault NAME]
       npm run chaos -- --alerts [--only TEXT]

Kills, freezes and cuts off the parts of a service of its own while it is under load, then checks what it promises.
The same seed makes the same faults and the same load. The exit code is 1 if a promise is broken.

  --seed N      1 by default
  --leads N     200 by default
  --alerts      stages each fault with a real Prometheus instead: exactly the promised alerts must fire, and end
  --only TEXT   of these, only those whose name has TEXT, or one of several, comma-separated
  --fault NAME  puts a mistake into a copy of the service first, which the checks must find:
${Object.entries(sabotages)
  .map(([name, { about }]) => `                ${name.padEnd(14)} ${about}`)
  .join('\n')}
`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const { values } = parseArgs({
  options: { seed: text, leads: text, fault: text, alerts: flag, only: text, help: flag },
})
if (values.help) process.stdout.write(help)
else if (values.alerts) await proveAlerts()
else await chaos(wholeNumber('seed', 1), wholeNumber('leads', 200), values.fault)

async function chaos(seed: number, leads: number, fault: string | undefined): Promise<void> {
  const sabotage = fault === undefined ? undefined : sabotages[fault]
  if (fault !== undefined && sabotage === undefined) throw new Error(`There is no ${fault}: see --help.`)
  endEarly()
  try {
    const outcome = await run({
      seed,
      leads,
      product: sabotage === undefined ? product : sabotagedProduct(sabotage),
      report: (line) => process.stderr.write(`${line}\n`),
    })
    const verdicts = check(outcome.evidence)
    const isBroken = verdicts.some(({ broken }) => broken.length > 0)
    const title = `seed ${seed}${fault === undefined ? '' : `, with ${fault}`}`
    process.stdout.write(`${title}\n${report(outcome, verdicts)}\n`)
    process.exitCode = isBroken ? 1 : 0
  } finally {
    await endAll()
  }
}

async function proveAlerts(): Promise<void> {
  endEarly()
  try {
    await rehearseAlerts(values)
  } finally {
    await endAll()
  }
}

function endEarly(): void {
  for (const end of ['SIGINT', 'SIGTERM', 'uncaughtException'] as const)
    process.once(end, (cause: unknown) => {
      process.stderr.write(`${cause instanceof Error ? cause.stack : String(cause)}\n`)
      void endAll().finally(() => process.exit(1))
    })
}

function wholeNumber(name: 'seed' | 'leads', otherwise: number): number {
  const given = values[name]
  if (given === undefined) return otherwise
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new Error(`--${name} must be a whole number from 1 on.`)
  return Number(given)
}
