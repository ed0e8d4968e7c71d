import { defaultPayloadConverter } from '@temporalio/common'
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow'
import { FIRST_EVENT } from '../src/leads/referral-state.ts'
import { isRecord } from './arguments.ts'

interface Job {
  signalWorkflow?: { signalName?: string | null } | null
}

const RESERVED = '__temporal_'

export const interceptors: WorkflowInterceptorsFactory = () => {
  let firstEventId: unknown
  return {
    inbound: [
      {
        async execute(input, next) {
          const [state] = input.args
          if (isRecord(state)) ({ firstEventId } = state)
          return next(input)
        },
      },
    ],
    outbound: [
      {
        /** Tells each activity of a lead's workflow which lead it is for. */
        async scheduleActivity(input, next) {
          if (firstEventId === undefined) return next(input)
          const header = defaultPayloadConverter.toPayload(firstEventId)
          return next({ ...input, headers: { ...input.headers, [FIRST_EVENT]: header } })
        },
      },
    ],
    internals: [
      {
        /**
         * Gives signals whose names the SDK keeps for itself another name. The server accepts them, and the SDK, once
         * a default handler is set, throws on them outside every handler: the workflow would be stuck forever.
         */
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
  }
}
