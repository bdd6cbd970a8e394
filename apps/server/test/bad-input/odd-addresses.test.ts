import { allOperations } from '@botstead/contract'
import { beforeAll, expect, it } from 'vitest'
import { addresses } from '../../src/features/inbound/webhooks/address.js'
import { describeSlow } from '../engines.js'
import { existingClient } from '../existing-clients.js'
import { useServer } from '../harness.js'
import { expectRefusal } from '../request.js'

/** Texts, percent-encoded, that are no ids, and that databases or decoders refuse. */
const oddities = {
  zero: '%00',
  'zero within': 'a%00b',
  'half a character': '%ED%A0%80',
  'no UTF-8': '%FF%FE',
  'no encoding': '%zz',
  'half an encoding': '%',
  'too long': 'x'.repeat(5000),
  quotes: '%27%22%3B--',
}

/** Addresses outside of the contract, and those that share their beginning. */
const places = [
  ...addresses.filter((address) => /[:*]/.test(address)),
  '/integration/global/pages/:deeper',
  '/tunnel/:id',
  ...['', '/preview', '/preview/preview.js', '/inject.js', '/preview/inject.js', '/config'].map(
    (rest) => `/webchat/:webhookId${rest}`,
  ),
  '/webchat/:webhookId/assets/*',
  '/webchat/:webhookId/preview/assets/*',
  ...allOperations
    .filter(({ path }) => path.startsWith('/webchat/') || path.startsWith('/chat/'))
    .map(({ path }) => path.replaceAll(/\{(\w+)\}/g, ':$1')),
]

/** The same place with one of its parts replaced, and the others as if they existed. */
function oddPaths(place: string, odd: string): string[] {
  const parts = place.match(/:\w+|\*$/g) ?? []
  return parts.map((_, at) => {
    let index = 0
    return place.replaceAll(/:\w+|\*$/g, () => (index++ === at ? odd : 'some'))
  })
}

describeSlow('addresses with odd texts', (engine) => {
  const server = useServer(engine)
  let webhookId = ''

  beforeAll(async () => {
    const admin = existingClient(server())
    const { integration } = await admin.createIntegration({
      name: 'pages',
      version: '1.0.0',
      identifier: { extractScript: 'to_string!(parse_json!(.body).page)' },
    })
    const { bot } = await admin.createBot({})
    const integrations = { [integration.id]: { enabled: true } }
    const installed = await admin.updateBot({ id: bot.id, integrations })
    webhookId = installed.bot.integrations[integration.id]?.webhookUrl?.split('/').at(-1) ?? ''
    expect(webhookId).not.toBe('')
  })

  async function expectHandled(path: string, init: RequestInit = {}) {
    const response = await server().fetch(path, init)
    const said = await response.text()
    const asked = `${init.method ?? 'GET'} ${path.slice(0, 100)}: ${said.slice(0, 200)}`
    // The integration has no server: 502 is what its callers get.
    if (response.status !== 502) expect(response.status, asked).toBeLessThan(500)
    if (response.status < 400 || !response.headers.get('content-type')?.includes('json')) return
    expect(JSON.parse(said), asked).toMatchObject({ code: response.status, id: expect.any(String) })
  }

  it.each(Object.entries(oddities))('a path with %s is refused', async (_, odd) => {
    for (const path of places.flatMap((place) => oddPaths(place, odd))) {
      await expectHandled(path)
      await expectHandled(path, { method: 'POST', body: '{}' })
    }
  })

  it.each(Object.entries(oddities))('a query with %s is handled', async (_, odd) => {
    for (const path of [
      `/oauth?state=${odd}`,
      `/oauth/wizard/start?state=${odd}`,
      `/webhooks/oauth?state=${odd}`,
      `/webhooks/${webhookId}?q=${odd}&${odd}=q`,
      `/integration/global/pages?q=${odd}`,
      `/apps/oauth/interstitial?success=${odd}&errorMessage=${odd}`,
      `/webchat/${webhookId}?color=${odd}`,
      `/chat/${webhookId}/users/me?x-user-key=${odd}`,
    ]) {
      await expectHandled(path)
      await expectHandled(path, { method: 'POST', body: '{}' })
    }
  })

  it('a path or query with U+0000 gets the standard error', async () => {
    const refusal = { status: 404, type: 'ResourceNotFound', message: /./ }
    for (const path of [
      '/oauth?state=%00',
      '/webhooks/%00',
      '/webhooks/a%00b/rest',
      `/webhooks/${webhookId}/a%00b`,
      '/integration/global/%00',
      '/integration/global/a/%00',
      '/webchat/%00',
      '/webchat/%00/config',
      '/tunnel/%00',
    ]) {
      await expectRefusal(await server().fetch(path), refusal)
    }
  })

  it('a shared address with U+0000 in the body finds no account', async () => {
    const response = await server().fetch('/integration/global/pages', {
      method: 'POST',
      body: JSON.stringify({ page: 'a\0b' }),
    })
    await expectRefusal(response, {
      status: 404,
      type: 'ResourceNotFound',
      message: /belongs to no/,
    })
  })
})
