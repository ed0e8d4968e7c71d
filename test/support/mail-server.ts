import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { atEnd } from './at-end.ts'
import { listen } from './listen.ts'

export interface ReceivedMail {
  to: string
  /** As it came, with its headers. */
  content: string
}

/**
 * A mail server that takes any password and keeps what it takes; `refusing` makes it refuse everything, or those
 * addresses, and while `answering` is not resolved it has taken a mail and does not say so.
 */
export async function startMailServer() {
  const mails: ReceivedMail[] = []
  const mailServer = {
    url: '',
    mails,
    /** The recipients of all mails, also of refused ones. */
    recipients: [] as string[],
    refusing: false as boolean | readonly string[],
    refused: [] as string[],
    answering: Promise.resolve(),
  }
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: ({ username }, _session, done) => done(null, { user: username }),
    logger: false,
    onRcptTo: ({ address }, _session, done) => {
      mailServer.recipients.push(address)
      const { refusing } = mailServer
      if (Array.isArray(refusing) ? !refusing.includes(address) : !refusing) return done()
      mailServer.refused.push(address)
      done(new Error(`<${address}>: mailbox is not available`))
    },
    onData: (stream, { envelope }, done) => {
      const keep = (content: string) => {
        // lines are folded with =, and none of ours are longer than a subject
        const plain = content.replaceAll('=\r\n', '')
        mails.push(...envelope.rcptTo.map(({ address }) => ({ to: address, content: plain })))
        void mailServer.answering.then(() => done())
      }
      // a worker that is killed leaves half a mail, which nobody took
      text(stream).then(keep, done)
    },
  })
  // a sender that was killed, not a fault of the server
  server.on('error', () => {})
  mailServer.url = `smtp://127.0.0.1:${await listen(server.server)}`
  atEnd(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return mailServer
}
