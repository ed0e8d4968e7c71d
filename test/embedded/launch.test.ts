import { truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { freePort, launch } from '../../src/embedded/launch.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'

test('says why a server ended although its log was emptied meanwhile', async () => {
  const logFile = path.join(temporaryFolder(), 'server.log')
  writeFileSync(logFile, 'of an earlier start\n'.repeat(10))
  const script = `process.once('SIGINT', () => { console.log('Error: late'); process.exit() })
    setInterval(() => {}, 1000)
    console.log('ready')`
  const server = await launch({
    name: 'server',
    command: process.execPath,
    args: ['-e', script],
    logFile,
    readyLine: /^ready$/m,
  })
  atEnd(async () => void server.process.kill('SIGKILL'))
  truncateSync(logFile)
  await server.stop()
  expect(await server.ended).toBe(`Error: late (${logFile})`)
})

test('names the port that PORT=0 leads to, because the URL of sinks has it', async () => {
  expect(await freePort(0)).toBeGreaterThan(0)
})
