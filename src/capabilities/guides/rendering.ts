import { lexer, Parser, Renderer, type Token, type Tokens, walkTokens } from 'marked'
import { escapeHtml } from '../../core/http/openapi/page.ts'
import type { Target } from './links.ts'

/** A heading with the text up to the next one. */
export interface Section {
  title: string
  /** As GitHub makes it; empty for what is before the first heading below the title. */
  anchor: string
  text: string
  /** Its commands and programs. */
  code: string
}

export interface Rendered {
  title: string
  html: string
  markdown: string
  sections: Section[]
}

type FindTarget = (href: string) => Target | undefined

/** A guide as a page, as Markdown with the host's links, and as sections to search in. */
export function render(source: string, targetOf: FindTarget): Rendered {
  const tokens = lexer(source)
  const anchors = anchorsOf(tokens)
  const sections = sectionsOf(tokens, anchors)
  return {
    title: sections[0]?.title ?? '',
    html: Parser.parse(tokens, { renderer: new PageRenderer(anchors, targetOf) }),
    markdown: withTargets(source, tokens, targetOf),
    sections,
  }
}

/** Markup in a guide is shown as text. */
class PageRenderer extends Renderer {
  readonly #anchors: ReadonlyMap<Token, string>
  readonly #targetOf: FindTarget

  constructor(anchors: ReadonlyMap<Token, string>, targetOf: FindTarget) {
    super()
    this.#anchors = anchors
    this.#targetOf = targetOf
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return escapeHtml(text)
  }

  override image({ text }: Tokens.Image): string {
    return escapeHtml(text)
  }

  override heading(token: Tokens.Heading): string {
    const { depth, tokens } = token
    const anchor = this.#anchors.get(token)
    const text = this.parser.parseInline(tokens)
    if (depth === 1) return `<h1>${text}</h1>\n`
    return `<h${depth} id="${anchor}"><a href="#${anchor}">${text}</a></h${depth}>\n`
  }

  override link({ href, tokens }: Tokens.Link): string {
    const target = this.#targetOf(href)
    const text = this.parser.parseInline(tokens)
    return target === undefined ? text : `<a href="${escapeHtml(target.page)}">${text}</a>`
  }

  override table(token: Tokens.Table): string {
    return `<div class="table" tabindex="0">${super.table(token)}</div>\n`
  }

  // by the keyboard alone, too, it can be scrolled
  override code(token: Tokens.Code): string {
    return super.code(token).replace('<pre>', '<pre tabindex="0">')
  }

  override checkbox(): string {
    return '☐ '
  }
}

/** The anchors of headings, as GitHub makes them: of headings that are the same, the second one has `-1`. */
function anchorsOf(tokens: readonly Token[]): Map<Token, string> {
  const counts = new Map<string, number>()
  const anchors = new Map<Token, string>()
  for (const token of tokens.filter(isHeading)) {
    const name = plain(token.tokens)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    anchors.set(token, count === 0 ? name : `${name}-${count}`)
  }
  return anchors
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'

function sectionsOf(tokens: readonly Token[], anchors: ReadonlyMap<Token, string>): Section[] {
  const sections: Section[] = []
  for (const token of tokens) {
    const current = sections.at(-1)
    if (isHeading(token)) {
      const anchor = token.depth === 1 ? '' : (anchors.get(token) ?? '')
      sections.push({ title: plain(token.tokens), anchor, text: '', code: '' })
    } else if (current !== undefined && token.type === 'code') {
      current.code = `${current.code} ${plain([token])}`
    } else if (current !== undefined && !isContents(token, sections)) {
      current.text = `${current.text} ${plain([token])}`.replaceAll(/\s+/g, ' ').trim()
    }
  }
  return sections
}

/** The list of its sections, at a guide's beginning: it has the words of all their titles. */
const isContents = (token: Token, sections: readonly Section[]) =>
  token.type === 'list' && sections.length === 1

/** The text without markup. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table
        return [header, ...rows].flatMap((row) => row.map((cell) => plain(cell.tokens))).join(' ')
      }
      if (token.type === 'list')
        return (token as Tokens.List).items.map((item) => plain(item.tokens)).join(' ')
      if ('tokens' in token && token.tokens !== undefined) return plain(token.tokens)
      return 'text' in token ? String(token.text) : ' '
    })
    .join('')
}

/** The guide's own text, with links that lead somewhere on this host. */
function withTargets(source: string, tokens: Token[], targetOf: FindTarget): string {
  let text = source
  void walkTokens(tokens, (token) => {
    if (token.type !== 'link') return
    const { href, raw, text: label } = token as Tokens.Link
    const target = targetOf(href)?.markdown
    // a bare address
    if (target === href || !raw.startsWith('[')) return
    text = text.replaceAll(raw, target === undefined ? label : `[${label}](${target})`)
  })
  return text
}
