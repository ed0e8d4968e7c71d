import { badBuild } from '../../support/bad-build.ts'
import { runToEnd } from '../../support/processes.ts'
import type { TestPartner } from '../../support/service.ts'
import type { Deployment } from '../deployment.ts'
import { resume } from '../endpoint-changes.ts'
import type { Target } from '../fault-plan.ts'
import type { PartnerApi } from '../partner-api.ts'
import { product } from '../sabotage.ts'
import { startAgain } from '../victims.ts'
import type { Fault } from './promises.ts'
import type { moveToSmallDisk } from './small-disk.ts'

export interface Act {
  strike: () => Promise<unknown>
  /** Ends the fault, as Operations says. */
  mend: () => Promise<unknown>
  /** Again and again until nothing fires. */
  repair?: () => Promise<void>
}

interface Scene {
  deployment: Deployment
  api: PartnerApi
  /** Whose endpoint fails. */
  partner: TestPartner
  disk: Awaited<ReturnType<typeof moveToSmallDisk>>
}

const workers = ['worker 1', 'worker 2'] as const
const processes = ['api 1', 'api 2', ...workers] as const

/** What is done for each fault. */
export function actsOf({ deployment, api, partner, disk }: Scene): Partial<Record<Fault, Act>> {
  const { victims, build, staffEnvironment } = deployment
  const kill = (names: readonly Target[]) => Promise.all(names.map((name) => victims[name].kill()))
  const start = (names: readonly Target[]) => Promise.all(names.map((name) => startAgain(victims[name])))
  const killed = (...names: Target[]): Act => ({ strike: () => kill(names), mend: () => start(names) })
  const rollOut = async (folder: string) => {
    build.folder = folder
    for (const name of processes) {
      await kill([name])
      await start([name])
    }
  }
  const answer = (status: number) => {
    partner.endpoint.answer = (_, response) => void response.writeHead(status).end()
  }
  const nothing = { strike: async () => {}, mend: async () => {} }
  return {
    'a quiet hour': nothing,
    'one of two API processes killed': killed('api 2'),
    'one of two workers killed': killed('worker 2'),
    'all workers killed': killed(...workers),
    'Temporal killed': killed('temporal'),
    'PostgreSQL killed': killed('postgres'),
    ...(disk && {
      'no room for PostgreSQL’s tables': {
        strike: async () => disk.fill(),
        mend: async () => disk.makeRoom(),
      },
    }),
    'an endpoint answers 503': {
      strike: async () => answer(503),
      mend: async () => {
        answer(200)
        await resume(partner, api)
      },
    },
    'a bad version rolled out': {
      strike: () => rollOut(badBuild()),
      mend: () => rollOut(product),
      repair: async () =>
        void (await runToEnd('src/staff.ts', staffEnvironment, [
          'workflow',
          'repair',
          '--yes',
          '--json',
          '--as',
          'chaos',
        ])),
    },
  }
}
