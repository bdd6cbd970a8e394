/**
 * The source of an integration that does what a messenger's does: a setup in pages, a secret, webhooks at the shared address,
 * messages in both directions, and a typing indicator.
 * @param sdk `@botpress/sdk` or `sdk7`
 */
export const messengerCode = (sdk: string): string => `
import { Integration, RuntimeError } from '${sdk}'

const integrationName = '${sdk}'
const secret = process.env.SECRET_APP_SECRET
// As some integrations do: without their secrets they cannot even be loaded.
if (!secret) throw new Error('APP_SECRET is missing')

const credentials = (ctx) => ({ type: 'integration', name: 'credentials', id: ctx.integrationId })
const stepUrl = (step, { webhookId }) =>
  new URL('/oauth/wizard/' + step + '?state=' + webhookId, process.env.BP_WEBHOOK_URL).href
const endUrl = (success, message) =>
  process.env.BP_WEBHOOK_URL.replace('webhook', 'app') + '/oauth/interstitial?success=' + success +
  (message ? '&errorMessage=' + encodeURIComponent(message) : '')
const redirect = (location, headers = {}) => ({
  status: 303, headers: { 'x-bp-disable-interstitial': 'true', location, ...headers },
})

async function call(ctx, path, body) {
  const response = await fetch(ctx.configuration.serviceUrl + path, {
    method: 'POST',
    headers: { authorization: 'Bearer ' + secret, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new RuntimeError('The service responded with ' + response.status)
}

async function wizard({ req, client, ctx }) {
  const step = req.path.slice('/oauth/wizard/'.length)
  if (step === 'start') {
    const body = '<!doctype html><form method="post" action="' + stepUrl('account', ctx) + '">' +
      '<input name="bp_page"><button>Next</button></form>'
    const headers = { 'content-type': 'text/html; charset=utf-8', 'set-cookie': 'a=1' }
    return { status: 200, headers: { ...headers, 'x-bp-disable-interstitial': 'true' }, body }
  }
  const page = new URLSearchParams(req.body).get('bp_page')
  if (!page) return redirect(endUrl(false, 'No page was chosen'))
  await client.setState({ ...credentials(ctx), payload: { page } })
  if (integrationName === 'sdk7') {
    return redirect(endUrl(true), { 'x-bp-integration-identifier': page })
  }
  await client.configureIntegration({ identifier: page })
  return redirect(endUrl(true))
}

export default new Integration({
  register: async ({ client, ctx }) => {
    const { state } = await client.getOrSetState({ ...credentials(ctx), payload: { page: '' } })
    if (state.payload.page === '') throw new RuntimeError('It is not set up')
    await call(ctx, '/subscriptions', { page: state.payload.page })
  },
  unregister: async () => {},
  actions: {
    showTyping: async ({ client, ctx, input }) => {
      const { conversation } = await client.getConversation({ id: input.conversationId })
      await call(ctx, '/typing', { to: conversation.tags.id, on: true })
      return {}
    },
    hideTyping: async ({ client, ctx, input }) => {
      const { conversation } = await client.getConversation({ id: input.conversationId })
      await call(ctx, '/typing', { to: conversation.tags.id, on: false })
      return {}
    },
  },
  handler: async (props) => {
    const { req, client } = props
    if (req.path.startsWith('/oauth/wizard/')) return await wizard(props)
    if (req.headers['x-app-secret'] !== secret) return { status: 401, body: 'Wrong secret' }
    const { from, text, id } = JSON.parse(req.body)
    const { user } = await client.getOrCreateUser({ tags: { id: from } })
    const { conversation } = await client.getOrCreateConversation({
      channel: 'direct', tags: { id: from },
    })
    await client.getOrCreateMessage({
      type: 'text', conversationId: conversation.id, userId: user.id, payload: { text },
      tags: { id }, discriminateByTags: ['id'],
    })
  },
  channels: {
    direct: {
      messages: {
        text: async ({ ctx, conversation, payload, ack }) => {
          await call(ctx, '/messages', { to: conversation.tags.id, text: payload.text })
          await ack({ tags: { id: 'sent-' + payload.text } })
        },
      },
    },
  },
})
`

/** The definition of that integration, with the interface that it implements. */
export const messengerDefinition = (typingInterfaceId: string) => {
  const schema = (...required: string[]) => ({ schema: { type: 'object', required } })
  const tag = { tags: { id: { title: 'Id in the service' } } }
  return {
    visibility: 'public',
    identifier: {
      extractScript:
        '. = parse_json!(.body)\npage = null\nif .object == "page" { page = .page }\npage',
      fallbackHandlerScript:
        'q = parse_query_string!(.query)\n{ "headers": { "content-type": "text/plain" }, "body": q."hub.challenge" }',
    },
    configuration: {
      ...schema('serviceUrl'),
      identifier: {
        required: true,
        linkTemplateScript:
          'webhookId = to_string!(.webhookId)\nwebhookUrl = to_string!(.webhookUrl)\n"{{ webhookUrl }}/oauth/wizard/start?state={{ webhookId }}"',
      },
    },
    states: { credentials: { type: 'integration', ...schema('page') } },
    user: tag,
    channels: {
      direct: { messages: { text: schema('text') }, conversation: tag, message: tag },
    },
    actions: {
      showTyping: { input: schema('conversationId'), output: schema() },
      hideTyping: { input: schema('conversationId'), output: schema() },
    },
    interfaces: {
      'typing-indicator': {
        id: typingInterfaceId,
        actions: { startTyping: { name: 'showTyping' }, stopTyping: { name: 'hideTyping' } },
      },
    },
  } as const
}

/**
 * A bot that shows that it types, answers, and stops.
 * @param actions the names under which an integration implements the typing indicator
 */
export const typingBot = (sdk: string, actions: { start: string; stop: string }): string => `
import { Bot } from '${sdk}'
const bot = new Bot({ actions: {}, plugins: {} })
bot.on.message('text', async ({ message, client, ctx }) => {
  const { conversationId } = message
  const input = { conversationId }
  await client.callAction({ type: 'messenger:${actions.start}', input })
  const payload = { text: 'echo: ' + message.payload.text }
  await client.createMessage({ conversationId, userId: ctx.botId, type: 'text', payload, tags: {} })
  await client.callAction({ type: 'messenger:${actions.stop}', input })
})
export default bot
`
