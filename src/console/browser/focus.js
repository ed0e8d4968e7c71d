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
    const nearest = section?.isConnected ? section : root.querySelector('h1')
    // what comes in its place is not there yet
    if (nearest === null) return
    last = undefined
    nearest.tabIndex = -1
    nearest.focus({ preventScroll: true })
  }).observe(root, { childList: true, subtree: true })
}

/**
 * The title says which page it is, also where that turns out later: that there is no such lead, for example.
 *
 * @param {Element} root of the page
 */
export function keepTitle(root) {
  new MutationObserver(() => {
    const heading = root.querySelector('#content h1')
    if (heading !== null) document.title = `${heading.textContent} · Partner Referral Service`
  }).observe(root, { childList: true, subtree: true })
}
