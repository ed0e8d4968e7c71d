import { beforeAll, describe, expect, it } from '@jest/globals'
import { SCORE_PERIOD_MS } from '../../src/core/leads/decisions/score-dates.ts'
import { forEachInFlight } from '../../src/core/temporal/in-flight.ts'
import { leadsOf } from '../support/leads.ts'
import { startScoreServer } from '../support/score-server.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'

const LEADS = 120
/** Of 120, if nobody else's came first. */
const EARLY = LEADS / 2
const PER_SECOND = 2
const ASKED = 20
/** By how much the first may have been late. With a limit for each worker, all 20 take 4.5 s; with one for both, 9 s. */
const LATE_S = 3

describe('many leads of one partner that wait for a worker', () => {
  let service: Service
  let crowd: TestPartner
  let other: TestPartner

  beforeAll(async () => {
    service = await prepareService()
    ;[crowd, other] = await Promise.all([service.addPartner(), service.addPartner()])
  }, 60_000)

  it('let another partner’s lead go before most of them', async () => {
    const leads = leadsOf(service, crowd)
    await forEachInFlight(Array.from({ length: LEADS }), () => leads.start())
    await leadsOf(service, other).start()
    await service.startWorker()
    await other.endpoint.until((arrivals) => arrivals.length > 0)
    expect(crowd.endpoint.arrivals.length).toBeLessThan(EARLY)
    await crowd.endpoint.until((arrivals) => arrivals.length >= LEADS)
  }, 60_000)
})

describe('score updates that are due at once', () => {
  it(`are asked for at most ${PER_SECOND} times a second, by all workers together`, async () => {
    const [service, provider] = await Promise.all([prepareService(), startScoreServer()])
    const partner = await service.addPartner()
    const leads = leadsOf(service, partner)
    const anchor = new Date(Date.now() - SCORE_PERIOD_MS)
    await forEachInFlight(Array.from({ length: ASKED }), async () => {
      const leadId = await leads.commit()
      await service.sql.updateTable('leads').set({ anchor_at: anchor }).where('id', '=', leadId).execute()
      await service.referrals.startFromRecord(leadId)
    })
    const settings = { SCORE_PROVIDER_URL: provider.url, SCORE_PROVIDER_RATE: String(PER_SECOND) }
    await Promise.all([service.startWorker(settings), service.startWorker(settings)])
    await partner.endpoint.until((arrivals) => arrivals.length === 2 * ASKED)
    const dates = provider.asked.map(({ at }) => at)
    expect(dates).toHaveLength(ASKED)
    const seconds = ((dates.at(-1) ?? 0) - (dates[0] ?? 0)) / 1000
    // without what may be asked at once
    expect((ASKED - PER_SECOND) / (seconds + LATE_S)).toBeLessThanOrEqual(PER_SECOND)
  }, 60_000)
})
