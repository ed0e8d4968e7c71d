import { condition, setCurrentDetails, setDefaultSignalHandler, setHandler } from '@temporalio/workflow'
import { announceChange, applyChange, reviewChange } from './activities.ts'
import { lookSignal } from '../messages.ts'

/**
 * Carries out a change of URL or secret that a partner asked for in production: id `endpoint-change-<change_id>`. Partner
 * and staff are told by email; 24 hours later it takes effect, unless staff have canceled it.
 */
export async function endpointChange(changeId: number): Promise<void> {
  let looks = 0
  setHandler(lookSignal, () => void (looks += 1), { description: 'The record has changed: look at it' })
  setDefaultSignalHandler(() => {})
  for (;;) {
    const before = looks
    const change = await reviewChange(changeId)
    if (change === null) return
    const { kind, partnerId, dueInMs } = change
    const what = `The ${kind === 'url' ? 'URL and secret' : 'signing secret'} of **partner ${partnerId}**`
    if (dueInMs === null) {
      setCurrentDetails(`${what} are to change. Partner and staff are being told by email.`)
      await announceChange(changeId)
    } else if (dueInMs > 0) {
      const at = new Date(Date.now() + dueInMs).toISOString().slice(0, 16).replace('T', ' ')
      const cancel = `\`npm run staff -- endpoint cancel-change ${partnerId}\``
      setCurrentDetails(`${what} change on ${at} UTC. To prevent it: ${cancel}`)
      await condition(() => looks !== before, Math.ceil(dueInMs), { summary: 'takes effect then' })
    } else await applyChange(changeId)
  }
}
