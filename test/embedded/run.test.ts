import { statSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { beginRun, runningSandbox } from '../../src/embedded/run.ts'
import { temporaryFolder } from '../support/folder.ts'

let dataDirectory: string

beforeEach(() => {
  dataDirectory = path.join(temporaryFolder(), '.data')
})

test('leads other commands to the sandbox when it is ready', async () => {
  expect(await runningSandbox(dataDirectory)).toEqual({})
  const tell = await beginRun(dataDirectory)
  expect(await runningSandbox(dataDirectory)).toEqual({})
  tell({ DATABASE_URL: 'postgresql://here' })
  expect(await runningSandbox(dataDirectory)).toEqual({ DATABASE_URL: 'postgresql://here' })
  expect(statSync(dataDirectory).mode & 0o777).toBe(0o700)
})

test('refuses a second start and says where the first runs and how to stop it', async () => {
  const tell = await beginRun(dataDirectory)
  await expect(beginRun(dataDirectory)).rejects.toThrow(
    'The sandbox is already starting, or stopping: stop it with Ctrl-C',
  )
  tell({ API_URL: 'http://127.0.0.1:3000/v1' })
  await expect(beginRun(dataDirectory)).rejects.toThrow(
    `The sandbox is already running at http://127.0.0.1:3000/v1: stop it with Ctrl-C in its terminal, or with kill ${process.pid}.`,
  )
})
