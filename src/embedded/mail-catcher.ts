import { mkdirSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'

/**
 * A mail server on 127.0.0.1 that delivers nothing: each mail becomes one file in `folder`, named by the
 * time and the first recipient.
 */
export async function startMailCatcher({ folder, port }: { folder: string; port: number }) {
  mkdirSync(folder, { recursive: true })
  let count = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: callbackify(async (stream: Readable, session: SMTPServerSession) => {
      const recipient = session.envelope.rcptTo[0]?.address ?? 'nobody'
      await keep(await buffer(stream), path.join(folder, `${fileName(recipient, ++count)}.eml`))
    }),
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
  // A client that hangs up in the middle is no reason to stop.
  server.on('error', () => {})
  return {
    url: `smtp://127.0.0.1:${port}`,
    stop: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

function fileName(recipient: string, count: number): string {
  const time = new Date().toISOString().replaceAll(':', '-')
  return `${time}-${count}-${recipient.replaceAll(/[^\w.@+-]/g, '_').slice(0, 100)}`
}

/** Whoever watches the folder sees whole mails only. */
async function keep(mail: Buffer, file: string): Promise<void> {
  await writeFile(`${file}.unfinished`, mail)
  await rename(`${file}.unfinished`, file)
}
