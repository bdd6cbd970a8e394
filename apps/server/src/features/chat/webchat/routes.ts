import { contract } from '@botstead/contract'
import type { ChatActor, ChatUserActor } from '../../../domain/actor.js'
import { type Handler, type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import type { StartStream } from '../../../platform/streams/sink.js'
import type { createChatFiles } from './files.js'
import type { createInitialize } from './initialize.js'
import type { createWebchatMessages } from './messages.js'
import type { ChatSecrets } from './secrets.js'

interface WebchatServices {
  initialize: ReturnType<typeof createInitialize>
  listen(
    actor: ChatUserActor,
    id: string,
    after: number | undefined,
    pageOrigin: string | undefined,
  ): Promise<StartStream>
  messages: ReturnType<typeof createWebchatMessages>
  files: Pick<ReturnType<typeof createChatFiles>, 'create'>
  secrets: Pick<ChatSecrets, 'set' | 'remove' | 'createUserKey'>
}

/** @param createMessage the operation of the chat interface with the response of the web chat */
export function webchatRoutes(
  { initialize, listen, messages, files, secrets }: WebchatServices,
  createMessage: Handler<typeof contract.webchat.createMessage>,
): Route[] {
  return [
    route(contract.webchat.initialize, async ({ actor, query, headers, pageOrigin, countAs }) =>
      initialize(actor satisfies ChatActor, {
        key: headers['x-user-key'] ?? query['x-user-key'],
        conversationId: query.conversationId,
        adminSecret: headers['x-admin-secret'],
        pageOrigin,
        countNewUser: () => countAs('users'),
      }),
    ),

    route(contract.webchat.listen, async ({ actor, params, headers, pageOrigin }) => {
      const header = headers['last-event-id']
      return await listen(actor, params.id, header ? Number(header) : undefined, pageOrigin)
    }),

    route(contract.webchat.listMessages, async ({ actor, params, query }) => {
      const page = await messages.list(actor, params.id, query)
      return { messages: [...page.rows], meta: toPageMeta(page) }
    }),

    route(contract.webchat.getMessage, async ({ actor, params }) => ({
      message: await messages.get(actor, params.id),
    })),

    route(contract.webchat.createMessage, createMessage),

    route(contract.webchat.updateMessage, async ({ actor, params, body }) => ({
      message: await messages.update(actor, params, body),
    })),

    route(contract.webchat.addFeedback, async ({ actor, params, body }) => {
      await messages.addFeedback(actor, params.id, body)
      return {}
    }),

    route(contract.webchat.removeFeedback, async ({ actor, params }) => {
      await messages.removeFeedback(actor, params.id)
      return {}
    }),

    route(contract.webchat.createFile, async ({ actor, body, countAs }) => ({
      file: await files.create(actor, body, (bytes) => countAs('fileBytes', bytes)),
    })),

    route(contract.webchat.createUserKey, async ({ actor, body, headers }) => ({
      key: await secrets.createUserKey(actor, body, headers['x-admin-secret']),
    })),

    route(contract.webchat.sendMetrics, async () => ({})),

    route(contract.chatSecrets.set, async ({ actor, params, body }) => ({
      secret: await secrets.set(actor, params.id, body.secret),
    })),

    route(contract.chatSecrets.remove, async ({ actor, params }) => {
      await secrets.remove(actor, params.id)
      return {}
    }),
  ]
}
