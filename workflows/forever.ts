import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow'
import { type Journey, note } from './journey.ts'
import { show } from './show.ts'

/**
 * Repeats `step` until its scope is cancelled because the run ends, and shows operators what each changed. After an error
 * it notes it and tries again in a minute: an error ends neither the coroutine nor the workflow.
 */
export async function forever(journey: Journey, what: string, step: () => Promise<void>): Promise<void> {
  const scope = CancellationScope.current()
  while (!scope.consideredCancelled) {
    try {
      await step()
      // a command after the run's last one would be refused
      if (!scope.consideredCancelled) show(journey)
    } catch (error) {
      if (isCancellation(error)) continue
      note(journey, what, 'failed: it is tried again in a minute')
      show(journey)
      await sleep('1 minute', { summary: `${what}: try again` }).catch(() => {})
    }
  }
}
