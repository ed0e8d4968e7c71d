import { z } from 'zod'
import { ApiError, invalidPayload } from '../../http/errors.ts'
import { oneOf } from '../../http/fields.ts'
import { attemptTriggers, deliveryStatuses } from '../decisions/delivery.ts'

/** What routes that show deliveries have in common. */

export const deliveryState = z.enum(deliveryStatuses, { error: oneOf(deliveryStatuses) }).meta({
  id: 'DeliveryState',
  description:
    '`pending`: to be sent. `held`: pending, while your endpoint is paused. `delivered`: your endpoint accepted it. `given_up`: the retry schedule is used up while your endpoint accepted other webhooks; the lead’s next webhook is sent, and resend-webhook sends this one again. `canceled`: our staff left it out.',
})

export const attemptTrigger = z.enum(attemptTriggers).meta({
  id: 'AttemptTrigger',
  description:
    'Why it was made. `scheduled`: by the retry schedule. `resend`: you asked for it. `replay`: our staff did. `probe`: to test whether a paused endpoint works again.',
})

/** For an event that does not exist, and for another partner's. */
export const unknownEvent = () => new ApiError('NOT_FOUND', 'Event not found.')
export const unsentEvent = () => invalidPayload('This event is not sent as a webhook.')
