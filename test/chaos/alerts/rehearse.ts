import { setTimeout as delay } from 'node:timers/promises'
import type { Prometheus } from '../../prometheus/prometheus.ts'
import type { Act } from './acts.ts'
import { type Fault, minuteMsOf, promises } from './promises.ts'

const LOOK_MS = 500
/** What does not become shorter: two readings, and what they read for everybody for five seconds. */
const SLACK_MS = 10_000
/** How much longer a fault goes on once all has fired that should: nothing else may. */
const LINGER_MS = 4000
const QUIET_MS = 60 * minuteMsOf('a quiet hour')
/** How long nothing may fire until it is over: what is read only now may be as bad. */
const CLEAR_MS = 12_000
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
  const limitOf = (minutes: number) => minutes * minuteMsOf(fault) + SLACK_MS
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
  let isMended = false
  const mending = act.mend().then(() => (isMended = true))
  let repairing: Promise<void> | undefined
  let clearAt = mendedAt
  const isOver = (firing: string[]) => {
    if (firing.length > 0 || !isMended) clearAt = performance.now()
    if (firing.length > 0 && isMended) repairing ??= act.repair?.().finally(() => (repairing = undefined))
    return performance.now() - clearAt > CLEAR_MS
  }
  const isClear = await lookUntil(isOver, CLEAR_LIMIT_MS)
  const clearedMs = isClear ? clearAt - mendedAt : undefined
  await Promise.all([mending, repairing])
  return { fault, fired, clearedMs, broken: brokenIn({ fired, promised, isClear, limitOf }) }
}

interface Facts {
  fired: Record<string, number>
  promised: Record<string, number>
  isClear: boolean
  limitOf: (minutes: number) => number
}

function brokenIn({ fired, promised, isClear, limitOf }: Facts): string[] {
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
