import { isTooDeep } from '../../../core/values/json-depth.ts'

/** The body of a request that was signed, maybe by the partner itself; `null` for what nobody should parse. */
export function parseSigned(bytes: Buffer): unknown {
  return isTooDeep(bytes) ? null : JSON.parse(bytes.toString('utf8'))
}
