import path from 'node:path'
import { startService } from '../../src/embedded/sandbox.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { prepareService } from '../support/service.ts'
import { makeTemplate } from '../support/template-database.ts'
import { cpuSeconds } from './cpu.ts'

export type BenchProcess = Awaited<ReturnType<Servers['start']>>
export type Servers = Awaited<ReturnType<typeof startServers>>

/** PostgreSQL as safe as a deployment's, and Temporal as `npm start` runs it. */
export async function startServers() {
  const [postgres, temporal] = await Promise.all([ownPostgres(), ownTemporal()])
  process.env.TEST_DATABASE_URL = postgres.url
  process.env.TEST_TEMPLATE_DATABASE = await makeTemplate(postgres.url)
  process.env.TEST_TEMPORAL_ADDRESS = temporal.address
  const folder = temporaryFolder()
  return {
    /** A program of the service, or the file of another. */
    async start(entry: string, variables: Record<string, string> = {}) {
      const name = path.basename(entry, '.ts')
      const { PATH, HOME } = process.env
      const launched = await startService({
        name,
        entry,
        env: { PATH, HOME, ...variables },
        logFile: path.join(folder, `${name}.log`),
        onSpawn: ({ kill, ended }) =>
          atEnd(async () => {
            kill()
            await ended
          }),
      })
      return { ...launched, port: launched.port ?? 0 }
    },
    /** Processor time of a process of ours and of PostgreSQL so far, in seconds. */
    cpuSeconds: ({ pid }: { pid: number }) => cpuSeconds([pid, postgres.pid() ?? 0]),
    /** The same with Temporal. */
    cpuSecondsWithTemporal: ({ pid }: { pid: number }) =>
      cpuSeconds([pid, postgres.pid() ?? 0, temporal.pid() ?? 0]),
  }
}

/** A database and a namespace of one's own, with a partner whose endpoint answers at once. */
export async function deploy({ start }: Pick<Servers, 'start'>) {
  // as npm start has it
  const service = await prepareService({ WORKER_WORKFLOW_TASKS: '6' })
  const { environment } = service
  return {
    ...service,
    partner: await service.addPartner(),
    startApi: (settings = {}) => start('server.ts', { ...environment, ...settings }),
    startWorker: () => start('worker.ts', environment),
    startFloor: (what: 'api' | 'worker') =>
      start(path.join(import.meta.dirname, `floor-${what}.ts`), environment),
  }
}

export type Deployment = Awaited<ReturnType<typeof deploy>>
