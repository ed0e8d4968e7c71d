import type { StaffContext } from '../staff/context.ts'
import { failureOf } from '../staff/refusal.ts'
import { isPolling } from './away.ts'

/** Why no workflow goes on, and what to do. */
interface Standstill {
  what: string
  mend: string
}

/** Without Temporal or a worker, no workflow goes on; `undefined` if both are there. */
export async function standstill(
  context: Pick<StaffContext, 'client' | 'requireOwnNamespace' | 'temporal'>,
): Promise<Standstill | undefined> {
  const { client, requireOwnNamespace, temporal } = context
  try {
    await requireOwnNamespace()
    if (await isPolling(client)) return undefined
    return {
      what: 'No worker asks Temporal for work: milestones are accepted, and nothing is recorded or sent.',
      mend: 'start a worker; its last line in the log says why it ended',
    }
  } catch (error) {
    const { message, reason } = failureOf(error, temporal.address)
    return {
      what:
        reason === 'temporal_away'
          ? `Temporal does not answer at ${temporal.address}: no workflow goes on.`
          : message,
      mend: 'start Temporal, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE; nothing is lost meanwhile',
    }
  }
}
