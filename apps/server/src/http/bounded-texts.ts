import type { Ajv } from 'ajv'

/** Teaches a validator the bound of texts in bytes of UTF-8, which is told before one in characters. */
export function addBytesKeyword(ajv: Ajv): void {
  ajv.addKeyword({
    keyword: 'maxBytes',
    type: 'string',
    schemaType: 'number',
    before: 'maxLength',
    validate: (most: number, text: string) => Buffer.byteLength(text) <= most,
    error: {
      message: ({ schema }) => `must have at most ${String(schema)} bytes of UTF-8`,
    },
  })
}
