import { describe, expect, it } from '@jest/globals'
import { sdkLines } from '../../src/observe/log.ts'
import { watchOutage } from '../../src/temporal/outage.ts'
import { until } from '../support/until.ts'

describe('an outage of Temporal', () => {
  it('has one line at its start and one at its end, however often calls are retried', async () => {
    const lines: { level: string; message: string | undefined; facts: object }[] = []
    const write = (level: string) => (facts: object, message?: string) =>
      void lines.push({ level, message, facts })
    const log = {
      trace: write('trace'),
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    }
    const seen = () => lines.filter(({ level }) => level !== 'debug')
    let isAway = true
    const outage = watchOutage(log, 60)
    outage.askWith(async () => {
      if (isAway) throw new Error('away')
    })
    const sdk = sdkLines(log, outage)
    const retry = (count: number, level: 'WARN' | 'ERROR' = 'WARN') =>
      sdk({
        level,
        message: `gRPC call poll_activity_task_queue retried ${count} times`,
        meta: { error: 'connection refused' },
      })
    for (let count = 6; count < 16; count += 1) retry(count)
    retry(16, 'ERROR')
    // for longer than it may be quiet
    await until(async () => {
      retry(17)
      return lines.length > 40
    })
    expect(seen()).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(/^Temporal does not answer the worker/),
        facts: { err: 'connection refused' },
      },
    ])
    isAway = false
    await until(async () => seen().length === 2)
    expect(seen()[1]).toMatchObject({
      level: 'info',
      message: 'Temporal answers the worker again',
      facts: { since: expect.any(Date) },
    })
    sdk({ level: 'WARN', message: 'another line' })
    retry(6)
    expect(seen().slice(2)).toMatchObject([
      { level: 'warn', message: 'another line' },
      { level: 'warn', message: expect.stringMatching(/^Temporal does not answer the worker/) },
    ])
  })
})
