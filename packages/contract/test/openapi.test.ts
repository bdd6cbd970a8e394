import { readFile } from 'node:fs/promises'
import { allOperations, createOpenApi, operation } from '@botstead/contract'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'

const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')
const document = createOpenApi(allOperations, { version: '1.2.3', serverUrl: 'https://bots.test' })

const probe = (title: string, member: string) =>
  operation({
    id: `probe${member}`,
    method: 'GET',
    path: `/${member}`,
    tag: 'Service',
    summary: 'Probe',
    auth: 'public',
    response: {
      kind: 'json',
      schema: Type.Object({ [member]: Type.String({ description: 'Anything.' }) }, { title }),
    },
    status: 200,
    errors: [],
  })

describe('the OpenAPI document', () => {
  it('is the one that is committed', async () => {
    const { version } = JSON.parse(await read('../../../package.json'))
    const committed = await read('../../../docs/openapi.json')
    expect(`${JSON.stringify(createOpenApi(allOperations, { version }), null, 2)}\n`).toBe(
      committed,
    )
  })

  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate({ ...structuredClone(document) })
    expect(result).toEqual({ valid: true })
  })

  it('holds every operation once, under its id', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    expect(ids.toSorted()).toEqual(allOperations.map(({ id }) => id).toSorted())
  })

  it('refers only to what it holds', () => {
    const references = JSON.stringify(document).matchAll(/"#\/components\/([^/"]+)\/([^"]+)"/g)
    const missing = [...references].filter(
      ([, kind = '', name = '']) => document.components[kind]?.[name] === undefined,
    )
    expect(missing).toEqual([])
  })

  it('names version and address of the server', () => {
    expect(document.info).toMatchObject({ version: '1.2.3', license: { identifier: 'MIT' } })
    expect(document.servers).toEqual([{ url: 'https://bots.test' }])
  })

  it('asks for the credential and the headers of each kind of caller', () => {
    const listBots = document.paths['/v1/admin/bots']?.get
    expect(listBots).toMatchObject({ security: [{ token: [] }] })
    expect(listBots?.parameters).toContainEqual({
      $ref: '#/components/parameters/x-workspace-id',
    })
    expect(document.paths['/chat/{webhookId}/messages']?.post).toMatchObject({
      security: [{ userKey: [] }],
    })
    expect(document.paths['/healthz']?.get).toMatchObject({ security: [] })
  })

  it('distinguishes payloads by their type', () => {
    expect(document.components.schemas?.MessagePayload).toMatchObject({
      discriminator: {
        propertyName: 'type',
        mapping: {
          text: '#/components/schemas/TextPayload',
          bloc: '#/components/schemas/BlocPayload',
        },
      },
      oneOf: expect.arrayContaining([{ $ref: '#/components/schemas/AudioPayload' }]),
    })
  })

  it('documents the errors of an operation by status', () => {
    expect(document.paths['/v1/files/search']?.get?.responses).toMatchObject({
      400: { $ref: '#/components/responses/InvalidPayload.InvalidQuery' },
      401: { $ref: '#/components/responses/Unauthorized' },
      403: { $ref: '#/components/responses/Forbidden' },
      429: { $ref: '#/components/responses/RateLimited' },
      500: { $ref: '#/components/responses/Internal' },
    })
  })

  it('refuses two different schemas with one title', () => {
    const version = '1'
    expect(() => createOpenApi([probe('Same', 'a'), probe('Same', 'b')], { version })).toThrow(
      'two different schemas have the title Same',
    )
    expect(() => createOpenApi([probe('A', 'a'), probe('B', 'b')], { version })).not.toThrow()
  })
})
