import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { identify } from '../../src/embedded/processes.ts'
import type { Launched } from '../../src/embedded/launch.ts'
import { beginRun, runningSandbox } from '../../src/embedded/run.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'

let dataDirectory: string
let file: string

beforeEach(() => {
  dataDirectory = temporaryFolder()
  file = path.join(dataDirectory, 'run.json')
})

function idle(): ChildProcess & { pid: number } {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  atEnd(async () => void child.kill('SIGKILL'))
  return child as ChildProcess & { pid: number }
}

/** A child as a run takes it; it never tells of its end. */
function launched(child: ChildProcess & { pid: number }): Launched {
  return {
    name: 'worker',
    process: child,
    pid: child.pid,
    ended: new Promise(() => {}),
    stop: async () => {},
  }
}

/** What a start leaves that was killed: its own process is gone, its file is still there. */
async function leaveBehind(child: ChildProcess & { pid: number }, changed = {}): Promise<void> {
  const run = await beginRun(dataDirectory)
  run.adopt(launched(child))
  run.ready({ API_URL: 'http://127.0.0.1:3000/v1' })
  const content = JSON.parse(readFileSync(file, 'utf8'))
  content.starter.started = 'long ago'
  Object.assign(content.processes[0], changed)
  writeFileSync(file, JSON.stringify(content))
}

test('leads other commands to the sandbox while it runs, and only then', async () => {
  expect(runningSandbox(dataDirectory)).toEqual({})
  const run = await beginRun(dataDirectory)
  expect(runningSandbox(dataDirectory)).toEqual({})
  run.ready({ DATABASE_URL: 'postgresql://here' })
  expect(runningSandbox(dataDirectory)).toEqual({ DATABASE_URL: 'postgresql://here' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await run.stopAll()
  expect(runningSandbox(dataDirectory)).toEqual({})
})

test('refuses a second start and says where the first runs and how to stop it', async () => {
  const run = await beginRun(dataDirectory)
  await expect(beginRun(dataDirectory)).rejects.toThrow(
    'The sandbox is already starting: stop it with Ctrl-C',
  )
  run.ready({ API_URL: 'http://127.0.0.1:3000/v1' })
  await expect(beginRun(dataDirectory)).rejects.toThrow(
    `The sandbox is already running at http://127.0.0.1:3000/v1: stop it with Ctrl-C in its terminal, or with kill ${process.pid}.`,
  )
})

test('stops everything although its folder was deleted', async () => {
  const run = await beginRun(dataDirectory)
  const child = idle()
  const ended = once(child, 'exit')
  run.adopt({ ...launched(child), stop: async () => void child.kill() })
  rmSync(dataDirectory, { recursive: true })
  await run.stopAll()
  expect(await ended).toEqual([null, 'SIGTERM'])
})

test('stops what a killed start has left', async () => {
  const left = idle()
  const ended = once(left, 'exit')
  await leaveBehind(left)
  expect(runningSandbox(dataDirectory)).toEqual({})
  await beginRun(dataDirectory)
  expect(await ended).toEqual([null, 'SIGINT'])
})

test('begins once, of two starts that wait for the same to end', async () => {
  await leaveBehind(idle())
  const begun = await Promise.allSettled([beginRun(dataDirectory), beginRun(dataDirectory)])
  expect(begun.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(begun).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ message: expect.stringContaining('is already starting') }),
  })
})

test('leaves a stranger alone that has the pid of one of them by now', async () => {
  const stranger = idle()
  await leaveBehind(stranger, { started: 'before the stranger' })
  await beginRun(dataDirectory)
  expect(identify(stranger.pid)).toBeDefined()
})

test('begins although the file was cut off', async () => {
  writeFileSync(file, '{"starter": {"pi')
  await expect(beginRun(dataDirectory)).resolves.toBeDefined()
})
