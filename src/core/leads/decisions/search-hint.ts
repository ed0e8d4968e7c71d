const ONE_ID = /^(?:evt|att)_[0-9a-f-]{36}$/
const PART_OF_ID = /^(?:evt|att)_/i
const LEAST_OF_PHONE = 7
const PHONE = /^\+?[\d\s()./-]+$/
const NAME = /^\p{L}[\p{L}\p{M}\s'’.-]*$/u

/** What to say of a text by which no lead was found, if it looks like something by which none can be. */
export function searchHint(text: string): string | undefined {
  if (!ONE_ID.test(text) && PART_OF_ID.test(text))
    return 'This looks like part of an id: an event’s is evt_ and 36 characters. Ask for all of it.'
  const digits = text.replaceAll(/\D/g, '').length
  if ((PHONE.test(text) && digits >= LEAST_OF_PHONE) || NAME.test(text))
    return 'Names and phone numbers cannot be searched: they are encrypted. Ask for the email address, or for the partner_lead_id.'
  return undefined
}
