import { messagePayloads } from '@botstead/contract'

type Schema = Record<string, unknown>

/** Kinds of content that a bloc can hold. */
const parts = ['text', 'markdown', 'image', 'audio', 'video', 'file', 'location'] as const

/** What the built-in chat can show, by type of message: the type stands beside the payload here. */
export const chatShapes: Readonly<Record<string, { schema: Schema }>> = {
  ...Object.fromEntries(
    Object.entries(messagePayloads).map(([type, schema]) => [
      type,
      { schema: withoutType(schema) },
    ]),
  ),
  carousel: { schema: list(withoutType(messagePayloads.card)) },
  bloc: {
    schema: list({
      type: 'object',
      required: ['type', 'payload'],
      properties: { type: { enum: parts }, payload: { type: 'object' } },
      // One rule per type names the member that is wrong; alternatives would only say that none fits.
      allOf: parts.map((type) => ({
        if: { properties: { type: { const: type } } },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { properties: { payload: withoutType(messagePayloads[type]) } },
      })),
    }),
  },
}

function withoutType(schema: { required?: readonly string[]; properties: Schema }): Schema {
  const { type: _, ...properties } = schema.properties
  const required = schema.required?.filter((name) => name !== 'type') ?? []
  return { type: 'object', properties, required }
}

function list(items: Schema): Schema {
  return { type: 'object', required: ['items'], properties: { items: { type: 'array', items } } }
}
