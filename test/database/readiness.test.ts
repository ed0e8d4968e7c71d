import { expect, it } from '@jest/globals'
import { tellWhileUnusable, watchReadiness } from '../../src/database/readiness.ts'

/** What is said of a database that cannot be used for so long. */
async function said(unusableMs: number): Promise<string[]> {
  const lines: string[] = []
  const began = Date.now()
  const isReady = async () => {
    if (Date.now() - began < unusableMs) throw new Error('connect ECONNREFUSED 127.0.0.1:5433')
    return true
  }
  const log = {
    info: (line: string) => void lines.push(`info: ${line}`),
    warn: (line: string) => void lines.push(`warn: ${line}`),
  } as unknown as Parameters<typeof tellWhileUnusable>[1]
  await tellWhileUnusable(isReady, log, 200)
  return lines
}

it('says nothing of a database that starts together with the process', async () => {
  expect(await said(100)).toEqual([])
})

it('says once that a database cannot be used, and when that is over', async () => {
  expect(await said(600)).toEqual([
    expect.stringMatching(/^warn: partners get 503: PostgreSQL .*ECONNREFUSED/),
    'info: the database can be used now',
  ])
})

it('checks again until nothing is wrong, says each remedy once, and then checks no more', async () => {
  const remedies = ['run npm run migrate', 'run npm run migrate', undefined, 'never asked']
  const told: string[] = []
  let asked = 0
  const isReady = watchReadiness(
    async () => remedies[asked++],
    (remedy) => void told.push(remedy),
  )
  expect(await Promise.all([isReady(), isReady()])).toEqual([false, false])
  expect([await isReady(), await isReady(), await isReady()]).toEqual([false, true, true])
  expect([asked, told]).toEqual([3, ['run npm run migrate']])
})
