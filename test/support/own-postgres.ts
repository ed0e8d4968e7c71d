import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Launched } from '../../src/embedded/launch.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { migrate } from '../../src/core/database/schema/migrating.ts'
import { connect } from '../../src/core/database/orm.ts'
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
  const copyFiles = (from: string, to: string) => {
    rmSync(to, { recursive: true, force: true })
    // with their owner, who is not us where we are root
    execFileSync('cp', ['-a', from, to])
  }
  /** Copies its files, as a snapshot of its disk would. Only after `kill`, or while it is frozen. */
  const keepFiles = () => copyFiles(data, `${data}.kept`)
  /** Puts the copy in the place of its files. Only after `kill`. */
  const putFilesBack = () => copyFiles(`${data}.kept`, data)
  atEnd(async () => {
    running?.kill()
    await running?.ended
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const url = await start()
  const orm = await connect(url)
  await migrate(orm)
  await orm.close()
  return { url, start, kill, keepFiles, putFilesBack, pid: () => running?.pid }
}
