import { expect, test } from '@jest/globals'
import { apiPort } from '../../src/embedded/ports.ts'

test('names the port that PORT=0 leads to, because the URL of sinks has it', async () => {
  const said: string[] = []
  const port = await apiPort(0, { environment: { PORT: '0' }, report: (line) => said.push(line) })
  expect(port).toBeGreaterThan(0)
  expect(said).toEqual([])
})
