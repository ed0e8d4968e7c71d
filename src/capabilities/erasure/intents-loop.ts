import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { WatchLoop } from '../../metrics/loops.ts'
import type { Sql } from '../../core/database/orm.ts'
import { leadsOf } from './statements/apply-journal.ts'
import { endOpenIntents } from './statements/intents.ts'
import { type ErasureSettings, erasureTools } from './statements/journal.ts'
import { createUnknownErasures } from './unknown-erasures.ts'
import { HOUR_MS, MINUTE_MS } from '../../core/values/durations.ts'

/** It reads the whole journal. */
const INTERVAL_MS = HOUR_MS
/** How soon it is tried again. */
const AGAIN_MS = MINUTE_MS

interface Options {
  sql: Sql
  config: ErasureSettings
  registry: Registry
  log: Logger
  signal: AbortSignal
  watchLoop?: WatchLoop
}

/** Ends erasures of which the journal has only the intent, once an hour until `signal` aborts. */
export async function keepIntentsEnded(options: Options): Promise<void> {
  const { sql, config, registry, log, signal } = options
  const tell = createUnknownErasures(registry, log)
  const { journal } = erasureTools(config)
  if (journal === undefined) return
  const turned = options.watchLoop?.('interrupted_erasures')
  let failing = false
  while (!signal.aborted) {
    try {
      tell(leadsOf(await endOpenIntents(sql, journal)))
      failing = false
      turned?.(INTERVAL_MS)
    } catch (error) {
      if (!failing)
        log.warn({ err: error }, 'cannot end erasures that were interrupted; trying again every minute')
      failing = true
    }
    await delay(failing ? AGAIN_MS : INTERVAL_MS, undefined, { signal }).catch(() => undefined)
  }
}
