import { expect, it } from '@jest/globals'
import { Lanes } from '../../src/clients/typescript/prs/lanes.ts'

it('has room again once half of what waits is done, so that it is not full at each piece of work', async () => {
  const lanes = new Lanes(4)
  const works = Array.from({ length: 4 }, () => Promise.withResolvers<void>())
  works.forEach(({ promise }, lead) => lanes.add(lead, () => promise))
  expect(lanes.isFull).toBe(true)
  let hasRoom = false
  const room = lanes.room().then(() => (hasRoom = true))
  works[0]?.resolve()
  await works[0]?.promise
  await new Promise(setImmediate)
  expect([lanes.isFull, hasRoom]).toEqual([false, false])
  works[1]?.resolve()
  await room
  for (const { resolve } of works) resolve()
  await lanes.idle()
})
