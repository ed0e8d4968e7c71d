import { Gauge, type Registry } from 'prom-client'

/** A loop begins, and tells of each turn that ended well, with the pause until its next one. */
export type WatchLoop = (name: string) => (pauseMs: number) => void

/**
 * When each loop of a worker last ended a turn. A turn that found another worker at it counts too. A loop that has ended
 * none has the time of its start.
 */
export function watchLoops(registry: Registry): WatchLoop {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['loop'], registers: [registry] })
  const ended = gauge('referrals_loop_last_end_timestamp_seconds', 'When a loop last ended a turn well')
  const pauses = gauge('referrals_loop_pause_seconds', 'How long a loop rests between two turns')
  return (loop) => {
    ended.setToCurrentTime({ loop })
    pauses.set({ loop }, 0)
    return (pauseMs) => {
      ended.setToCurrentTime({ loop })
      pauses.set({ loop }, pauseMs / 1000)
    }
  }
}
