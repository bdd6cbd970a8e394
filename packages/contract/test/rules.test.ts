import { allOperations, errorsOf, isErrorType, type Operation } from '@botstead/contract'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { namesOf, partsOf, type SchemaPath, schemasOf } from './walk.js'

const operations = allOperations.map((operation) => [operation.id, operation] as const)
const pathsOf = (operation: Operation, broken: (found: SchemaPath) => boolean) =>
  schemasOf(operation)
    .filter(broken)
    .map(({ path }) => path)

const ajv = new Ajv({ strict: true, strictTypes: false, discriminator: true })
addFormats.default(ajv)
ajv.addKeyword('maxBytes')

describe('the operations together', () => {
  it('have ids of their own', () => {
    const ids = allOperations.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)])
    expect(ids.length).toBeGreaterThan(30)
  })

  it('have addresses of their own, independent of the names of parameters', () => {
    const addresses = allOperations.map(
      ({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
    )
    expect(addresses).toEqual([...new Set(addresses)])
  })
})

describe.each(operations)('%s', (_, operation) => {
  it('has an id that can be a method name and a summary of one line', () => {
    expect(operation.id).toMatch(/^[a-z][A-Za-z]+$/)
    expect(operation.summary).toMatch(/^[A-Z][^\n]{5,79}[^.\n]$/)
  })

  it('declares exactly the parameters of its path', () => {
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    expect(operation.path).toMatch(/^(\/([a-z0-9-]+(\.json)?|\{\w+\}))+$/)
    expect(namesOf(operation.params)).toEqual(inPath)
    expect(operation.params?.required ?? []).toEqual(inPath)
  })

  it('shares no name between params, query and body', () => {
    const names = [operation.params, operation.query, operation.body].flatMap(namesOf)
    expect(names).toEqual([...new Set(names)])
  })

  it('sends a body only with methods that have one, and of one kind', () => {
    const bodies = [operation.body, operation.upload].filter((body) => body !== undefined)
    // A POST without a body has all of its input in the path.
    expect(bodies.length).toBeLessThanOrEqual(
      ['POST', 'PUT', 'PATCH'].includes(operation.method) ? 1 : 0,
    )
    if (operation.method === 'PUT') expect(bodies).toHaveLength(1)
  })

  it('takes an idempotency key exactly if an identified caller creates something from JSON', () => {
    const creates = operation.method === 'POST' && operation.status === 201
    // Without a credential the server does not know whether the first caller repeats the call.
    const isIdentified = !['public', 'signature', 'chat'].includes(operation.auth)
    expect(operation.idempotent ?? false).toBe(
      creates && isIdentified && operation.body !== undefined,
    )
    expect(operation.status === 201).toBe(creates)
  })

  it('lists errors of the catalogue, each once', () => {
    expect(operation.errors.filter((type) => !isErrorType(type))).toEqual([])
    expect(operation.errors).toEqual([...new Set(operation.errors)])
    expect(errorsOf(operation)).toEqual(expect.arrayContaining([...operation.errors]))
  })

  it('describes every field, and what its lists and maps hold', () => {
    const isInner = (path: string) => /[.[{]/.test(path.slice(operation.id.length + 1))
    expect(
      pathsOf(
        operation,
        ({ path, schema }) =>
          isInner(path) && !/\|\d+$/.test(path) && !/\S{2}.*[.;)]$/.test(schema.description ?? ''),
      ),
    ).toEqual([])
  })

  it('bounds every string, list and map of its request', () => {
    const unbounded = ({ side, schema }: SchemaPath) =>
      side === 'request' &&
      ((schema.type === 'string' &&
        !(schema.maxLength || schema.enum || schema.const || schema.format)) ||
        (schema.type === 'array' && !schema.maxItems) ||
        (typeof schema.additionalProperties === 'object' && !schema.maxProperties))
    expect(pathsOf(operation, unbounded)).toEqual([])
  })

  it('tolerates members it does not know, and names schemas by title alone', () => {
    // A condition that is ignored would find what the caller means to exclude.
    const isCondition = ({ path }: SchemaPath) => /\.tags\b/.test(path)
    const isStrict = ({ schema }: SchemaPath) => schema.additionalProperties === false
    expect(
      pathsOf(
        operation,
        (found) => (isStrict(found) && !isCondition(found)) || '$id' in found.schema,
      ),
    ).toEqual([])
  })

  it('has schemas that a strict validator takes', () => {
    for (const [part, schema] of Object.entries(partsOf(operation))) {
      expect(() => ajv.compile(schema), part).not.toThrow()
    }
  })
})
