import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow'
import { type Journey, note } from './journey.ts'

/**
 * Repeats `step` until its scope is cancelled because the run ends. After an error it notes it and tries again in a
 * minute: an error ends neither the coroutine nor the workflow.
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
