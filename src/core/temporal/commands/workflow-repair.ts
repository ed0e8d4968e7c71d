import { setTimeout as delay } from 'node:timers/promises'
import { failingByType, failingPage, failingSamples } from '../statements/failing-workflows.ts'
import { pages } from '../../database/pages.ts'
import { forEachInFlight } from '../in-flight.ts'
import { countWorkflows, listWorkflows } from '../list-workflows.ts'
import { repair as repairOne, type Repair } from '../repair.ts'
import { fields, table } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'

const PAGE = 500
/** Of resets: a fraction of what Temporal and the workers can do beside live traffic. */
const PER_SECOND = 20
const MOST_LISTED = 20
/** For each build on which workflows fail. */
const SAMPLE = 20

interface Options {
  build?: string
}

/** Says which workflows a repair resets: those whose task fails, or all on which a build has worked. */
export async function preview({ client, sql, requireOwnNamespace }: StaffContext, { build }: Options = {}) {
  await requireOwnNamespace()
  const failing = await failingByType(sql)
  const builds = await buildsOf(client, await failingSamples(sql, SAMPLE))
  const count = build === undefined ? sum(failing) : await countWorkflows(client, workedOn(build))
  const json = { dry_run: true, to_reset: count, failing, builds }
  const parts = [
    failing.length === 0
      ? 'No workflow’s task is known to fail.'
      : table(failing, {
          type: 'type',
          workflows: 'workflows',
          'first since': 'since',
          'for example': 'example',
          because: 'failure',
        }),
    builds.length > 0 &&
      table(builds, {
        'failing on': 'failing_on',
        'worked on last by': 'worked_on_by',
        'running workflows on which it has worked': 'workflows',
      }),
    build === undefined && builds.length > 0 && BUILD_HINT,
    count > 0 && `To reset ${count}, add --yes. Roll the bad version back first.`,
  ]
  return { json, text: parts.filter(Boolean).join('\n\n') }
}

const BUILD_HINT =
  'Workflows on which the bad version has worked may fail at their next task only. To reset all of them: --build ID. It is temporal_build in the worker’s line “worker is polling”.'

/** Resets them. */
export async function carryOut(context: StaffContext, { build }: Options = {}) {
  const { client, sql, requireOwnNamespace } = context
  await requireOwnNamespace()
  const counts: Record<Repair, number> = { reset: 0, ended: 0, recovered: 0, unbegun: 0 }
  const failed: string[] = []
  let because = ''
  const pace = paced(1000 / PER_SECOND)
  const work = async (workflowId: string) => {
    await pace()
    counts[await repairOne(client, workflowId, build)] += 1
  }
  const repairAll = async (ids: readonly string[]) => {
    for (const { item, error } of await forEachInFlight(ids, work)) {
      failed.push(item)
      because ||= error instanceof Error ? error.message : String(error)
    }
  }
  const detail = build === undefined ? {} : { build }
  await context.act({ action: 'workflow.repair', detail }, async () => {
    if (build === undefined)
      for await (const page of failingPages(sql)) await repairAll(page.map(({ workflowId }) => workflowId))
    else await repairAll(await idsOf(client, build))
    return { result: undefined, detail: { ...counts, failed: failed.length } }
  })
  const { reset, ended, recovered, unbegun } = counts
  return {
    json: { dry_run: false, ...counts, failed },
    text: [
      fields({
        reset,
        ...(ended > 0 && { 'ended, because their cancellation was requested': ended }),
        'not failing any more': recovered,
        ...(unbegun > 0 && { 'no task was ever completed': unbegun }),
        ...(failed.length > 0 && {
          'failed, try again': `${failed.length}: ${failed.slice(0, MOST_LISTED).join(', ')}`,
          because,
        }),
      }),
      AFTER,
    ].join('\n\n'),
    failed: failed.length > 0,
  }
}

const AFTER =
  'Workers now do what is left. In a minute, "workflow repair" lists what still fails: repeat it until it lists nothing.'

function failingPages(sql: StaffContext['sql']) {
  const read = (after: string, limit: number) => failingPage(sql, after, limit)
  return pages(PAGE, '', read, ({ workflowId }) => workflowId)
}

/** A running workflow has the builds that worked on it as search attributes. */
export function workedOn(build: string): string {
  return `ExecutionStatus = 'Running' AND BuildIds IN ('unversioned:${build}', 'versioned:${build}')`
}

/** All first: what is reset would change the pages. */
async function idsOf(client: StaffContext['client'], build: string): Promise<string[]> {
  const ids: string[] = []
  for await (const { workflowId } of listWorkflows(client, workedOn(build))) ids.push(workflowId)
  return ids
}

interface Builds {
  failing_on: string
  worked_on_by: string
  workflows: number
}

/** On which builds some of those that fail do so, and which completed their last tasks. */
async function buildsOf(
  client: StaffContext['client'],
  samples: readonly { workflowId: string; failedOn: string }[],
): Promise<Builds[]> {
  const pairs = new Map<string, Builds>()
  await forEachInFlight(samples, async ({ workflowId, failedOn }) => {
    const { raw } = await client.workflow.getHandle(workflowId).describe()
    const { mostRecentWorkerVersionStamp: stamp, versioningInfo: versions } = raw.workflowExecutionInfo ?? {}
    const build = versions?.deploymentVersion?.buildId ?? stamp?.buildId
    if (!build) return
    pairs.set(`${failedOn} ${build}`, { failing_on: failedOn, worked_on_by: build, workflows: 0 })
  })
  for (const pair of pairs.values())
    pair.workflows = await countWorkflows(client, workedOn(pair.worked_on_by))
  return [...pairs.values()]
}

/** Each call resolves `everyMs` after the one before it. */
function paced(everyMs: number): () => Promise<void> {
  let next = 0
  return async () => {
    const at = Math.max(performance.now(), next)
    next = at + everyMs
    await delay(Math.max(0, at - performance.now()))
  }
}

const sum = (groups: readonly { workflows: number }[]) =>
  groups.reduce((total, { workflows }) => total + workflows, 0)
