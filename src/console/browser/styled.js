/** Adds style sheets of a view's; without them the view works all the same. @param {string[]} names */
export const styled = (...names) => Promise.all(names.map(added))

/** @param {string} name */
async function added(name) {
  const href = `/console/${name}`
  if (document.head.querySelector(`link[href="${href}"]`) !== null) return
  await new Promise((resolve) => {
    const sheet = Object.assign(document.createElement('link'), { rel: 'stylesheet', href })
    sheet.addEventListener('load', resolve)
    sheet.addEventListener('error', resolve)
    document.head.append(sheet)
  })
}
