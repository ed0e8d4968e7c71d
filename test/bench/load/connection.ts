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
  let missing = -1
  return (chunk: Buffer) => {
    if (missing >= 0) missing -= chunk.length
    else {
      kept = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      const end = kept.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = kept.toString('latin1', 0, end)
      status = Number(head.slice(9, 12))
      missing = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - kept.length
      kept = Buffer.alloc(0)
    }
    if (missing > 0) return
    missing = -1
    onAnswer(status)
  }
}
