/** An open run, as lists show it. */
export interface OpenRun {
  workflowId: string
  runId: string
  type: string
  startedAt: Date
}

/**
 * How many histories of each type of workflow are taken. What a share of p of the workflows have in common is missed by n
 * random ones with a probability of (1 - p)^n: with 300, what one of a hundred has is missed in five of a hundred samples,
 * however many workflows there are.
 */
export const TAKEN = { oldest: 50, newest: 50, longest: 50, random: 300 }
/** Lists don't say how long a run's history is: the longest are looked for among this many. */
export const CANDIDATES = 1000

/** What a sample is chosen from: runs are shown one by one, and only those are kept that may be in it. */
export function createSampler(random: () => number = Math.random) {
  const types = new Map<string, ReturnType<typeof samplerOfType>>()
  return {
    show(run: OpenRun): void {
      const sampler = types.get(run.type) ?? samplerOfType(random)
      types.set(run.type, sampler)
      sampler.show(run)
    },
    chosen: () => [...types].map(([type, sampler]) => ({ type, ...sampler.chosen() })),
  }
}

function samplerOfType(random: () => number) {
  const age = (run: OpenRun) => run.startedAt.getTime()
  const oldest = best(TAKEN.oldest, (one, other) => age(one) - age(other))
  const newest = best(TAKEN.newest, (one, other) => age(other) - age(one))
  /** Each run is among them with the same probability, in random order. */
  const candidates: OpenRun[] = []
  let open = 0
  return {
    show(run: OpenRun): void {
      open += 1
      oldest.show(run)
      newest.show(run)
      const place = Math.floor(random() * open)
      if (candidates.length < CANDIDATES) {
        const moved = candidates[place]
        if (moved !== undefined) candidates.push(moved)
        candidates[place] = run
      } else if (place < CANDIDATES) candidates[place] = run
    },
    /** What is taken, and the others whose history may be among the longest. */
    chosen() {
      const taken = new Set([...oldest.kept(), ...newest.kept(), ...candidates.slice(0, TAKEN.random)])
      return { open, taken: [...taken], others: candidates.filter((run) => !taken.has(run)) }
    },
  }
}

/** The first `count` in an order. */
function best(count: number, order: (one: OpenRun, other: OpenRun) => number) {
  let kept: OpenRun[] = []
  const sorted = () => kept.toSorted(order).slice(0, count)
  return {
    show(run: OpenRun): void {
      kept.push(run)
      if (kept.length > 2 * count) kept = sorted()
    },
    kept: sorted,
  }
}
