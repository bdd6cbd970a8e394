import { messagePayloads } from '@botstead/contract'

type Schema = Record<string, unknown>

/** Kinds of content that a bloc can hold. */
export const blocParts = [
  'text',
  'markdown',
  'image',
  'audio',
  'video',
  'file',
  'location',
] as const

/** The payloads that the built-in chat can show, by type of message; the type stands beside the payload. */
export const chatShapes: Readonly<Record<string, { schema: Schema }>> = {
  ...Object.fromEntries(
    Object.entries(messagePayloads).map(([type, schema]) => [
      type,
      { schema: withoutType(schema) },
    ]),
  ),
  carousel: { schema: list(withoutType(messagePayloads.card)) },
  // A component of the page around a web chat; its script runs in that page, so only bots send it.
  custom: {
    schema: {
      type: 'object',
      required: ['url', 'name'],
      properties: {
        url: { type: 'string', minLength: 1, maxLength: 65_536 },
        name: { type: 'string', minLength: 1, maxLength: 1000 },
        data: {},
      },
    },
  },
  bloc: {
    schema: list({
      type: 'object',
      required: ['type', 'payload'],
      properties: { type: { enum: blocParts }, payload: { type: 'object' } },
      // One rule per type names the member that is wrong; alternatives would only say that none fits.
      allOf: blocParts.map((type) => ({
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

const text = (description: string) => ({ type: 'string', description })
const object = (properties: object, required: string[]) => ({
  type: 'object',
  properties,
  required,
})
const conversationId = text('Id of the conversation.')

/** The declarations of the chat, in each of its versions; the other parts of a definition are empty. */
export const declaredByChat = {
  configuration: {
    schema: object(
      {
        encryptionKey: text('Verifies the keys of users, who sign them themselves.'),
        webhookUrl: text('URL to which every signal is also posted.'),
        webhookSecret: text('Sent in the header x-secret-key.'),
      },
      [],
    ),
    identifier: { required: false },
  },
  channels: {
    channel: {
      messages: { ...chatShapes },
      conversation: { tags: {}, creation: { enabled: false, requiredTags: [] } },
      message: { tags: {} },
    },
  },
  events: {
    custom: event('A user or a page sent a custom event', { payload: { type: 'object' } }),
    conversationStarted: event('A web chat was opened for the first time', {
      payload: { type: 'object' },
    }),
    messageFeedback: event(
      'A user rated a message',
      {
        messageId: text('Id of the message.'),
        value: { type: ['string', 'null'], description: 'positive, negative, or null.' },
        comment: text('What the user wrote about it.'),
      },
      ['messageId', 'value'],
    ),
  },
  actions: {
    publishMessageStream: {
      title: 'Publish a piece of a message',
      input: {
        schema: object({ conversationId, signal: { type: 'object' } }, [
          'conversationId',
          'signal',
        ]),
      },
      output: { schema: object({}, []) },
    },
    sendEvent: {
      title: 'Send an event to the participants',
      input: {
        schema: object({ conversationId, payload: { type: 'object' } }, [
          'conversationId',
          'payload',
        ]),
      },
      output: { schema: object({}, []) },
    },
    ...webchatActions(),
  },
}

/** An event of a chat user. */
function event(
  title: string,
  properties: Record<string, unknown>,
  required = Object.keys(properties),
) {
  const ids = { userId: text('Id of the user.'), conversationId }
  return {
    title,
    schema: object({ ...ids, ...properties }, [...Object.keys(ids), ...required]),
  }
}

/** The actions by which bots control the page around a web chat. */
function webchatActions() {
  const action = (title: string, properties: object = {}, required: string[] = []) => ({
    title,
    input: {
      schema: object({ conversationId, ...properties }, ['conversationId', ...required]),
    },
    output: { schema: object({}, []) },
  })
  const messageId = text('Id of the message that is being answered; without effect here.')
  const timeout = { type: 'number', description: 'How long it is shown, in milliseconds.' }
  return {
    showWebchat: action('Open the web chat'),
    hideWebchat: action('Close the web chat'),
    toggleWebchat: action('Open or close the web chat'),
    configWebchat: action(
      'Configure the web chat',
      { config: { type: ['string', 'object'], description: 'Configuration, or its JSON.' } },
      ['config'],
    ),
    customEvent: action(
      'Send an event to the page',
      { event: { type: ['string', 'object'], description: 'Event, or its JSON.' } },
      ['event'],
    ),
    startTypingIndicator: action('Show that the bot is writing', { messageId, timeout }),
    stopTypingIndicator: action('Show that the bot is not writing any more', { messageId }),
    getUserData: {
      title: 'Get the data that a web chat sent about its user',
      input: { schema: object({ userId: text('Id of the user.') }, ['userId']) },
      output: { schema: object({ userData: { type: 'object' } }, []) },
    },
  }
}
