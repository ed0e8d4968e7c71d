import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common'

/** What an argument becomes that cannot be decoded; handlers see it as an argument of the wrong shape. */
export const UNDECODABLE = { undecodable: true }

/**
 * The default converter, but total: an argument in an unknown encoding or of broken JSON becomes a marker.
 * An exception here would fail the workflow task before any handler runs, and again at every retry: one
 * signal sent as `json/protobuf` from the Temporal Web UI would stop a borrower's workflow forever.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as the interface has it
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload)
    } catch {
      return UNDECODABLE as T
    }
  },
}
