import { ApiError, type contract, type Output, type Query } from '@botstead/contract'
import { builtInChat, chatShapes } from '../installations/index.js'
import { highestOf } from './changes.js'
import { emptyDefinition } from './definition.js'

type PublicIntegration = Output<typeof contract.hub.getIntegration>['integration']
type PublicSummary = Output<typeof contract.hub.listIntegrations>['integrations'][number]

/** When the interface of the built-in integration was last changed. */
const since = '2026-01-01T00:00:00.000Z'

const { extraOperations: _, ...nothing } = emptyDefinition

const chatSummary: PublicSummary = {
  id: builtInChat.id,
  name: builtInChat.name,
  version: builtInChat.version,
  createdAt: since,
  updatedAt: since,
  title: builtInChat.title,
  description: builtInChat.description,
  iconUrl: '',
  public: true,
  visibility: 'public',
  verificationStatus: 'approved',
  lifecycleStatus: 'published',
  ownerWorkspace: { id: '00000000-0000-4000-8000-000000000000', handle: null, name: 'Botstead' },
  meta: { installs: 0, views: 0 },
}

const text = (description: string) => ({ type: 'string', description })
const object = (properties: object, required: string[]) => ({
  type: 'object',
  properties,
  required,
})
const conversationId = text('Id of the conversation.')

const chat: PublicIntegration = {
  ...nothing,
  ...chatSummary,
  dev: false,
  url: '',
  readmeUrl: '',
  signingSecret: '',
  secrets: [],
  interfaces: {},
  configuration: {
    schema: object(
      {
        encryptionKey: text('Verifies the keys of users, who sign them themselves.'),
        webhookUrl: text('Where every signal is posted too.'),
        webhookSecret: text('Sent along in the header x-secret-key.'),
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
  },
}

/** The catalogue that every workspace sees: the built-in integrations. */
export const hub = {
  list(query: Query<typeof contract.hub.listIntegrations>): PublicSummary[] {
    const { name, version, search = '', verificationStatus: status = 'approved' } = query
    const { interfaceId, interfaceName } = query
    const said = `${chat.name} ${chat.title} ${chat.description}`.toLowerCase()
    const fits =
      (name ?? chat.name) === chat.name &&
      (version ?? chat.version) === chat.version &&
      status === 'approved' &&
      interfaceId === undefined &&
      interfaceName === undefined &&
      said.includes(search.toLowerCase())
    return fits ? [chatSummary] : []
  },

  get(id: string): PublicIntegration {
    if (id === chat.id) return chat
    throw new ApiError('ResourceNotFound', `There is no integration ${id} in the hub.`)
  },

  getByName(name: string, version: string): PublicIntegration {
    if (name === chat.name && highestOf([chat], version)) return chat
    throw new ApiError(
      'ResourceNotFound',
      `There is no integration ${name} of version ${version} in the hub.`,
    )
  },
}
