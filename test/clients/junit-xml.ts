/** An element of an XML document. */
export interface Element {
  name: string
  attributes: Record<string, string>
  children: Element[]
  text: string
}

const ENTITY = /&(?:#(\d+)|(amp|lt|gt|quot|apos));/g
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const decoded = (text: string) => {
  if (/&(?!#\d+;|amp;|lt;|gt;|quot;|apos;)|</.test(text)) throw new Error(`not escaped: ${text}`)
  return text.replace(ENTITY, (_, code?: string, name = '') =>
    code === undefined ? (NAMED[name] ?? '') : String.fromCodePoint(Number(code)),
  )
}

/** Reads XML without comments, sections and declarations of types; throws where it is not well-formed. */
export function parseXml(text: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  const parts = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '')
  let at = 0
  for (const match of parts.matchAll(/<(\/?)([\w.-]+)((?:\s+[\w.-]+="[^"<]*")*)\s*(\/?)>/g)) {
    const [tag, close, name = '', attributes = '', isEmpty] = match
    const parent = open.at(-1)!
    parent.text += decoded(parts.slice(at, match.index))
    at = match.index + tag.length
    if (close === '/') {
      if (open.pop()?.name !== name || open.length === 0) throw new Error(`</${name}> closes nothing`)
      continue
    }
    const pairs = [...attributes.matchAll(/([\w.-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
      key,
      decoded(value),
    ])
    const element = { name, attributes: Object.fromEntries(pairs), children: [], text: '' }
    parent.children.push(element)
    if (isEmpty === '') open.push(element)
  }
  if (open.length !== 1 || parts.slice(at).trim() !== '' || root.children.length !== 1)
    throw new Error('not one document')
  return root.children[0]!
}
