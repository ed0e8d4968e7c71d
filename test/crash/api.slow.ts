import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { leadsOf } from '../support/leads.ts'
import { holdRow } from '../support/row-lock.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

describe('an API that is killed', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
  })

  const leadIds = async () =>
    (await service.sql.selectFrom('leads').select('id').orderBy('id').execute()).map(({ id }) => id)

  const inserting = async () => {
    const { rows } = await raw`select from pg_stat_activity
      where datname = current_database() and state = 'active' and query like '%insert into "leads"%'
        and pid <> pg_backend_pid()`.execute(service.sql)
    return rows.length
  }

  it('before it answers leaves a whole lead or none', async () => {
    const api = await service.startApi()
    const lock = await holdRow(service.sql, 'partners', `id = ${partner.id}`)
    const answer = partnerCalls(api.port, partner.key)
      .createLead()
      .catch(() => 'none')
    await lock.reached()
    await api.kill()
    expect(await answer).toBe('none')
    await lock.release()
    // PostgreSQL ends the one statement that was under way, unless it notices before that nobody waits for it
    await until(async () => (await inserting()) === 0)
    for (const leadId of await leadIds()) expect(await leads.names(leadId)).toEqual(['lead_received'])
  })

  it('after its commit leaves a lead whose workflow is started and whose webhook is sent once', async () => {
    const api = await service.startApi()
    const { createLead } = partnerCalls(api.port, partner.key)
    // ten at once: more than may be started from the API, so some have no workflow when it is killed
    const created = await Promise.all(Array.from({ length: 10 }, () => createLead()))
    await api.kill()
    await service.startWorker()
    const all = await leadIds()
    expect(all).toEqual(expect.arrayContaining(created))
    await partner.endpoint.until((arrivals) => arrivals.length >= all.length)
    await until(async () => {
      const { count } = await service.client.workflow.count('WorkflowType = "referral"')
      return count === all.length
    })
    for (const leadId of all) {
      expect(await leads.names(leadId)).toEqual(['lead_received'])
      expect(leads.arrivals(leadId)).toHaveLength(1)
    }
  })
})
