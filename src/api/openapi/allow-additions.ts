/** What we answer and send may gain fields: a reader that refuses unknown ones would break. */
export function allowAdditions({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}
