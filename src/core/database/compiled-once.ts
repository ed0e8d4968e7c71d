import { type Compilable, type Expression, sql as raw } from 'kysely'
import type { Sql } from './sql.ts'

/** Stands in a compiled query for a value that each execution brings. */
class Parameter {
  readonly name: PropertyKey
  constructor(name: PropertyKey) {
    this.name = name
  }
}

type ValueOf<Values> = <Name extends keyof Values>(name: Name) => Expression<Values[Name]>

/**
 * A query that is built and compiled at its first use only, which takes as long as to decrypt a value or two: for
 * what is asked again and again. Its text must depend on nothing but its code.
 *
 * @param build asks for the stand-in of each value by its name: `value('leadId')`.
 */
export function compiledOnce<Values extends object>() {
  return <Row>(build: (sql: Sql, value: ValueOf<Values>) => Compilable<Row>) => {
    const value: ValueOf<Values> = (name) => raw`${new Parameter(name)}`
    let compiled: ReturnType<Compilable<Row>['compile']> | undefined
    return async (sql: Sql, values: Values): Promise<Row[]> => {
      compiled ??= build(sql, value).compile()
      const parameters = compiled.parameters.map((parameter) =>
        parameter instanceof Parameter ? values[parameter.name as keyof Values] : parameter,
      )
      const { rows } = await sql.executeQuery<Row>({ ...compiled, parameters })
      return rows
    }
  }
}
