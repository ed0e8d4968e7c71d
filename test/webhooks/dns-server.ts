import { createSocket } from 'node:dgram'
import ipaddr from 'ipaddr.js'

export interface Question {
  name: string
  type: 'A' | 'AAAA'
  /** How often this name was asked for with this type before. */
  before: number
}

/** The addresses to answer with, of the asked type; `SERVFAIL`, or `silence` for no answer at all. */
export type Answers = (question: Question) => string[] | 'SERVFAIL' | 'silence'

/** A DNS server on loopback with answers of no lifetime, as a rebinding attacker runs it. */
export async function startDnsServer(answers: Answers) {
  const questions: Question[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, code, end } = readQuestion(query)
    const type = code === 28 ? 'AAAA' : 'A'
    const before = questions.filter((asked) => asked.name === name && asked.type === type).length
    const question: Question = { name, type, before }
    questions.push(question)
    const answer = answers(question)
    if (answer !== 'silence') socket.send(response(query.subarray(0, end), code, answer), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    server: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  }
}

function readQuestion(query: Buffer): { name: string; code: number; end: number } {
  const labels: string[] = []
  let offset = 12
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length))
    offset += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), code: query.readUInt16BE(offset + 1), end: offset + 5 }
}

/** RFC 1035, section 4: the query's header and question again, with one record for each address. */
function response(question: Buffer, code: number, answer: string[] | 'SERVFAIL'): Buffer {
  const addresses = answer === 'SERVFAIL' ? [] : answer
  const header = Buffer.from(question)
  header.writeUInt16BE(answer === 'SERVFAIL' ? 0x8182 : 0x8180, 2)
  for (const [offset, count] of [
    [4, 1],
    [6, addresses.length],
    [8, 0],
    [10, 0],
  ] as const) {
    header.writeUInt16BE(count, offset)
  }
  const records = addresses.map((address) => {
    const data = Buffer.from(ipaddr.parse(address).toByteArray())
    // The name as a pointer to the question's, type, class IN, four bytes of lifetime, length.
    return Buffer.concat([Buffer.from([0xc0, 12, 0, code, 0, 1, 0, 0, 0, 0, 0, data.length]), data])
  })
  return Buffer.concat([header, ...records])
}
