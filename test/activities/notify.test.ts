import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { sql as raw } from 'kysely'
import { notifyActivity } from '../../activities/notify.ts'
import { type EndpointReview, reviewEndpoint, setNextProbe } from '../../src/endpoints/review.ts'
import { setEndpoint } from '../../src/endpoints/switch-endpoint.ts'
import { columnsOf, endpointsAtWork } from '../../src/endpoints/endpoint.ts'
import { oweNotice } from '../../src/endpoints/notices.ts'
import type { Sql } from '../../src/database/sql.ts'
import type { NoticeKind } from '../../src/endpoints/endpoint-state.ts'
import { createLogger } from '../../src/observe/log.ts'
import { startMailServer } from '../support/mail-server.ts'
import { mailerTo } from '../support/mailer.ts'
import { tryActivity } from '../support/try-activity.ts'
import { openDatabase } from '../support/open-database.ts'
import { pauseEndpoint } from '../support/endpoint-states.ts'

describe('telling a partner and staff of an endpoint', () => {
  let sql: Sql
  let partnerId: number
  let endpointId: number
  let mailServer: Awaited<ReturnType<typeof startMailServer>>
  let activity: ReturnType<typeof notifyActivity>
  let review: (id: number) => Promise<EndpointReview | undefined>
  const logged: string[] = []

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
    mailServer = await startMailServer()
    const log = createLogger('info', 'worker', { destination: { write: (line) => void logged.push(line) } })
    activity = notifyActivity({
      sql,
      environment: 'production',
      mailer: mailerTo(mailServer.url, { environment: 'production' }),
      staffEmail: 'staff@service.example',
      log,
    })
    review = (id) => reviewEndpoint(sql, id)
    await sql.updateTable('partners').set({ contact_email: 'tech@lender.example' }).execute()
    const url = 'https://lender.example/hooks?token=secret'
    endpointId = (await setEndpoint(sql, partnerId, { url, secret: () => '' }))!.id
  })

  beforeEach(async () => {
    await sql.deleteFrom('notices').execute()
    await activate()
    mailServer.refusing = false
    mailServer.mails.length = 0
    logged.length = 0
  })

  const activate = () =>
    sql
      .updateTable('endpoints')
      .set({ state: 'active', paused_by: null, reason: null, failing_since: null })
      .set((eb) => ({ woken_round: eb.ref('round'), recovered_at: raw<Date>`clock_timestamp()` }))
      .execute()
  const owe = (kind: NoticeKind) => sql.transaction().execute((trx) => oweNotice(trx, partnerId, kind))
  const subjects = (to: string) =>
    mailServer.mails
      .filter((mail) => mail.to === to)
      .map(({ content }) => /^Subject: (.*)$/m.exec(content)?.[1])
  /** Lets an hour pass for all that was sent. */
  const hourLater = () =>
    sql
      .updateTable('notices')
      .set({
        owed_at: raw<Date>`owed_at - interval '1 hour'`,
        sent_at: raw<Date>`sent_at - interval '1 hour'`,
      })
      .execute()

  /** A try, which knows what earlier ones have said of themselves. */
  const attempt = (heartbeatDetails?: unknown) => tryActivity(activity, endpointId, { heartbeatDetails })
  async function notify(id: number): Promise<number> {
    return new MockActivityEnvironment().run(activity, id)
  }
  const tell = async () => {
    await review(endpointId)
    await notify(endpointId)
  }

  it('mails each kind at most once an hour', async () => {
    for (let count = 1; count <= 3; count += 1) await owe('failing')
    expect(await notify(endpointId)).toBe(1)
    await owe('failing')
    expect(await notify(endpointId)).toBe(0)
    await owe('given_up')
    expect(await notify(endpointId)).toBe(1)
    await hourLater()
    await owe('failing')
    expect(await notify(endpointId)).toBe(1)
    expect(subjects('tech@lender.example')).toEqual(subjects('staff@service.example'))
    expect(subjects('tech@lender.example')).toEqual([
      'Webhook endpoint is failing: First Lender',
      'A webhook was given up: First Lender',
      'Webhook endpoint is failing: First Lender',
    ])
  })

  it('mails each pause within the hour, up to five, and the next once it is over, with the recovery after it', async () => {
    const pauses = ['partner', 'service', 'staff', 'service', 'partner', 'service'] as const
    for (const by of pauses) {
      await sql
        .updateTable('endpoints')
        .set({
          state: 'paused',
          paused_by: by,
          reason: by === 'service' ? 'gone' : by,
          since: raw<Date>`clock_timestamp()`,
        })
        .execute()
      await tell()
    }
    expect(subjects('tech@lender.example')).toEqual(Array(5).fill('Webhook endpoint is paused: First Lender'))
    expect((await review(endpointId))?.owed).toBe('paused')
    await hourLater()
    await review(endpointId)
    expect(await notify(endpointId)).toBe(1)
    await activate()
    // the sweep starts the workflow that tells of it
    expect(await endpointsAtWork(sql)).toMatchObject([{ id: endpointId, isUnseen: false }])
    await review(endpointId)
    await notify(endpointId)
    expect(subjects('tech@lender.example').at(-1)).toMatch(/works again/)
    expect(await endpointsAtWork(sql)).toEqual([])
  })

  it('tells of each recovery that belongs to a mail about a failure, also within the hour', async () => {
    await owe('failing')
    await tell()
    await tell()
    await pauseEndpoint(sql, partnerId)
    await tell()
    await activate()
    await tell()
    await tell()
    expect(subjects('tech@lender.example')).toEqual([
      'Webhook endpoint is failing: First Lender',
      'Webhook endpoint works again: First Lender',
      'Webhook endpoint is paused: First Lender',
      'Webhook endpoint works again: First Lender',
    ])
    expect((await review(endpointId))?.owed).toBeNull()
  })

  it('keeps a notice that the mail server refuses, without repeating the address anywhere', async () => {
    mailServer.refusing = true
    await owe('given_up')
    await expect(notify(endpointId)).rejects.toThrow(/^the mail could not be sent: \d+$/)
    mailServer.refusing = false
    expect(await notify(endpointId)).toBe(1)
    expect(mailServer.mails).toHaveLength(2)
    expect(logged.join('')).not.toContain('lender.example')
  })

  it('tells nobody of a pause that ended before its email could be sent, nor that it is over', async () => {
    mailServer.refusing = true
    await pauseEndpoint(sql, partnerId)
    await expect(tell()).rejects.toThrow('could not be sent')
    await activate()
    mailServer.refusing = false
    await tell()
    await tell()
    expect(mailServer.mails).toEqual([])
    expect(await sql.selectFrom('notices').selectAll().execute()).toEqual([])
  })

  it('tells the other of a pause that ended meanwhile that it did', async () => {
    mailServer.refusing = ['tech@lender.example']
    await pauseEndpoint(sql, partnerId)
    await review(endpointId)
    const first = await attempt()
    await activate()
    mailServer.refusing = false
    await attempt(first.said)
    expect(subjects('staff@service.example')).toHaveLength(1)
    const mail = mailServer.mails.find(({ to }) => to === 'tech@lender.example')
    expect(mail?.content.replaceAll(/=?\r\n/g, ' ')).toMatch(
      /were paused, and are sent again since .*No action is needed/,
    )
  })

  it('tells staff once if the partner’s address is refused, of each notice, and the partner when it no longer is', async () => {
    mailServer.refusing = ['tech@lender.example']
    await owe('failing')
    await owe('given_up')
    const first = await attempt()
    expect(first).toMatchObject({ error: expect.stringMatching(/^the mail could not be sent/) })
    const second = await attempt(first.said)
    expect(second).toMatchObject({ error: expect.stringMatching(/^the mail could not be sent/) })
    const of = ['Webhook endpoint is failing: First Lender', 'A webhook was given up: First Lender']
    expect(subjects('staff@service.example')).toEqual(of)
    expect(subjects('tech@lender.example')).toEqual([])
    mailServer.refusing = false
    expect(await attempt(second.said)).toMatchObject({ count: 2 })
    expect(subjects('tech@lender.example')).toEqual(of)
    expect(subjects('staff@service.example')).toEqual(of)
  })

  it('does not mail the partner again because staff’s address is refused', async () => {
    mailServer.refusing = ['staff@service.example']
    await owe('failing')
    expect(await attempt()).toMatchObject({ count: 1 })
    expect(await attempt()).toMatchObject({ count: 0 })
    expect(subjects('tech@lender.example')).toEqual(['Webhook endpoint is failing: First Lender'])
    expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ mail: { partner: 'sent', staff: 'failed' } }),
    ])
  })

  it('is no reason to wait with probes: the workflow is told of a pause that it has not seen', async () => {
    await sql.updateTable('endpoints').set(columnsOf('gone')).execute()
    expect(await endpointsAtWork(sql)).toMatchObject([{ id: endpointId, isUnseen: true }])
    const seen = (await review(endpointId))!
    await setNextProbe(sql, endpointId, seen.since, new Date())
    expect(await endpointsAtWork(sql)).toMatchObject([{ id: endpointId, isUnseen: false }])
    await pauseEndpoint(sql, partnerId)
    expect(await endpointsAtWork(sql)).toMatchObject([{ id: endpointId, isUnseen: false }])
  })

  it('writes a line into the log, and no secret of the URL into a mail', async () => {
    await pauseEndpoint(sql, partnerId)
    await review(endpointId)
    await notify(endpointId)
    expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ notice: 'paused', partner_id: partnerId, level: 40 }),
    ])
    const [mail] = mailServer.mails
    expect(mail?.content).toMatch(/the endpoint at https:\/\/lender\.example was paused: our staff paused it/)
    expect(mail?.content).not.toContain('secret')
  })

  it.each([
    [
      'pausedByPartner',
      true,
      'was paused with POST /v1/pause-endpoint.',
      /in order, call POST \/v1\/resume-endpoint/,
    ],
    ['pausedByPartner', false, 'was paused with POST /v1/pause-endpoint.', /in order, ask us\./],
    ['pausedByStaff', true, 'was paused: our staff paused it.', /only our staff can resume/],
    ['gone', true, 'was paused: it answered 410 Gone.', /To resume sooner, call POST \/v1\/resume-endpoint/],
  ] as const)(
    'says after %s, self-service %s, who resumes',
    async (transition, selfService, happened, advice) => {
      await sql.updateTable('partners').set({ self_service: selfService }).execute()
      await sql.updateTable('endpoints').set(columnsOf(transition)).execute()
      await review(endpointId)
      await notify(endpointId)
      const [mail] = mailServer.mails
      expect(mail?.to).toBe('tech@lender.example')
      expect(mail?.content).toContain(happened)
      expect(mail?.content).toMatch(advice)
    },
  )
})
