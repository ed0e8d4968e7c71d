import { setDefaultSignalHandler } from '@temporalio/workflow'
import { pingEndpoint } from './activities.ts'

/** Sends the test request that a partner asked for: id `endpoint-ping-<endpoint_id>`. `null` if there is no URL. */
export async function endpointPing(endpointId: number) {
  setDefaultSignalHandler(() => {})
  return pingEndpoint(endpointId)
}
