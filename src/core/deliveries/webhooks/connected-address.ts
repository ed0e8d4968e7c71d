import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** undici publishes it just before it writes a request's first byte, also on a reused connection. */
const CHANNEL = 'undici:client:sendHeaders'

/**
 * Tells which address a request was sent to. undici's response does not say that; its diagnostics channel does. There,
 * a request is known by its body, so each one needs its own Buffer.
 */
export function trackConnectedAddresses() {
  const addresses = new WeakMap<Buffer, string | undefined>()
  const listener = (message: unknown) => {
    const { request, socket } = message as { request: { body: unknown }; socket: Socket }
    if (Buffer.isBuffer(request.body)) addresses.set(request.body, socket.remoteAddress)
  }
  subscribe(CHANNEL, listener)
  return {
    addressOf: (body: Buffer) => addresses.get(body) ?? null,
    stop: () => unsubscribe(CHANNEL, listener),
  }
}
