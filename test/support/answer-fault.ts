import { errorCatalogue } from '../../src/http/errors.ts'

export interface Received {
  status: number
  text: string
  type: string | undefined
}

/** What is wrong with a response of the API, if anything: it must have a specified shape, with one of `codes`. */
export function answerFault(
  { status, text: body, type }: Received,
  codes: readonly string[] = Object.keys(errorCatalogue),
): string | undefined {
  const fault = `${status} ${type} ${body}`
  if (type !== 'application/json; charset=utf-8') return fault
  const answer = JSON.parse(body)
  if (status === 200) return answer.success === true ? undefined : fault
  const { success, error, ...more } = answer
  const code = error.code as keyof typeof errorCatalogue
  const isFailure =
    success === false &&
    typeof error.message === 'string' &&
    Object.keys(more).length === 0 &&
    (code === 'INVALID_PAYLOAD' ? isListOfFields(error.fields) : error.fields === undefined)
  return isFailure && codes.includes(code) && errorCatalogue[code].status === status ? undefined : fault
}

/** Of INVALID_PAYLOAD, and empty if no field is wrong. */
const isListOfFields = (fields: unknown) =>
  Array.isArray(fields) &&
  fields.every(
    (each: object) =>
      Object.keys(each).toSorted().join() === 'field,problem' &&
      Object.values(each).every((text) => typeof text === 'string' && text !== ''),
  )
