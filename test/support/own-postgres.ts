import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Launched } from '../../src/embedded/launch.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { migrate } from '../../src/database/schema.ts'
import { connect } from '../../src/database/orm.ts'
import { anyPort } from './any-port.ts'
import { atEnd } from './at-end.ts'
import { temporaryFolder } from './folder.ts'

/**
 * A PostgreSQL of the test file's own, which it may kill and start again, with its data or with others.
 *
 * @param settings server settings, as `name=value`.
 */
export async function ownPostgres(settings: string[] = []) {
  const folder = temporaryFolder()
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
  const copy = `${data}-copy`
  /** Ends it with all its processes, so that nobody writes to its files; starts it with what `change` makes of them. */
  const startWith = async (change: () => unknown) => {
    running?.kill()
    await running?.ended
    change()
    await start()
  }
  const copyFiles = () => startWith(() => execFileSync('cp', ['-a', data, copy]))
  /** It is again as it was when its files were copied. */
  const restoreFiles = () =>
    startWith(() => {
      rmSync(data, { recursive: true, force: true })
      renameSync(copy, data)
    })
  atEnd(async () => {
    running?.kill()
    await running?.ended
  })
  const url = await start()
  const orm = await connect(url)
  await migrate(orm)
  await orm.close()
  return { url, start, kill, copyFiles, restoreFiles, pid: () => running?.pid }
}
