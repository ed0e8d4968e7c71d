import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow'
import { type Journey, note } from './journey.ts'

/**
 * Runs `step` again and again, until its scope is cancelled because the run ends. An error that comes out of it is
 * noted and tried again after a minute: no coroutine ends, and none takes the workflow with it, because of one.
 */
export async function forever(journey: Journey, what: string, step: () => Promise<void>): Promise<void> {
  const scope = CancellationScope.current()
  while (!scope.consideredCancelled) {
    try {
      await step()
    } catch (error) {
      if (isCancellation(error)) continue
      note(journey, what, 'failed: it is tried again in a minute')
      await sleep('1 minute', { summary: `${what}: try again` }).catch(() => {})
    }
  }
}
