/** The endpoint resolves to an address that is not public; nothing was sent. */
export class BlockedAddressError extends Error {
  readonly address: string

  constructor(address: string) {
    super('the endpoint resolves to an address that is not public')
    this.address = address
  }
}

/** The endpoint's host name has no address, or the lookup failed. */
export class LookupError extends Error {}
