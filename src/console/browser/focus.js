/**
 * When the focused element disappears, its section gets the focus, or the page's heading: the browser would start again at
 * the top. The title follows the heading.
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
    /** @type {HTMLElement | null} */
    const heading = root.querySelector('h1')
    const name = 'Partner Referral Service'
    if (heading !== null)
      document.title = heading.closest('#content') ? `${heading.textContent} · ${name}` : name
    if (last === undefined || last.element.isConnected || document.activeElement !== document.body) return
    const { section } = last
    const nearest = section?.isConnected ? section : heading
    // what comes in its place is not there yet
    if (nearest === null) return
    last = undefined
    nearest.tabIndex = -1
    nearest.focus({ preventScroll: true })
  }).observe(root, { childList: true, subtree: true })
}
