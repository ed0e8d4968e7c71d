import { connect, constants, createServer } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { atEnd } from './at-end.ts'
import { listen } from './listen.ts'

/**
 * Decides about a call, by its name in the service and its message: it is passed on once the decision resolves, or refused
 * with a gRPC status.
 */
type Decide = (call: string, request: Buffer) => Promise<number | void>

/** The one message of a request, after five bytes that say that it is not compressed, and how long it is. */
const messageOf = (sent: Buffer) => sent.subarray(5)

/** A proxy before Temporal; answers its address. */
export async function temporalProxy(target: string, decide: Decide): Promise<string> {
  const upstream = connect(`http://${target}`)
  const server = createServer()
  server.on('stream', (inner, headers) => {
    // its process may be killed, also before the call is decided
    inner.on('error', () => {})
    const refuse = (status: number) =>
      inner.respond(
        { 'content-type': 'application/grpc', 'grpc-status': String(status), 'grpc-message': 'not for you' },
        { endStream: true },
      )
    const forward = (sent: Buffer) => {
      const outer = upstream.request(headers)
      let trailers = {}
      outer.on('error', () => {})
      inner.on('wantTrailers', () => inner.sendTrailers(trailers))
      outer.on('trailers', (received) => void (trailers = received))
      outer.on('response', (answer, flags) => {
        const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
        inner.respond(answer, endStream ? { endStream } : { waitForTrailers: true })
        if (!endStream) outer.pipe(inner)
      })
      inner.on('close', () => outer.close())
      outer.end(sent)
    }
    const call = headers[':path']?.split('/').at(-1) ?? ''
    const answer = async () => {
      const sent = await buffer(inner)
      const status = await decide(call, messageOf(sent))
      if (inner.destroyed) return
      if (status === undefined) forward(sent)
      else refuse(status)
    }
    // its process may be killed
    answer().catch((error: unknown) => {
      if (!inner.destroyed) throw error
    })
  })
  atEnd(async () => {
    upstream.destroy()
    server.close()
  })
  return `127.0.0.1:${await listen(server)}`
}
