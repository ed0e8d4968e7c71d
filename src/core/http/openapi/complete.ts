import type { ErrorCode } from '../errors.ts'
import { keepUsedSchemas } from './components.ts'
import { failureResponses, failureSchemas, headersOf, responseHeaders } from './failures.ts'
import type { Details, Links } from './operation.ts'
import { samplesOf } from './samples.ts'

interface Media {
  schema: { $ref: string }
  examples?: object
}

interface Operation {
  operationId: string
  parameters?: object[]
  requestBody?: { content: { 'application/json': Media } }
  responses: Record<string, object>
  'x-operation'?: Details
  'x-codeSamples'?: object[]
}

export interface Document {
  components: { schemas: Record<string, { properties?: object }> }
  paths: Record<string, Record<string, Operation>>
}

/** Puts what `operation` said in its place in the document, and what the operations share. */
export function complete<Found extends Document>(
  document: Found,
  { codes, always }: { codes: readonly ErrorCode[]; always: readonly string[] },
): Found {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const all = calls.map(({ operation }) => operation)
  const fields = fieldsOf(document)
  for (const { operation, ...call } of calls) {
    const { 'x-operation': details } = operation
    delete operation['x-operation']
    if (details === undefined) continue
    detail(operation, details, linksOf(operation, details.links, all, fields))
    operation['x-codeSamples'] = samples(call, details)
  }
  const { schemas, ...others } = document.components
  const components = {
    ...others,
    headers: responseHeaders,
    responses: failureResponses(codes),
    schemas: { ...schemas, ...failureSchemas(codes) },
  }
  return keepUsedSchemas({ ...document, components }, always)
}

function detail(operation: Operation, details: Details, links: object): void {
  if (details.parameters) operation.parameters = details.parameters
  const sent = operation.requestBody?.content['application/json']
  if (sent !== undefined) sent.examples = details.requestExamples
  const { content } = operation.responses['200'] as { content: { 'application/json': Media } }
  content['application/json'].examples = details.responseExamples
  operation.responses = {
    200: {
      description: details.responseDescription,
      headers: headersOf(details.responseHeaders),
      content,
      ...(Object.keys(links).length > 0 && { links }),
    },
    ...details.failures,
  }
}

function samples(call: { path: string; method: string }, details: Details): object[] {
  const [example] = Object.values(details.requestExamples) as { value: object }[]
  const key = details.parameters?.find(({ name }) => name === 'Idempotency-Key')
  return samplesOf({ ...call, ...details.client, body: example?.value, idempotencyKey: key?.example })
}

/** The names of the fields that an operation takes. */
function fieldsOf({ components: { schemas } }: Document) {
  return ({ requestBody }: Operation): string[] => {
    const id = requestBody?.content['application/json'].schema.$ref.split('/').at(-1) ?? ''
    return Object.keys(schemas[id]?.properties ?? {})
  }
}

/** The calls that take what the operation's response has, by their ids. */
function linksOf(
  from: Operation,
  links: Links,
  all: readonly Operation[],
  fields: (operation: Operation) => string[],
): object {
  const found = Object.entries(links).flatMap(([field, pointer]): [string, object][] =>
    (field === 'after' ? [from] : all.filter((operation) => operation !== from))
      .filter((operation) => fields(operation).includes(field))
      .map(({ operationId }) => [
        operationId,
        { operationId, requestBody: { [field]: `$response.body#${pointer}` } },
      ]),
  )
  return Object.fromEntries(found)
}
