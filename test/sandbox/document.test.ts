import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'

const document = readFileSync(path.join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8')

it('the commands of docs/sandbox.md do what it says', async () => {
  const service = await prepareService()
  const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
  const { key } = await service.addPartner()
  const blocks = Array.from(document.matchAll(/^```sh\n(.*?)^```/gms), ([, code = '']) => code)
  const run = async (block = '') => {
    const variables = `API=http://127.0.0.1:${port}/v1\nKEY=${key}\n`
    return (await promisify(execFile)('sh', ['-euc', variables + block])).stdout
  }
  const [journey, read, year, clock, retries] = blocks
  expect((await run(journey)).match(/"success":true/g)).toHaveLength(3)
  const sink = await until(async () => {
    const answer = JSON.parse(await run(read)) as {
      data: { webhooks: { event: Event; verified: boolean }[] }
    }
    const webhooks = answer.data.webhooks.filter(({ event }) => event.data?.lead_id === 1)
    return webhooks.length === 5 && webhooks.toReversed()
  })
  expect(sink.map(({ event, verified }) => [event.type, verified])).toEqual([
    ['lead_received', true],
    ['contract_signed', true],
    ['escrow_funded', true],
    ['score_update', true],
    ['mortgage_ready', true],
  ])
  const answers = await run(year)
  expect(answers.match(/"what":"event"/g)).toHaveLength(8)
  expect(answers.match(/"what":"webhook"/g)).toHaveLength(8)
  expect(await run(clock)).toContain('"moving":false')
  const retried = await run(retries)
  expect(retried.match(/"what":"webhook"[^}]*"status":500/g)).toHaveLength(2)
  expect(retried.match(/"what":"webhook"[^}]*"status":200/g)).toHaveLength(1)
}, 60_000)

interface Event {
  type: string
  data?: { lead_id?: number }
}
