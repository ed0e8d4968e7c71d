import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import { addCrowd } from './crowd.ts'
import { residentMiB } from './memory.ts'
import { startSides } from './milestone-sides.ts'

const LEADS = Number(process.env.RESTART_LEADS ?? 2000)
const EBB_MS = 2000

/**
 * A worker is restarted while thousands of workflows are open, and each has got a milestone meanwhile. It has none of them in
 * memory: how long until it is level.
 */
export async function restart({ servers }: Bench): Promise<Row[]> {
  const sides = await startSides(servers)
  const crowd = await addCrowd(sides, LEADS)
  await crowd.begin({ onboarding_sent_at: new Date() })
  await sides.stopWorker()
  const level = crowd.nextWebhook()
  await crowd.forEachLead((leadId) => sides.send(leadId))
  const worker = await sides.startWorker()
  const began = performance.now()
  await level
  const seconds = (performance.now() - began) / 1000
  await delay(EBB_MS)
  const mib = Math.round(residentMiB(worker.pid))
  await sides.close()
  return [
    {
      work: 'a restarted worker is level, for each thousand milestones that wait',
      unit: 's',
      floor: [],
      service: [(seconds * 1000) / LEADS],
      note: `${LEADS} leads with a milestone each; ${mib} MiB afterwards`,
    },
  ]
}
