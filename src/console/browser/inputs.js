import { html } from './preact.js'

/** What was typed or chosen. @param {Event} event */
export const valueOf = ({ currentTarget }) => /** @type {HTMLInputElement} */ (currentTarget).value

/** @param {{ label: string, value: string, onValue: (value: string) => void, name?: string, type?: string, placeholder?: string }} props */
export const Input = ({ label, onValue, ...attributes }) => html`
  <label
    ><span>${label}</span>
    <input
      autocomplete="off"
      ...${attributes}
      onInput=${(/** @type {Event} */ event) => onValue(valueOf(event))}
    />
  </label>
`

/** @param {{ label: string, value: string, options: [value: string, text: string][], onValue: (value: string) => void, name?: string }} props */
export const Select = ({ label, options, onValue, ...attributes }) => html`
  <label
    ><span>${label}</span>
    <select ...${attributes} onChange=${(/** @type {Event} */ event) => onValue(valueOf(event))}>
      ${options.map(([value, text]) => html`<option value=${value}>${text}</option>`)}
    </select>
  </label>
`
