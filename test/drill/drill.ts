import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { endAll } from '../support/at-end.ts'
import { watchAlerts } from './alert-watch.ts'
import { deploymentDisasters } from './deployment-act.ts'
import { startFollower } from './follower.ts'
import { keyDisasters } from './keys-act.ts'
import { emptyJournal } from './load.ts'
import { postgresDisasters } from './postgres-act.ts'
import { type Disaster, type Ground, type Outcome, rehearse } from './rehearse.ts'
import { releaseDisasters } from './release-act.ts'
import { toLines, toReport } from './report.ts'
import { type Stack, startStack } from './stack.ts'
import { temporalDisasters } from './temporal-act.ts'

const acts: Record<string, (ground: Ground) => Disaster[] | Promise<Disaster[]>> = {
  postgres: postgresDisasters,
  temporal: temporalDisasters,
  keys: keyDisasters,
  deployment: deploymentDisasters,
  release: releaseDisasters,
}

const { values } = parseArgs({ options: { only: { type: 'string' } } })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void endAll().finally(() => process.exit(1)))
const outcomes: Outcome[] = []
try {
  for (const [name, disastersOf] of Object.entries(acts)) {
    if (values.only !== undefined && !values.only.split(',').includes(name)) continue
    outcomes.push(...(await play(disastersOf)))
  }
} finally {
  await endAll()
}
process.stdout.write(`${toReport(outcomes)}\n`)
process.exitCode = outcomes.some(({ broken }) => broken.length > 0) ? 1 : 0

async function play(disastersOf: (ground: Ground) => Disaster[] | Promise<Disaster[]>): Promise<Outcome[]> {
  const stack = await startStack()
  const alerts = await watchAlerts(stack)
  const ground = { stack, journal: emptyJournal(), follower: startFollower(stack), alerts }
  const played: Outcome[] = []
  for (const disaster of await disastersOf(ground)) {
    const outcome = await rehearse(ground, disaster)
    for (const line of toLines(outcome)) process.stderr.write(`${line}\n`)
    if (outcome.broken.length > 0) keepLogs(stack)
    played.push(outcome)
  }
  await ground.follower.stop()
  await endAll()
  return played
}

/** The logs of the processes that run now, for whoever wants to know why. */
function keepLogs({ running }: Stack): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'referrals-drill-'))
  for (const [name, { output }] of Object.entries(running))
    writeFileSync(path.join(folder, `${name}.log`), output())
  process.stderr.write(`logs: ${folder}\n`)
}
