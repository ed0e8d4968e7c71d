import { connect } from 'node:net'

/** Sends one request at a time; `done` gets the status, 0 when the connection broke. */
export interface Connection {
  send(request: Buffer, done: (status: number) => void): void
  close(): void
}

/**
 * A kept-alive connection that reads no more of an answer than its status and length: a full HTTP client would
 * take a third of the machine that it measures.
 */
export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let done: (status: number) => void = () => undefined
  const answer = answerReader((status) => done(status))
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.on('data', answer)
  socket.on('error', () => undefined)
  socket.on('close', () => done(0))
  return {
    send(request, then) {
      done = then
      if (socket.destroyed) then(0)
      else socket.write(request)
    },
    close: () => void socket.destroy(),
  }
}

function answerReader(onAnswer: (status: number) => void) {
  let kept: Buffer = Buffer.alloc(0)
  let status = 0
  let isLast: ((part: Buffer) => boolean) | undefined
  return (chunk: Buffer) => {
    let part = chunk
    if (isLast === undefined) {
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      const end = kept.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = kept.toString('latin1', 0, end)
      status = Number(head.slice(9, 12))
      isLast = bodyReader(head)
      part = kept.subarray(end + 4)
      kept = Buffer.alloc(0)
    }
    if (!isLast(part)) return
    isLast = undefined
    onAnswer(status)
  }
}

/** What ends a body of unknown length; JSON has no line break in it. */
const LAST_CHUNK = '\r\n0\r\n\r\n'

/** Is told of each part of a body, and says whether it was the last. */
function bodyReader(head: string): (part: Buffer) => boolean {
  if (/transfer-encoding: chunked/i.test(head)) {
    let end = ''
    return (part) => {
      const latest = part.toString('latin1', Math.max(0, part.length - LAST_CHUNK.length))
      end = (end + latest).slice(-LAST_CHUNK.length)
      return end === LAST_CHUNK
    }
  }
  let missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  return (part) => {
    missing -= part.length
    return missing <= 0
  }
}
