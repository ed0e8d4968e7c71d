import { heartbeat } from '@temporalio/activity'

const INTERVAL_MS = 10_000

/** Does what may take long, with heartbeats: if the process dies, another one begins it again soon. */
export async function whileBeating<Result>(work: () => Promise<Result>): Promise<Result> {
  const beating = setInterval(heartbeat, INTERVAL_MS)
  try {
    return await work()
  } finally {
    clearInterval(beating)
  }
}
