import { escapeHtml } from '../../core/http/openapi/page.ts'
import type { Hit } from './searching.ts'
import { stem } from './words.ts'

const BEFORE = 60
const LENGTH = 240

/** The page of what was found, in HTML. */
export function resultsOf(query: string, hits: readonly Hit[]): string {
  if (query.trim() === '') return '<h1>Search</h1>\n<p>Type what you look for into the field above.</p>'
  const asked = `<b>${escapeHtml(query)}</b>`
  if (hits.length === 0)
    return `<h1>Search</h1>\n<p>Nothing was found for ${asked}. Try fewer or other words.</p>`
  return `<h1>Search</h1>
<p>Found for ${asked}:</p>
<ol class="results">
${hits.map(itemOf).join('\n')}
</ol>`
}

function itemOf({ path, page, title, text, stems }: Hit): string {
  return `<li><a href="${escapeHtml(path)}">${marked(title, stems)}</a> <span class="where">${escapeHtml(page)}</span>
<p>${marked(excerptOf(text, stems), stems)}</p></li>`
}

/** What is around the first word that was found. */
function excerptOf(text: string, stems: readonly string[]): string {
  const lower = text.toLowerCase()
  const first = Math.min(...stems.map((each) => lower.indexOf(each)).filter((place) => place >= 0))
  const from = Number.isFinite(first) ? Math.max(0, first - BEFORE) : 0
  const start = from === 0 ? 0 : text.indexOf(' ', from) + 1
  const cut = text.slice(start, start + LENGTH)
  const end = start + LENGTH >= text.length ? cut.length : cut.lastIndexOf(' ')
  return `${start === 0 ? '' : '… '}${cut.slice(0, end)}${start + end >= text.length ? '' : ' …'}`
}

const marked = (text: string, stems: readonly string[]) =>
  text
    .split(/([\p{L}\p{N}]+)/u)
    .map((part) => (stems.includes(stem(part) ?? '') ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part)))
    .join('')
