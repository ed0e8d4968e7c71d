import type {
  Clock,
  ClockAdvance,
  Closing,
  CreateLeadRequest,
  Delivery,
  Endpoint,
  EndpointWithSecret,
  Erasure,
  Event,
  ExportedLead,
  Lead,
  LeadClosing,
  LeadSummary,
  MadeRequest,
  PingResponse,
  Scenario,
  ScenarioRun,
  Simulation,
  Sink,
} from './api.ts'
import { type FeedPage, follow, type FollowedEvent, type FollowOptions } from './events.ts'
import { eachOf, type Pages } from './pages.ts'
import { type CallOptions, type Request, Transport, type TransportOptions } from './transport.ts'
import { type WebhookOptions, Webhooks } from './webhooks.ts'

export interface ReferralsOptions extends TransportOptions {
  /** For `webhooks`: the endpoint’s secret, and while it is rotated, the previous one too. */
  webhookSecrets?: WebhookOptions['secrets']
}

type Without<Body, Field extends keyof Body> = Omit<Body, Field>

/**
 * The Partner Referral Service for a lender’s systems. One instance for a process is enough.
 *
 * Every call rejects with an `ApiError` (its subclass says which code), or with a `NoAnswerError` if the service could not
 * be reached until the deadline.
 */
export class Referrals {
  readonly leads: Leads
  readonly events: Events
  readonly deliveries: Deliveries
  readonly endpoint: EndpointCalls
  readonly requests: Requests
  readonly sandbox: Sandbox
  readonly webhooks: Webhooks
  readonly #transport: Transport

  constructor({ webhookSecrets = [], ...options }: ReferralsOptions) {
    this.#transport = new Transport(options)
    this.leads = new Leads(this.#transport)
    this.events = new Events(this.#transport)
    this.deliveries = new Deliveries(this.#transport)
    this.endpoint = new EndpointCalls(this.#transport)
    this.requests = new Requests(this.#transport)
    this.sandbox = new Sandbox(this.#transport)
    this.webhooks = new Webhooks({ secrets: webhookSecrets })
  }

  /** Whether the service is there, in which environment, and its time. */
  ping(options?: CallOptions): Promise<PingResponse> {
    return this.#transport.call('ping', undefined, options)
  }
}

export interface CreatedLead {
  /** Store it with your application. */
  leadId: number
  partnerLeadId: string | undefined
  /** Fields of the request that the API does not know: they were not stored. */
  ignoredFields: readonly string[]
  /** An open lead of yours with the same `partnerLeadId`: you may have referred this borrower twice. */
  duplicateOf: number | undefined
}

class Leads {
  readonly #transport: Transport
  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Refers a borrower. Give the loan application’s id as `idempotencyKey`, so that a repeat after a crash makes no second lead. */
  async create(lead: CreateLeadRequest, options?: CallOptions): Promise<CreatedLead> {
    const answer = await this.#transport.call('createLead', lead, options)
    const { leadId, partnerLeadId, ignoredFields = [], duplicateOf } = answer
    return { leadId, partnerLeadId, ignoredFields, duplicateOf }
  }

  async get(leadId: number, options?: CallOptions): Promise<Lead> {
    return (await this.#transport.call('getLead', { leadId }, options)).data
  }

  /** Whether the lead is closed or will be, and why; undefined if not. */
  async closing(leadId: number, options?: CallOptions): Promise<LeadClosing | undefined> {
    return (await this.#transport.call('getLead', { leadId }, options)).closing
  }

  /** Its history, oldest first. */
  async history(leadId: number, options?: CallOptions): Promise<Event[]> {
    return (await this.#transport.call('getEvents', { leadId }, options)).data
  }

  /** Fields that are not named stay, and null removes one. A name that the API does not know is a custom field of yours. */
  async update(
    leadId: number,
    fields: Without<Request<'updatePartnerInfo'>, 'leadId'>,
    options?: CallOptions,
  ): Promise<void> {
    await this.#transport.call('updatePartnerInfo', { ...fields, leadId }, options)
  }

  /** Without personal data, newest first. */
  list(filter: Without<Request<'listLeads'>, 'after'> = {}, options?: CallOptions): Pages<LeadSummary> {
    return eachOf((after: number | null) => this.#transport.call('listLeads', { ...filter, after }, options))
  }

  /** Everything that is kept of a borrower, to answer a request for access. */
  async export(leadId: number, options?: CallOptions): Promise<ExportedLead> {
    return (await this.#transport.call('exportLead', { leadId }, options)).data
  }

  /** Requests that a lead is closed, which happens a day later in production. */
  async close(
    leadId: number,
    reason: NonNullable<Request<'closeLead'>['reason']>,
    options?: CallOptions,
  ): Promise<Closing> {
    return (await this.#transport.call('closeLead', { leadId, reason }, options)).data
  }

  /** Cancels a closing that waits. */
  async keepOpen(leadId: number, options?: CallOptions): Promise<Closing> {
    return (await this.#transport.call('closeLead', { leadId, cancel: true }, options)).data
  }

  /** Requests the erasure of a borrower’s data. */
  async erase(
    leadId: number,
    request: Without<Request<'eraseLead'>, 'leadId'> = {},
    options?: CallOptions,
  ): Promise<Erasure> {
    return (await this.#transport.call('eraseLead', { ...request, leadId }, options)).data
  }
}

class Events {
  readonly #transport: Transport
  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** One page of the feed, for those who keep their own loop. */
  async page(request: Request<'listEvents'> = {}, options?: CallOptions): Promise<FeedPage> {
    const { wait = 0 } = request
    // the answer may take as long as it waits, and then as long as any
    const timeoutMs = (wait + 10) * 1000
    return this.#transport.call('listEvents', request, { ...options, timeoutMs })
  }

  /**
   * The events of all leads as they happen, each once and each lead’s in order, without an end: through restarts of the
   * service and failures of the network. Store `event.place` after you have handled an event, and begin there again.
   *
   * @throws {CursorLostError} if the service lost the place: its `place` is where to go on.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<FollowedEvent, never> {
    return follow((request, callOptions) => this.page(request, callOptions), options)
  }
}

class Deliveries {
  readonly #transport: Transport
  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Your webhooks with their attempts, newest first. */
  list(filter: Without<Request<'getDeliveries'>, 'after'> = {}, options?: CallOptions): Pages<Delivery> {
    return eachOf((after: string | null) =>
      this.#transport.call('getDeliveries', { ...filter, after }, options),
    )
  }

  /** Sends a webhook again. */
  async resend(eventId: string, options?: CallOptions): Promise<void> {
    await this.#transport.call('resendWebhook', { eventId }, options)
  }
}

class Requests {
  readonly #transport: Transport
  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** What your systems sent in the last seven days, newest first. */
  list(filter: Without<Request<'listRequests'>, 'after'> = {}, options?: CallOptions): Pages<MadeRequest> {
    return eachOf((after: string | null) =>
      this.#transport.call('listRequests', { ...filter, after }, options),
    )
  }
}

class EndpointCalls {
  readonly #transport: Transport
  constructor(transport: Transport) {
    this.#transport = transport
  }

  async get(options?: CallOptions): Promise<Endpoint> {
    return (await this.#transport.call('getEndpoint', {}, options)).data
  }

  /** Stores a URL as a candidate. The answer has its secret, which is shown only there. */
  async set(
    request: Request<'setEndpoint'> & { url: string },
    options?: CallOptions,
  ): Promise<EndpointWithSecret> {
    // a new URL always has a new secret
    return (await this.#transport.call('setEndpoint', request, options)).data as EndpointWithSecret
  }

  /** What you get webhooks about beside milestones, from now on. */
  async notify(
    about: NonNullable<Request<'setEndpoint'>['notify']>,
    options?: CallOptions,
  ): Promise<Endpoint> {
    return (await this.#transport.call('setEndpoint', { notify: about }, options)).data
  }

  /** Begins the certification of the candidate: `get().certification.state` is `running` until it has ended. */
  async certify(request: Request<'certifyEndpoint'> = {}, options?: CallOptions): Promise<Endpoint> {
    return (await this.#transport.call('certifyEndpoint', request, options)).data
  }

  /** The answer has the new secret, which is shown only there. */
  async rotateSecret(
    request: Request<'rotateEndpointSecret'> = {},
    options?: CallOptions,
  ): Promise<EndpointWithSecret> {
    return (await this.#transport.call('rotateEndpointSecret', request, options)).data
  }

  /** Sends one signed request of type `endpoint.ping`. */
  async test(options?: CallOptions): Promise<Endpoint> {
    return (await this.#transport.call('testEndpoint', {}, options)).data
  }

  async pause(options?: CallOptions): Promise<Endpoint> {
    return (await this.#transport.call('pauseEndpoint', {}, options)).data
  }

  async resume(options?: CallOptions): Promise<Endpoint> {
    return (await this.#transport.call('resumeEndpoint', {}, options)).data
  }
}

/** Only a sandbox has these calls. */
class Sandbox {
  readonly #transport: Transport
  constructor(transport: Transport) {
    this.#transport = transport
  }

  async simulate(
    leadId: number,
    milestones: Without<Request<'simulateEvent'>, 'leadId'>,
    options?: CallOptions,
  ): Promise<Simulation> {
    return (await this.#transport.call('simulateEvent', { ...milestones, leadId }, options)).data
  }

  async advanceClock(
    leadId: number,
    by: Without<Request<'advanceClock'>, 'leadId'>,
    options?: CallOptions,
  ): Promise<ClockAdvance> {
    return (await this.#transport.call('advanceClock', { ...by, leadId }, options)).data
  }

  async clock(leadId: number, options?: CallOptions): Promise<Clock> {
    return (await this.#transport.call('getClock', { leadId }, options)).data
  }

  async scenarios(options?: CallOptions): Promise<Scenario[]> {
    return (await this.#transport.call('listScenarios', undefined, options)).data
  }

  async runScenario(request: Request<'runScenario'>, options?: CallOptions): Promise<ScenarioRun> {
    return (await this.#transport.call('runScenario', request, options)).data
  }

  /** Sends the webhooks to a receiver of the sandbox. */
  async useSink(request: Request<'useSink'> = {}, options?: CallOptions): Promise<Endpoint> {
    return (await this.#transport.call('useSink', request, options)).data
  }

  /** What the sink answers next. */
  async setSink(request: Request<'setSink'>, options?: CallOptions): Promise<void> {
    await this.#transport.call('setSink', request, options)
  }

  async sink(options?: CallOptions): Promise<Sink> {
    return (await this.#transport.call('getSink', {}, options)).data
  }
}
