import { type Compilable, type Expression, sql as raw } from 'kysely'
import type { Sql } from './orm.ts'

/** Stands in a compiled query for a value that each execution brings. */
class Parameter {
  readonly name: PropertyKey
  constructor(name: PropertyKey) {
    this.name = name
  }
}

/**
 * A query that is built and compiled at its first use only, which takes as long as to decrypt a value or two: for
 * what partners ask again and again. Its text must depend on nothing but its code.
 *
 * @param build gets the stand-in of each value by its name: `param.leadId`.
 */
export function compiledOnce<Values extends object>() {
  return <Row>(
    build: (sql: Sql, param: { [Name in keyof Values]: Expression<Values[Name]> }) => Compilable<Row>,
  ) => {
    const param = new Proxy({} as never, { get: (_, name) => raw.val(new Parameter(name)) })
    let compiled: ReturnType<Compilable<Row>['compile']> | undefined
    return async (sql: Sql, values: Values): Promise<Row[]> => {
      compiled ??= build(sql, param).compile()
      const parameters = compiled.parameters.map((value) =>
        value instanceof Parameter ? values[value.name as keyof Values] : value,
      )
      const { rows } = await sql.executeQuery<Row>({ ...compiled, parameters })
      return rows
    }
  }
}
