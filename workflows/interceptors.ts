import type { WorkflowInterceptorsFactory } from '@temporalio/workflow'

interface Job {
  signalWorkflow?: { signalName?: string | null } | null
}

const isReserved = ({ signalWorkflow }: Job) => signalWorkflow?.signalName?.startsWith('__temporal_') === true

/**
 * Drops signals whose names the SDK keeps for itself. The server accepts them, and the SDK, once a default
 * handler is set, throws on them outside every handler: the workflow would be stuck for ever.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  internals: [
    {
      activate(input, next) {
        input.activation.jobs = input.activation.jobs?.filter((job) => !isReserved(job))
        next(input)
      },
    },
  ],
})
