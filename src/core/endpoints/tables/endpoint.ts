import { defineEntity, p } from '@mikro-orm/core'
import type { Certification } from '../decisions/certification.ts'
import {
  type EndpointPauser,
  endpointPausers,
  type EndpointState,
  endpointStates,
  type EndpointIncident,
  endpointIncidents,
} from '../decisions/endpoint.ts'
import { instant, oneOf } from '../../database/columns.ts'
import { Partner } from '../../partners/tables/partner.ts'

/** Where a partner's webhooks go: made with the partner, without a URL until staff set one. */
export const Endpoint = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoints',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.oneToOne(Partner).owner().deleteRule('restrict'),
    url: p.text().nullable(),
    state: p.text().$type<EndpointState>(),
    reason: p.text().nullable(),
    pausedBy: p.text().$type<EndpointPauser>().nullable(),
    /** Rises with every change of the URL, pause and resume: what an older one answered says nothing of this one. */
    revision: p.integer().default(1),
    /** The revision that set the current URL. */
    urlRevision: p.integer().default(1),
    /** Rises with every new URL, resume and accepted probe: failures and dates of deliveries count in their round alone. */
    round: p.integer().default(1),
    /** The latest round for which all leads with open webhooks were woken. */
    wokenRound: p.integer().default(1),
    /** Since when it is in this state. */
    since: instant().defaultRaw('now()'),
    /** The first failure after the last success; null while it works. */
    failingSince: instant().nullable(),
    /** The first success after it failed, was set or was resumed. */
    recoveredAt: instant().nullable(),
    /** Its open incident, if there is one. */
    incident: p.text().$type<EndpointIncident>().nullable(),
    /** When its workflow probes it next; null unless the service paused it. */
    nextProbeAt: instant().nullable(),
    /** The number of the URL that its partner is to certify: the id of its secret, which signs nothing yet. */
    candidate: p.integer().nullable(),
    candidateUrl: p.text().nullable(),
    candidateAt: instant().nullable(),
    /** The latest one: of the candidate, or, once it has passed, of `url`. */
    certification: p.json<Certification>().nullable(),
    /** Where webhooks went before, and the secret that was current then: staff go back to them with one command. */
    previousUrl: p.text().nullable(),
    previousSecret: p.integer().nullable(),
    previousUntil: instant().nullable(),
  },
  checks: [
    { name: 'endpoints_state_check', expression: oneOf('state', endpointStates) },
    { name: 'endpoints_paused_by_check', expression: oneOf('paused_by', endpointPausers) },
    { name: 'endpoints_paused_check', expression: "(state = 'paused') = (paused_by is not null)" },
    { name: 'endpoints_incident_check', expression: oneOf('incident', endpointIncidents) },
    { name: 'endpoints_url_check', expression: "url is not null or state = 'paused'" },
  ],
})
