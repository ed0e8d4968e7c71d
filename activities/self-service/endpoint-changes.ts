import type { Logger } from 'pino'
import {
  type AnnouncedChange,
  applyAnnounced,
  changeToAnnounce,
  findAnnounced,
  setDate,
} from '../../src/capabilities/self-service/statements/announced-changes.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { again } from '../again.ts'
import { describeChange } from './change-mail.ts'
import { mailBoth, sentBefore } from '../mail-both.ts'
import type { Mailer } from '../mailer.ts'

interface Dependencies {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  mailer: Mailer
  staffEmail: string | undefined
  startEndpoint: (endpointId: number) => Promise<unknown>
  log: Pick<Logger, 'warn'>
}

const UNMAILED_MS = 60 * 60 * 1000

/** What is done about a change that takes effect 24 hours after partner and staff were told. */
export function endpointChangeActivities(dependencies: Dependencies) {
  const { sql, encryptionKeys, mailer, staffEmail, startEndpoint, log } = dependencies
  return {
    /** `null` once the change is settled. */
    reviewChange: async (changeId: number): Promise<AnnouncedChange | null> =>
      (await findAnnounced(sql, changeId)) ?? null,

    /**
     * Mails partner and staff, and sets the date. A crash between the two repeats the emails under the same Message-ID.
     *
     * @throws {ApplicationFailure} "again" while nobody can be told: what nobody was told does not take effect.
     */
    async announceChange(changeId: number): Promise<void> {
      const change = await changeToAnnounce(sql, changeId)
      if (change === undefined) return
      const texts = describeChange(change)
      const to = { partner: change.contactEmail, staff: staffEmail }
      const mail = await mailBoth(
        mailer,
        { id: `endpoint-change-${changeId}`, partner_id: change.partnerId },
        to,
        texts,
        sentBefore(),
      )
      log.warn({ change_id: changeId, partner_id: change.partnerId, mail }, texts.subject)
      if (mail.partner !== 'sent')
        throw again('the partner’s contact could not be told by email', UNMAILED_MS)
      await setDate(sql, changeId)
    },

    /** Carries the change out, if its date has come and nobody has canceled it. */
    async applyChange(changeId: number): Promise<void> {
      const endpointId = await applyAnnounced(sql, changeId, encryptionKeys)
      if (endpointId !== undefined) await startEndpoint(endpointId).catch(() => undefined)
    },
  }
}
