import type { WorkflowInterceptorsFactory } from '@temporalio/workflow'

interface Job {
  signalWorkflow?: { signalName?: string | null } | null
}

const RESERVED = '__temporal_'

/**
 * Gives signals whose names the SDK keeps for itself another name. The server accepts them, and the SDK, once
 * a default handler is set, throws on them outside every handler: the workflow would be stuck forever.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  internals: [
    {
      activate(input, next) {
        for (const { signalWorkflow } of (input.activation.jobs ?? []) as Job[]) {
          if (signalWorkflow?.signalName?.startsWith(RESERVED)) {
            signalWorkflow.signalName = `reserved${signalWorkflow.signalName}`
          } else if (signalWorkflow && !signalWorkflow.signalName) signalWorkflow.signalName = 'unnamed'
        }
        next(input)
      },
    },
  ],
})
