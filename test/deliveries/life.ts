import assert from 'node:assert/strict'
import { decideAttempt } from '../../src/deliveries/attempt-decision.ts'
import { type AttemptTrigger, type DeliveryState, LEASE_MS } from '../../src/deliveries/delivery-states.ts'
import {
  type EndpointPauser,
  type EndpointTransition,
  endpointTransitions,
} from '../../src/endpoints/endpoint-state.ts'
import { decideFailure } from '../../src/deliveries/outcome-decision.ts'
import { inRound } from '../../src/deliveries/retry-schedule.ts'

export const LEADS = 14
export const WEBHOOKS = 2
const SECOND_MS = 1000
const SHORTEST_RETRY_MS = 5 * SECOND_MS

interface Delivery {
  leadId: number
  state: DeliveryState
  round: number
  failures: number
  /** The end of its latest scheduled attempt. */
  previousAt: Date | null
  nextAttemptAt: Date
  lease: Attempt | null
  asked: null
  interruptions: number
}

interface Attempt {
  delivery: Delivery
  trigger: AttemptTrigger
  round: number
  startedAt: Date
}

/** Leads with their webhooks, one endpoint, and requests under way: rows as the database keeps them, decided by the core. */
export class Life {
  now = new Date('2026-01-01T00:00:00Z')
  endpoint = {
    url: 'https://lender.example',
    pausedBy: null as EndpointPauser | null,
    failingSince: null as Date | null,
    round: 1,
  }
  underWay: Attempt[] = []
  settled: Delivery[] = []
  deliveries: Delivery[]
  random: () => number

  constructor(random: () => number) {
    this.random = random
    this.deliveries = Array.from({ length: LEADS * WEBHOOKS }, (_, index) => ({
      leadId: Math.floor(index / WEBHOOKS),
      state: 'pending',
      round: 0,
      failures: 0,
      previousAt: null,
      nextAttemptAt: this.now,
      lease: null,
      asked: null,
      interruptions: 0,
    }))
  }

  /** The only delivery of a lead that its workflow sends. */
  first(leadId: number): Delivery | undefined {
    return this.deliveries.find((delivery) => delivery.leadId === leadId && delivery.state === 'pending')
  }

  pass(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * SECOND_MS)
  }

  begin(delivery: Delivery, trigger: AttemptTrigger): 'send' | 'wait' | 'held' | 'fail' | 'settled' {
    const isLeased =
      delivery.lease !== null && this.now.getTime() - delivery.lease.startedAt.getTime() < LEASE_MS
    const { round } = this.endpoint
    const counted = inRound(delivery, round, this.now)
    const decision = decideAttempt({ ...counted, isLeased, isErased: false }, this.endpoint, trigger, this)
    if (decision.kind === 'wait') assert(decision.forMs > 0)
    if (decision.kind === 'fail') {
      const { failures, forMs } = decision
      assert(forMs >= SHORTEST_RETRY_MS)
      Object.assign(delivery, {
        round,
        failures,
        nextAttemptAt: new Date(this.now.getTime() + forMs),
        interruptions: 0,
      })
      delivery.lease = null
    }
    if (decision.kind !== 'send') return decision.kind
    assert(!isLeased)
    assert(trigger === 'probe' || this.endpoint.pausedBy === null)
    assert(trigger !== 'scheduled' || counted.nextAttemptAt <= this.now)
    const attempt = { delivery, trigger, round, startedAt: this.now }
    delivery.lease = attempt
    this.underWay.push(attempt)
    return 'send'
  }

  /** `null`: its process dies. */
  end(attempt: Attempt, status: number | null): void {
    this.underWay = this.underWay.filter((each) => each !== attempt)
    const { delivery, trigger } = attempt
    const isCurrent = attempt.round === this.endpoint.round
    if (status === null) {
      delivery.interruptions += 1
      return
    }
    if (delivery.lease === attempt) delivery.interruptions = 0
    if (status === 200) {
      this.settle(delivery, 'delivered')
      if (isCurrent) Object.assign(this.endpoint, { failingSince: null })
      if (isCurrent && trigger === 'probe' && this.endpoint.pausedBy === 'service')
        this.transition('probe_succeeded')
      return
    }
    const { round } = this.endpoint
    const facts = { ...inRound(delivery, round, this.now), trigger, holdsLease: delivery.lease === attempt }
    const request = { status, errorCode: null, retryAfter: null }
    const decision = decideFailure(facts, { ...this.endpoint, isCurrent }, request, this)
    if (facts.holdsLease) delivery.lease = null
    if (trigger === 'scheduled') delivery.previousAt = this.now
    if (decision.delivery !== null) {
      const { failures, nextAttemptAt, isGivenUp } = decision.delivery
      assert(nextAttemptAt.getTime() - this.now.getTime() >= SHORTEST_RETRY_MS)
      Object.assign(delivery, { round, failures, nextAttemptAt })
      if (isGivenUp) this.settle(delivery, 'given_up')
    }
    if (decision.endpoint === null) return
    assert(isCurrent)
    const { transition, ...change } = decision.endpoint
    if (transition !== undefined) this.transition(transition)
    Object.assign(this.endpoint, change)
  }

  settle(delivery: Delivery, state: DeliveryState): void {
    if (delivery.state === 'pending') this.settled.push(delivery)
    Object.assign(delivery, { state, lease: null })
  }

  transition(name: EndpointTransition): void {
    const { pausedBy } = endpointTransitions[name]
    // the service neither pauses nor resumes what a person paused
    if (pausedBy === 'service' || name === 'probe_succeeded') {
      assert(this.endpoint.pausedBy === null || this.endpoint.pausedBy === 'service')
    }
    this.endpoint.round += 1
    this.endpoint.pausedBy = pausedBy
    if (pausedBy === null) this.endpoint.failingSince = null
  }
}
