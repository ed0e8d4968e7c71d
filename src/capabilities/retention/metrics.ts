import { Counter, Gauge, type Registry } from 'prom-client'
import type { Logger } from 'pino'
import { type RetentionHeld, retentionBrakes } from '../../core/database/retained.ts'

/** Counts and logs what retention does. It never throws and waits for nothing. */
export function createRetentionMetrics(registry: Registry, log: Logger, classes: readonly string[]) {
  const counter = new Counter({
    name: 'referrals_retention_removed_total',
    help: 'Rows that were erased, emptied or deleted because they are old',
    labelNames: ['class'],
    registers: [registry],
  })
  const gauge = new Gauge({
    name: 'referrals_retention_held',
    help: '1 while retention removes nothing of a class: the clock is wrong, or it is more than a day’s most',
    labelNames: ['reason'],
    registers: [registry],
  })
  // an alert on an increase needs the zero before the first
  for (const name of classes) counter.inc({ class: name }, 0)
  for (const reason of retentionBrakes) gauge.set({ reason }, 0)
  let heldBefore: string[] = []
  return {
    /** Rows of that class were removed because they are old. */
    removed: (name: string, rows: number) => counter.inc({ class: name }, rows),

    /** What keeps retention from removing something; logged when it begins. */
    held(held: readonly RetentionHeld[]) {
      for (const reason of retentionBrakes)
        gauge.set({ reason }, held.some(({ brake }) => brake === reason) ? 1 : 0)
      const news = held.filter(({ brake }) => !heldBefore.includes(brake))
      for (const { brake, message } of news) log.error({ reason: brake }, message)
      heldBefore = held.map(({ brake }) => brake)
    },
  }
}
