import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'
import { type Fixture, fixtureOf, prepareFixture } from './scenes.ts'

describe('a welcome of which one half is poisoned', () => {
  let fixture: Fixture
  let mailServer: Awaited<ReturnType<typeof startMailServer>>

  beforeAll(async () => {
    mailServer = await startMailServer()
    fixture = await prepareFixture({
      SMTP_URL: mailServer.url,
      SMTP_CATCHER: 'true',
    })
    await raw`create function refuse() returns trigger language plpgsql as $$
      begin raise 'poisoned'; end $$`.execute(fixture.service.sql)
  })

  /** Another partner, of whose rows the database takes none into `table`. */
  async function poison(table: 'attempts') {
    const { service } = fixture
    const partner = await service.addPartner()
    mailServer.mails.length = 0
    await raw`create trigger poison before insert on ${raw.table(table)} for each row
      when (new.partner_id = ${raw.lit(partner.id)}) execute function refuse()`.execute(service.sql)
    const cure = () => raw`drop trigger poison on ${raw.table(table)}`.execute(service.sql)
    return { ...fixtureOf(service, partner), cure }
  }

  /** Once it was tried more than once. */
  const retried = (leadId: number, activity: string) =>
    until(async () => {
      const { raw: description } = await fixture.handleOf(leadId).describe()
      const pending = description.pendingActivities?.find(
        ({ activityType }) => activityType?.name === activity,
      )
      return (pending?.attempt ?? 0) > 1
    })

  it('sends the mail although the webhook cannot be begun, and tells operators after three tries', async () => {
    const { leads, arrived, cure } = await poison('attempts')
    const leadId = await leads.start()
    await retried(leadId, 'deliverWebhook')
    const { notes } = await fixture.view(leadId)
    expect(notes).toEqual([
      {
        at: expect.any(Number),
        what: 'welcome',
        why: 'failed three times: webhook 1 and the onboarding email are tried apart',
      },
    ])
    expect(mailServer.mails).toHaveLength(1)
    await cure()
    await arrived(leadId, 1)
    expect(mailServer.mails).toHaveLength(1)
  })
})
