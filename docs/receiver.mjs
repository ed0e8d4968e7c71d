import Fastify from 'fastify'
import { Webhook } from 'standardwebhooks'

const secret = process.env.WEBHOOK_SECRET ?? ''
if (!/^whsec_[\w+/=]+$/.test(secret)) {
  console.error('Set WEBHOOK_SECRET to the secret that set-endpoint showed')
  process.exit(1)
}

const webhook = new Webhook(secret)
const handled = new Set() // keep these ids in your database
const app = Fastify()

// the raw body: verify it before you parse it
const rawBody = (request, body, done) => done(null, body)
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, rawBody)

app.post('/webhooks', (request, reply) => {
  let event
  try {
    event = webhook.verify(request.body, request.headers)
  } catch {
    return reply.code(400).send() // forged, changed, or more than five minutes old
  }
  const id = request.headers['webhook-id']
  if (!handled.has(id)) {
    handled.add(id)
    console.log(event.type, JSON.stringify(event.data))
  }
  reply.code(200).send()
})

await app.listen({ port: process.env.PORT ?? 4000 })
console.log('Waiting for webhooks')
