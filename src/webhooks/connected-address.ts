import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** Published by undici right before a request's first byte is written, also on a connection used before. */
const CHANNEL = 'undici:client:sendHeaders'

/**
 * Tells to which address a request was sent. undici's answer does not say it; its diagnostics channel
 * does, and knows the request by its body, so each request needs a Buffer of its own.
 */
export function trackConnectedAddresses() {
  const addresses = new WeakMap<Buffer, string | undefined>()
  const listener = (message: unknown) => {
    const { request, socket } = message as { request: { body: Buffer | null }; socket: Socket }
    if (request.body !== null && addresses.has(request.body))
      addresses.set(request.body, socket.remoteAddress)
  }
  subscribe(CHANNEL, listener)
  return {
    expect: (body: Buffer) => void addresses.set(body, undefined),
    addressOf: (body: Buffer) => addresses.get(body) ?? null,
    stop: () => unsubscribe(CHANNEL, listener),
  }
}
