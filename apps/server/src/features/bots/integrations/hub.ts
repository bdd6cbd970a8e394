import { ApiError, type contract, type Output, type Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { encodeJson } from '../../../platform/db/columns.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db } from '../../../platform/db/schema.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import { highestOf, withPublisher, withPublishers } from '../definitions/index.js'
import { builtInChat, chatShapes, chatVersions } from '../installations/index.js'
import { emptyDefinition } from './definition.js'
import * as store from './hub-store.js'
import { sortColumns } from './service.js'
import { findPublished } from './store.js'
import { toPublished, toPublishedSummary } from './view.js'

type PublicIntegration = Output<typeof contract.hub.getIntegration>['integration']
type PublicSummary = Output<typeof contract.hub.listIntegrations>['integrations'][number]
type HubQuery = Query<typeof contract.hub.listIntegrations>

/** When the interface of the built-in integration was last changed. */
const since = '2026-01-01T00:00:00.000Z'

/** Publishes what comes with the server. */
const server = { id: '00000000-0000-4000-8000-000000000000', handle: null, name: 'Botstead' }

const text = (description: string) => ({ type: 'string', description })
const object = (properties: object, required: string[]) => ({
  type: 'object',
  properties,
  required,
})
const conversationId = text('Id of the conversation.')

const { extraOperations: _, ...nothing } = emptyDefinition

/** What the built-in chat declares, in each of its versions. */
const declared: Omit<typeof nothing, 'sandbox' | 'attributes'> = {
  ...nothing,
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

/** What bots ask of the page around a web chat. */
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

type ChatVersion = (typeof chatVersions)[number]

/** A version of the built-in chat as a row of the hub. */
function chatRow({ id, version }: ChatVersion): store.HubRow {
  return {
    id,
    workspace_id: server.id,
    name: builtInChat.name,
    version,
    title: builtInChat.title,
    description: builtInChat.description,
    icon: '',
    visibility: 'public',
    verification: 'approved',
    definition: encodeJson({}),
    installs: 0,
    created_at: since,
    updated_at: since,
  }
}

function toChat(version: ChatVersion): PublicIntegration {
  return {
    ...toHubSummary(chatRow(version)),
    ownerWorkspace: server,
    ...declared,
    dev: false,
    url: '',
    readmeUrl: '',
    signingSecret: '',
    secrets: [],
  }
}

function toHubSummary(row: store.HubRow) {
  return { ...toPublishedSummary(row), verificationStatus: row.verification }
}

interface HubDeps {
  db: Db
  pager: Pager
  workspaces: Pick<WorkspacesService, 'publishersOf'>
}

/** The integrations that every workspace can install: the built-in ones, and those that workspaces publish. */
export function createHub({ db, pager, workspaces }: HubDeps) {
  async function publishersOf(ids: readonly string[]) {
    const others = await workspaces.publishersOf(ids.filter((id) => id !== server.id))
    return new Map([[server.id, server], ...others])
  }

  async function get(id: string): Promise<PublicIntegration> {
    const chat = chatVersions.find((version) => version.id === id)
    if (chat !== undefined) return toChat(chat)
    const row = await findPublished(db, id)
    if (row !== undefined) return await withPublisher(row, publishersOf, toPublished)
    throw new ApiError('ResourceNotFound', `There is no integration ${id} in the hub.`)
  }

  return {
    get,

    async list(
      actor: WorkspaceActor,
      query: HubQuery,
    ): Promise<{ integrations: PublicSummary[]; nextToken: string | undefined }> {
      const { nextToken, pageSize, limit, sortBy = 'createdAt', direction, ...filter } = query
      // An older version of the chat is for tools that ask for it.
      const chat = chatVersions.find(({ version }) => version === filter.version)
      const page = await store.pageHub(
        db,
        chatRow(chat ?? chatVersions[0]),
        {
          name: filter.name,
          version: filter.version,
          verification: filter.verificationStatus,
          search: filter.search,
          interfaceId: filter.interfaceId,
          interfaceName: filter.interfaceName,
          installedIn:
            filter.installedByBotId === undefined
              ? undefined
              : { botId: filter.installedByBotId, workspaceId: actor.workspaceId },
        },
        pager.page({
          operation: 'listPublicIntegrations',
          scope: actor.workspaceId,
          filter: { ...filter, sortBy },
          sort: sortColumns[sortBy],
          direction: direction ?? (sortBy === 'name' ? 'asc' : 'desc'),
          nextToken,
          pageSize: pageSize ?? limit,
        }),
      )
      return {
        integrations: await withPublishers(page.rows, publishersOf, toHubSummary),
        nextToken: page.nextToken,
      }
    },

    /** The highest version of a name that matches: an exact version, `latest` or a range. */
    async getByName(name: string, version: string): Promise<PublicIntegration> {
      const versions =
        name === builtInChat.name ? chatVersions : await store.listPublishedVersions(db, name)
      const found = highestOf(versions, version)
      if (found !== undefined) return await get(found.id)
      throw new ApiError(
        'ResourceNotFound',
        `There is no integration ${name} of version ${version} in the hub.`,
      )
    },
  }
}

export type Hub = ReturnType<typeof createHub>
