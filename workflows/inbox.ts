import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow'
import { parseScoreGains, takesPayload } from '../src/domain/event-payloads.ts'
import { milestones, type MilestoneName } from '../src/domain/milestones.ts'
import type { MilestoneItem } from '../src/domain/referral.ts'
import { type Journey, nextKey, note } from './journey.ts'
import { UNDECODABLE } from './payload-converter.ts'
import { clockAdvancedSignal, closeSignal, milestoneSignals, wakeSignal } from './messages.ts'

const ID = /^[\x21-\x7e]{1,255}$/
const SHOWABLE_NAME = /^[A-Za-z0-9_.-]{1,64}$/
const REASON = /^[\w .,-]{1,100}$/

/** Handlers append and return: they decide nothing, wait for nothing and never throw. */
export function receiveSignals(journey: Journey): void {
  for (const signal of milestoneSignals) {
    const { name } = signal
    const argument = takesPayload(name) ? '{"id": "…", "event_payload": {…}}' : '{"id": "…"}'
    const description = `${milestones[name].meaning}. Argument, if any: ${argument}`
    setHandler(signal, (sent) => receive(journey, name, sent), { description })
  }
  setHandler(wakeSignal, () => wake(journey), { description: 'Try the waiting delivery now' })
  setHandler(clockAdvancedSignal, () => void (journey.clockMoved = true), {
    description: 'Sandbox: the lead’s clock was moved in the record',
  })
  setHandler(closeSignal, (argument) => close(journey, argument), {
    description: 'The borrower dropped out. Argument, if any: {"reason": "…"}, without personal data',
  })
  setDefaultSignalHandler((name) => {
    const understood = name === 'lead_received' ? 'only create-lead records it' : 'there is no such milestone'
    note(journey, SHOWABLE_NAME.test(name) ? name : 'a signal with an unusual name', understood)
    journey.signals += 1
  })
}

function receive(journey: Journey, name: MilestoneName, argument: unknown): void {
  journey.signals += 1
  const { id, payload } = readArgument(journey, name, argument)
  const item: MilestoneItem = { name, dedupeKey: keyOf(journey, name, id) }
  if (name !== 'score_update') {
    if (payload !== undefined) note(journey, name, 'takes no payload: it was dropped')
    journey.inbox.push(item)
    return
  }
  const gains = parseScoreGains(payload)
  if (gains !== undefined) journey.inbox.push({ ...item, gains })
  else {
    if (payload !== undefined)
      note(journey, name, 'its payload is not well-formed: the score provider is asked')
    journey.unscored.push(item)
  }
}

function readArgument(journey: Journey, name: string, argument: unknown): { id?: string; payload?: unknown } {
  if (argument === undefined || argument === null) return {}
  if (typeof argument !== 'object' || Array.isArray(argument) || argument === UNDECODABLE) {
    note(journey, name, 'its argument was not understood: the milestone counts without it')
    return {}
  }
  const { id, event_payload: payload } = argument as Record<string, unknown>
  return {
    ...(typeof id === 'string' && ID.test(id) && { id }),
    ...(payload !== undefined && payload !== null && { payload }),
  }
}

function keyOf(journey: Journey, name: MilestoneName, id: string | undefined): string {
  if (milestones[name].once) return name
  return id === undefined ? nextKey(journey, name) : `${name}:${id}`
}

function wake(journey: Journey): void {
  journey.signals += 1
  journey.wakes += 1
  journey.sending?.cancel()
}

function close(journey: Journey, argument: unknown): void {
  journey.signals += 1
  const reason =
    typeof argument === 'object' && argument !== null && 'reason' in argument ? argument.reason : undefined
  journey.closeReason ??= typeof reason === 'string' && REASON.test(reason) ? reason : 'closed by staff'
  journey.state.closing = true
}
