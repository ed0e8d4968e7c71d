import type { StaffContext } from './context.ts'

/** Something that waits for a person. It names partners, leads and workflows by their ids, and no borrower. */
export interface InboxItem {
  /** What is the matter, in one line. */
  what: string
  since: Date | null
  /** Whom it touches, as counts by what is counted: `{ leads: 12, webhooks: 41 }`. */
  touches: Record<string, number>
  /** The command that mends it, or what to do where none of ours does. */
  mend: string
}

/** The worst of a kind, and how many there are in all. */
interface Found {
  items: InboxItem[]
  total: number
}

/** What a room knows of that waits for a person. */
export interface InboxSource {
  kind: string
  /** The worst first, `limit` at most. */
  find: (context: StaffContext, limit: number) => Promise<Found>
}

/** A count ends here: nobody waits minutes for it. */
export const MOST_COUNTED = 10_000

/** All of what was found, of which `limit` are shown. */
export const firstOf = (items: InboxItem[], limit: number): Found => ({
  items: items.slice(0, limit),
  total: items.length,
})

export const command = (text: string) => `npm run staff -- ${text}`
