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
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let done: (status: number) => void = () => undefined
  let head: Buffer = Buffer.alloc(0)
  let status = 0
  /** Bytes of the body; undefined within the head. */
  let missing: number | undefined
  socket.on('data', (chunk) => {
    let body: Buffer = chunk
    if (missing === undefined) {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      const text = head.toString('latin1', 0, end)
      status = Number(text.slice(9, 12))
      missing = Number(/content-length: (\d+)/i.exec(text)?.[1])
      body = head.subarray(end + 4)
      head = Buffer.alloc(0)
    }
    missing -= body.length
    if (missing > 0) return
    missing = undefined
    done(status)
  })
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
