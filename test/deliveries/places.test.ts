import { beforeEach, describe, expect, it } from '@jest/globals'
import { ENDPOINT_CAP } from '../../src/deliveries/delivery-states.ts'
import { createPlaces, type Places } from '../../src/deliveries/places.ts'

const PARTNER = 1
const answers = { status: null, hint: null, responseHeaders: null, responseBody: null }
const accepted = (durationMs = 10) => ({
  ...answers,
  retryAfter: null,
  ok: true,
  durationMs,
  errorCode: null,
})
const failed = (errorCode: string) => ({ ...accepted(15_000), ok: false, errorCode })

describe('the places for requests to a partner', () => {
  let places: Places
  let nowMs = 0
  const noJitter = () => 0.5
  beforeEach(() => {
    places = createPlaces(noJitter, () => nowMs)
  })

  const takeAll = (partnerId = PARTNER) => {
    let taken = 0
    while (places.take(partnerId)) taken += 1
    return taken
  }
  const turnAway = (times: number) => Array.from({ length: times }, () => places.turnAwayMs(PARTNER)).at(-1)

  it('are ten, beside those of others, and free again once they are given back', () => {
    expect([takeAll(), takeAll(2)]).toEqual([ENDPOINT_CAP, ENDPOINT_CAP])
    places.giveBack(PARTNER)
    expect([takeAll(), takeAll(2)]).toEqual([1, 0])
  })

  it('are one after a timeout, until a request succeeds, and ten after another failure', () => {
    places.answered(PARTNER, failed('timeout'))
    expect(takeAll()).toBe(1)
    places.giveBack(PARTNER)
    places.answered(PARTNER, failed('http_error'))
    expect(takeAll()).toBe(1)
    places.answered(PARTNER, accepted())
    expect(takeAll()).toBe(ENDPOINT_CAP - 1)
    places.answered(2, failed('connection_reset'))
    expect(takeAll(2)).toBe(ENDPOINT_CAP)
  })

  it('are ten again once nothing was under way for five minutes', () => {
    places.answered(PARTNER, failed('timeout'))
    takeAll()
    nowMs += 300_000
    expect(takeAll()).toBe(0)
    places.giveBack(PARTNER)
    nowMs += 300_000
    expect(takeAll()).toBe(ENDPOINT_CAP)
  })

  it.each([
    ['a second at least', 30, 20, 1000],
    ['as long as ten requests at a time take for all before it', 2000, 100, 20_000],
    ['five minutes at most', 15_000, 1000, 300_000],
  ])('say to those who find none to come back in %s', (_, tookMs, times, ms) => {
    places.answered(PARTNER, accepted(tookMs))
    expect(turnAway(times)).toBe(ms)
  })

  it('say so of an endpoint that begins to hang, too', () => {
    places.answered(PARTNER, accepted())
    takeAll()
    nowMs += 5000
    expect(turnAway(100)).toBe(50_000)
  })

  it('count one less for each answer, and anew once an endpoint that hung has accepted one', () => {
    places.answered(PARTNER, accepted(1000))
    expect(turnAway(100)).toBe(10_000)
    for (let count = 0; count < 31; count += 1) places.answered(PARTNER, accepted(1000))
    expect(turnAway(1)).toBe(7000)
    places.answered(PARTNER, failed('timeout'))
    places.answered(PARTNER, accepted(15_000))
    expect(turnAway(1)).toBe(1500)
  })
})
