import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { spawn } from 'node:child_process'
import path from 'node:path'
import type { Launched } from '../../../src/embedded/launch.ts'
import { postgresFolder } from '../../../src/embedded/data-directory.ts'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import { startBarePostgres, startBareTemporal } from '../servers.ts'

const ROUNDS = 2

/** `npm start` with nothing there yet, to the line that says it is ready, against its two servers alone. */
export async function starting({ servers }: Bench): Promise<Row[]> {
  const floor: number[] = []
  const service: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const folder = path.join(servers.folder, `start-${round}`)
    mkdirSync(folder, { mode: 0o711 })
    floor.push(await timed(() => startServersAlone(folder)))
    service.push(await timed(() => startAll(folder)))
  }
  return [{ work: 'npm start to ready', unit: 's', floor, service, aim: { to: 5 } }]
}

/** Starts, stops, and answers how many seconds the start took. */
async function timed(start: () => Promise<() => Promise<unknown>>): Promise<number> {
  const began = performance.now()
  const stop = await start()
  const seconds = (performance.now() - began) / 1000
  await stop()
  return seconds
}

async function startServersAlone(folder: string) {
  const launched: Launched[] = []
  const onSpawn = (server: Launched) => launched.push(server)
  await Promise.all([
    startBarePostgres(path.join(folder, 'postgres'), onSpawn),
    startBareTemporal(folder, process.env, onSpawn),
  ])
  return () => Promise.all(launched.map((server) => server.stop()))
}

async function startAll(folder: string) {
  const entry = path.join(import.meta.dirname, '../../../src/start.ts')
  const env = { ...process.env, DATABASE_URL: '', TEMPORAL_ADDRESS: '' }
  const child = spawn(process.execPath, [entry, '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
    rmSync(postgresFolder(path.join(folder, '.data')), { recursive: true, force: true })
  }
}
