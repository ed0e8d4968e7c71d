import { expect, it } from '@jest/globals'
import { createLogger, sdkLines } from '../../src/observe/log.ts'

it('the lines of Temporal’s SDK name the lead, and an outage has one a minute, however often calls are retried', () => {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const sdk = sdkLines(createLogger('info', 'worker', { destination: { write } }))
  const workflow = { workflowId: 'lead-7', runId: 'run' }
  sdk({ level: 'WARN', message: 'a line', meta: { ...workflow, error: new Error('why'), queue: 'x' } })
  for (let count = 6; count < 16; count += 1)
    sdk({ level: 'ERROR', message: `gRPC call poll_activity_task_queue retried ${count} times` })
  expect(lines).toMatchObject([
    {
      level: 40,
      msg: 'a line',
      lead_id: 7,
      workflow_id: 'lead-7',
      run_id: 'run',
      err: { message: 'why' },
      sdk: { queue: 'x' },
    },
    { level: 40, msg: expect.stringMatching(/^Temporal does not answer the worker/) },
  ])
})
