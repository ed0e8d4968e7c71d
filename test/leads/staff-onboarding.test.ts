import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from '@jest/globals'
import type { StaffContext } from '../../src/staff/context.ts'
import { showLead } from '../../src/leads/look-up.ts'
import { leadsOf } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { contextOf } from '../staff/context.ts'

describe('an onboarding mail that is not sent at once', () => {
  let service: Service
  let context: StaffContext
  let mailServer: Awaited<ReturnType<typeof startMailServer>>

  beforeAll(async () => {
    service = await prepareService()
    context = await contextOf(service.environment)
    mailServer = await startMailServer()
    await service.startWorker({
      SMTP_URL: mailServer.url,
      SMTP_CATCHER: 'true',
    })
  })

  /** The line about it, once there is one. */
  const shown = (leadId: number) =>
    until(async () => {
      const { text } = await showLead(context, leadId)
      const [, state = '-'] = /^onboarding email +(.+)$/m.exec(text) ?? []
      return state !== '-' && state
    })

  /** As if the next had another address. */
  const forgetAddresses = () =>
    service.sql
      .updateTable('leads')
      .set({ onboarding_sent_at: sql<Date>`onboarding_sent_at - interval '1 day'` })
      .execute()
  /** In how many milliseconds Temporal tries it again, once it has failed. */
  const retryIn = (leadId: number) =>
    until(async () => {
      const { raw } = await service.client.workflow.getHandle(`lead-${leadId}`).describe()
      const pending = raw.pendingActivities?.find(
        ({ activityType }) => activityType?.name === 'sendOnboardingEmail',
      )
      const at = Number(pending?.scheduledTime?.seconds ?? 0) * 1000
      return (pending?.attempt ?? 0) > 1 && at - Date.now()
    })

  it('is explained, if the address was mailed already', async () => {
    const leads = leadsOf(service, await service.addPartner())
    for (let count = 0; count < 3; count += 1) expect(await shown(await leads.start())).toMatch(/^\d{4}-/)
    const leadId = await leads.start()
    expect(await shown(leadId)).toBe('not sent: address_limit')
  })

  it('is tried again soon when the mail server was away', async () => {
    const leads = leadsOf(service, await service.addPartner())
    await forgetAddresses()
    mailServer.refusing = true
    const leadId = await leads.start()
    expect(await retryIn(leadId)).toBeLessThan(30_000)
  })
})
