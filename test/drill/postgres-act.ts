import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import { checkAnnounced } from './announced.ts'
import { baseBackup, plainCopy, putBack, recovering } from './backup.ts'
import type { Loss } from './loss.ts'
import type { Disaster, Ground } from './rehearse.ts'

const RESTORE_POINT = 'before_the_mistake'

/** PostgreSQL is destroyed with its disk, and comes back with less than Temporal knows. */
export function postgresDisasters({ stack }: Ground): Disaster[] {
  const { postgres, service, running } = stack
  let backup = ''
  let copy = ''
  const strike = () => postgres.kill()
  let restores = 0
  const verify = (lost: Loss, notes: string[]) => checkAnnounced(stack, lost, (restores += 1), notes)
  const later = { mayLose: { leads: true, milestones: false }, verify }
  return [
    {
      ...later,
      name: 'PostgreSQL lost, recovered to the end of its archive',
      leadUp: async () => {
        await delay(2500)
        backup = await baseBackup(postgres)
        await delay(5000)
      },
      strike,
      recover: async () => {
        putBack(postgres, backup)
        await postgres.start(recovering())
      },
    },
    {
      ...later,
      name: 'PostgreSQL lost, recovered to a moment before',
      leadUp: async () => {
        await delay(1500)
        await raw`select pg_create_restore_point(${RESTORE_POINT})`.execute(service.sql)
        await delay(7000)
        // whatever comes after the moment is in the archive, and is not asked for
        await raw`select pg_switch_wal()`.execute(service.sql)
        await delay(1000)
      },
      strike,
      recover: async () => {
        putBack(postgres, backup)
        await postgres.start(recovering(RESTORE_POINT))
      },
    },
    {
      ...later,
      name: 'PostgreSQL put back from a copy of its disk',
      leadUp: async () => {
        await delay(1500)
        copy = plainCopy(postgres)
        await delay(5000)
      },
      strike: async () => {
        await Promise.all([strike(), running.api.kill(), running.worker.kill()])
      },
      recover: async () => {
        putBack(postgres, copy)
        await postgres.start()
        await stack.staff('record', 'restored')
        const [api, worker] = await Promise.all([service.startApi(), service.startWorker()])
        Object.assign(running, { api, worker })
      },
    },
  ]
}
