import { type Random, randomOf } from './random.ts'

/** What is killed and frozen: two API processes, two workers, and the servers that they share. */
export const targets = ['api 1', 'api 2', 'worker 1', 'worker 2', 'temporal', 'postgres'] as const
export type Target = (typeof targets)[number]

/** What the service speaks over: one proxy for each. */
export const links = ['api-postgres', 'worker-postgres', 'api-temporal', 'worker-temporal'] as const
export type Link = (typeof links)[number]

const hits = {
  /** SIGKILL; started again after `forMs`. */
  kill: targets,
  /** SIGSTOP, and SIGCONT after `forMs`. */
  freeze: targets,
  /** Each packet takes `latencyMs` longer. */
  latency: links,
  /** Every open connection is reset. */
  reset: links,
  /** Bytes vanish in both directions. Afterwards, the connections that lost some are reset, or forgotten: see the proxy. */
  silence: links,
} as const
export type FaultKind = keyof typeof hits
export const faultKinds = Object.keys(hits) as FaultKind[]

export interface PlannedFault {
  /** Milliseconds after the load began. */
  atMs: number
  kind: FaultKind
  on: Target | Link
  forMs: number
  latencyMs: number
  /** Connections that lost bytes stay silent when the silence is over. */
  forgets: boolean
}

const FIRST_MS = 1500
const GAP_MS = [1500, 4000] as const
/** A process that was killed needs a moment until it can be hit again. */
const RECOVERY_MS = 4000
/** Seldom, because a worker of Temporal’s SDK takes 45 s to notice: its keepalive cannot be set. */
const FORGETS = 0.2

/** The faults of a run: the same for the same seed and length. Each five in a row are of all five kinds. */
export function planFaults(seed: number, loadMs: number): PlannedFault[] {
  const random = randomOf(seed, 'faults')
  const nextKind = deck(random, faultKinds)
  const decks = new Map(faultKinds.map((kind) => [kind, deck<Target | Link>(random, hits[kind])]))
  const busyUntil = new Map<string, number>()
  const faults: PlannedFault[] = []
  for (let atMs = FIRST_MS; atMs < loadMs; atMs += random.between(...GAP_MS)) {
    const kind = nextKind(() => true) ?? 'reset'
    const on = decks.get(kind)?.((name) => (busyUntil.get(name) ?? 0) <= atMs)
    const forMs = durationOf(kind, random)
    const latencyMs = kind === 'latency' ? random.between(50, 500) : 0
    const forgets = kind === 'silence' && random.chance(FORGETS)
    if (on === undefined) continue
    busyUntil.set(on, atMs + forMs + RECOVERY_MS)
    faults.push({ atMs, kind, on, forMs, latencyMs, forgets })
  }
  return faults
}

function durationOf(kind: FaultKind, random: Random): number {
  if (kind === 'kill') return random.between(0, 3000)
  if (kind === 'freeze') return random.between(1000, 15_000)
  return kind === 'reset' ? 0 : random.between(1000, 10_000)
}

/** Deals items in random order, each once before any again. An item that does not fit is dealt later. */
function deck<Item>(random: Random, items: readonly Item[]) {
  let left: Item[] = []
  return (fits: (item: Item) => boolean): Item | undefined => {
    if (!left.some(fits)) left = [...left, ...random.shuffled(items)]
    const index = left.findIndex(fits)
    return index === -1 ? undefined : left.splice(index, 1)[0]
  }
}
