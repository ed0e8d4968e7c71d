import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow'

const { noop } = proxyActivities<{ noop: (lead: number) => Promise<void> }>({
  startToCloseTimeout: '10 seconds',
})

/** The floor of a lead's workflow: one activity that does nothing at its start, and one for each signal. */
export async function bare(lead: number): Promise<void> {
  let waiting = 1
  setHandler(defineSignal('go'), () => void (waiting += 1))
  for (;;) {
    await condition(() => waiting > 0)
    waiting -= 1
    await noop(lead)
  }
}
