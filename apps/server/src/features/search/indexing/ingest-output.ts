import { extractionFailures, maxPlaces, omissionTexts } from '@botstead/documents'
import { findViolation, type JsonSchema } from '@botstead/json-schema'
import { Type } from 'typebox'
import type { IngestOutput, IngestPiece } from './ingest-task.js'

// A reader parses files of strangers. Its results are stored and shown, so their shape is checked like that of any input.

const count = Type.Integer({ minimum: 0 })
const number = Type.Optional(Type.Integer({ minimum: 1 }))
const string = Type.String()
const text = Type.Optional(string)

const Reading = Type.Object({
  omissions: Type.Array(
    Type.Object({
      kind: Type.Enum(Object.keys(omissionTexts)),
      count: Type.Integer({ minimum: 1 }),
      places: Type.Array(
        Type.Object({ page: number, slide: number, sheet: text, part: text, line: number }),
        { maxItems: maxPlaces },
      ),
      hasMorePlaces: Type.Optional(Type.Boolean()),
      detail: text,
    }),
    { maxItems: Object.keys(omissionTexts).length },
  ),
  parts: Type.Optional(Type.Object({ count, unread: count })),
})

/** Made once: the compiled form of a schema is cached by its object. */
const toSchema = (type: object): JsonSchema => ({ ...type })

const schemas = {
  failure: toSchema(
    Type.Object({
      failure: Type.Enum([...extractionFailures]),
      message: string,
      reading: Type.Optional(Reading),
    }),
  ),
  document: toSchema(
    Type.Object({ title: text, pages: Type.Optional(count), reading: Type.Optional(Reading) }),
  ),
  passages: toSchema(
    Type.Object({
      passages: Type.Array(
        Type.Object({
          content: string,
          subtype: string,
          pageNumber: number,
          position: count,
          headings: Type.Array(string),
          ownHeadings: Type.Array(string),
          start: count,
          end: count,
          fields: Type.Object({ folders: string, name: string, headings: string, body: string }),
          // Items are not checked: there are many, and the database refuses other values than texts.
          words: Type.Array(Type.Unknown()),
        }),
      ),
    }),
  ),
  words: toSchema(
    Type.Object({ words: Type.Array(Type.Object({ words: Type.Array(Type.Unknown()) })) }),
  ),
}

/** @throws Error if the value is not an output of a reader */
export function requireOutput(output: IngestOutput): void {
  requireFit('failure' in output ? schemas.failure : schemas.document, output)
}

/** As {@link requireOutput}, for a part of the output. */
export function requirePiece(piece: IngestPiece): void {
  requireFit('words' in piece ? schemas.words : schemas.passages, piece)
}

function requireFit(schema: JsonSchema, value: unknown): void {
  const violation = findViolation(schema, value)
  if (violation === undefined) return
  throw new Error(`Unexpected output of the reader: ${violation.field} ${violation.rule}`)
}
