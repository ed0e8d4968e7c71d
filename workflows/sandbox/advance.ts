import { setCurrentDetails, setDefaultSignalHandler } from '@temporalio/workflow'
import {
  type Advance,
  type ClockStart,
  describeAdvance,
  toMinute,
} from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import { advanceClock, findRetry } from './activities.ts'

/**
 * Moves a lead's clock forward, in a sandbox: id `advance-<lead_id>`. Everything due on the way happens at its own date.
 * PostgreSQL has the progress.
 *
 * @param target in milliseconds of the lead's time. `next_retry`: its date is known once nothing is due.
 */
export async function advance(
  leadId: number,
  target: number | 'next_retry',
  since: ClockStart,
): Promise<Advance> {
  setDefaultSignalHandler(() => {})
  if (target !== 'next_retry') return moveTo(leadId, target, since)
  setCurrentDetails(`The clock of **lead ${leadId}** moves to its next retry, once that is known.`)
  const retry = await findRetry(leadId)
  return retry === null ? { happened: [] } : moveTo(leadId, retry.target, retry.since)
}

async function moveTo(leadId: number, target: number, since: ClockStart): Promise<Advance> {
  setCurrentDetails(
    `The clock of **lead ${leadId}** moves to ${toMinute(target)} UTC. Terminated, it stays where it is by then: nothing is lost.`,
  )
  const summary = describeAdvance(leadId, target)
  return advanceClock.executeWithOptions({ summary }, [leadId, target, since])
}
