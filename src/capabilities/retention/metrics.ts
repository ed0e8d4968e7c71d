import { Counter, Gauge, type Registry } from 'prom-client'
import type { Logger } from 'pino'
import type { RetentionHeld } from '../../core/database/retained.ts'

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
    help: '1 while retention removes nothing, because a clock is wrong',
    registers: [registry],
  })
  // an alert on an increase needs the zero before the first
  for (const name of classes) counter.inc({ class: name }, 0)
  gauge.set(0)
  let wasHeld = false
  return {
    /** Rows of that class were removed because they are old. */
    removed: (name: string, rows: number) => counter.inc({ class: name }, rows),

    /** What keeps retention from removing something; logged when it begins. */
    held([first]: readonly RetentionHeld[]) {
      gauge.set(first === undefined ? 0 : 1)
      if (first !== undefined && !wasHeld) log.error(first.message)
      wasHeld = first !== undefined
    },
  }
}
