import { html } from '../preact.js'
import { call } from '../api.js'
import { touch } from '../live.js'
import { Failure, useAction } from '../parts.js'
import { Curls } from './curls.js'

/** @typedef {import('preact').ComponentChildren} Children */
/**
 * @typedef {{ label: string, path: import('../types.js').Path, body?: object, off?: string | undefined, isFirst?: boolean, key?: string }} Action
 *   `off`: why it would do nothing; `isFirst`: what to do first; `key`: of buttons that take each other's place
 */

/**
 * Buttons, what came of them, and their calls as curl. A button keeps the focus when another one takes its place.
 *
 * @param {{ actions: Action[], tell?: (answer: any, action: Action) => Children, children?: Children }} props
 *   `tell`: says what came of it; `children`: above the last button, which depends on them
 */
export function Actions({ actions, tell = () => undefined, children }) {
  const { busy, error, done, run } = useAction()
  const act = (/** @type {Action} */ action) => {
    const { label, path, body, off } = action
    if (off !== undefined) return
    void run(label, async () => {
      const answer = await call(path, body, { headers: { 'idempotency-key': crypto.randomUUID() } })
      touch()
      return tell(answer, action)
    })
  }
  const button = (/** @type {Action} */ action, /** @type {number} */ index) => html`
    <div class="actions" key=${action.key ?? index}>
      <button
        type="button"
        class=${action.isFirst ? 'primary' : ''}
        aria-disabled=${busy !== undefined || action.off !== undefined}
        aria-describedby=${action.off && `off-${action.path}-${index}`}
        onClick=${() => act(action)}
      >
        ${busy === action.label ? 'Working …' : action.label}
      </button>
      ${action.off && html`<span class="hint" id=${`off-${action.path}-${index}`}>${action.off}</span>`}
    </div>
  `
  const buttons = actions.map(button)
  return html`
    <div class="actions several">
      ${buttons.slice(0, -1)}${children}${buttons.slice(-1)}
      <${Curls} calls=${actions} />
    </div>
    ${done}
    <${Failure} error=${error} />
  `
}
