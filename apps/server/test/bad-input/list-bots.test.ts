import { contract } from '@botstead/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../harness.js'
import { expectRefusal, send } from '../request.js'
import { settle, type Tenant } from '../tenant.js'
import { testFields } from './fields.js'
import {
  atLeast,
  atMost,
  filled,
  inJson,
  items,
  members,
  names,
  notAbove,
  oneOf,
  query,
} from './rules.js'
import { workspaceHeader } from './shared-rules.js'

const { list } = contract.bots

describe('bad input to listBots', () => {
  const server = useServer()
  let own: Tenant
  beforeAll(async () => {
    own = await settle(server(), server())
  })

  const headers = () => ({
    authorization: `Bearer ${own.token}`,
    'x-workspace-id': own.workspaceId,
  })
  const complete = {
    pageSize: '20',
    dev: 'false',
    'tags.whose': 'own',
    integrationNames: ['chat'],
    sortField: 'createdAt',
    sortDirection: 'desc',
  }
  /** A whole map in one member replaces its single members. */
  const example = (place: string) => {
    const { 'tags.whose': _, ...withoutTags } = complete
    return { headers: headers(), query: place === 'query.tags' ? withoutTags : complete }
  }

  it('the example is accepted', async () => {
    const response = await send(server(), list, example(''))
    expect(await response.json()).toMatchObject({ bots: [{ id: own.botId }], meta: {} })
  })

  testFields({
    server,
    operation: list,
    example,
    stored: () => server().client(own).listBots({ pageSize: 100 }),
    rules: {
      ...workspaceHeader,
      'query.nextToken': [query.text, atMost(4096)],
      'query.pageSize': [query.integer, atLeast(1), notAbove(100)],
      'query.dev': [query.flag],
      'query.name': [query.text, atMost(200)],
      'query.ids': [items(100, 'any')],
      'query.ids.0': [filled, atMost(128)],
      'query.tags': [query.map, inJson(members(200, 'x')), ...names(200, 'x').map(inJson)],
      'query.tags.name': [query.text, atMost(500)],
      'query.integrationNames': [items(30, 'chat')],
      'query.integrationNames.0': [atMost(200)],
      'query.pluginNames': [items(30, 'any')],
      'query.pluginNames.0': [atMost(200)],
      'query.sortField': [query.text, oneOf('createdAt', 'updatedAt')],
      'query.sortDirection': [query.text, oneOf('asc', 'desc')],
    },
  })

  it.each([
    ['of nobody', () => 'nonsense'],
    ['of another list', () => own.token],
    ['that is empty but for a dot', () => '.'],
  ])('a page token %s is refused', async (_, nextToken) => {
    const response = await send(server(), list, {
      headers: headers(),
      query: { nextToken: nextToken() },
    })
    await expectRefusal(response, {
      status: 400,
      type: 'InvalidQuery',
      message: /^query\.nextToken is not valid here: /,
    })
  })
})
