import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'

/** A mail server on 127.0.0.1 that delivers nothing: each mail becomes a file in `folder`, named by time and recipient. */
export async function startMailCatcher(folder: string, port: number) {
  mkdirSync(folder, { recursive: true })
  let count = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: callbackify(async (stream: Readable, { envelope }: SMTPServerSession) => {
      const name = `${new Date().toISOString()}-${String(++count).padStart(4, '0')}-${envelope.rcptTo[0]?.address}`
      const file = path.join(folder, `${name.replaceAll(/[^\w.@+-]/g, '_').slice(0, 100)}.eml`)
      // a reader of the folder sees complete mails only
      await writeFile(`${file}.unfinished`, await buffer(stream))
      await rename(`${file}.unfinished`, file)
    }),
  })
  // a client that hangs up halfway is no reason to stop
  server.on('error', () => {})
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return { url: `smtp://127.0.0.1:${port}`, server }
}
