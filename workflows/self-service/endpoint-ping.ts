import { setDefaultSignalHandler } from '@temporalio/workflow'
import { pingEndpoint } from './activities.ts'

/** Sends the test request that a partner asked for: id `endpoint-ping-<ping_id>`. */
export async function endpointPing(pingId: number): Promise<string> {
  setDefaultSignalHandler(() => {})
  const outcome = await pingEndpoint(pingId)
  if (outcome === null) return 'made before'
  return outcome.ok ? 'accepted' : `not accepted: ${outcome.error_code ?? outcome.status}`
}
