import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { mailerTo } from '../support/mailer.ts'
import { notifyActivity } from '../../activities/notify.ts'
import { endpointsAtWork } from '../../src/endpoints/endpoint-review.ts'
import { setEndpoint } from '../../src/endpoints/switch-endpoint.ts'
import { columnsOf } from '../../src/endpoints/endpoint.ts'
import { oweNotice } from '../../src/endpoints/notices.ts'
import type { Sql } from '../../src/database/sql.ts'
import { createLogger } from '../../src/observe/log.ts'
import { addAttempts } from '../support/attempts.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { tryActivity } from '../support/try-activity.ts'
import { openDatabase } from '../support/open-database.ts'
import { pauseEndpoint } from '../support/endpoint-states.ts'

describe('telling a partner and staff of an endpoint', () => {
  let sql: Sql
  let partnerId: number
  let mailServer: Awaited<ReturnType<typeof startMailServer>>
  let activity: ReturnType<typeof notifyActivity>
  const logged: string[] = []

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
    mailServer = await startMailServer()
    const log = createLogger('info', 'worker', { destination: { write: (line) => void logged.push(line) } })
    activity = notifyActivity({
      sql,
      mailer: mailerTo(mailServer.url, { environment: 'production' }),
      staffEmail: 'staff@service.example',
      log,
    })
    await sql.updateTable('partners').set({ contact_email: 'tech@lender.example' }).execute()
    const url = 'https://lender.example/hooks?token=secret'
    await setEndpoint(sql, partnerId, { url, secret: () => '' })
  })

  beforeEach(async () => {
    await sql.deleteFrom('notices').execute()
    await sql.updateTable('endpoints').set({ incident: false }).execute()
    await activate()
    mailServer.refusing = false
    mailServer.mails.length = 0
    logged.length = 0
  })

  /** As after its first success. */
  const activate = () =>
    sql
      .updateTable('endpoints')
      .set({ state: 'active', paused_by: null, reason: null, failing_since: null })
      .set((eb) => ({ woken_round: eb.ref('round') }))
      .execute()
  /** As after the failure that is told. */
  const fail = (eventId?: string) => oweNotice(sql, partnerId, 'failing', eventId)
  /** As after the success that ends the incident. */
  const recover = async () => {
    await sql.updateTable('endpoints').set({ incident: false }).execute()
    await oweNotice(sql, partnerId, 'recovered')
  }
  const change = async (transition: Parameters<typeof columnsOf>[0]) => {
    await sql.updateTable('endpoints').set(columnsOf(transition)).execute()
    await oweNotice(sql, partnerId, 'paused')
  }
  const subjects = (to: string) =>
    mailServer.mails
      .filter((mail) => mail.to === to)
      .map(({ content }) => /^Subject: (.*): First Lender$/m.exec(content)?.[1])

  /** A try, which knows what earlier ones have said of themselves. */
  const attempt = (heartbeatDetails?: unknown) => tryActivity(activity, partnerId, { heartbeatDetails })
  const tell = () => new MockActivityEnvironment().run(activity, partnerId)

  it('mails once that it fails and once that it works again, each time, to partner and staff', async () => {
    for (const told of [fail, fail, recover, fail, recover]) {
      await told()
      await tell()
    }
    const texts = ['is failing', 'works again', 'is failing', 'works again']
    expect(subjects('tech@lender.example')).toEqual(texts.map((text) => `Webhook endpoint ${text}`))
    expect(subjects('staff@service.example')).toEqual(subjects('tech@lender.example'))
  })

  it('mails each pause by a person, in an incident that is told already, to partner and staff', async () => {
    for (const told of [fail, fail, () => pauseEndpoint(sql, partnerId), activate, fail]) {
      await told()
      await tell()
      await tell()
    }
    expect(subjects('tech@lender.example')).toEqual([
      'Webhook endpoint is failing',
      'Webhook endpoint is paused',
    ])
    expect(subjects('staff@service.example')).toEqual(subjects('tech@lender.example'))
    expect(await endpointsAtWork(sql)).toEqual([])
  })

  it('keeps a notice that the mail server refuses, without repeating the address anywhere', async () => {
    mailServer.refusing = true
    await fail()
    expect(await attempt()).toMatchObject({
      error: expect.stringMatching(/^the mail could not be sent: \d+$/),
    })
    mailServer.refusing = false
    expect(await attempt()).toMatchObject({ count: 1 })
    expect(mailServer.mails).toHaveLength(2)
    expect(logged.join('')).not.toContain('lender.example')
  })

  it('says of a pause that ended before its mail that it did', async () => {
    await pauseEndpoint(sql, partnerId)
    await activate()
    await attempt()
    const mail = mailServer.mails.find(({ to }) => to === 'tech@lender.example')
    expect(mail?.content.replaceAll(/=?\r\n/g, ' ')).toMatch(
      /were paused, and have been sent again since .*No action is needed/,
    )
  })

  it('tells staff once if the partner’s address is refused, and the partner when it no longer is', async () => {
    mailServer.refusing = ['tech@lender.example']
    await fail()
    const refused = { error: expect.stringMatching(/^the mail could not be sent/) }
    const first = await attempt()
    expect(first).toMatchObject(refused)
    const second = await attempt(first.said)
    expect(second).toMatchObject(refused)
    expect(subjects('staff@service.example')).toHaveLength(1)
    expect(subjects('tech@lender.example')).toEqual([])
    mailServer.refusing = false
    expect(await attempt(second.said)).toMatchObject({ count: 1 })
    expect(subjects('tech@lender.example')).toHaveLength(1)
    expect(subjects('staff@service.example')).toHaveLength(1)
  })

  it('does not mail the partner again because staff’s address is refused', async () => {
    mailServer.refusing = ['staff@service.example']
    await fail()
    expect(await attempt()).toMatchObject({ count: 1 })
    expect(await attempt()).toMatchObject({ count: 0 })
    expect(subjects('tech@lender.example')).toEqual(['Webhook endpoint is failing'])
    expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ mail: { partner: 'sent', staff: 'failed' } }),
    ])
  })

  it.each([
    [
      'partner',
      'was paused: it was paused with pause-endpoint.',
      /in order, call POST \/v1\/resume-endpoint/,
    ],
    ['staff', 'was paused: our staff paused it.', /only our staff can resume/],
    ['gone', 'was paused: it answered 410 Gone.', /To resume sooner, call POST \/v1\/resume-endpoint/],
  ] as const)(
    'says after a pause by %s who resumes, in the log too, but no secret of the URL',
    async (transition, happened, advice) => {
      await change(transition)
      await tell()
      const [mail] = mailServer.mails
      expect(mail?.to).toBe('tech@lender.example')
      expect(mail?.content).toContain(`the endpoint at https://lender.example ${happened}`)
      expect(mail?.content).toMatch(advice)
      expect(mail?.content).not.toContain('secret')
      expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
        expect.objectContaining({ notice: 'paused', partner_id: partnerId, level: 40 }),
      ])
    },
  )

  it('says since when a webhook fails, and when the endpoint will be paused', async () => {
    await insertLead(sql, partnerId, LEAD, () => '{}')
    await addAttempts(sql, partnerId, [{ errorCode: 'timeout' }, { errorCode: 'timeout' }])
    const started_at = new Date('2026-03-02T15:04:05Z')
    const next_attempt_at = new Date('2026-03-02T18:00:00Z')
    await sql.updateTable('attempts').set({ started_at, next_attempt_at }).execute()
    await sql.updateTable('endpoints').set({ since: started_at, failing_since: started_at }).execute()
    const deliveries = sql.selectFrom('deliveries').select('event_id')
    const { event_id: event } = await deliveries.executeTakeFirstOrThrow()
    await fail(event)
    await tell()
    const content = mailServer.mails[0]?.content
    expect(content).toContain('  attempt  2, on 2026-03-02 15:04:05 UTC')
    expect(content).toContain('  next     on 2026-03-02 18:00:00 UTC, in real time')
    expect(content).toContain(
      'If the endpoint accepts no webhook until 2026-03-05 15:04:05 UTC, 72 hours later, we pause it.',
    )
  })
})
