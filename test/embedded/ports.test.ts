import { expect, test } from '@jest/globals'
import { freePort } from '../../src/embedded/ports.ts'

test('names the port that PORT=0 leads to, because the URL of sinks has it', async () => {
  expect(await freePort(0)).toBeGreaterThan(0)
})
