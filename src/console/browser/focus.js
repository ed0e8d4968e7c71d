/**
 * Where a button disappears with what it did, its section gets the focus, and the page's heading if that is gone, too:
 * else the browser starts again at the top.
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
    const nearest = section?.isConnected ? section : root.querySelector('h1')
    if (nearest === null) return
    nearest.tabIndex = -1
    nearest.focus({ preventScroll: true })
  }).observe(root, { childList: true, subtree: true })
}
