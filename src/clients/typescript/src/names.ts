/**
 * A name that was added after this client was made. It is any string, but TypeScript takes it for one of its own, so that
 * comparing with a known name tells the kinds apart; with `string`, it would not.
 */
export declare enum OtherName {
  any = 'any that is not known',
}
