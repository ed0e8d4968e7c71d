import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { mailerTo } from '../support/mailer.ts'
import { notifyActivity } from '../../activities/notify.ts'
import type { Sql } from '../../src/database/sql.ts'
import { raiseEpoch, requireDeployment } from '../../src/database/deployment.ts'
import { endpointsAtWork } from '../../src/endpoints/endpoint-review.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { columnsOf } from '../../src/endpoints/endpoint.ts'
import { oweNotice } from '../../src/endpoints/notices.ts'
import { createLogger } from '../../src/observe/log.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { addAttempts } from '../support/attempts.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { openDatabase } from '../support/open-database.ts'
import { pauseEndpoint } from '../support/endpoint-states.ts'

const PARTNER = 'tech@lender.example'
const STAFF = 'staff@service.example'

describe('mails about an endpoint', () => {
  let sql: Sql
  let partnerId: number
  let mailServer: Awaited<ReturnType<typeof startMailServer>>
  let activity: ReturnType<typeof notifyActivity>
  const logged: string[] = []

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
    mailServer = await startMailServer()
    const log = createLogger('info', 'worker', { destination: { write: (line) => void logged.push(line) } })
    const mailer = mailerTo(mailServer.url, { environment: 'production' })
    activity = notifyActivity({ sql, mailer, staffEmail: STAFF, log })
    await sql.updateTable('partners').set({ contact_email: PARTNER }).execute()
    const url = 'https://lender.example/hooks?token=secret'
    await switchAsStaff(sql, partnerId, { url, secret: () => '' })
  })

  beforeEach(async () => {
    await sql.deleteFrom('notices').execute()
    await sql.updateTable('endpoints').set({ incident: false }).execute()
    await activate()
    mailServer.refusing = false
    mailServer.mails.length = 0
    logged.length = 0
  })

  /** The endpoint after its first success. */
  const activate = () =>
    sql
      .updateTable('endpoints')
      .set({ state: 'active', paused_by: null, reason: null, failing_since: null })
      .set((eb) => ({ woken_round: eb.ref('round') }))
      .execute()
  /** The notice of a third failure. */
  const fail = (eventId?: string) => oweNotice(sql, partnerId, 'failing', eventId)
  /** The endpoint after the success that ends the incident. */
  const recover = async () => {
    await sql.updateTable('endpoints').set({ incident: false }).execute()
    await oweNotice(sql, partnerId, 'recovered')
  }
  const pause = () => pauseEndpoint(sql, partnerId)
  const change = () => oweNotice(sql, partnerId, 'secret_changed')
  const subjects = (to: string) =>
    mailServer.mails
      .filter((mail) => mail.to === to)
      .map(({ content }) => /^Subject: (?:Webhook endpoint )?(.*): First Lender$/m.exec(content)?.[1])
  const six = <Each>(each: Each) => Array.from({ length: 6 }, () => each)
  const tell = () => new MockActivityEnvironment().run(activity, partnerId)

  it.each([
    [
      'once that it fails and once that it works again, each time',
      [fail, fail, recover, fail, recover],
      ['is failing', 'works again', 'is failing', 'works again'],
    ],
    [
      'each pause by a person, in an incident that is told already',
      [fail, fail, pause, activate, fail],
      ['is failing', 'is paused'],
    ],
    ['five pauses in an hour at most', [...six(pause), activate], six('is paused').slice(1)],
    ['each change of the secret', six(change), six('Your signing secret has changed')],
  ])('mails %s, to partner and staff', async (_, events, texts) => {
    for (const happens of events) {
      await happens()
      await tell()
      await tell()
    }
    expect(subjects(PARTNER)).toEqual(texts)
    expect(subjects(STAFF)).toEqual(subjects(PARTNER))
    expect(await endpointsAtWork(sql)).toEqual([])
  })

  it.each([
    [PARTNER, STAFF],
    [STAFF, PARTNER],
  ])('mails the other though %s is refused, and that one once it no longer is', async (refused, other) => {
    mailServer.refusing = [refused]
    await fail()
    for (let count = 0; count < 2; count += 1)
      await expect(tell()).rejects.toThrow(/^the mail could not be sent: \d+$/)
    expect([subjects(refused).length, subjects(other).length]).toEqual([0, 1])
    mailServer.refusing = false
    expect(await tell()).toBe(1)
    expect([subjects(refused).length, subjects(other).length]).toEqual([1, 1])
    expect(logged.join('')).not.toContain('lender.example')
  })

  it.each([
    ['partner', 'it was paused with pause-endpoint.', /in order, call POST \/v1\/resume-endpoint/],
    ['staff', 'our staff paused it.', /only our staff can resume/],
    ['gone', 'it answered 410 Gone.', /To resume sooner, call POST \/v1\/resume-endpoint/],
  ] as const)(
    'says after a pause by %s who resumes, in the log too, but no secret of the URL',
    async (transition, why, advice) => {
      await sql.updateTable('endpoints').set(columnsOf(transition)).execute()
      await oweNotice(sql, partnerId, 'paused')
      await tell()
      const [mail] = mailServer.mails
      expect(mail?.to).toBe(PARTNER)
      expect(mail?.content).toContain(`the endpoint at https://lender.example was paused: ${why}`)
      expect(mail?.content).toMatch(advice)
      expect(mail?.content).not.toContain('secret')
      const line = { notice: 'paused', partner_id: partnerId, outcome: 'sent', level: 40 }
      expect(logged.map((text) => JSON.parse(text) as object)).toMatchObject([
        { ...line, recipient: 'partner' },
        { ...line, recipient: 'staff' },
      ])
    },
  )

  it('says that a pause has ended if that was before its mail', async () => {
    await pause()
    await activate()
    await tell()
    expect(mailServer.mails[0]?.content.replaceAll(/=?\r\n/g, ' ')).toMatch(
      /were paused, and have been sent again since .*No action is needed/,
    )
  })

  it('says since when a webhook fails, and when the endpoint will be paused', async () => {
    await insertLead(sql, partnerId, LEAD, () => '{}')
    await addAttempts(sql, partnerId, [{ errorCode: 'timeout' }, { errorCode: 'timeout' }])
    const started_at = new Date('2026-03-02T15:04:05Z')
    const next_attempt_at = new Date('2026-03-02T18:00:00Z')
    await sql.updateTable('attempts').set({ started_at }).execute()
    await sql.updateTable('deliveries').set({ next_attempt_at }).execute()
    await sql.updateTable('endpoints').set({ since: started_at, failing_since: started_at }).execute()
    const { event_id: event } = await sql.selectFrom('attempts').select('event_id').executeTakeFirstOrThrow()
    await fail(event)
    await tell()
    const content = mailServer.mails[0]?.content
    expect(content).toContain('  attempt  2, on 2026-03-02 15:04:05 UTC')
    expect(content).toContain('  next     on 2026-03-02 18:00:00 UTC, in real time')
    expect(content).toContain(
      'If the endpoint accepts no webhook until 2026-03-05 15:04:05 UTC, 72 hours later, we pause it.',
    )
  })

  it('mails partners that have leads of a restore, once', async () => {
    await requireDeployment(sql, 'sandbox')
    await addPartner(sql, { name: 'Without leads' })
    await insertLead(sql, partnerId, LEAD, () => '{}')
    await sql.transaction().execute((trx) => raiseEpoch(trx))
    expect(await endpointsAtWork(sql)).toEqual([partnerId])
    expect([await tell(), await tell()]).toEqual([1, 0])
    expect(mailServer.mails.map(({ to }) => to)).toEqual([PARTNER])
    expect(mailServer.mails[0]?.content).toMatch(/UTC, our database was restored from a backup/)
  })
})
