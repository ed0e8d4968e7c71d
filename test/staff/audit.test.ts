import { Client, Connection } from '@temporalio/client'
import { beforeAll, describe, expect, it } from '@jest/globals'
import type { StaffContext } from '../../src/staff/context.ts'
import * as key from '../../src/partners/staff.ts'
import { close } from '../../src/leads/staff.ts'
import { createReferrals } from '../../src/leads/referrals.ts'
import { switchableProxy } from '../http/switchable-proxy.ts'
import { atEnd } from '../support/at-end.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { auditOf, contextOf } from './context.ts'

describe('the audit', () => {
  let service: Service
  let context: StaffContext
  let partner: TestPartner

  beforeAll(async () => {
    service = await prepareService()
    context = await contextOf(service.environment)
    partner = await service.addPartner()
  })

  const lines = async (action: string) =>
    (await auditOf(service))
      .filter((line) => line.action === action)
      .map(({ outcome, began, detail }) => ({ outcome, began, detail }))
  /** The context behind a network that still carries what is asked, and no answer. */
  async function deafContext(): Promise<StaffContext> {
    const proxy = await switchableProxy(new URL(`http://${service.environment.TEMPORAL_ADDRESS}`))
    const { host } = new URL(proxy.url)
    const connection = await Connection.connect({ address: host })
    const client = new Client({ connection, namespace: service.namespace })
    atEnd(async () => {
      await connection.close()
      await proxy.close()
    })
    proxy.swallowAnswers()
    return { ...context, client, referrals: createReferrals({ client, sql: context.sql, callLimitMs: 3000 }) }
  }

  it('keeps what may have been done, when Temporal’s answer does not come', async () => {
    const leadId = await leadsOf(service, partner).start()
    const deaf = await deafContext()
    await expect(close(deaf, leadId, { reason: 'withdrew' })).rejects.toThrow('')
    expect(await lines('lead.close')).toEqual([
      { outcome: 'begun', began: null, detail: { reason: 'withdrew' } },
      { outcome: 'unknown', began: 'begun', detail: { reason: 'withdrew' } },
    ])
  })

  it('has one line for what is one transaction, and none when that is not committed', async () => {
    await key.issue(context, partner.id)
    await expect(key.revoke(context, '999999')).rejects.toThrow('There is no such key')
    expect(await lines('key.issue')).toMatchObject([{ outcome: 'done', began: null }])
    expect(await lines('key.revoke')).toEqual([])
  })
})
