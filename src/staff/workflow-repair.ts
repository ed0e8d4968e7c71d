import { setTimeout as delay } from 'node:timers/promises'
import { failingByType, failingPage } from '../db/failing-workflows.ts'
import { forEachInFlight } from '../jobs/in-flight.ts'
import { countWorkflows, listWorkflows } from '../temporal/list-workflows.ts'
import { repair as repairOne, type Repair } from '../temporal/repair.ts'
import { fields, table } from './answer.ts'
import type { StaffContext } from './context.ts'

const PAGE = 500
/** Of resets: a fraction of what Temporal and the workers can do beside live traffic. */
const PER_SECOND = 20
const MOST_LISTED = 20

interface Options {
  build?: string
}

/** Says which workflows a repair resets: those whose task fails, or all on which a build has worked. */
export async function preview({ client, sql, requireOwnNamespace }: StaffContext, { build }: Options = {}) {
  await requireOwnNamespace()
  const failing = await failingByType(sql)
  const builds = build === undefined ? await buildsOf(client, await failingPage(sql, '', MOST_LISTED)) : []
  const touched = await Promise.all(
    [...(build === undefined ? builds : [build])].map(async (id) => ({
      build: id,
      workflows: await countWorkflows(client, workedOn(id)),
    })),
  )
  const count = build === undefined ? sum(failing) : (touched[0]?.workflows ?? 0)
  const json = { dry_run: true, to_reset: count, failing, builds: touched }
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
    touched.length > 0 && table(touched, { 'worked on last by': 'build', 'running workflows': 'workflows' }),
    build === undefined && touched.length > 0 && BUILD_HINT,
    count > 0 && `To reset ${count}, add --yes. Roll the bad version back first.`,
  ]
  return { json, text: parts.filter(Boolean).join('\n\n') }
}

const BUILD_HINT =
  'Workflows of such a build that do not fail now may fail at their next task. To reset all of a bad build: --build ID.'

/** Resets them. */
export async function carryOut(context: StaffContext, { build }: Options = {}) {
  const { client, sql, requireOwnNamespace } = context
  await requireOwnNamespace()
  const counts: Record<Repair, number> = { reset: 0, ended: 0, recovered: 0, unbegun: 0 }
  const failed: string[] = []
  const pace = paced(1000 / PER_SECOND)
  const work = async (workflowId: string) => {
    await pace()
    counts[await repairOne(client, workflowId, build)] += 1
  }
  const repairAll = async (ids: readonly string[]) => {
    for (const { item } of await forEachInFlight(ids, work)) failed.push(item)
  }
  const detail = build === undefined ? {} : { build }
  await context.act({ action: 'workflow.repair', detail }, async () => {
    if (build === undefined) for await (const page of failingPages(sql)) await repairAll(page)
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
        }),
      }),
      AFTER,
    ].join('\n\n'),
    failed: failed.length > 0,
  }
}

const AFTER =
  'Workers now do what is left. In a minute, "workflow repair" lists what still fails: repeat it until it lists nothing.'

async function* failingPages(sql: StaffContext['sql']): AsyncGenerator<string[]> {
  for (let after = ''; ;) {
    const page = (await failingPage(sql, after, PAGE)).map(({ workflowId }) => workflowId)
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last
  }
}

/** A running workflow has the builds that worked on it as search attributes. */
function workedOn(build: string): string {
  return `ExecutionStatus = 'Running' AND BuildIds IN ('unversioned:${build}', 'versioned:${build}')`
}

/** All first: what is reset would change the pages. */
async function idsOf(client: StaffContext['client'], build: string): Promise<string[]> {
  const ids: string[] = []
  for await (const { workflowId } of listWorkflows(client, workedOn(build))) ids.push(workflowId)
  return ids
}

/** Which builds completed the last tasks of some of those that fail. */
async function buildsOf(
  client: StaffContext['client'],
  sample: readonly { workflowId: string }[],
): Promise<Set<string>> {
  const builds = new Set<string>()
  await forEachInFlight(sample, async ({ workflowId }) => {
    const { raw } = await client.workflow.getHandle(workflowId).describe()
    const build = raw.workflowExecutionInfo?.mostRecentWorkerVersionStamp?.buildId
    if (build) builds.add(build)
  })
  return builds
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
