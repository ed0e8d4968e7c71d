import { type Random, randomOf } from './random.ts'

/** What is killed and frozen: two API processes, two workers, and the servers that they share. */
export const services = ['api 1', 'api 2', 'worker 1', 'worker 2'] as const
export const targets = [...services, 'temporal', 'postgres'] as const
export type Service = (typeof services)[number]
export type Target = (typeof targets)[number]

/** What the service speaks over: one proxy for each. */
export const links = ['api-postgres', 'worker-postgres', 'api-temporal', 'worker-temporal'] as const
export type Link = (typeof links)[number]

const hits = {
  /** SIGKILL; started again after `forMs`. */
  kill: targets,
  /** SIGSTOP, and SIGCONT after `forMs`. */
  freeze: targets,
  /** Every open connection is reset. */
  reset: links,
  /** Bytes vanish in both directions. Afterwards, the connections that lost some are reset. */
  silence: links,
} as const
type RandomKind = keyof typeof hits
const randomKinds = Object.keys(hits) as RandomKind[]

/** `bad build`, `restore` and `clock` are acts: see acts.ts. */
export const faultKinds = [...randomKinds, 'bad build', 'restore', 'clock'] as const
export type FaultKind = (typeof faultKinds)[number]

export interface PlannedFault {
  /** Milliseconds after the load began. */
  atMs: number
  kind: FaultKind
  on: Target | Link
  /** How long it lasts; of an act, how long it takes at most. */
  forMs: number
}

/** Whether PostgreSQL also comes back with files of a minute ago, and clocks also step. */
export type PlanOptions = Record<'restore' | 'clock', boolean>

/** `alone`: what no random fault hits meanwhile. */
type Act = Pick<PlannedFault, 'kind' | 'on' | 'forMs'> & { alone: readonly (Target | Link)[] }

const ofApi = ['api 1', 'api 2'] as const
const everything = [...targets, ...links]
/** A lease is 20 seconds long: one worker stands still for less, one for longer. */
const acts: Act[] = [
  { kind: 'freeze', on: 'worker 1', forMs: 15_000, alone: ['worker 1'] },
  { kind: 'freeze', on: 'worker 2', forMs: 40_000, alone: ['worker 2'] },
  // the API works meanwhile, so nothing else may keep it from that
  { kind: 'kill', on: 'temporal', forMs: 15_000, alone: [...ofApi, 'temporal', 'postgres', ...links] },
  { kind: 'bad build', on: 'worker 1', forMs: 50_000, alone: ['worker 1', 'worker 2', 'temporal'] },
]
const CLOCK: Act = { kind: 'clock', on: 'worker 1', forMs: 36_000, alone: everything }
/** The last act, so that the copy has what partners did to their endpoints before. */
const RESTORE: Act = { kind: 'restore', on: 'postgres', forMs: 100_000, alone: everything }

const FIRST_MS = 1500
const GAP_MS = [1500, 4000] as const
/** A process that was killed needs a moment until it can be hit again. */
const RECOVERY_MS = 4000
/** The load of whole journeys that two slow cores can take beside the faults: an overload would hide their effect. */
const LEADS_PER_SECOND = 2
/** Leads are created in this share of the load. */
const CREATING = 0.8

/** How long the load lasts, and what goes wrong meanwhile: the same for the same seed, leads and options. */
export function planFaults(seed: number, leads: number, options: PlanOptions) {
  const chance = randomOf(seed, 'faults')
  const order = chance.shuffled([...acts, ...(options.clock ? [CLOCK] : [])])
  if (options.restore) order.push(RESTORE)
  const takenMs = order.reduce((sum, { forMs }) => sum + forMs + RECOVERY_MS, RECOVERY_MS)
  const loadMs = Math.max(takenMs, (leads / LEADS_PER_SECOND) * 1000)
  const pauseMs = (loadMs - takenMs) / order.length
  let atMs = RECOVERY_MS
  const placed = order.map((act) => {
    const at = atMs
    atMs += act.forMs + RECOVERY_MS + pauseMs
    return { ...act, atMs: at }
  })
  // a restore comes last, and has to lose some
  const createMs = options.restore ? loadMs : CREATING * loadMs
  return { loadMs, createMs, planned: placed, random: planRandom(chance, loadMs, placed) }
}

function planRandom(chance: Random, loadMs: number, placed: (Act & { atMs: number })[]): PlannedFault[] {
  const busy = placed.flatMap(({ alone, atMs, forMs }) =>
    alone.map((on) => ({ on, from: atMs, to: atMs + forMs + RECOVERY_MS })),
  )
  const faults: PlannedFault[] = []
  for (let atMs = FIRST_MS; atMs < loadMs; atMs += chance.between(...GAP_MS)) {
    const kind = chance.pick(randomKinds)
    const forMs = durationOf(kind, chance)
    const end = atMs + forMs + RECOVERY_MS
    const free = hits[kind].filter((name) =>
      busy.every(({ on, from, to }) => on !== name || end < from || to < atMs),
    )
    if (free.length === 0) continue
    const on = chance.pick<Target | Link>(free)
    busy.push({ on, from: atMs, to: end })
    faults.push({ atMs, kind, on, forMs })
  }
  return faults
}

function durationOf(kind: RandomKind, chance: Random): number {
  if (kind === 'kill') return chance.between(0, 3000)
  if (kind === 'freeze') return chance.between(1000, 15_000)
  return kind === 'reset' ? 0 : chance.between(1000, 10_000)
}
