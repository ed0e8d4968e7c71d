import { html } from '../preact.js'
import { Utc } from '../utc.js'
import { counted, words } from '../words.js'
import { Actions } from './actions.js'

/** @import { LeadData } from '../lead-records.js' */

const PATH = '/sandbox/advance-clock'

/** Advances a lead's clock. What would find nothing due is off, with the reason. @param {{ data: LeadData }} props */
export function Clock({ data }) {
  const to = (/** @type {string} */ stop) => ({ lead_id: data.lead.lead_id, to: stop })
  const lacks = lackingFor(data)
  return html`
    <h3>Advance its clock</h3>
    <${Actions}
      actions=${[
        {
          label: 'To the next score update',
          path: PATH,
          body: to('next_score_update'),
          off: lacks.scoreUpdate,
        },
        { label: 'To the next retry', path: PATH, body: to('next_retry'), off: lacks.retry },
        { label: 'By 45 days', path: PATH, body: { lead_id: data.lead.lead_id, days: 45 } },
        { label: 'To the end', path: PATH, body: to('end'), off: lacks.end },
      ]}
      describe=${describeAdvance}
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

/** @param {any} data of advance-clock */
function describeAdvance({ now, happened, stopped }) {
  const count = (/** @type {string} */ kind) =>
    happened.filter((/** @type {any} */ { what }) => what === kind).length
  const kinds = [
    count('event') > 0 && counted(count('event'), 'event'),
    count('webhook') > 0 && counted(count('webhook'), 'webhook attempt'),
    count('end') > 0 && 'lead closed',
  ]
  const what = kinds.filter(Boolean).join(', ') || 'Nothing was due'
  const why = stopped ? ` It stopped: ${words(stopped).toLowerCase()}.` : ''
  return {
    isChange: happened.length > 0 && !stopped,
    text: html`${what}. The lead’s clock shows <${Utc} at=${now} zone />.${why}`,
  }
}
