import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql as raw } from 'kysely'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { runToEnd } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { product } from './bad-build.ts'
import type { Deployment } from './deployment.ts'
import type { InjectedFault, LeadJournal } from './evidence.ts'
import { services, type Target } from './fault-plan.ts'
import { startAgain } from './victims.ts'

/** The dependencies of an act. */
export interface Stage {
  deployment: Deployment
  conditions: { slow: boolean }
  leads: LeadJournal[]
  faults: InjectedFault[]
}

const workers = ['worker 1', 'worker 2'] as const
/** Whose clocks step alone. */
const SOME = ['api 1', 'worker 1'] as const
const POLLING = /"temporal_build":"([^"]+)","msg":"worker is polling"/g
const BAD_MS = 8000
/** What the copy does not have. */
const LOSING_MS = 60_000
const HOUR_MS = 3_600_000
const STEP_MS = 8000
const NOTICED_MS = 100

/**
 * A build whose workflows do not fit the histories replaces all workers, and is rolled back. Then the workflows on which it
 * worked are reset, as the runbook says.
 *
 * @returns how many these were.
 */
export async function deployBadBuild({ deployment, faults }: Stage): Promise<number> {
  const { build, badBuild, client, logs, temporal } = deployment
  build.folder = badBuild
  await killed(deployment, faults, workers)
  await delay(BAD_MS)
  // that of the worker that was started last
  const [, id = ''] = [...readFileSync(logs['worker 1'], 'utf8').matchAll(POLLING)].at(-1) ?? []
  build.folder = product
  await killed(deployment, faults, workers)
  const query = `ExecutionStatus = 'Running' AND BuildIds = 'unversioned:${id}'`
  const { count } = await client.workflow.count(query)
  const program = await findTemporal(process.env)
  const options = ['--address', temporal.address, '--query', query, '--reason', 'rolled back', '--yes']
  const reset = ['workflow', 'reset', '--type', 'BuildId', '--build-id', id, ...options]
  const { stdout } = await promisify(execFile)(program, reset)
  const [, jobId] = /job ID: (\S+)/i.exec(stdout) ?? []
  const { namespace } = client.options
  const describe = () => client.workflowService.describeBatchOperation({ namespace, jobId })
  await until(async () => (await describe().catch(() => undefined))?.closeTime ?? false)
  return count
}

/**
 * PostgreSQL comes back with its files of a minute ago, and knows less than leads and partners, while milestones go on to
 * Temporal. All processes are stopped meanwhile, and staff declare it, as the runbook says. What was lost is noted in the journal.
 */
export async function restorePostgres({ deployment, faults, leads }: Stage): Promise<number> {
  const { postgres, sql, staffEnvironment } = deployment
  await postgres.copyFiles()
  await delay(LOSING_MS)
  await killed(deployment, faults, services, async () => {
    await postgres.restoreFiles()
    const { code, stderr } = await runToEnd('src/staff.ts', staffEnvironment, ['record', 'restored'])
    if (code !== 0) throw new Error(stderr)
    const kept = new Set((await sql.selectFrom('leads').select('id').execute()).map(({ id }) => id))
    for (const lead of leads) lead.isLost = lead.leadId !== null && !kept.has(lead.leadId)
  })
  return leads.filter(({ isLost }) => isLost).length
}

/**
 * While endpoints take their time, the wall clocks of an API process and of a worker step an hour forth, and back; then
 * those of all processes and of PostgreSQL do, as one machine.
 */
export async function stepClocks({ deployment: { clocks, sql }, conditions }: Stage): Promise<number> {
  conditions.slow = true
  for (const isMachine of [false, true]) {
    for (const aheadMs of [HOUR_MS, 0]) {
      for (const name of isMachine ? services : SOME) writeFileSync(clocks[name], String(aheadMs))
      // they have noticed it when PostgreSQL does
      await delay(NOTICED_MS)
      if (isMachine) await raw`update chaos.clock set ahead = ${aheadMs} * interval '1 ms'`.execute(sql)
      await delay(STEP_MS)
    }
  }
  conditions.slow = false
  return services.length
}

/** Kills processes, does something without them, and starts them. */
async function killed(
  { victims }: Deployment,
  faults: InjectedFault[],
  names: readonly Target[],
  meanwhile = async () => {},
): Promise<void> {
  const at = performance.now()
  const entries = names.map((on): InjectedFault => ({ kind: 'kill', on, at, until: Infinity, hits: 1 }))
  faults.push(...entries)
  await Promise.all(names.map((name) => victims[name].kill()))
  await meanwhile()
  await Promise.all(names.map((name) => startAgain(victims[name])))
  for (const entry of entries) entry.until = performance.now()
}
