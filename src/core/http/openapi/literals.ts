/** How a language writes values. */
export interface Notation {
  /** A field's name where an object is written. */
  name: (field: string) => string
  text: (value: string) => string
  none: string
  yes: string
  no: string
  /** Around the fields of an object on one line. */
  gap: string
  /** What one level is indented by. */
  step: string
  /** After the last of several lines. */
  lastComma: string
}

/** From `lead_id`: `leadId`. */
export const camelCase = (name: string) =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** From `rotateSecret`: `rotate_secret`. */
export const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const doubleQuoted = (value: string) => JSON.stringify(value)

const singleQuoted = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`

const javaScript = { none: 'null', yes: 'true', no: 'false', step: '  ' }

export const typeScript: Notation = {
  ...javaScript,
  name: camelCase,
  text: singleQuoted,
  gap: ' ',
  lastComma: ',',
}

export const json: Notation = {
  ...javaScript,
  name: doubleQuoted,
  text: doubleQuoted,
  gap: '',
  lastComma: '',
}

export const python: Notation = {
  name: doubleQuoted,
  text: doubleQuoted,
  none: 'None',
  yes: 'True',
  no: 'False',
  gap: '',
  step: '    ',
  lastComma: ',',
}

/** On one line. */
export function write(value: unknown, notation: Notation): string {
  if (value === null) return notation.none
  if (typeof value === 'boolean') return value ? notation.yes : notation.no
  if (typeof value === 'string') return notation.text(value)
  if (Array.isArray(value)) return `[${value.map((item) => write(item, notation)).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const fields = fieldsOf(value, notation)
  return fields.length === 0 ? '{}' : `{${notation.gap}${fields.join(', ')}${notation.gap}}`
}

/** An object with a line for each of its fields. */
export const writeLines = (value: object, notation: Notation): string =>
  `{\n${linesOf(fieldsOf(value, notation), notation)}\n}`

/** Items with a line for each, one level deeper. */
export const linesOf = (items: readonly string[], { step, lastComma }: Notation): string =>
  items
    .map((item) => step + item.replaceAll('\n', `\n${step}`))
    .join(',\n')
    .concat(lastComma)

const fieldsOf = (value: object, notation: Notation) =>
  Object.entries(value).map(([name, field]) => `${notation.name(name)}: ${write(field, notation)}`)
