import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import { addCrowd } from './crowd.ts'
import { residentMiB } from './memory.ts'
import { startSides } from './milestone-sides.ts'

const LEADS = Number(process.env.RESTART_LEADS ?? 2000)
/** The default. */
const CACHED = 500
const EBB_MS = 2000

/**
 * A worker is restarted while thousands of workflows are open, and each has got a milestone meanwhile. It has none of them in
 * memory: how long until it is level, and what they take there if it keeps all of them.
 */
export async function restart({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  const crowd = await addCrowd(sides, LEADS)
  await crowd.begin({ onboarding_sent_at: new Date() })

  async function restarted(cached: number) {
    await sides.stopWorker()
    const level = crowd.nextWebhook()
    await crowd.forEachLead((leadId) => sides.send(leadId))
    const worker = await sides.startWorker({ WORKER_CACHED_WORKFLOWS: String(cached) })
    const began = performance.now()
    await level
    const seconds = (performance.now() - began) / 1000
    await delay(EBB_MS)
    return { perThousand: (seconds * 1000) / LEADS, mib: residentMiB(worker.pid) }
  }
  const some = await restarted(CACHED)
  const all = await restarted(LEADS)
  await sides.close()
  const waiting = `${LEADS} leads with a milestone each`
  return [
    {
      work: 'a restarted worker is level, for each thousand milestones that wait',
      unit: 's',
      floor: [some.perThousand],
      service: [all.perThousand],
      note: `${waiting}; floor: it keeps ${CACHED} workflows in memory; service: all`,
    },
    {
      work: 'memory of a worker, for each thousand workflows that it keeps',
      unit: 'MiB',
      floor: [],
      service: [((all.mib - some.mib) * 1000) / (LEADS - CACHED)],
      note: `${Math.round(some.mib)} MiB with ${CACHED}, ${Math.round(all.mib)} MiB with ${LEADS}`,
    },
  ]
}
