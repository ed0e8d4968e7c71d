import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { Launched } from '../../src/embedded/launch.ts'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { startTemporal } from '../../src/embedded/temporal.ts'
import { anyPort } from './any-port.ts'
import { atEnd } from './at-end.ts'
import { temporaryFolder } from './folder.ts'

/**
 * A Temporal server of the test file's own, which it may kill and start again.
 *
 * @param settings dynamic configuration, as `key=value`.
 */
export async function ownTemporal(settings: string[] = []) {
  const folder = temporaryFolder()
  const environment = process.env
  const program = await findTemporal(environment)
  const port = await anyPort()
  let running: Launched | undefined
  const start = async () => {
    const databaseFile = path.join(folder, 'temporal.db')
    const logFile = path.join(folder, 'temporal.log')
    running = await startTemporal({ program, port, databaseFile, settings, logFile, environment })
  }
  const kill = async () => {
    running?.kill()
    await running?.ended
  }
  atEnd(kill)
  /** All that it has written: its database, what is not merged into that yet, and its log. */
  const dataFiles = () => readdirSync(folder).map((name) => path.join(folder, name))
  await start()
  const address = `127.0.0.1:${port}`
  return { address, start, kill, dataFiles, pid: () => running?.pid }
}
