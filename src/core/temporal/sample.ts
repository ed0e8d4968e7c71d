import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { createSampler, type OpenRun, TAKEN } from './decisions/history-sample.ts'
import { forEachInFlight } from './in-flight.ts'
import { listWorkflows } from './list-workflows.ts'
import type { History } from './reset-point.ts'

/** A history has up to four megabytes. */
const CALL_LIMIT_MS = 30_000
const OPEN = `ExecutionStatus = 'Running'`

export interface SampledType {
  open: number
  sampled: number
}

/**
 * Hands over the histories of some of the open workflows, at most 450 of each type: the oldest, the newest, some at
 * random, and the longest of a thousand. All open workflows are listed once, a thousand with each call.
 *
 * @returns how many were open, and were taken, of each type.
 */
export async function sampleHistories(
  client: Client,
  take: (run: OpenRun, history: History) => void,
): Promise<Record<string, SampledType>> {
  const sampler = createSampler()
  for await (const { workflowId, runId, type, startTime } of listWorkflows(client, OPEN))
    sampler.show({ workflowId, runId, type, startedAt: startTime })
  const types: Record<string, SampledType> = {}
  for (const { type, open, taken, others } of sampler.chosen()) {
    const sampled = { open, sampled: 0 }
    await forEachLeft([...taken, ...(await longestOf(client, others))], async (run) => {
      take(run, await within(client, () => handleOf(client, run).fetchHistory()))
      sampled.sampled += 1
    })
    types[type] = sampled
  }
  return types
}

async function longestOf(client: Client, runs: readonly OpenRun[]): Promise<OpenRun[]> {
  const lengths = new Map<OpenRun, number>()
  await forEachLeft(runs, async (run) => {
    lengths.set(run, (await within(client, () => handleOf(client, run).describe())).historyLength)
  })
  return [...lengths]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, TAKEN.longest)
    .map(([run]) => run)
}

const handleOf = (client: Client, { workflowId, runId }: OpenRun) =>
  client.workflow.getHandle(workflowId, runId)

const within = <Answer>(client: Client, ask: () => Promise<Answer>) =>
  client.withDeadline(Date.now() + CALL_LIMIT_MS, ask)

/** What was removed since it was listed is left out. */
async function forEachLeft(runs: readonly OpenRun[], work: (run: OpenRun) => Promise<void>): Promise<void> {
  const failed = await forEachInFlight(runs, work)
  const fault = failed.find(({ error }) => !(error instanceof WorkflowNotFoundError))
  if (fault !== undefined) throw fault.error
}
