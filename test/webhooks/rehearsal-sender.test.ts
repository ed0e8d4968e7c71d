import { afterAll, describe, expect, test } from '@jest/globals'
import { createRehearsalSender } from '../../src/capabilities/self-service/webhooks/rehearsal-sender.ts'
import { createSender } from '../../src/core/deliveries/webhooks/send.ts'
import { startReceiver } from './receiver.ts'

const sender = createSender({ environment: 'sandbox', allowPrivateNetwork: true })
afterAll(() => sender.close())

const sendUnanswered = (url: string) =>
  createRehearsalSender(sender.send)({ url, headers: {}, body: '{"n":1}', sending: 'unanswered' })

describe('a rehearsed request whose answer is not waited for', () => {
  test('is unanswered also if the receiver answers at once', async () => {
    const { url, received } = await startReceiver((_request, response) => response.end('OK'))
    expect(await sendUnanswered(url)).toMatchObject({ ok: false, status: null, errorCode: 'canceled' })
    expect(received.map(({ body }) => body)).toEqual(['{"n":1}'])
  })

  test('is unanswered if the receiver takes its time', async () => {
    const { url, received } = await startReceiver(() => {})
    expect(await sendUnanswered(url)).toMatchObject({ ok: false, status: null, errorCode: 'canceled' })
    expect(received).toHaveLength(1)
  })

  test('says why it did not arrive', async () => {
    const { url, close } = await startReceiver(() => {})
    await close()
    expect(await sendUnanswered(url)).toMatchObject({ status: null, errorCode: 'connection_refused' })
  })
})
