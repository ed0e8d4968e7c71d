import { setTimeout as delay } from 'node:timers/promises'
import { fields } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { buildFault } from '../decisions/build-fault.ts'
import { countWorkflows } from '../list-workflows.ts'
import { measuredBuild, PrometheusSilent } from '../measured-build.ts'
import { failingOn } from '../statements/failing-workflows.ts'
import { workedOn } from './workflow-repair.ts'

const LOOK_MS = 2000
/** A task may fail once while its worker is too busy, and not again. */
const PERSISTS_MS = 15_000
/** For so long, Prometheus or PostgreSQL may not answer: that says nothing of the build. */
const SILENT_MS = 60_000

export interface WatchOptions {
  seconds: number
  /** How many workflows the build must have worked on. */
  atLeast: number
  prometheus?: string
  /** Between two looks, and how long it goes on without answers. */
  lookMs?: number
  silentMs?: number
}

/** Looks at what a build does, for a while: ends as soon as something says that it must be taken back. */
export async function watchBuild(context: StaffContext, build: string, options: WatchOptions) {
  const { client, sql, requireOwnNamespace } = context
  const { seconds, atLeast, prometheus, lookMs = LOOK_MS, silentMs = SILENT_MS } = options
  await requireOwnNamespace()
  const measure = async () => (prometheus === undefined ? undefined : measuredBuild(prometheus, build))
  const look = async () => {
    const failing = await failingOn(sql, build)
    const persists = failing !== undefined && Date.now() - failing.since.getTime() >= PERSISTS_MS
    const measured = await measure().catch(refusalOf)
    return { measured, failing, fault: buildFault({ failing: persists ? failing : undefined, measured }) }
  }
  const until = Date.now() + seconds * 1000
  // a wrong --prometheus is refused at once
  let seen = await look()
  let seenAt = Date.now()
  let isSilent = false
  // what has just begun to fail is looked at again
  while (seen.fault === undefined && (Date.now() < until || seen.failing !== undefined || isSilent)) {
    await delay(lookMs)
    try {
      seen = await look()
      seenAt = Date.now()
      isSilent = false
    } catch (error) {
      if (Date.now() - seenAt >= silentMs) throw error
      isSilent = true
    }
  }
  const { measured } = seen
  const workflows = await countWorkflows(client, workedOn(build))
  const idle =
    workflows < atLeast
      ? `it has worked on ${workflows} workflows, and ${atLeast} are needed to judge it`
      : undefined
  const fault = seen.fault ?? idle
  return {
    json: {
      build,
      is_good: fault === undefined,
      fault: fault ?? null,
      workflows,
      measured: measured ?? null,
    },
    text: [
      fault === undefined ? `Build ${build} shows no fault.` : `Take build ${build} back: ${fault}.`,
      fields({
        'running workflows on which it has worked': workflows,
        ...(measured && {
          'its attempts, accepted': `${measured.attempts.made}, ${measured.attempts.delivered}`,
          'those of other builds in 10 minutes': `${Math.round(measured.attemptsOfOthers.made)}, ${Math.round(measured.attemptsOfOthers.delivered)}`,
        }),
      }),
      prometheus === undefined && 'Without --prometheus, failing activities and attempts are not looked at.',
    ]
      .filter(Boolean)
      .join('\n\n'),
    failed: fault !== undefined,
  }
}

function refusalOf(error: unknown): never {
  throw error instanceof PrometheusSilent ? new Refusal(`${error.message}: correct --prometheus.`) : error
}
