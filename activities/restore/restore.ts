import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity'
import type { Logger } from 'pino'
import type { Sql } from '../../src/core/database/orm.ts'
import { addLostLead } from '../../src/core/record/statements/losses.ts'
import {
  finishRestore,
  leadsWithDueWebhooks,
  lossesOf,
  partnersToTell,
  readRestore,
  restoredUntil,
} from '../../src/capabilities/restore/statements/restores.ts'
import { DAY_MS, MINUTE_MS } from '../../src/core/values/durations.ts'
import { referralId } from '../../src/core/temporal/names.ts'
import { again } from '../again.ts'
import { mailBoth } from '../mail-both.ts'
import type { Mailer } from '../mailer.ts'
import { describeRestore } from './restore-mail.ts'

/** Workflows that take over at a time: below live traffic. */
const IN_FLIGHT = 8
const PAGE = 200
/** How often all of them are asked where none answers: for more than five minutes, in which a worker or Temporal is back. */
const ASKED = 12
/** A mail server that is slow takes longer than the minute after which Temporal takes the activity for dead. */
const HEARTBEAT_MS = 10_000
/** Before partners are mailed again whose address was refused. */
const UNMAILED_MS = 10 * MINUTE_MS

interface Dependencies {
  sql: Sql
  /** Leads whose workflows may know what was recorded after that moment; all if it is not known. */
  leadsActiveSince: (
    since: Date | undefined,
  ) => AsyncIterable<{ leadId: number; partnerId: number | undefined }>
  /** Has a lead's workflow continue with what the record has. False when there is neither. */
  takeOver: (leadId: number) => Promise<boolean>
  mailer: Mailer
  staffEmail: string | undefined
  log: Logger
  heartbeatMs?: number
}

/** Takes all leads over, and tells their partners, after the record may have gone back. */
export function restoreActivities({
  sql,
  leadsActiveSince,
  takeOver,
  mailer,
  staffEmail,
  log,
  heartbeatMs = HEARTBEAT_MS,
}: Dependencies) {
  async function* leadsToTakeOver() {
    yield* leadsActiveSince(await restoredUntil(sql))
    for (let page = await leadsWithDueWebhooks(sql, 0, PAGE); page.length > 0;) {
      yield* page.map((leadId) => ({ leadId, partnerId: undefined }))
      page = await leadsWithDueWebhooks(sql, page.at(-1) ?? 0, PAGE)
    }
  }

  return {
    /**
     * Again from the beginning after a crash: taking over twice changes nothing. A workflow that does not answer takes over
     * when it does: its next recording tells it.
     */
    takeOverLeads: async (): Promise<{ looked: number; unanswered: number }> => {
      const leads = leadsToTakeOver()
      const seen = new Set<number>()
      let unanswered = 0
      const takeOverOne = async ({
        leadId,
        partnerId,
      }: {
        leadId: number
        partnerId: number | undefined
      }) => {
        if (!(await takeOver(leadId)) && partnerId !== undefined) await addLostLead(sql, leadId, partnerId)
      }
      const workOn = async () => {
        for await (const lead of leads) {
          heartbeat()
          if (seen.has(lead.leadId)) continue
          seen.add(lead.leadId)
          await takeOverOne(lead).catch((err: unknown) => {
            unanswered += 1
            const facts = { err, lead_id: lead.leadId, workflow_id: referralId(lead.leadId) }
            log.error(facts, 'a lead has not taken over the restored record yet')
          })
        }
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, workOn))
      // a few leads may all be stuck, and the partners have to be told
      if (unanswered > 0 && unanswered === seen.size && activityInfo().attempt < ASKED)
        throw again('no workflow answers')
      return { looked: seen.size, unanswered }
    },

    /**
     * Answers how many it told; after a crash it continues with the next. One whose address is refused keeps no other
     * from the news.
     *
     * @throws {ApplicationFailure} "again" while some are left, for a day.
     */
    async tellPartners(generation: number): Promise<number> {
      const restore = await readRestore(sql, generation)
      const info = activityInfo()
      const { after, left, told: before } = (info.heartbeatDetails ?? NOBODY_TOLD) as Progress
      let told = before
      let seen = after
      const waiting = new Map(left)
      let current: [number, Set<string>] | undefined
      const beat = () => {
        const now = current === undefined ? [] : [[current[0], [...current[1]]] as [number, string[]]]
        heartbeat({ after: seen, told, left: [...waiting, ...now] } satisfies Progress)
      }
      const tell = async (partner: Told, sent: Set<string>) => {
        const losses = await lossesOf(sql, [generation], partner.id)
        const texts = describeRestore(partner, restore, losses)
        const id = `restored-${generation}-${partner.id}`
        const to = { partner: partner.contact_email, staff: staffEmail }
        const mail = await mailBoth(mailer, { id, partner_id: partner.id }, to, texts, sent)
        log.warn({ notice: 'restored', partner_id: partner.id, losses: losses.length, mail }, texts.subject)
      }
      const beating = setInterval(beat, heartbeatMs)
      try {
        for (const partner of await partnersToTell(sql, generation)) {
          if (partner.id <= after && !waiting.has(partner.id)) continue
          // another attempt has begun
          cancellationSignal().throwIfAborted()
          const sent = new Set(waiting.get(partner.id))
          waiting.delete(partner.id)
          seen = Math.max(seen, partner.id)
          current = [partner.id, sent]
          try {
            await tell(partner, sent)
            told += 1
          } catch (err) {
            waiting.set(partner.id, [...sent])
            log.error({ err, partner_id: partner.id }, 'a partner could not be told of a restore')
          }
          current = undefined
          beat()
        }
      } finally {
        clearInterval(beating)
      }
      if (waiting.size > 0 && Date.now() - info.scheduledTimestampMs < DAY_MS)
        throw again(`partners that could not be told by email: ${waiting.size}`, UNMAILED_MS)
      return told
    },

    finishRestore: async (generation: number) => finishRestore(sql, generation),
  }
}

/** Heartbeat details: partners up to that id are told, except those that are left, with the ids of mails that were sent. */
interface Progress {
  after: number
  told: number
  left: [number, string[]][]
}

const NOBODY_TOLD: Progress = { after: 0, told: 0, left: [] }

type Told = Awaited<ReturnType<typeof partnersToTell>>[number]
