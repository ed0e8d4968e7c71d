import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import { alone } from '../database/locks/alone.ts'
import {
  type FailingWorkflow,
  failingToCheck,
  forgetFailing,
  noteFailing,
  noteStillFailing,
  tellFailing,
} from './statements/failing-workflows.ts'
import type { Sql } from '../database/orm.ts'
import { findRuns, isTaskFailing } from './failing-tasks.ts'
import type { FailedTasks } from './failed-tasks.ts'
import { leadOf } from './names.ts'
import { forEachInFlight } from './in-flight.ts'
import { keepTurning, type LoopOptions } from './keep-turning.ts'

const INTERVAL_MS = 5000
/** Each costs a call to Temporal: at most 40 a second for each of the two. */
const PER_TURN = 200
const REST_MS = 10_000
const TOLD_PER_TURN = 100

interface Options extends LoopOptions {
  sql: Sql
  client: Client
  failed: FailedTasks
  /** This worker's. */
  build: string
  log: Logger
}

/**
 * Lists the workflows whose task fails, until `signal` aborts. Every worker lists those that failed on it. One worker at a
 * time checks that they still fail, and logs each once it has failed for a minute. It asks Temporal about these only, so
 * its cost does not grow with the number of workflows.
 */
export async function watchFailing(options: Options): Promise<void> {
  const { sql, log } = options
  const loop = {
    name: 'failing_workflows',
    everyMs: INTERVAL_MS,
    async turn() {
      await learn(options)
      await alone(sql, 'failing_workflows', () => check(options))
    },
    onFailure: (err: unknown) =>
      log.warn({ err }, 'cannot look for workflows whose task fails; trying again every 5 seconds'),
  }
  await keepTurning(loop, options)
}

/** A task that is lost on the way fails again, and is noted then. */
async function learn({ sql, client, failed, build, signal }: Options): Promise<void> {
  const tasks = failed.take(PER_TURN)
  if (tasks.length === 0) return
  const runs = await findRuns(
    client,
    tasks.map(({ runId }) => runId),
  )
  const failing: FailingWorkflow[] = []
  const look = async ({ runId, failure, at }: (typeof tasks)[number]) => {
    const run = runs.get(runId)
    if (run && (await isTaskFailing(client, run)))
      failing.push({ ...run, failure, failedOn: build, since: at })
  }
  await forEachInFlight(tasks, look, { signal })
  await noteFailing(sql, failing)
}

async function check({ sql, client, log, signal }: Options): Promise<number> {
  const still: string[] = []
  const runs = await failingToCheck(sql, REST_MS, PER_TURN)
  const look = async (run: (typeof runs)[number]) => {
    if (await isTaskFailing(client, run)) still.push(run.workflowId)
    else await forgetFailing(sql, run)
  }
  await forEachInFlight(runs, look, { signal })
  await noteStillFailing(sql, still)
  for (const { workflowId, runId, type, failure, since } of await tellFailing(sql, TOLD_PER_TURN)) {
    const leadId = leadOf(workflowId)
    const lead = leadId === undefined ? {} : { lead_id: leadId }
    const facts = { ...lead, workflow_id: workflowId, run_id: runId, workflow_type: type, since, failure }
    log.error(
      facts,
      'a workflow’s task fails, and nothing happens to it meanwhile: see staff workflow repair',
    )
  }
  return runs.length
}
