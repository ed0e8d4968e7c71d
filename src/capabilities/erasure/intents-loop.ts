import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Sql } from '../../core/database/orm.ts'
import { keepTurning, type LoopOptions } from '../../core/temporal/keep-turning.ts'
import { leadsOf } from './statements/apply-journal.ts'
import { endOpenIntents } from './statements/intents.ts'
import { type ErasureSettings, erasureTools } from './statements/journal.ts'
import { createUnknownErasures } from './unknown-erasures.ts'
import { HOUR_MS, MINUTE_MS } from '../../core/values/durations.ts'

/** It reads the whole journal. */
const INTERVAL_MS = HOUR_MS
/** How soon it is tried again. */
const AGAIN_MS = MINUTE_MS

interface Options extends LoopOptions {
  sql: Sql
  config: ErasureSettings
  registry: Registry
  log: Logger
}

/** Ends erasures of which the journal has only the intent, once an hour until `signal` aborts. */
export async function keepIntentsEnded(options: Options): Promise<void> {
  const { sql, config, registry, log } = options
  const tell = createUnknownErasures(registry, log)
  const { journal } = erasureTools(config)
  if (journal === undefined) return
  const loop = {
    name: 'interrupted_erasures',
    everyMs: INTERVAL_MS,
    againMs: AGAIN_MS,
    turn: async () => tell(leadsOf(await endOpenIntents(sql, journal))),
    onFailure: (err: unknown) =>
      log.warn({ err }, 'cannot end erasures that were interrupted; trying again every minute'),
  }
  await keepTurning(loop, options)
}
