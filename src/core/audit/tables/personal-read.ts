import { defineEntity, p } from '@mikro-orm/core'
import { instant, oneOf } from '../../database/columns.ts'

/**
 * What returns a borrower's personal data: calls of the API, and commands of staff. get-deliveries does when it returns what
 * an endpoint answered, which may repeat it; a find when it says that somebody is there, whatever they were found by.
 */
export const readKinds = [
  'get-lead',
  'export-lead',
  'get-deliveries',
  'lead show',
  'lead export',
  'find by email',
  'find by lead id',
  'find by partner_lead_id',
  'find by webhook',
] as const
export type ReadKind = (typeof readKinds)[number]

/**
 * A read of a borrower's personal data: who, whose, when. It refers to no other row, because a foreign key would lock
 * lead and partner for each read, and holds no personal data itself, so that it outlives the lead's. The table is
 * partitioned by month, because reads are dropped by month.
 */
export const PersonalRead = defineEntity({
  name: 'PersonalRead',
  tableName: 'personal_reads',
  properties: {
    at: instant().primary().defaultRaw('clock_timestamp()'),
    /** From the sequence personal_reads_id_seq. */
    id: p.bigint().primary().autoincrement(),
    leadId: p.integer(),
    /** Whose lead it is. */
    partnerId: p.integer(),
    /** The API key that read it; `null` for staff. */
    keyId: p.integer().nullable(),
    /** What they of staff who read it called themselves; `null` for a key. */
    staff: p.text().nullable(),
    /** As whom the operating system knows them. */
    osUser: p.text().nullable(),
    /** The login with which staff read; the function write_staff_read takes it from the session. */
    databaseUser: p.text().nullable(),
    what: p.text().$type<ReadKind>(),
  },
  checks: [
    { name: 'personal_reads_what_check', expression: oneOf('what', readKinds) },
    { name: 'personal_reads_reader_check', expression: '(key_id is null) = (staff is not null)' },
  ],
  indexes: [
    { name: 'personal_reads_lead_id_index', properties: ['leadId', 'at'] },
    {
      name: 'personal_reads_key_id_index',
      expression:
        'create index personal_reads_key_id_index on personal_reads (key_id, at) where key_id is not null',
    },
    {
      name: 'personal_reads_staff_index',
      expression:
        'create index personal_reads_staff_index on personal_reads (partner_id, at) where staff is not null',
    },
  ],
})
