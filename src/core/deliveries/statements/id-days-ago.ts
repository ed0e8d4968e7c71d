import { sql as raw } from 'kysely'

/** The smallest id that an event or an attempt of so many days ago can have: a UUID of version 7 begins with its time. */
export const idDaysAgo = (prefix: 'evt_' | 'att_', days: number) => raw<string>`(${prefix} || overlay(
  lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0') placing '-' from 9 for 0))`
