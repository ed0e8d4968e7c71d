import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Launched } from '../../src/embedded/launch.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { migrate } from '../../src/database/schema.ts'
import { connect } from '../../src/database/orm.ts'
import { anyPort } from './any-port.ts'
import { atEnd } from './at-end.ts'

/**
 * A PostgreSQL of the test file's own, which it may kill and start again, with its data or with others.
 *
 * @param settings server settings, as `name=value`.
 */
export async function ownPostgres(settings: string[] = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'referrals-postgres-'))
  chmodSync(folder, 0o711)
  const password = randomBytes(16).toString('hex')
  const port = await anyPort()
  let running: Launched | undefined
  const start = async () => {
    const started = await startPostgres({
      folder: path.join(folder, 'postgres'),
      port,
      password,
      logFile: path.join(folder, 'postgres.log'),
      settings,
    })
    running = started
    return started.url
  }
  const kill = async () => {
    if (running) process.kill(running.pid, 'SIGKILL')
    await running?.ended
  }
  const data = path.join(folder, 'postgres', 'data')
  /** The next start makes a new cluster. Only after `kill`. */
  const dropFiles = () => rmSync(data, { recursive: true, force: true })
  atEnd(async () => {
    running?.kill()
    await running?.ended
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const url = await start()
  const orm = await connect(url)
  await migrate(orm)
  await orm.close()
  return { url, start, kill, dropFiles, pid: () => running?.pid }
}
