import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../support/until.ts'
import { type Broken, brokenBy } from './check.ts'
import type { Stack } from './stack.ts'

const PAUSE_MS = 2000
const PATIENCE_MS = 150_000
/** A task that only its worker's queue knew is tried by others after ten seconds, and fails twice before it is listed. */
const QUIET_MS = 30_000

/**
 * Repairs the workflows on which a build has worked, and what is listed, again until nothing is listed for a while: some
 * fail at their next task only, and lists lag behind.
 */
export async function repairUntilQuiet({ staff }: Stack, badBuild: string | undefined): Promise<void> {
  const resets: number[] = []
  const reset = async (...args: string[]) =>
    void resets.push(Number((await staff('workflow', 'repair', '--yes', ...args)).reset))
  let quietSince = Date.now()
  for (const end = Date.now() + PATIENCE_MS; Date.now() - quietSince < QUIET_MS;) {
    if (Date.now() > end) throw new Error('workflows still fail')
    if (badBuild !== undefined) await reset('--build', badBuild)
    if ((await staff('workflow', 'repair')).to_reset !== 0) await reset()
    if (resets.splice(0).some((count) => count > 0)) quietSince = Date.now()
    await delay(PAUSE_MS)
  }
}

/** What is broken if workflows fail that should have been repaired. */
export async function stillFailing({ staff }: Stack): Promise<Broken[]> {
  const isRepaired = await until(async () => (await staff('workflow', 'repair')).to_reset === 0).catch(
    () => false,
  )
  return brokenBy('no workflow’s task fails once they are repaired', isRepaired ? [] : ['some do'])
}
