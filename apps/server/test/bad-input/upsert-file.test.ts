import { contract } from '@botstead/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { expectRefusal, type Refusal, send } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { storedFiles } from './calls.js'
import { type FieldRules, testFields } from './fields.js'
import {
  atLeast,
  atMost,
  body,
  filled,
  items,
  members,
  names,
  notAbove,
  oneOf,
  required,
  timestamp,
  whole,
} from './rules.js'
import { botHeaders } from './shared-rules.js'

const { upsert } = contract.files

const minute = 60_000
const day = 24 * 60 * minute
const fromNow = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()

const count = [body.number, atLeast(0), notAbove(1_000_000)]
const configuration = 'body.indexing.configuration'

const indexingRules: FieldRules = {
  'body.indexing': [body.object],
  [configuration]: [required, body.object],
  [`${configuration}.parsing`]: [body.object],
  [`${configuration}.parsing.mode`]: [body.text, oneOf('standard', 'agent')],
  [`${configuration}.parsing.minimumParagraphLength`]: count,
  [`${configuration}.parsing.smartCleanup`]: [body.flag],
  [`${configuration}.parsing.allowPartial`]: [body.flag],
  [`${configuration}.chunking`]: [body.object],
  [`${configuration}.chunking.maximumChunkLength`]: count,
  [`${configuration}.chunking.embeddedContextLevels`]: count,
  [`${configuration}.chunking.embedBreadcrumb`]: [body.flag],
  [`${configuration}.summarization`]: [body.object],
  [`${configuration}.summarization.enable`]: [body.flag],
  [`${configuration}.summarization.modelType`]: [
    body.text,
    oneOf('inexpensive', 'balanced', 'accurate'),
  ],
  [`${configuration}.summarization.minimumInputLength`]: count,
  [`${configuration}.summarization.outputTokenLimit`]: count,
  [`${configuration}.summarization.generateMasterSummary`]: [body.flag],
  [`${configuration}.stack`]: [body.text, oneOf('legacy', 'realtime-v1')],
  [`${configuration}.vision`]: [body.object],
}

describe('bad input to upsertFile', () => {
  const server = useServer()
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const headers = () => ({ authorization: `Bearer ${own.token}`, 'x-bot-id': own.botId })
  const complete = {
    key: 'manuals/pump.md',
    size: 1834,
    tags: { name: 'x' },
    index: true,
    indexing: {
      configuration: { parsing: {}, chunking: {}, summarization: {}, vision: {} },
    },
    accessPolicies: ['public_content'],
    contentType: 'text/markdown',
    publicContentImmediatelyAccessible: false,
    metadata: { any: [1, null, {}] },
  }
  const example = () => ({
    headers: headers(),
    body: { ...complete, expiresAt: fromNow(day) },
  })
  const stored = () => storedFiles(server(), own)

  testFields({
    server,
    operation: upsert,
    example,
    stored,
    rules: {
      ...botHeaders,
      'body.key': [required, body.text, filled, atMost(1024)],
      'body.size': [required, body.integer, whole, atLeast(0), notAbove(Number.MAX_SAFE_INTEGER)],
      'body.tags': [body.object, members(200, 'x'), ...names(200, 'x')],
      'body.tags.name': [body.text, atMost(500)],
      'body.index': [body.flag],
      ...indexingRules,
      'body.accessPolicies': [body.list, items(10, 'integrations')],
      'body.accessPolicies.0': [body.text, oneOf('public_content', 'integrations')],
      'body.contentType': [body.text, atMost(255)],
      'body.expiresAt': [body.text, timestamp],
      'body.publicContentImmediatelyAccessible': [body.flag],
      'body.metadata': [body.object, members(1000, 'x')],
    },
  })

  const megabyte = 1_000_000
  const refused: [string, () => object, Omit<Refusal, 'message'>, RegExp][] = [
    [
      'a key that no database can hold',
      () => ({ key: 'a\0b' }),
      { status: 400, type: 'InvalidPayload' },
      /^body\.key /,
    ],
    [
      'half a character in a tag',
      () => ({ tags: { half: '\ud800' } }),
      { status: 400, type: 'InvalidPayload' },
      /^body\.tags\.half /,
    ],
    [
      'a content type that is none',
      () => ({ contentType: 'markdown' }),
      { status: 400, type: 'InvalidPayload' },
      /^body\.contentType must be a media type/,
    ],
    [
      'a content type that breaks the header',
      () => ({ contentType: 'text/plain\r\nx-evil: 1' }),
      { status: 400, type: 'InvalidPayload' },
      /^body\.contentType must be a media type/,
    ],
    [
      'an expiry now',
      () => ({ expiresAt: fromNow(0) }),
      { status: 400, type: 'InvalidPayload' },
      /^body\.expiresAt must be in the future/,
    ],
    [
      'an expiry in the past',
      () => ({ expiresAt: fromNow(-day) }),
      { status: 400, type: 'InvalidPayload' },
      /^body\.expiresAt must be in the future/,
    ],
    [
      'an expiry after 90 days',
      () => ({ expiresAt: fromNow(90 * day + 2 * minute) }),
      { status: 400, type: 'InvalidPayload' },
      /^body\.expiresAt must be at most 90 days/,
    ],
    [
      'an expiry on a day that does not exist',
      () => ({ expiresAt: '2031-02-30T00:00:00Z' }),
      { status: 400, type: 'InvalidPayload' },
      /^body\.expiresAt /,
    ],
    [
      'a file above 5 GiB',
      () => ({ size: 5 * 1024 ** 3 + 1, index: false }),
      { status: 413, type: 'LimitExceeded' },
      /^body\.size must be at most 5368709120/,
    ],
    [
      'an indexed file above 95 MB',
      () => ({ size: 95 * megabyte + 1, index: true }),
      { status: 413, type: 'LimitExceeded' },
      /^body\.size must be at most 95000000 with index/,
    ],
  ]
  it.each(refused)('%s is refused', async (_, change, refusal, message) => {
    const before = await stored()
    const { headers, body } = example()
    const response = await send(server(), upsert, { headers, body: { ...body, ...change() } })
    await expectRefusal(response, { ...refusal, message })
    expect(await stored()).toEqual(before)
  })

  it('more than the quota is refused', async () => {
    const before = await stored()
    const size = 4 * 1024 ** 3
    const { headers } = example()
    const body = (key: string) => ({ key, size })
    const upserted = [
      await send(server(), upsert, { headers, body: body('one') }),
      await send(server(), upsert, { headers, body: body('two') }),
    ]
    expect(upserted.map(({ status }) => status)).toEqual([200, 200])
    const response = await send(server(), upsert, { headers, body: body('three') })
    await expectRefusal(response, { status: 403, type: 'QuotaExceeded', message: /storage quota/ })
    expect((await stored()).length).toBe(before.length + 2)
  })

  it('the example is accepted', async () => {
    const response = await send(server(), upsert, example())
    expect(await response.json()).toMatchObject({ file: { key: complete.key } })
  })
})
