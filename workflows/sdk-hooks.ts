import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common'
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow'
import { FIRST_EVENT } from '../src/leads/referral-state.ts'

/**
 * The default converter, but total: an argument in an unknown encoding or of broken JSON becomes a word, which handlers
 * see as an argument of the wrong shape. An exception here would fail the workflow task before any handler runs, and again
 * at every retry: one signal sent as `json/protobuf` from the Web UI would stop a borrower's workflow forever.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as the interface has it
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload)
    } catch {
      return 'undecodable' as T
    }
  },
}

/** Prefix of the signal names that the SDK keeps for itself. */
const RESERVED = '__temporal_'

export const interceptors: WorkflowInterceptorsFactory = () => {
  let firstEventId: unknown
  return {
    inbound: [
      {
        async execute(input, next) {
          const [state] = input.args as [{ firstEventId?: unknown } | null | undefined]
          firstEventId = state?.firstEventId
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
          for (const { signalWorkflow } of input.activation.jobs ?? []) {
            if (signalWorkflow?.signalName?.startsWith(RESERVED))
              signalWorkflow.signalName = `reserved${signalWorkflow.signalName}`
            else if (signalWorkflow && !signalWorkflow.signalName) signalWorkflow.signalName = 'unnamed'
          }
          next(input)
        },
      },
    ],
  }
}
