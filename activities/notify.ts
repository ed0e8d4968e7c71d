import type { Logger } from 'pino'
import {
  dropNotice,
  markSent,
  noticeFacts,
  type UnsentNotice,
  unsentNotices,
} from '../src/core/endpoints/statements/notices.ts'
import type { Sql } from '../src/core/database/sql.ts'
import { partnerOfEndpoint } from '../src/core/endpoints/statements/review.ts'
import type { Environment } from '../src/core/values/environment.ts'
import { isOneTold, mailBoth, type SentMails, sentBefore } from './mail-both.ts'
import type { Mailer } from './mailer.ts'
import { describeNotice } from './notice-mail.ts'

interface Dependencies {
  sql: Sql
  environment: Environment
  mailer: Mailer
  /** Who is told about failing endpoints, beside the partner. */
  staffEmail: string | undefined
  log: Logger
}

/**
 * Mails the notices that are owed to an endpoint's partner and to staff. A crash between sending and marking repeats a
 * mail under the same Message-ID.
 *
 * @throws {ApplicationFailure} once all were tried, if one was refused.
 */
export function notifyActivity({ sql, environment, mailer, staffEmail, log }: Dependencies) {
  const send = async (partnerId: number, notice: UnsentNotice, sent: SentMails): Promise<void> => {
    const id = `notice-${partnerId}-${notice.kind}-${notice.owedAt.getTime()}`
    const facts = await noticeFacts(sql, partnerId, notice.eventId)
    const isOver = notice.kind === 'paused' && facts.state !== 'paused'
    // resumed before anybody was told
    if (isOver && !isOneTold(id, sent)) return dropNotice(sql, partnerId, notice)
    const texts = describeNotice(partnerId, notice.kind, facts, environment)
    const mail = await mailBoth(
      mailer,
      { id, partner_id: partnerId },
      { partner: facts.contact_email, staff: staffEmail },
      texts,
      sent,
    )
    await markSent(sql, partnerId, notice)
    log.warn({ notice: notice.kind, partner_id: partnerId, event_id: notice.eventId, mail }, texts.subject)
  }

  return async (endpointId: number): Promise<number> => {
    const partnerId = await partnerOfEndpoint(sql, endpointId)
    const notices = await unsentNotices(sql, partnerId)
    const sent = sentBefore()
    const failures: unknown[] = []
    for (const notice of notices)
      await send(partnerId, notice, sent).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
    return notices.length
  }
}
