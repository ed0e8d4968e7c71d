import { expect, it } from '@jest/globals'
import { watchReadiness } from '../../src/database/readiness.ts'

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
