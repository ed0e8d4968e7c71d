import { randomUUID } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { defaultMix } from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { KEPT } from '../../src/capabilities/sandbox/populations/decisions/population.ts'
import { oldPopulations } from '../../src/capabilities/sandbox/populations/statements/old-populations.ts'
import { requestPopulation } from '../../src/capabilities/sandbox/populations/statements/populations.ts'
import { leadsOf } from '../support/leads.ts'
import { startScoreServer } from '../support/score-server.ts'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { sandboxPartner } from './partner.ts'

it('still decides the score updates of its leads, so that the score provider is not asked', async () => {
  const scores = await startScoreServer()
  const service = await prepareService({ SCORE_PROVIDER_URL: scores.url })
  const { sql } = service
  const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
  const partner = await sandboxPartner(service, port)
  const [member, other] = [await partner.createLead(), await partner.createLead()]
  await sql.transaction().execute(async (trx) => {
    const drawn = { partnerId: partner.id, size: 1, seed: 1, mix: defaultMix, faults: null }
    const { id } = await requestPopulation(trx, { ...drawn, requestId: randomUUID() })
    await raw`insert into population_leads (lead_id, population_id, number, kind, outcome)
      values (${member}, ${id}, 1, 'slow_climb', 'played')`.execute(trx)
    await raw`update populations set ended_at = now() - interval '8 days', outcome = 'done', report = '{}'`.execute(
      trx,
    )
  })
  expect(await oldPopulations.remove(sql, KEPT.days, {})).toMatchObject({ removed: 1 })
  for (const lead of [member, other]) {
    await partner.simulate(lead, { event_name: 'escrow_funded' })
    await partner.advance(lead, { to: 'next_score_update' })
    await until(async () => (await leadsOf(service, partner).names(lead)).includes('score_update'))
  }
  expect(scores.asked.map(({ lead_id }) => lead_id)).toEqual([other])
}, 60_000)
