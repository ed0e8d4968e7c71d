import { type Command, Option } from 'commander'
import { backgroundPatience } from '../../../core/database/mikro-orm.config.ts'
import { connect, type Sql, sqlOf } from '../../../core/database/orm.ts'
import { findKey } from '../../../core/partners/statements/keys.ts'
import { type ReadFilter, type ReadLead, reportReads, type ReadTotals } from '../statements/reads-report.ts'
import { jsonPieces } from '../../../core/values/json-pieces.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import type { Printed, Write } from '../../../staff/answer.ts'
import { leadId, matching, moment, partnerId } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { nounOf } from '../../../staff/noun.ts'
import { exportLead } from './lead-export.ts'
import { requirePartner } from '../../../core/partners/commands/require-partner.ts'
import { Refusal } from '../../../staff/refusal.ts'

interface Options {
  key?: number
  lead?: number
  partner?: number
  from?: Date
  to?: Date
}

/** PostgreSQL counts millions of reads before it answers. */
const SILENCE_MS = 10 * 60_000

/** What can be learned about borrowers without a recorded read. */
const ALSO =
  'Not in this report: create-lead, list-leads, get-events, list-events and get-deliveries return no name, email address, phone number, notes or metadata. They return lead ids, the partner’s own ids of its leads, milestones and score gains, and a key can read those of all leads of its partner. Of an API process that was killed, the reads of its last second are missing.'

export function addAccessCommands(program: Command, run: Run): void {
  const access = program
    .command('access')
    .description('who read borrowers’ personal data')
    .addHelpText('after', '\nExample:\n  npm run staff -- access report --key 12 --from 2026-03-02')
  const id = (text: string) => Number(matching(/^[1-9]\d{0,8}$/, 'Use the key’s id: see "key list".')(text))
  access
    .command('report')
    .description('borrowers whose data a key read, or who read a borrower’s or a partner’s; ids and counts')
    .addOption(new Option('--key <key>', 'what this key read').argParser(id).conflicts(['lead', 'partner']))
    .addOption(new Option('--lead <lead>', 'who read this lead').argParser(leadId).conflicts('partner'))
    .option('--partner <partner>', 'who read this partner’s leads', partnerId)
    .option('--from <time>', 'reads from this time on', moment)
    .option('--to <time>', 'reads before this time', moment)
    .action(run(report))
  nounOf(program, 'lead')
    .command('export')
    .argument('<lead>', 'its id', leadId)
    .description('everything that is kept of a borrower, as JSON')
    .action(run(exportLead))
}

export async function report({ sql, config }: StaffContext, options: Options): Promise<Printed> {
  const filter = await filterOf(sql, options)
  return {
    print: async (json, write) => {
      const patience = { ...backgroundPatience, silenceMs: SILENCE_MS }
      const orm = await connect(config.DATABASE_URL, patience, { connections: 1 })
      try {
        await reportReads(sqlOf(orm), filter, async (totals, pages) =>
          json ? printJson(options, totals, pages, write) : printText(options, totals, pages, write),
        )
      } finally {
        await orm.close()
      }
    },
  }
}

async function filterOf(sql: Sql, { key, lead, partner, from, to }: Options): Promise<ReadFilter> {
  const time = { ...(from && { from }), ...(to && { to }) }
  if (lead !== undefined) return { leadId: lead, ...time }
  if (partner !== undefined) {
    await requirePartner(sql, partner)
    return { partnerId: partner, ...time }
  }
  if (key === undefined) throw new Refusal('Say whose reads: --key, --lead or --partner.')
  if ((await findKey(sql, key)) === undefined)
    throw new Refusal(`There is no key ${key}: see "key list PARTNER".`)
  return { keyId: key, ...time }
}

type Pages = AsyncIterable<ReadLead[]>

async function printJson(
  { key, lead, partner, from, to }: Options,
  totals: ReadTotals[],
  pages: Pages,
  write: Write,
): Promise<void> {
  const document = {
    key_id: key,
    lead_id: lead,
    partner_id: partner,
    from: from ?? null,
    to: to ?? null,
    ...sumOf(totals),
    partners: totals,
    borrowers: pages,
    also: ALSO,
  }
  for await (const piece of jsonPieces(document)) await write(piece)
  await write('\n')
}

async function printText(options: Options, totals: ReadTotals[], pages: Pages, write: Write): Promise<void> {
  const { leads, reads } = sumOf(totals)
  await write(`${headline(options)}: ${counted(leads, 'borrower')}, ${counted(reads, 'read')}.\n`)
  for (const total of totals)
    await write(
      `  partner ${total.partner_id}: ${counted(total.leads, 'borrower')}, ${counted(total.reads, 'read')}\n`,
    )
  if (leads > 0) await write(`\n${COLUMNS}\n`)
  for await (const page of pages) await write(page.map((row) => `${lineOf(row)}\n`).join(''))
  await write(`\n${ALSO}\n`)
}

function headline({ key, lead, partner, from, to }: Options): string {
  const what = [
    key !== undefined && `Read by key ${key}`,
    lead !== undefined && `Reads of lead ${lead}`,
    partner !== undefined && `Reads of leads of partner ${partner}`,
    from && `from ${formatTimestamp(from)} UTC`,
    to && `before ${formatTimestamp(to)} UTC`,
  ]
  return what.filter(Boolean).join(' ')
}

function sumOf(totals: ReadTotals[]) {
  const sum = (part: 'leads' | 'reads') => totals.reduce((all, total) => all + total[part], 0)
  return { leads: sum('leads'), reads: sum('reads') }
}

const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`

/** Rows come in pages, so columns cannot be as wide as what is in them. */
const line = (lead: string, reads: string, first: string, last: string, rest: string) =>
  `${lead.padEnd(10)}  ${reads.padStart(7)}  ${first.padEnd(19)}  ${last.padEnd(19)}  ${rest}`

const COLUMNS = line('lead', 'reads', 'first', 'last', 'by')

/** The login, which PostgreSQL checked, before what they called themselves. */
const staffOf = ({ database_user: login, staff, os_user: osUser }: ReadLead) =>
  `${login ?? ''} as ${staff ?? ''} (${osUser ?? ''})`

function lineOf(row: ReadLead): string {
  const by = row.key_id === null ? staffOf(row) : `key ${row.key_id}`
  const [first, last] = [formatTimestamp(row.first_at), formatTimestamp(row.last_at)]
  return line(String(row.lead_id), String(row.reads), first, last, `${by}: ${row.what.join(', ')}`)
}
