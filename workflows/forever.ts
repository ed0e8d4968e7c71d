import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow'
import { type Journey, note } from './journey.ts'
import { publish } from './publish.ts'
import { heedRefusal } from './read-record.ts'

/** What a lead's workflow does again and again, beside everything else. */
export interface Coroutine {
  what: string
  when: (journey: Journey) => boolean
  step: (journey: Journey) => Promise<void>
}

/**
 * Repeats a step, whenever it is time for it, until its scope is cancelled because the run ends, and shows operators what
 * each changed. After an error it notes it and tries again in a minute: an error ends neither the coroutine nor the workflow.
 */
export async function forever(journey: Journey, { what, when, step }: Coroutine): Promise<void> {
  const scope = CancellationScope.current()
  while (!scope.consideredCancelled) {
    try {
      await condition(() => when(journey))
      await step(journey)
      // a command after the run's last one would be refused
      if (!scope.consideredCancelled) publish(journey)
    } catch (error) {
      if (isCancellation(error) || heedRefusal(journey, error)) continue
      note(journey, what, 'failed: it is tried again in a minute')
      publish(journey)
      await sleep('1 minute', { summary: `${what}: try again` }).catch(() => {})
    }
  }
}
