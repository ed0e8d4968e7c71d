import { html } from '../preact.js'
import { call } from '../api.js'
import { touch } from '../live.js'
import { Done, Failure, useAction } from '../parts.js'
import { Curls } from './curls.js'

/** @typedef {{ label: string, path: string, body: object, off?: string | undefined }} Action `off`: why it would do nothing */
/** @typedef {{ text: any, isChange: boolean }} Told what came of an action */

/**
 * Buttons of one kind, and their calls as curl. A button keeps the focus when the next milestone takes its place.
 *
 * @param {{ actions: Action[], describe: (data: any) => Told, children?: import('preact').ComponentChildren }} props
 *   `children`: above the last button, which depends on them
 */
export function Actions({ actions, describe, children }) {
  const { busy, error, done, run } = useAction()
  const act = (/** @type {Action} */ { label, path, body, off }) => {
    if (off !== undefined) return
    void run(label, async () => {
      const { data } = await call(path, body, { headers: { 'idempotency-key': crypto.randomUUID() } })
      touch()
      return describe(data)
    })
  }
  const button = (/** @type {Action} */ action, /** @type {number} */ index) => html`
    <div class="actions" key=${index}>
      <button
        type="button"
        aria-disabled=${busy !== undefined || action.off !== undefined}
        aria-describedby=${action.off && `off-${action.path}-${index}`}
        onClick=${() => act(action)}
      >
        ${busy === action.label ? 'Working …' : action.label}
      </button>
      ${action.off && html`<span class="hint" id=${`off-${action.path}-${index}`}>${action.off}</span>`}
    </div>
  `
  const isLastApart = Boolean(children)
  return html`
    ${actions.slice(0, isLastApart ? -1 : undefined).map(button)}${children}
    ${isLastApart && button(/** @type {Action} */ (actions.at(-1)), actions.length - 1)}
    ${
      done &&
      (done.isChange ? html`<${Done}>${done.text}<//>` : html`<p class="dim" role="status">${done.text}</p>`)
    }
    <${Failure} error=${error} />
    <${Curls} calls=${actions} />
  `
}
