import { TASK_QUEUE } from '../../src/temporal/names.ts'
import type { Service } from './service.ts'
import { until } from './until.ts'

/** Compares all leads and endpoints with what runs in Temporal, now. */
export const compareNow = ({ client }: Service) =>
  client.workflow.execute('comparison', { workflowId: 'comparison-now', taskQueue: TASK_QUEUE })

/** Resolves once the comparison has ended that a worker's start begins: the next one is minutes later. */
export const hasCompared = ({ client }: Service) =>
  until(async () => {
    const ended = `WorkflowType = 'comparison' AND ExecutionStatus = 'Completed'`
    return (await client.workflow.count(ended)).count > 0
  })
