import { expect, it } from '@jest/globals'
import { partnerCalls } from '../support/service.ts'
import { sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { whileBusy } from '../support/while-busy.ts'

interface View {
  url: string
  health: string
  certification: { state: string }
  webhooks: { verified: boolean; status: number }[]
}

it('a sink is a partner’s endpoint after one call, and passes certification', async () => {
  const service = await sharedService()
  const { key } = await service.addPartner()
  const calls = partnerCalls(service.port, key)
  const post = async (path: string, body = {}) => (await calls.post(path, body)).body.data as object as View
  const { url, health } = await post('sandbox/use-sink')
  expect(health).toBe('active')
  await post('set-endpoint', { url })
  await whileBusy(() => calls.post('certify-endpoint', {}))
  await until(async () => (await post('get-endpoint')).certification.state === 'passed')
  const sink = await post('sandbox/get-sink')
  expect(sink.url).toBe(url)
  expect(sink.webhooks.toReversed().map(({ verified, status }) => [verified, status])).toEqual([
    [true, 200],
    [true, 200],
    [true, 200],
    [false, 400],
    [false, 400],
    [false, 400],
  ])
}, 60_000)
