import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { DAY_MS } from '../core/values/durations.ts'
import { formatTimestamp } from '../core/values/timestamps.ts'
import { firstOf, type InboxItem, type InboxSource } from './inbox.ts'

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
