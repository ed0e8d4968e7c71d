import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { checkErasures } from '../../src/capabilities/erasure/statements/check.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import {
  erasureTools,
  type ErasureTools,
  openJournal,
} from '../../src/capabilities/erasure/statements/journal.ts'
import { erasuresOf, reviewErasure } from '../../src/capabilities/erasure/statements/requests.ts'
import { erase } from '../../src/capabilities/erasure/commands/lead-erasure.ts'
import { contextOf } from '../staff/context.ts'
import { dyingBefore } from '../support/failing-sql.ts'
import { temporaryFolder } from '../support/folder.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const ERASING = { by: 'tester', reason: 'borrower_request' as const }

describe('an erasure that is interrupted', () => {
  let service: Service
  let partner: TestPartner
  let tools: ErasureTools
  let folder: string
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    folder = path.join(temporaryFolder(), 'erasures')
    service = await prepareService({ ERASURE_JOURNAL: folder })
    await requireDeployment(service.sql, 'sandbox')
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    tools = erasureTools({ ERASURE_JOURNAL: folder })
  })

  const stateOf = async (leadId: number) => {
    const { rows } = await raw<object>`
      select personal is null as empty, erased_at is not null as erased, closed_at is not null as closed,
        (select array_agg(state) from deliveries where lead_id = leads.id) as deliveries,
        (select count(*)::int from erasures where lead_id = leads.id) as erasures
      from leads where id = ${leadId}`.execute(service.sql)
    return rows[0]
  }
  const untouched = {
    empty: false,
    erased: false,
    closed: false,
    deliveries: ['pending'],
    erasures: 0,
  }
  const done = { empty: true, erased: true, closed: true, deliveries: ['canceled'], erasures: 1 }
  const journaled = async (leadId: number) => {
    let lines = 0
    for await (const { lead_id: id } of openJournal(folder).read()) lines += id === leadId ? 1 : 0
    return lines
  }

  it('has changed nothing or everything, before whichever statement its process dies, and is finished by a repeat', async () => {
    for (let statement = 1, isComplete = false; !isComplete; statement += 1) {
      const lead = await leads.commit()
      const { sql, hasDied } = dyingBefore(service.sql, statement)
      await eraseLeads(sql, [lead], tools, ERASING).catch(() => undefined)
      isComplete = !hasDied()
      expect(await stateOf(lead)).toEqual(isComplete ? done : untouched)
      expect(await eraseLeads(service.sql, [lead], tools, ERASING)).toEqual(isComplete ? [] : [lead])
      expect(await stateOf(lead)).toEqual(done)
      expect(await journaled(lead)).toBeGreaterThan(0)
      await checkErasures(service.sql, [lead])
      expect(await erasuresOf(service.sql, lead)).toMatchObject([{ checked_at: expect.any(Date) }])
    }
  }, 60_000)

  it('is not carried out while its line cannot be written', async () => {
    const lead = await leads.commit()
    const broken = openJournal('/dev/null/erasures')
    const erasing = eraseLeads(service.sql, [lead], { ...tools, journal: broken }, ERASING)
    await expect(erasing).rejects.toThrow('ENOTDIR')
    expect(await stateOf(lead)).toEqual(untouched)
  })

  it('is finished by a worker if staff could not reach Temporal', async () => {
    const lead = await leads.commit()
    const context = await contextOf({ ...service.environment, TEMPORAL_ADDRESS: '127.0.0.1:1' })
    const { json, text } = await erase(context, lead, { reason: 'other' })
    expect(json).toEqual({ lead_id: lead, outcome: 'accepted' })
    expect(text).toContain('Temporal does not answer')
    expect(await stateOf(lead)).toEqual(done)
    await service.startWorker()
    await until(async () => (await reviewErasure(service.sql, lead))?.isChecked)
    const { certificate } = (await erasuresOf(service.sql, lead))[0] ?? {}
    expect(certificate?.checked?.left.attempts).toBe(0)
  }, 60_000)

  it('empties what an endpoint answers to a webhook that was on its way', async () => {
    const answer = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => void answer.promise.then(() => response.end('I know Ada'))
    const lead = await leads.start()
    await partner.endpoint.until((arrivals) => arrivals.some(({ event }) => event.data.lead_id === lead))
    const context = await contextOf(service.environment)
    expect((await erase(context, lead, { reason: 'other' })).json.outcome).toBe('accepted')
    answer.resolve()
    await until(async () => (await reviewErasure(service.sql, lead))?.isChecked)
    const { rows } = await raw`select from attempts where attempts::text like '%Ada%'`.execute(service.sql)
    expect(rows).toEqual([])
    expect(await service.client.workflow.getHandle(`lead-${lead}`).result()).toBe('erased')
  }, 60_000)
})
