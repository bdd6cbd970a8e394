import { contract } from '@botstead/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { expectRefusal, send } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { storedFiles } from './calls.js'
import { testFields } from './fields.js'
import {
  atLeast,
  atMost,
  atMostBytes,
  filled,
  inJson,
  items,
  members,
  names,
  notAbove,
  query,
  required,
} from './rules.js'
import { botHeaders } from './shared-rules.js'

const { files: searchFiles } = contract.search

describe('bad input to searchFiles', () => {
  const server = useServer()
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const headers = () => ({ authorization: `Bearer ${own.token}`, 'x-bot-id': own.botId })
  const complete = {
    query: 'how to mend a pump',
    limit: '5',
    contextDepth: '0',
    consolidate: 'false',
    includeBreadcrumb: 'true',
    withContext: 'true',
    minScore: '0.25',
    explain: 'true',
  }
  const example = () => ({ headers: headers(), query: complete })

  it('the example is accepted', async () => {
    const response = await send(server(), searchFiles, example())
    expect(await response.json()).toEqual({ passages: [] })
  })

  testFields({
    server,
    operation: searchFiles,
    example,
    stored: () => storedFiles(server(), own),
    rules: {
      ...botHeaders,
      'query.query': [required, query.text, filled, atMostBytes(2048)],
      'query.limit': [query.integer, atLeast(1), notAbove(50)],
      'query.contextDepth': [query.integer, atLeast(0), notAbove(10)],
      'query.consolidate': [query.flag],
      'query.includeBreadcrumb': [query.flag],
      'query.withContext': [query.flag],
      'query.minScore': [query.number, atLeast(0), notAbove(1)],
      'query.explain': [query.flag],
      'query.tags': [query.map, inJson(members(200, 'x')), ...names(200, 'x').map(inJson)],
      'query.tags.name': [atMost(500), items(100, 'x')],
      'query.tags.name.0': [atMost(500)],
      'query.tags.name.in': [atMost(500), items(100, 'x')],
      'query.tags.name.in.0': [atMost(500)],
      'query.tags.name.not': [atMost(500), items(100, 'x')],
      'query.tags.name.not.0': [atMost(500)],
      'query.tags.name.exists': [query.flag],
    },
  })

  it('a query is measured in bytes, not in characters', async () => {
    const response = await send(server(), searchFiles, {
      headers: headers(),
      query: { query: 'é'.repeat(1025) },
    })
    await expectRefusal(response, {
      status: 400,
      type: 'InvalidQuery',
      message: /^query\.query .*2,?048/,
    })
  })
})
