/** The pages for people under /docs: one look, no scripts, and nothing from elsewhere. */

export interface PageLink {
  name: string
  path: string
}

/** The guides, if the API serves them. */
export interface Guides {
  links: readonly PageLink[]
  /** The page that searches in them, and in the reference. */
  searchPath: string
}

interface Page {
  title: string
  path: string
  /** In HTML. */
  main: string
  guides: Guides | undefined
  /** What was searched for. */
  query?: string
}

export const REFERENCE: PageLink = { name: 'Reference', path: '/docs' }

const ERRORS: PageLink = { name: 'Errors', path: '/docs/errors' }

/** Of all pages but the reference, whose viewer is a script. */
export const pagePolicy =
  "default-src 'none';style-src 'unsafe-inline';img-src data:;base-uri 'none';form-action 'self';frame-ancestors 'none'"

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Of our own short texts, which have no markup but code in backticks. */
export const codeToHtml = (text: string) => escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

export const bannerStyle = `
.banner { display: flex; align-items: center; gap: 0.375rem 1.25rem; padding: 0.5rem 1.25rem;
  border-bottom: 1px solid var(--line); background: var(--card); font-size: 0.9375rem; line-height: 1.5 }
.banner nav { display: flex; gap: 1rem; flex: 1; overflow-x: auto; white-space: nowrap }
.banner a { color: var(--dim); text-decoration: none; padding: 0.25rem 0 }
.banner a:hover, .banner a[aria-current] { color: var(--text) }
.banner a[aria-current] { box-shadow: inset 0 -2px 0 var(--accent) }
.banner input { box-sizing: border-box; font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--line-strong);
  border-radius: 6px; padding: 0.125rem 0.625rem; width: 16rem; max-width: 100% }
@media (max-width: 860px) {
  .banner { flex-direction: column; align-items: stretch }
  .banner nav { flex: none; flex-wrap: wrap; gap: 0 0.875rem }
  .banner input { width: 100% }
}
`

/** The colors of the console. */
export const colors = `
--page: light-dark(#ffffff, #0f1013); --card: light-dark(#f7f7f9, #17181d); --line: light-dark(#e4e4ea, #2a2c34);
--line-strong: light-dark(#8a8c99, #6d7080); --text: light-dark(#191a22, #eceef3); --dim: light-dark(#5c5f6e, #a0a3b1);
--accent: light-dark(#4338ca, #a5adff); --mark: light-dark(#fdf3b4, #4a4212);
`

const style = `
:root { color-scheme: light dark; ${colors}
  font: 100%/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  color: var(--text); background: var(--page); -webkit-text-size-adjust: 100% }
body { margin: 0 }
${bannerStyle}
main { max-width: 50rem; margin: 0 auto; padding: 1rem 1.25rem 4rem }
h1 { font-size: 1.75rem; line-height: 1.25 }
h2 { font-size: 1.25rem; margin-top: 2.5rem }
h1, h2, h3 { scroll-margin-top: 1rem; letter-spacing: -0.01em }
:is(h1, h2, h3) > a { color: inherit; text-decoration: none }
:is(h1, h2, h3) > a:hover { text-decoration: underline }
:is(h1, h2, h3):target > a { text-decoration: underline; text-decoration-color: var(--accent); text-decoration-thickness: 2px }
a { color: var(--accent) }
code, pre { font-family: ui-monospace, 'SF Mono', SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; font-size: 0.875em }
pre code { font-size: inherit }
:not(pre) > code { background: var(--card); border: 1px solid var(--line); border-radius: 4px; padding: 0.05em 0.25em; overflow-wrap: break-word }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 1rem; overflow-x: auto; line-height: 1.5 }
.table { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-size: 0.9375rem; line-height: 1.45 }
th, td { border: 1px solid var(--line); padding: 0.375rem 0.625rem; text-align: left; vertical-align: top; min-width: 5rem }
th { background: var(--card) }
td code { overflow-wrap: normal }
@media (min-width: 861px) {
  .banner { position: sticky; top: 0; z-index: 1 }
  h1, h2, h3 { scroll-margin-top: 4.5rem }
}
li { margin: 0.125rem 0 }
ul:first-of-type:has(> li:nth-child(8) > a:only-child) { columns: 15rem }
mark { background: var(--mark); color: inherit }
.results { list-style: none; padding: 0 }
.results > li { margin: 1.25rem 0 }
.results p { margin: 0.125rem 0; overflow-wrap: anywhere }
.results .where, .note { color: var(--dim); font-size: 0.875rem }
section:target { outline: 2px solid var(--accent); outline-offset: 0.5rem; border-radius: 2px }
`

/** What leads from each page to all others. */
export function bannerOf(here: string, guides: Guides | undefined, query = ''): string {
  const links = [...(guides?.links ?? []), REFERENCE, ERRORS].map(
    ({ name, path }) => `<a href="${path}"${path === here ? ' aria-current="page"' : ''}>${name}</a>`,
  )
  const search = guides && searchForm(guides, query)
  return `<header class="banner"><nav aria-label="Documents">${links.join('\n')}</nav>${search ?? ''}</header>`
}

const searchForm = ({ searchPath }: Guides, query: string) =>
  `<form role="search" action="${searchPath}"><input type="search" name="q" value="${escapeHtml(query)}" maxlength="200" placeholder="Search guides, calls, errors" aria-label="Search guides, calls and errors"></form>`

/** A whole page. */
export const pageOf = ({ title, path, main, guides, query }: Page) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escapeHtml(title)} · Partner Referral Service</title>
    <link rel="icon" href="data:,">
    <style>${style}</style>
  </head>
  <body>
${bannerOf(path, guides, query)}
<main>
${main}
</main>
  </body>
</html>
`
