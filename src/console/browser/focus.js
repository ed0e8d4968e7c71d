/**
 * Where a button disappears with what it did, its section gets the focus: else the browser starts again at the top.
 *
 * @param {Element} root of the page
 */
export function keepFocus(root) {
  /** @type {{ element: Element, section: HTMLElement | null } | undefined} */
  let last
  root.addEventListener('focusin', ({ target }) => {
    const element = /** @type {Element} */ (target)
    last = { element, section: element.closest('section') }
  })
  new MutationObserver(() => {
    if (last === undefined || last.element.isConnected || document.activeElement !== document.body) return
    const { section } = last
    last = undefined
    if (!section?.isConnected) return
    section.tabIndex = -1
    section.focus({ preventScroll: true })
  }).observe(root, { childList: true, subtree: true })
}
