import { setTimeout as delay } from 'node:timers/promises'
import { cancellationSignal, heartbeat } from '@temporalio/activity'
import { drawKinds } from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import {
  LEADS_IN_FLIGHT,
  LONGEST_HOURS,
  MOST_REFUSED_LEADS,
  type PopulationEnd,
  type Progress,
} from '../../src/capabilities/sandbox/populations/decisions/population.ts'
import { unplayedLeads } from '../../src/capabilities/sandbox/populations/statements/population-leads.ts'
import {
  endPopulation,
  isOver,
  noteProgress,
  type PlayedPopulation,
  readPopulation,
  requestEnd,
} from '../../src/capabilities/sandbox/populations/statements/populations.ts'
import {
  othersGetWebhooks,
  progressOf,
  refusedLeads,
  reportOf,
} from '../../src/capabilities/sandbox/populations/statements/progress.ts'
import { leadPlayer, type PlayerDependencies } from './play-lead.ts'

/** How long one activity plays: then its place is free for another partner’s. */
const BATCH_MS = 3000
/** How often it looks whether its end was asked for. */
const LOOK_MS = 500
const HOUR_S = 3600
/** Who got a webhook so many seconds ago is somebody beside whom it plays. */
const LOOKED_BACK_S = 10

/** What a batch has come to. */
export interface Batch {
  partnerId: number
  progress: Progress | null
  /** Absent while there is more to play. */
  end?: PopulationEnd
}

/** Plays a population, a few seconds at a time. Sandbox only: it waits for activities of its leads. */
export function populationActivities(dependencies: PlayerDependencies) {
  const { sql } = dependencies
  const player = leadPlayer(dependencies)

  /** Resolves once nothing is under way: the leads that were cut go on in the next batch. */
  async function play(population: PlayedPopulation, cut: AbortController): Promise<void> {
    const kinds = drawKinds(population)
    const { open, unbegun } = await unplayedLeads(sql, population)
    const beside = await othersGetWebhooks(sql, population.partnerId, LOOKED_BACK_S)
    async function beginNext() {
      const number = unbegun.shift()
      return number === undefined ? undefined : player.begin(population, number, kinds[number - 1])
    }
    async function takeTurns(): Promise<void> {
      while (!cut.signal.aborted) {
        const lead = open.shift() ?? (await beginNext())
        if (lead === undefined) return
        await player.play({ ...population, rests: beside }, lead, cut)
      }
    }
    const places = beside ? LEADS_IN_FLIGHT.besideOthers : LEADS_IN_FLIGHT.alone
    await allOf(Array.from({ length: places }, takeTurns), cut)
    cut.abort()
  }

  /** Cuts the batch off at its end, when the worker stops, or once the population's end was asked for. */
  async function watch(id: number, cut: AbortController): Promise<void> {
    const { signal } = cut
    for (const began = performance.now(); !signal.aborted;) {
      heartbeat()
      if (performance.now() - began > BATCH_MS || (await isOver(sql, id))) cut.abort()
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  async function endOf(population: PlayedPopulation): Promise<PopulationEnd | undefined> {
    const { id, isCanceled, isHeld, ageSeconds } = population
    if (isCanceled) return 'canceled'
    const { open, unbegun } = await unplayedLeads(sql, population)
    if (open.length === 0 && unbegun.length === 0) return 'done'
    if (isHeld || ageSeconds > LONGEST_HOURS * HOUR_S) return 'stopped'
    return (await refusedLeads(sql, id)) >= MOST_REFUSED_LEADS ? 'stopped' : undefined
  }

  return {
    async playPopulation(id: number): Promise<Batch> {
      const population = await readPopulation(sql, id)
      if (population === undefined) return { partnerId: 0, progress: null, end: 'canceled' }
      const { partnerId, outcome, progress: before } = population
      if (outcome !== null) return { partnerId, progress: before, end: outcome }
      await noteProgress(sql, id, null)
      const began = performance.now()
      if (!population.isCanceled && !population.isHeld) {
        const cut = new AbortController()
        cancellationSignal().addEventListener('abort', () => cut.abort(), { once: true })
        await allOf([play(population, cut), watch(id, cut)], cut)
      }
      const seconds = (performance.now() - began) / 1000
      const progress = await progressOf(sql, { ...population, before, seconds })
      await noteProgress(sql, id, progress)
      const now = (await readPopulation(sql, id)) ?? population
      const end = await endOf(now)
      return { partnerId, progress, ...(end && { end }) }
    },

    /** For an operator who cancels the workflow: the same as the partner's call. */
    requestPopulationEnd: async (id: number): Promise<void> => requestEnd(sql, id),

    /** Writes the report. @returns how it ended: as an earlier try said, if there was one. */
    endPopulation: async (id: number, outcome: PopulationEnd): Promise<PopulationEnd> =>
      endPopulation(sql, id, outcome, (trx) => reportOf(trx, id)),
  }
}

/** Waits for all, even after one has failed: nothing goes on unseen. Then it throws why that one did. */
async function allOf(works: readonly Promise<void>[], cut: AbortController): Promise<void> {
  const results = await Promise.allSettled(
    works.map((work) =>
      work.catch((error: unknown) => {
        cut.abort()
        throw error
      }),
    ),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
