import type { CompiledWorkflowOptions, WorkflowClientInterceptor } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import type { Logger } from 'pino'
import { leadOf } from './names.ts'
import { attributeKeys } from './search-attributes.ts'

type Call = 'start' | 'signal_with_start' | 'update_with_start'

interface Started {
  workflowType: string
  options: Pick<CompiledWorkflowOptions, 'workflowId' | 'memo' | 'typedSearchAttributes'>
}

/** A line in the log for each workflow that the process asks Temporal to start, whatever asks for it. */
export function loggedStarts(log: Pick<Logger, 'info'>): WorkflowClientInterceptor {
  async function logged<Output>(
    call: Call,
    started: Started,
    work: Promise<Output>,
    runOf: (output: Output) => string,
  ): Promise<Output> {
    const began = performance.now()
    const tell = (outcome: 'running' | 'failed', runId?: string) =>
      log.info(fieldsOf(call, started, { outcome, runId, ms: performance.now() - began }), 'start')
    try {
      const output = await work
      tell('running', runOf(output))
      return output
    } catch (error) {
      tell('failed')
      throw error
    }
  }
  return {
    startWithDetails: async (input, next) => logged('start', input, next(input), ({ runId }) => runId),
    signalWithStart: async (input, next) => logged('signal_with_start', input, next(input), String),
    async startUpdateWithStart(input, next) {
      const { workflowType, workflowStartOptions: options } = input
      const runOf = (output: Awaited<ReturnType<typeof next>>) => output.workflowExecution.runId ?? ''
      return logged('update_with_start', { workflowType, options }, next(input), runOf)
    },
  }
}

function fieldsOf(
  call: Call,
  { workflowType, options: { workflowId, memo, typedSearchAttributes: attributes } }: Started,
  { outcome, runId, ms }: { outcome: 'running' | 'failed'; runId: string | undefined; ms: number },
) {
  const leadId = leadOf(workflowId)
  const partnerId = attributes instanceof TypedSearchAttributes && attributes.get(attributeKeys.PartnerId)
  return {
    ...(partnerId && { partner_id: partnerId }),
    ...(leadId !== undefined && { lead_id: leadId }),
    workflow_id: workflowId,
    ...(runId !== undefined && { run_id: runId }),
    workflow_type: workflowType,
    call,
    outcome,
    duration_ms: Math.round(ms * 10) / 10,
    ...(memo?.request_id !== undefined && { request_id: memo.request_id }),
  }
}
