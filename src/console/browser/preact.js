import htm from 'htm'
import { h } from 'preact'

export * from 'preact'
export * from 'preact/hooks'

/**
 * Markup as a tagged template.
 *
 * @type {typeof import('htm/preact').html}
 */
export const html = /** @type {any} */ (htm).bind(h)
