import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { connect, patience } from '../../src/database/orm.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { type Answer, type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'
import { until } from '../support/until.ts'
import { switchableProxy } from './switchable-proxy.ts'

const TWO_SECONDS_MS = 2000
/** On a busy machine. */
const SOON_MS = 10_000

describe('while PostgreSQL is away', () => {
  let api: Api
  let partner: ApiPartner
  let leadId: number
  let proxy: Awaited<ReturnType<typeof switchableProxy>>
  let direct: string
  let slowestMs = 0
  beforeAll(async () => {
    api = await prepareApi({
      through: async (url) => {
        direct = url
        proxy = await switchableProxy(new URL(url))
        return proxy.url
      },
    })
    partner = await api.addPartner()
    leadId = await partner.createLead()
  })
  afterAll(() => proxy.close())

  const calls = (): Promise<Answer>[] => [
    partner.post('create-lead', borrower),
    partner.post('create-lead', borrower, { 'idempotency-key': 'away' }),
    partner.post('get-lead', { lead_id: leadId }),
    partner.post('get-events', { lead_id: leadId }),
    partner.post('update-partner-info', { lead_id: leadId, custom: 'x' }),
  ]
  /** The distinct responses, with their Retry-After. */
  async function outcomes(answers: Promise<Answer>[]): Promise<unknown[]> {
    const begun = performance.now()
    const all = await Promise.all(answers)
    slowestMs = Math.max(slowestMs, performance.now() - begun)
    expect(slowestMs).toBeLessThan(SOON_MS)
    const lines = all.map(({ status, body, headers }) =>
      [status, body.error?.code, Number(headers['retry-after']) >= 1].join(' '),
    )
    return [...new Set(lines)]
  }
  const unavailable = ['503 SERVICE_UNAVAILABLE true']
  const well = ['200  false']
  /** On a busy machine, a first connection may take longer than a request waits. */
  const recovered = () => until(async () => String(await outcomes(calls())) === String(well))

  it('has to answer within two seconds, whatever it waits for', () => {
    const { connectMs, lockMs, statementMs, silenceMs } = patience.api
    expect(Math.max(connectMs, lockMs, statementMs, silenceMs)).toBeLessThan(TWO_SECONDS_MS)
  })

  it('answers 503 SERVICE_UNAVAILABLE with Retry-After, and recovers without a restart', async () => {
    expect(await outcomes(calls())).toEqual(well)
    proxy.goAway()
    expect(await outcomes(calls())).toEqual(unavailable)
    expect(await outcomes(calls())).toEqual(unavailable)
    proxy.comeBack()
    await recovered()
  })

  it('answers 503 after one wait behind a network that swallows everything, and recovers', async () => {
    const waitMs = async () => {
      await recovered()
      slowestMs = 0
      proxy.fallSilent()
      // more than there are connections in the pool, then requests that need a new one
      expect(await outcomes(Array.from({ length: 6 }, calls).flat())).toEqual(unavailable)
      expect(await outcomes(calls())).toEqual(unavailable)
      proxy.comeBack()
      const tookMs = slowestMs
      await recovered()
      return tookMs
    }
    const isOneWait = async () => (await waitMs()) < 2 * patience.api.silenceMs
    // a busy machine may take longer
    expect((await isOneWait()) || (await isOneWait()) || (await isOneWait())).toBe(true)
  })

  it('answers 503 if a lock is not free in time, and does not make the change later', async () => {
    const other = await connect(direct)
    await sqlOf(other)
      .transaction()
      .execute(async (trx) => {
        await trx.selectFrom('leads').select('id').where('id', '=', leadId).forUpdate().execute()
        expect(await outcomes([partner.post('update-partner-info', { lead_id: leadId, late: 'x' })])).toEqual(
          unavailable,
        )
        expect((await partner.post('get-lead', { lead_id: leadId })).status).toBe(200)
      })
    await other.close()
    expect(await partner.readLead(leadId)).not.toHaveProperty('late')
    expect(await outcomes(calls())).toEqual(well)
  })

  it('still answers GET /ping without a key', async () => {
    proxy.goAway()
    expect((await api.send({ method: 'GET', url: '/v1/ping' })).status).toBe(200)
    proxy.comeBack()
  })
})
