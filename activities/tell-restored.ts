import type { Logger } from 'pino'
import { SEQUENCES_LEFT_OUT } from '../src/core/record/statements/epoch.ts'
import type { Sql } from '../src/core/database/sql.ts'
import { sql as raw } from 'kysely'
import { formatTimestamp } from '../src/core/values/timestamps.ts'
import type { Mailer } from './mailer.ts'

interface Dependencies {
  sql: Sql
  mailer: Mailer
  log: Pick<Logger, 'error' | 'warn'>
}

/** Mails partners that the record was restored, each once; one whose address is refused is tried again, for a day. */
export async function tellRestored({ sql, mailer, log }: Dependencies): Promise<void> {
  const untold = await sql
    .selectFrom('partners')
    .select((eb) => ['id', 'name', 'contact_email', eb.ref('restored_at').$notNull().as('at')])
    .where('restored_at', '>', raw<Date>`clock_timestamp() - interval '1 day'`)
    .orderBy('id')
    .execute()
  for (const { id, name, contact_email: to, at } of untold) {
    const about = { partner_id: id }
    try {
      const messageId = mailer.messageId(`restored-${at.getTime()}-${id}`)
      const subject = `Our database was restored: ${name}`
      const mail =
        to === null
          ? 'no_address'
          : await mailer.send({ to, subject, text: textFor(name, at), messageId, about })
      await sql.updateTable('partners').set({ restored_at: null }).where('id', '=', id).execute()
      log.warn({ notice: 'restored', ...about, mail: { partner: mail } }, subject)
    } catch (err) {
      log.error({ err, ...about }, 'a partner could not be told of a restore; trying again in five minutes')
    }
  }
}

const textFor = (name: string, at: Date) => `Hello ${name},

On ${formatTimestamp(at)} UTC, our database was restored from a backup. What this means for your integration:

- Leads that you created, and changes that you sent with update-partner-info, within the last minutes before the failure may be lost: compare list-leads with your own system, and send them again.
- Events of those minutes are recorded again with another event_id, so you may receive one twice.
- You may receive webhooks again that you have. They have the same webhook-id.
- The sequence of a lead's webhooks is strictly increasing, as always, but its next webhook skips ${SEQUENCES_LEFT_OUT} numbers.
- If you poll list-events, your cursor may be refused. The error says where to go on.
- API keys that you revoked, and a URL or secret of your endpoint that you changed in those minutes, may be back: check get-endpoint, and change them again.
`
