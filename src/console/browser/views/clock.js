import { html } from '../preact.js'
import { Done } from '../parts.js'
import { Utc } from '../utc.js'
import { counted, words } from '../words.js'
import { Actions } from './actions.js'

/** @import { LeadData } from '../types.js' */

/** Advances a lead's clock. What would find nothing due is off, with the reason. @param {{ data: LeadData }} props */
export function Clock({ data }) {
  const lacks = lackingFor(data)
  /** @param {string} label @param {object} by @param {string} [off] */
  const advance = (label, by, off) => ({
    label,
    path: '/sandbox/advance-clock',
    body: { lead_id: data.lead.lead_id, ...by },
    off,
  })
  return html`
    <h3>Advance its clock</h3>
    <${Actions}
      actions=${[
        advance('To the next score update', { to: 'next_score_update' }, lacks.scoreUpdate),
        advance('To the next retry', { to: 'next_retry' }, lacks.retry),
        advance('By 45 days', { days: 45 }),
        advance('To the end', { to: 'end' }, lacks.end),
      ]}
      tell=${tellAdvance}
    />
  `
}

/** Why nothing of a kind is due. @param {LeadData} data */
function lackingFor({ lead, steps, next }) {
  const isReady = lead.status === 'mortgage_ready'
  const isRetried = steps.some(
    ({ delivery }) => delivery?.state === 'pending' && delivery.next_attempt_at !== null,
  )
  return {
    scoreUpdate:
      next?.what === 'score_update'
        ? undefined
        : isReady
          ? 'no score update after mortgage ready'
          : 'no score update before escrow is funded',
    retry: isRetried ? undefined : 'no webhook fails',
    end: isReady ? undefined : 'the end follows mortgage ready',
  }
}

/** @param {import('../types.js').Answer<'/sandbox/advance-clock'>} answer */
function tellAdvance({ data: { now, happened, stopped } }) {
  const count = (/** @type {string} */ kind) => happened.filter(({ what }) => what === kind).length
  const kinds = [
    count('event') > 0 && counted(count('event'), 'event'),
    count('webhook') > 0 && counted(count('webhook'), 'webhook attempt'),
    count('end') > 0 && 'lead closed',
  ]
  const what = kinds.filter(Boolean).join(', ') || 'Nothing was due'
  const why = stopped ? ` It stopped: ${words(stopped).toLowerCase()}.` : ''
  return html`<${Done} isChange=${happened.length > 0 && !stopped}>
    ${what}. The lead’s clock shows <${Utc} at=${now} zone />.${why}
  <//>`
}
