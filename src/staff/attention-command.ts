import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { DAY_MS, formatTimestamp } from '../values.ts'
import { fields, printable } from './answer.ts'
import { whole } from './arguments.ts'
import { firstOf, type InboxItem, type InboxSource, MOST_COUNTED } from './attention.ts'
import type { Run, StaffContext } from './context.ts'

/** Of each kind. */
const MOST_SHOWN = 10
/** For cron: something waits. 1 says that the command itself failed. */
const SOMETHING_WAITS = 3

/** The server has no list of them. */
const NOT_LISTED =
  'Workflows whose task fails are not listed here: the alert WorkflowsFail and temporal_workflow_task_execution_failed_total tell of them.'

/** @param sources of rooms, the worst first. */
export function addInboxCommand(program: Command, run: Run, sources: readonly InboxSource[]): void {
  program
    .command('inbox')
    .description(
      `what needs a person now, over all partners, the worst first; exit code ${SOMETHING_WAITS} if there is something`,
    )
    .option('--limit <items>', 'of each kind', whole(1, 1000), MOST_SHOWN)
    .action(run((context, { limit }: { limit: number }) => inbox(context, sources, limit)))
}

export async function inbox(context: StaffContext, sources: readonly InboxSource[], limit = MOST_SHOWN) {
  const kinds: { kind: string; items: InboxItem[]; total: number }[] = []
  for (const { kind, find } of sources) kinds.push({ kind, ...(await find(context, limit)) })
  const waiting = kinds.filter(({ items }) => items.length > 0)
  return {
    json: {
      items: waiting.flatMap(({ kind, items }) => items.map((item) => ({ kind, ...item }))),
      not_listed: Object.fromEntries(
        waiting.flatMap(({ kind, items, total }) =>
          total > items.length ? [[kind, total - items.length]] : [],
        ),
      ),
    },
    text: [
      ...(waiting.length === 0 ? ['Nothing needs a person.'] : waiting.map((each) => kindText(each))),
      NOT_LISTED,
    ].join('\n\n'),
    ...(waiting.length > 0 && { exitCode: SOMETHING_WAITS }),
  }
}

function kindText({ items, total }: { items: InboxItem[]; total: number }): string {
  const left = total - items.length
  return [...items.map(itemText), ...(left > 0 ? [`and ${left} more`] : [])].join('\n\n')
}

function itemText({ what, since, touches, mend }: InboxItem): string {
  const counts = Object.entries(touches).filter(([, count]) => count > 0)
  const touched = counts
    .map(([name, count]) => `${countText(count)} ${count === 1 ? name.replace(/s$/, '') : name}`)
    .join(', ')
  const details = fields({ since, touches: touched, mend })
  return `${printable(what)}\n${details.replaceAll(/^/gm, '  ')}`
}

const countText = (count: number) => (count >= MOST_COUNTED ? `${MOST_COUNTED} or more` : String(count))

/** Long enough to get another one. */
const ENDS_SOON_DAYS = 30

/** Certificates that end soon: those of the connection to Temporal, and the files that CERTIFICATE_FILES names. */
export const certificatesInbox: InboxSource = {
  kind: 'certificates',
  find: async ({ config, temporal }, limit) => {
    const items: InboxItem[] = []
    for (const file of config.CERTIFICATE_FILES) items.push(...(await itemsOf(file, () => readFile(file))))
    for (const { name, pem } of temporal.certificates) items.push(...(await itemsOf(name, async () => pem)))
    return firstOf(items.toSorted(sooner), limit)
  },
}

const sooner = (one: InboxItem, other: InboxItem) =>
  (one.since?.getTime() ?? 0) - (other.since?.getTime() ?? 0)

/** `since`: it began to be urgent thirty days before its end. */
async function itemsOf(name: string, read: () => Promise<Buffer>): Promise<InboxItem[]> {
  try {
    const ends = new Date(new X509Certificate(await read()).validTo)
    const since = new Date(ends.getTime() - ENDS_SOON_DAYS * DAY_MS)
    if (since > new Date()) return []
    const verb = ends < new Date() ? 'ended' : 'ends'
    const mend = 'replace it, and restart the processes that read it'
    return [
      { what: `The certificate ${name} ${verb} on ${formatTimestamp(ends)} UTC.`, since, touches: {}, mend },
    ]
  } catch (error) {
    const what = `The certificate ${name} cannot be read: ${(error as Error).message}.`
    return [
      { what, since: null, touches: {}, mend: 'correct CERTIFICATE_FILES, or let your user read the file' },
    ]
  }
}
