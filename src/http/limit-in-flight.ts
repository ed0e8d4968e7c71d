import { finished } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { ApiError } from './errors.ts'

/**
 * Bounds the requests of each key, such as a partner's id, that are in flight in this process.
 *
 * @returns a function that counts a request until its response is sent or its sender is gone, and throws if it is one too many.
 */
export function limitInFlight(most: number, refusal: () => ApiError) {
  const inFlight = new Map<number | string, number>()
  return (key: number | string, { raw }: FastifyReply): void => {
    const count = inFlight.get(key) ?? 0
    if (count >= most) throw refusal()
    inFlight.set(key, count + 1)
    finished(raw, () => {
      const left = (inFlight.get(key) ?? 1) - 1
      if (left === 0) inFlight.delete(key)
      else inFlight.set(key, left)
    })
  }
}

export type LimitInFlight = ReturnType<typeof limitInFlight>
