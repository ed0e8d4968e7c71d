import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { prepareDelivering } from '../support/delivering.ts'
import { startMailServer } from '../support/mail-server.ts'
import { mailerTo } from '../support/mailer.ts'

/** Longer than any test. */
const PATIENT_MS = 60_000

describe('a lead’s welcome', () => {
  let on: Awaited<ReturnType<typeof prepareDelivering>>
  let mailServer: Awaited<ReturnType<typeof startMailServer>>
  let leadId: number

  beforeAll(async () => {
    on = await prepareDelivering()
    mailServer = await startMailServer()
  })

  beforeEach(async () => {
    on.endpoint.answer = (_, response) => void response.writeHead(200).end()
    mailServer.refusing = false
    leadId = await on.commitLead()
    on.endpoint.arrivals.length = 0
    mailServer.mails.length = 0
  })

  const start = (waitMs: number) => {
    const { welcome, deliver, settled } = on.startProcess({ waitMs })
    const mailer = mailerTo(mailServer.url)
    return { deliver, settled, ...welcome(mailer) }
  }

  it('is the first webhook and the mail, once however often it is repeated', async () => {
    const { welcome } = start(PATIENT_MS)
    expect(await welcome(leadId, on.partnerId)).toEqual({ delivered: true, mailed: true })
    expect(await welcome(leadId, on.partnerId)).toEqual({ delivered: true, mailed: true })
    expect(on.endpoint.arrivals).toEqual([expect.objectContaining({ verified: true })])
    expect(mailServer.mails).toHaveLength(1)
  })

  it('does not fail with either, and says what is still to be done', async () => {
    on.endpoint.answer = (_, response) => void response.writeHead(500).end()
    mailServer.refusing = true
    const { welcome } = start(PATIENT_MS)
    expect(await welcome(leadId, on.partnerId)).toEqual({ delivered: false, mailed: false })
    mailServer.refusing = false
    expect(await welcome(leadId, on.partnerId)).toEqual({ delivered: false, mailed: true })
  })

  it('waits no longer than it may, and what goes on is not done twice', async () => {
    const answers: (() => void)[] = []
    on.endpoint.answer = (_, response) => void answers.push(() => void response.writeHead(200).end())
    const mailed = Promise.withResolvers<void>()
    mailServer.answering = mailed.promise
    const { welcome, deliver, sendOnboardingEmail, settled, mailsSettled } = start(1)
    expect(await welcome(leadId, on.partnerId)).toEqual({ delivered: false, mailed: false })
    await on.endpoint.until((arrivals) => arrivals.length === 1)
    const later = deliver(leadId, 1, 'scheduled')
    await expect(sendOnboardingEmail(leadId)).rejects.toMatchObject({ type: 'Again' })
    answers[0]?.()
    mailed.resolve()
    expect(await later).toEqual({ outcome: 'delivered', next: 2, last: 1 })
    await Promise.all([settled(), mailsSettled()])
    expect(await sendOnboardingEmail(leadId)).toBe('already_sent')
    expect(on.endpoint.arrivals).toHaveLength(1)
    expect(mailServer.mails).toHaveLength(1)
  })
})
