import type { Client } from '@temporalio/client'
import type { SignalDefinition } from '@temporalio/common'
import { TASK_QUEUE } from './names.ts'

/** The limit of a call while Temporal is down: the sweep starts what was skipped. */
const CALL_LIMIT_MS = 3000

interface Wanted {
  workflowId: string
  /** The id of what it is for. */
  args: [number]
  summary: string
  /** Tells a running one to check the record now. */
  signal?: SignalDefinition
}

/** Workflows that do what the record says, by the id of what it is for. */
type Type = 'endpoint'
type Workflow = (id: number) => Promise<unknown>

/** Starts one, unless it is running. */
export async function ensureRunning(
  client: Client,
  type: Type,
  { workflowId, args, summary, signal }: Wanted,
): Promise<void> {
  const options = {
    workflowId,
    taskQueue: TASK_QUEUE,
    args,
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: summary,
  }
  await client.withDeadline(Date.now() + CALL_LIMIT_MS, async () => {
    if (signal === undefined) await client.workflow.start<Workflow>(type, options)
    else await client.workflow.signalWithStart<Workflow>(type, { ...options, signal })
  })
}
