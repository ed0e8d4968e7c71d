import { beforeAll, describe, expect, it } from '@jest/globals'
import type { StaffContext } from '../../src/staff/context.ts'
import { showLead } from '../../src/core/leads/commands/lead-view.ts'
import { requireLead } from '../../src/core/leads/commands/require-lead.ts'
import { leadsOf } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { contextOf } from './context.ts'

const HOUR_MS = 3_600_000

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
      ONBOARDING_MAILS_PER_ADDRESS: '2',
      ONBOARDING_MAILS_PER_PARTNER: '1',
    })
  })

  /** The line about it, once there is one. */
  const shown = (leadId: number) =>
    until(async () => {
      const { text } = await showLead(context, await requireLead(service.sql, leadId))
      const [, state = '-'] = /^onboarding email +(.+)$/m.exec(text) ?? []
      return state !== '-' && state
    })

  /** As if the next had another address. */
  const forgetAddresses = () =>
    service.sql.updateTable('onboarding_mails').set({ address_hash: null }).execute()
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

  it('is left to Temporal until its partner may send more', async () => {
    const leads = leadsOf(service, await service.addPartner())
    expect(await shown(await leads.start())).toMatch(/^\d{4}-/)
    await forgetAddresses()
    const leadId = await leads.start()
    expect(await shown(leadId)).toMatch(/^due \d{4}-.* the partner has used up the mails of this hour$/)
    expect(await retryIn(leadId)).toBeGreaterThan(0.9 * HOUR_MS)
  })

  it('is explained, if the address was mailed already', async () => {
    const leads = leadsOf(service, await service.addPartner())
    expect(await shown(await leads.start())).toMatch(/^\d{4}-/)
    const leadId = await leads.start()
    expect(await shown(leadId)).toBe('not sent: the address got one about this partner within 24 hours')
    const { json } = await showLead(context, await requireLead(service.sql, leadId))
    expect(json).toMatchObject({ onboarding_sent_at: null, onboarding_mail: { refused: 'repeated' } })
  })

  it('is tried again soon when the mail server was away', async () => {
    const leads = leadsOf(service, await service.addPartner())
    await forgetAddresses()
    mailServer.refusing = true
    const leadId = await leads.start()
    expect(await retryIn(leadId)).toBeLessThan(30_000)
  })
})
