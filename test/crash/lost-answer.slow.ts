import { beforeAll, describe, expect, it } from '@jest/globals'
import { signingSecrets } from '../../src/core/endpoints/statements/secrets.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { holdRow } from '../support/row-lock.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import { whileBusy } from '../support/while-busy.ts'

interface Sent {
  status: number
  text: string
  isReplay: boolean
  body: { data: { secret: string }; lead_id: number }
}

describe('an answer that is lost', () => {
  let service: Service
  let partner: TestPartner
  /** The one that is not killed. */
  let second: ServiceProcess
  beforeAll(async () => {
    service = await prepareService()
    ;[partner, second] = await Promise.all([service.addPartner(), service.startApi()])
  })

  async function send(port: number | undefined, call: string, body: object, key: string): Promise<Sent> {
    const response = await fetch(`http://127.0.0.1:${port}/v1/${call}`, {
      method: 'POST',
      headers: {
        authorization: `Service-Key ${partner.key}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return {
      status: response.status,
      text,
      isReplay: response.headers.has('idempotent-replayed'),
      body: JSON.parse(text),
    }
  }
  const endpointId = async () =>
    (
      await service.sql
        .selectFrom('endpoints')
        .select('id')
        .where('partner_id', '=', partner.id)
        .executeTakeFirstOrThrow()
    ).id
  const secrets = async () => signingSecrets(service.sql, await endpointId(), service.encryptionKeys)

  it('because the process was killed before its commit is made anew by another one, which waits for nobody', async () => {
    const first = await service.startApi()
    const before = await secrets()
    const lock = await holdRow(service.sql, 'endpoints', `partner_id = ${partner.id}`)
    const lost = send(first.port, 'rotate-endpoint-secret', {}, 'killed').catch(() => 'lost')
    await lock.reached()
    await first.kill()
    expect(await lost).toBe('lost')
    await lock.release()
    const { body, isReplay } = await until(async () => {
      const sent = await send(second.port, 'rotate-endpoint-secret', {}, 'killed')
      // PostgreSQL may still run the killed one’s statement
      return sent.body.data !== undefined && sent
    })
    expect([body.data.secret, ...before]).toEqual(await secrets())
    expect(isReplay).toBe(false)
  })

  it('after its commit is given by another process, with the secret that signs', async () => {
    const first = await service.startApi()
    const before = await secrets()
    const made = await send(first.port, 'rotate-endpoint-secret', {}, 'lost')
    await first.kill()
    const again = await send(second.port, 'rotate-endpoint-secret', {}, 'lost')
    expect([again.text, again.isReplay]).toEqual([made.text, true])
    expect(await secrets()).toEqual([made.body.data.secret, ...before])
  })

  it('is one answer for twins at two processes', async () => {
    const apis = [await service.startApi(), second]
    const before = await secrets()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        // one that waits for its twin for too long is told to come back
        whileBusy(() => send(apis[index % 2]?.port, 'rotate-endpoint-secret', {}, 'twins')),
      ),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1)
    expect(await secrets()).toEqual([answers[0]?.body.data.secret, ...before].slice(0, 5))
  })

  it('of erase-lead is given again though the lead is erased', async () => {
    await service.startWorker()
    const fields = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '+1 555-0100' }
    const created = await send(second.port, 'create-lead', fields, 'create')
    const { lead_id: lead } = created.body
    const erased = await send(second.port, 'erase-lead', { lead_id: lead }, 'erase')
    await until(async () => {
      const row = service.sql.selectFrom('leads').select('erased_at').where('id', '=', lead)
      return (await row.executeTakeFirstOrThrow()).erased_at !== null
    })
    const again = await send(second.port, 'erase-lead', { lead_id: lead }, 'erase')
    expect([again.text, again.isReplay]).toEqual([erased.text, true])
    expect((await send(second.port, 'erase-lead', { lead_id: lead }, 'other')).text).toContain('NOT_FOUND')
  })
})
