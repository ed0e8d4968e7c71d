import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { scenarioNames, webhooksOf } from '../../src/capabilities/sandbox/decisions/scenarios.ts'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { inTime, untilInTime } from './in-time.ts'

const GET_SINK = `curl $API/sandbox/get-sink -H "Authorization: Service-Key $KEY" -H 'Content-Type: application/json' -d '{}'`
const document = readFileSync(path.join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8')

it('the commands of docs/sandbox.md do what it says', async () => {
  const service = await prepareService()
  const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
  const { key } = await service.addPartner()
  const blocks = Array.from(document.matchAll(/^```sh\n(.*?)^```/gms), ([, code = '']) => code)
  let lead = 0
  const run = async (block = '') => {
    const variables = `API=http://127.0.0.1:${port}/v1\nKEY=${key}\nLEAD=${lead}\n`
    return (await promisify(execFile)('sh', ['-euc', variables + block])).stdout
  }
  const [journey, year, clock, retries, byAddress] = blocks
  const played = await run(journey)
  expect(played.match(/"success":true/g)).toHaveLength(3)
  const sink = await until(async () => {
    const all = (JSON.parse(await run(GET_SINK)) as Sink).data.webhooks
    const webhooks = all.filter(({ event }) => event?.data?.lead_id === 1)
    return webhooks.length === 14 && webhooks.toReversed()
  })
  expect(sink.map(({ event }) => event?.type)).toEqual(webhooksOf('mortgage_ready_in_a_year'))
  expect(sink.every(({ verified }) => verified)).toBe(true)
  // each time with a new lead
  const answers = await untilInTime(
    async () => {},
    () =>
      inTime(
        () => run(year),
        (answered) => /"status":"(advancing)"/.exec(answered)?.[1],
      ),
  )()
  lead = Number(/"lead_id":(\d+)/.exec(answers)?.[1])
  expect(answers.match(/"what":"event"/g)).toHaveLength(8)
  // escrow_funded’s may come before the clock moves, or after
  expect(answers.match(/"what":"webhook"[^}]*"score_update"/g)).toHaveLength(8)
  expect(await run(clock)).toContain('"moving":false')
  const retried = await run(retries)
  expect(retried.match(/"what":"webhook"[^}]*"status":500/g)).toHaveLength(2)
  expect(retried.match(/"what":"webhook"[^}]*"status":200/g)).toHaveLength(1)
  const { lead_id: leadId } = JSON.parse(await run(byAddress)) as { lead_id: number }
  await until(async () => {
    const row = service.sql.selectFrom('leads').select('close_reason').where('id', '=', leadId)
    return (await row.executeTakeFirst())?.close_reason === 'withdrew'
  })
}, 120_000)

interface Sink {
  data: { webhooks: { event: Event; verified: boolean }[] }
}

interface Event {
  type: string
  data?: { lead_id?: number }
}

it('docs/sandbox.md lists each scenario with its webhooks', () => {
  const rows = Array.from(
    document.matchAll(/^\| `(\w+)` +\| (`lead_received`.*?) *\|$/gm),
    ([, name, cell = '']) => {
      const webhooks = cell.split(', ').flatMap((entry) => {
        const [, webhook = '', times = '1'] = /^`(\w+)`(?: × (\d+))?$/.exec(entry) ?? []
        return Array.from({ length: Number(times) }, () => webhook)
      })
      return [name, webhooks]
    },
  )
  expect(rows).toEqual(scenarioNames.map((name) => [name, webhooksOf(name)]))
})
