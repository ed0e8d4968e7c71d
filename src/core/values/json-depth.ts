/** How many arrays and objects a JSON text from outside may have inside one another. */
export const DEEPEST_JSON = 32

const codeOf = (sign: string) => sign.charCodeAt(0)
const QUOTE = codeOf('"')
const BACKSLASH = codeOf('\\')
const OPENING = ['[', '{'].map(codeOf)
const CLOSING = [']', '}'].map(codeOf)

/** Whether JSON in UTF-8 is nested deeper than that. For what is not JSON, the answer may be wrong. */
export function isTooDeep(json: Uint8Array): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at] ?? 0
    if (sign === QUOTE) isText = !isText
    else if (isText) at += sign === BACKSLASH ? 1 : 0
    else if (OPENING.includes(sign)) depth += 1
    else if (CLOSING.includes(sign)) depth -= 1
    if (depth > DEEPEST_JSON) return true
  }
  return false
}
