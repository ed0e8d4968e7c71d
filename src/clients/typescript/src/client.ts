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
  PingResponse,
  Scenario,
  ScenarioRun,
  Simulation,
  Sink,
  TestRequest,
} from './api.ts'
import { certified } from './certified.ts'
import { ApiError } from './errors.ts'
import { type FeedPage, follow, type FollowedEvent, type FollowOptions } from './events.ts'
import { eachOf, type Pages } from './pages.ts'
import { phoneNumber } from './phone.ts'
import { type CallOptions, type Request, Transport, type TransportOptions } from './transport.ts'
import { type WebhookOptions, Webhooks } from './webhooks.ts'

export interface ReferralsOptions extends TransportOptions {
  /** For `webhooks`: the endpoint’s secret, and while it is rotated, the previous one too. */
  webhookSecrets?: WebhookOptions['secrets'] | undefined
}

/** `wait`: for the result. */
export type CertifyRequest = Request<'certifyEndpoint'> & { wait?: boolean }

/** Omit would forget all that is named beside a partner’s own fields. */
type Without<Body, Field extends keyof Body> = {
  [Name in keyof Body as Exclude<Name, Field>]: Body[Name]
}

/**
 * The Partner Referral Service for a lender’s systems. One instance for a process is enough.
 *
 * @example
 * const referrals = new Referrals({
 *   apiKey: process.env.REFERRALS_KEY,
 *   baseUrl: 'https://referrals.example.com/v1',
 *   webhookSecrets: process.env.WEBHOOK_SECRET,
 * })
 *
 * Every call rejects with an `ApiError`, or with a `NoAnswerError` if the service could not
 * be reached until the deadline.
 */
export class Referrals {
  readonly leads: Leads
  readonly events: Events
  readonly deliveries: Deliveries
  readonly endpoint: EndpointCalls
  readonly sandbox: Sandbox
  readonly webhooks: Webhooks
  readonly #transport: Transport

  constructor({ webhookSecrets = [], ...options }: ReferralsOptions) {
    this.#transport = new Transport(options)
    this.leads = new Leads(this.#transport)
    this.events = new Events(this.#transport)
    this.deliveries = new Deliveries(this.#transport)
    this.endpoint = new EndpointCalls(this.#transport)
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
  /** An open lead of yours with the same `partnerLeadId` or address: you may have referred this borrower twice. */
  duplicateOf: number | undefined
}

class Group {
  protected readonly transport: Transport
  constructor(transport: Transport) {
    this.transport = transport
  }
}

class Leads extends Group {
  /**
   * Refers a borrower. Give the loan application’s id as `idempotencyKey`, so that a repeat after a crash makes no second
   * lead. `phone` may have dots, brackets and an extension, which are left out.
   *
   * @example
   * const { leadId, ignoredFields } = await referrals.leads.create(
   *   { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '+1 555-0100', partnerLeadId: 'LOAN-118' },
   *   { idempotencyKey: 'loan-118' },
   * )
   */
  async create(lead: CreateLeadRequest, options?: CallOptions): Promise<CreatedLead> {
    const request = { ...lead, ...(lead.phone && { phone: phoneNumber(lead.phone) }) }
    const answer = await this.transport.call('createLead', request, options)
    const { leadId, partnerLeadId, ignoredFields = [], duplicateOf } = answer
    return { leadId, partnerLeadId, ignoredFields, duplicateOf }
  }

  /** `closedAt` is text, because a custom field of yours can take its place; `closing` has the `Date`. */
  async get(leadId: number, options?: CallOptions): Promise<Lead> {
    return (await this.transport.call('getLead', { leadId }, options)).data
  }

  /** When the lead was closed, and why; undefined while it is open. */
  async closing(leadId: number, options?: CallOptions): Promise<LeadClosing | undefined> {
    return (await this.transport.call('getLead', { leadId }, options)).closing
  }

  /** Its history, oldest first. */
  async history(leadId: number, options?: CallOptions): Promise<Event[]> {
    return (await this.transport.call('getEvents', { leadId }, options)).data
  }

  /**
   * Fields that are not named stay, and null removes one. A name that the API does not know is a custom field of yours;
   * what the service owns or what identifies the borrower, such as `firstName`, is refused.
   *
   * @example
   * await referrals.leads.update(leadId, { loanOfficerId: 'LO-9', branch: 'Oakland' })
   */
  async update(
    leadId: number,
    fields: Without<Request<'updatePartnerInfo'>, 'leadId'>,
    options?: CallOptions,
  ): Promise<void> {
    await this.transport.call('updatePartnerInfo', { ...fields, leadId }, options)
  }

  /**
   * Without personal data, newest first.
   *
   * @example
   * for await (const lead of referrals.leads.list({ status: 'escrow_funded' })) console.log(lead.leadId)
   */
  list(filter: Without<Request<'listLeads'>, 'after'> = {}, options?: CallOptions): Pages<LeadSummary> {
    return eachOf((after: number | null) => this.transport.call('listLeads', { ...filter, after }, options))
  }

  /** Everything that is kept of a borrower, to answer a request for access. */
  async export(leadId: number, options?: CallOptions): Promise<ExportedLead> {
    return (await this.transport.call('exportLead', { leadId }, options)).data
  }

  /** Closes a lead for good. */
  async close(
    leadId: number,
    reason: Request<'closeLead'>['reason'],
    options?: CallOptions,
  ): Promise<Closing> {
    return (await this.transport.call('closeLead', { leadId, reason }, options)).data
  }

  /** Erases a borrower’s data at once and for good. */
  async erase(
    leadId: number,
    request: Without<Request<'eraseLead'>, 'leadId'> = {},
    options?: CallOptions,
  ): Promise<Erasure> {
    return (await this.transport.call('eraseLead', { ...request, leadId }, options)).data
  }
}

class Events extends Group {
  /** One page of the feed, for those who keep their own loop. */
  async page(request: Request<'listEvents'> = {}, options?: CallOptions): Promise<FeedPage> {
    const { wait = 0 } = request
    return this.transport.call('listEvents', request, { ...options, waitMs: wait * 1000 })
  }

  /**
   * The events of all leads as they happen, each once and each lead’s in order, until `signal` ends the loop: through
   * restarts of the service and failures of the network. Store `event.place` after you have handled an event, and begin
   * there again.
   *
   * @example
   * const stop = new AbortController()
   * process.once('SIGTERM', () => stop.abort())
   * for await (const event of referrals.events.follow({ after: await load(), signal: stop.signal })) {
   *   if (event.eventName === 'score_update') await update(event.leadId, event.eventPayload.experianGain)
   *   await save(event.place)
   * }
   *
   * @throws {CursorLostError} if the service lost the place: its `place` is where to go on.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<FollowedEvent, void> {
    return follow((request, callOptions) => this.page(request, callOptions), options)
  }
}

class Deliveries extends Group {
  /** Your webhooks with their attempts, newest first. */
  list(filter: Without<Request<'getDeliveries'>, 'after'> = {}, options?: CallOptions): Pages<Delivery> {
    return eachOf((after: string | null) =>
      this.transport.call('getDeliveries', { ...filter, after }, options),
    )
  }

  /** Sends a webhook again. */
  async resend(eventId: string, options?: CallOptions): Promise<void> {
    await this.transport.call('resendWebhook', { eventId }, options)
  }
}

class EndpointCalls extends Group {
  async get(options?: CallOptions): Promise<Endpoint> {
    return (await this.transport.call('getEndpoint', {}, options)).data
  }

  /**
   * Stores a URL as a candidate. The answer has its secret, which is shown only there.
   *
   * @example
   * const { secret } = await referrals.endpoint.set({ url: 'https://hooks.lender.example.com/webhooks' })
   */
  async set(request: Request<'setEndpoint'>, options?: CallOptions): Promise<EndpointWithSecret> {
    return (await this.transport.call('setEndpoint', request, options)).data
  }

  /**
   * Certifies the candidate: the service sends it six requests. With `wait`, the answer comes when all checks have ended;
   * else `get().certification.state` is `running` until then.
   *
   * @example
   * const { certification } = await referrals.endpoint.certify({ wait: true })
   * for (const { check, hint } of certification?.checks ?? []) if (hint !== null) console.log(check, hint)
   *
   * @throws {NoAnswerError} if the certification has not ended at the deadline; it goes on.
   */
  async certify({ wait = false, ...request }: CertifyRequest = {}, options?: CallOptions): Promise<Endpoint> {
    const get = (left?: CallOptions) => this.get(left)
    const begin = (left?: CallOptions) => this.#certify(request, left)
    if (!wait) return begin(options)
    // an option may be there and undefined
    const deadlineMs = options?.deadlineMs ?? this.transport.deadlineMs
    return certified(begin, get, { ...options, deadlineMs })
  }

  async #certify(request: Request<'certifyEndpoint'>, options?: CallOptions): Promise<Endpoint> {
    try {
      return (await this.transport.call('certifyEndpoint', request, options)).data
    } catch (error) {
      // an attempt whose answer was lost has begun it, and it has ended since
      if (error instanceof ApiError && error.code === 'NO_CANDIDATE' && error.maybeDone)
        return this.get(options)
      throw error
    }
  }

  /** The answer has the new secret, which is shown only there. */
  async rotateSecret(
    request: Request<'rotateEndpointSecret'> = {},
    options?: CallOptions,
  ): Promise<EndpointWithSecret> {
    return (await this.transport.call('rotateEndpointSecret', request, options)).data
  }

  /** Sends one signed request of type `endpoint.ping`, and answers how the endpoint responded. */
  async test(options?: CallOptions): Promise<TestRequest> {
    return (await this.transport.call('testEndpoint', {}, options)).data
  }

  async pause(options?: CallOptions): Promise<Endpoint> {
    return (await this.transport.call('pauseEndpoint', {}, options)).data
  }

  async resume(options?: CallOptions): Promise<Endpoint> {
    return (await this.transport.call('resumeEndpoint', {}, options)).data
  }
}

/** Only a sandbox has these calls. */
class Sandbox extends Group {
  async simulate(
    leadId: number,
    milestones: Without<Request<'simulateEvent'>, 'leadId'>,
    options?: CallOptions,
  ): Promise<Simulation> {
    return (await this.transport.call('simulateEvent', { ...milestones, leadId }, options)).data
  }

  async advanceClock(
    leadId: number,
    by: Without<Request<'advanceClock'>, 'leadId'>,
    options?: CallOptions,
  ): Promise<ClockAdvance> {
    return (await this.transport.call('advanceClock', { ...by, leadId }, options)).data
  }

  async clock(leadId: number, options?: CallOptions): Promise<Clock> {
    return (await this.transport.call('getClock', { leadId }, options)).data
  }

  async scenarios(options?: CallOptions): Promise<Scenario[]> {
    return (await this.transport.call('listScenarios', undefined, options)).data
  }

  async runScenario(request: Request<'runScenario'>, options?: CallOptions): Promise<ScenarioRun> {
    return (await this.transport.call('runScenario', request, options)).data
  }

  /** Sends the webhooks to a receiver of the sandbox. */
  async useSink(request: Request<'useSink'> = {}, options?: CallOptions): Promise<Endpoint> {
    return (await this.transport.call('useSink', request, options)).data
  }

  /** What the sink answers next. */
  async setSink(request: Request<'setSink'>, options?: CallOptions): Promise<void> {
    await this.transport.call('setSink', request, options)
  }

  async sink(options?: CallOptions): Promise<Sink> {
    return (await this.transport.call('getSink', {}, options)).data
  }
}
