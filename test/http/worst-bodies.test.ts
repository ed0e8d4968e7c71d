import { beforeAll, describe, expect, it } from '@jest/globals'
import { type Api, type ApiPartner, prepareApi } from '../support/api.ts'
import { postRoutes, resolve, type Schema } from './openapi-document.ts'

const MOST_BYTES = 64 * 1024
/** How long a body may block the event loop, in parses of `DEAREST`: about 15 ms where one takes 4. */
const MOST_PARSES = 4
/** A shorter time is fast enough on any machine. */
const SURELY_MS = 10
const DEAREST = `{${Array.from({ length: 5700 }, (_, index) => `"f${index}":1`).join(',')}}`

/** How often `piece` fits into a body, beside all that is around it. */
const often = (piece: string) => Math.floor((MOST_BYTES - 1500) / Buffer.byteLength(piece))
const listOf = (piece: string) =>
  `[${Array(often(`${piece},`))
    .fill(piece)
    .join(',')}]`
const textOf = (piece: string) => JSON.stringify(piece.repeat(often(piece)))
const objectOf = (value: string) => {
  const fields = Array.from({ length: often(`"f1234":${value},`) }, (_, index) => `"f${index}":${value}`)
  return `{${fields.join(',')}}`
}

/** JSON that is expensive to refuse, element by element or character by character. */
const fillers = [
  ...['1', '""', '{}', 'null'].map(listOf),
  ...['a', ' ', '1-', 'a@a.', '\u{1f600}'].map(textOf),
  ...['1', '{}'].map(objectOf),
]

const noJson = ['1 ', '"a" ', '{"a":1 ', '[1', ']', ',', ':', '\\', '"', '//'].map((piece) =>
  piece.repeat(often(piece)),
)

/** The bodies with `filler` in each place of a schema: the whole, each field, each element. */
function* filled(schema: Schema, filler: string): Generator<string> {
  const { properties = {}, items, ...rest } = schema.$ref === undefined ? schema : resolve(schema)
  yield filler
  for (const part of rest.anyOf ?? rest.oneOf ?? []) yield* filled(part, filler)
  if (items !== undefined) {
    for (const element of filled(items, filler)) yield `[${element}]`
    const names = Object.keys((items.$ref === undefined ? items : resolve(items)).properties ?? {})
    const wrong = `{${names.map((name) => `"${name}":[]`).join(',')}}`
    yield listOf(wrong)
  }
  for (const [name, field] of Object.entries(properties))
    for (const value of filled(field, filler)) yield `{"lead_id":1,"${name}":${value}}`
}

describe('a body of 64 KiB', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
  })

  /** The mean of so many times, because the clock of a thread may move in steps of 4 ms. */
  const cpuMs = async (times: number, work: () => unknown) => {
    const before = process.threadCpuUsage()
    for (let time = 0; time < times; time += 1) await work()
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000 / times
  }

  /** The beginnings of those that cost more, each with its cost in parses. */
  const tooDear = async (path: string, bodies: readonly string[]) => {
    const dear: [string, number][] = []
    for (const body of bodies) {
      const post = async () => expect((await partner.post(path, body)).status).toBeLessThan(500)
      const cost = async () => (await cpuMs(5, post)) / (await cpuMs(5, () => void JSON.parse(DEAREST)))
      let parses = (await cpuMs(1, post)) < SURELY_MS ? 0 : await cost()
      // what was compiled or collected meanwhile is no cost of the body
      for (let times = 0; parses > MOST_PARSES && times < 4; times += 1)
        parses = Math.min(parses, await cost())
      if (parses > MOST_PARSES) dear.push([body.slice(0, 60), parses])
    }
    return dear
  }

  it.each(postRoutes)(
    `costs $path at most ${MOST_PARSES} parses, whatever is wrong with it`,
    async ({ path, schema }) => {
      const bodies = fillers.flatMap((filler) => [...filled(schema, filler)])
      expect(Math.max(...bodies.map((body) => Buffer.byteLength(body)))).toBeLessThan(MOST_BYTES)
      expect(await tooDear(path, bodies)).toEqual([])
    },
  )

  it(`costs at most ${MOST_PARSES} parses if it is no JSON`, async () => {
    expect(await tooDear('get-lead', noJson)).toEqual([])
  })
})
