import { expect, it } from '@jest/globals'
import type { Worker } from '@temporalio/worker'
import { untilFailed } from '../src/run-worker.ts'

it('a worker of the SDK that has failed ends the process, though its run never ends', async () => {
  const states: ReturnType<Worker['getState']>[] = ['RUNNING', 'FAILED']
  const workers = states.map((state) => ({ getState: () => state }))
  const { signal } = new AbortController()
  await expect(untilFailed(workers, signal)).rejects.toThrow('the log says why')
})

it('a worker that runs or stops is left alone until all is closed', async () => {
  const stopping = new AbortController()
  const states: ReturnType<Worker['getState']>[] = ['RUNNING', 'DRAINING', 'STOPPED']
  const failed = untilFailed(
    states.map((state) => ({ getState: () => state })),
    stopping.signal,
  )
  stopping.abort()
  await expect(failed).rejects.toThrow('aborted')
})
