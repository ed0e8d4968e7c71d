import { setTimeout as delay } from 'node:timers/promises'
import type { Prometheus } from '../../prometheus/prometheus.ts'
import type { Act } from './acts.ts'
import { FACTOR, type Fault, promises } from './promises.ts'

const LOOK_MS = 500
const MINUTE_MS = 60_000
/** What does not become shorter: two readings, and a minute in which a failing workflow may recover. */
const SLACK_MS: Partial<Record<Fault, number>> = { 'a bad version rolled out': 90_000 }
const USUAL_SLACK_MS = 10_000
/** How much longer a fault goes on once all has fired that should: nothing else may. */
const LINGER_MS = 4000
const QUIET_MS = (60 * MINUTE_MS) / FACTOR
const CLEAR_LIMIT_MS = 240_000

export interface Seen {
  fault: Fault
  /** Milliseconds from the fault until each alert fired. */
  fired: Record<string, number>
  /** From the fault's end until nothing fired any more. */
  clearedMs: number | undefined
  broken: string[]
}

/** Stages a fault, sees what fires, ends it, and waits until nothing fires any more. */
export async function rehearse(fault: Fault, act: Act, prometheus: Prometheus): Promise<Seen> {
  const promised: Record<string, number> = promises[fault]
  const slackMs = SLACK_MS[fault] ?? USUAL_SLACK_MS
  const limitOf = (minutes: number) => (minutes * MINUTE_MS) / FACTOR + slackMs
  const fired: Record<string, number> = {}
  const began = performance.now()
  const look = async () => {
    const firing = await prometheus.firing()
    for (const alert of firing) fired[alert] ??= performance.now() - began
    return firing
  }
  const lookUntil = async (isOver: (firing: string[]) => boolean, limitMs: number) => {
    const end = performance.now() + limitMs
    for (;;) {
      if (isOver(await look())) return true
      if (performance.now() > end) return false
      await delay(LOOK_MS)
    }
  }
  const names = Object.keys(promised)
  // what is killed takes a moment, in which alerts may fire already
  const striking = act.strike()
  const longestMs = names.length === 0 ? QUIET_MS : Math.max(...Object.values(promised).map(limitOf))
  await lookUntil(() => names.length > 0 && names.every((name) => name in fired), longestMs)
  await striking
  if (names.length > 0) await lookUntil(() => false, LINGER_MS)

  const mendedAt = performance.now()
  const mending = act.mend()
  let repairing = Promise.resolve()
  const isOver = (firing: string[]) => {
    if (firing.length > 0 && act.repair !== undefined)
      repairing = repairing.then(act.repair).then(
        () => {},
        () => {},
      )
    return firing.length === 0
  }
  const isClear = await lookUntil(isOver, CLEAR_LIMIT_MS)
  const clearedMs = isClear ? performance.now() - mendedAt : undefined
  await Promise.all([mending, repairing])
  return { fault, fired, clearedMs, broken: brokenIn({ fired, promised, isClear, limitOf }) }
}

interface Facts {
  fired: Record<string, number>
  promised: Record<string, number>
  isClear: boolean
  limitOf: (minutes: number) => number
}

export function brokenIn({ fired, promised, isClear, limitOf }: Facts): string[] {
  const missing = Object.keys(promised).filter((name) => !(name in fired))
  const late = Object.entries(promised).filter(([name, minutes]) => (fired[name] ?? 0) > limitOf(minutes))
  const others = Object.keys(fired).filter((name) => !(name in promised))
  return [
    ...missing.map((name) => `${name} did not fire`),
    ...late.map(([name]) => `${name} fired late`),
    ...others.map((name) => `${name} fired, and is not promised`),
    ...(isClear ? [] : ['something still fires']),
  ]
}
