import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import path from 'node:path'
import { postgresFolder } from '../../src/embedded/data-directory.ts'
import { temporaryFolder } from '../support/folder.ts'
import { preload } from '../support/processes.ts'
import type { Row } from './table.ts'

const ROUNDS = 3

/** `npm start` with nothing there yet, to the line that says it is ready. */
export async function starting(): Promise<Row[]> {
  const service: number[] = []
  for (let round = 0; round < ROUNDS; round++) service.push(await secondsToReady())
  return [{ work: 'npm start to ready', unit: 's', service, aim: { to: 5 } }]
}

async function secondsToReady(): Promise<number> {
  const folder = temporaryFolder()
  // the user that PostgreSQL runs as goes through it
  chmodSync(folder, 0o711)
  const entry = path.join(import.meta.dirname, '../../src/start.ts')
  const began = performance.now()
  const child = spawn(process.execPath, [...preload, entry, '--json'], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: '', TEMPORAL_ADDRESS: '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const seconds = (performance.now() - began) / 1000
  child.kill('SIGTERM')
  await once(child, 'exit')
  rmSync(postgresFolder(path.join(folder, '.data')), { recursive: true, force: true })
  return seconds
}
