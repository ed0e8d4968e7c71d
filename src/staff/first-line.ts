import { createInterface } from 'node:readline'

/** The first line of a stream; empty if it has none. */
export async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line
  return ''
}
