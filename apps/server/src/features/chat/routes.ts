import { Readable } from 'node:stream'
import { contract } from '@botstead/contract'
import { type Route, route } from '../../http/mount.js'
import { toPageMeta } from '../../http/paging.js'
import type { ConversationRow } from '../conversations/conversations/index.js'
import type { ChatEventRecord } from './events.js'
import type { ChatService } from './service.js'
import { type ChatMessageRecord, toConversation, toMessage, toOwnUser, toUser } from './view.js'
import type { Webchat } from './webchat/index.js'

/** @param describe returns the OpenAPI document */
export function chatRoutes(
  service: ChatService,
  webchat: Pick<Webchat, 'lastMessagesOf'>,
  describe: () => object,
): Route[] {
  return [
    // A request that gets here is at a known address: authentication has checked it.
    route(contract.chat.hello, async () => ({ status: 'ok' as const })),
    ...referenceRoutes(describe),
    ...userRoutes(service),
    ...conversationRoutes(service, webchat),
    ...participantRoutes(service),
    ...messageRoutes(service),
    ...eventRoutes(service),
  ]
}

function userRoutes(service: ChatService): Route[] {
  return [
    route(contract.chat.createUser, async ({ actor, body, headers }) => {
      const { user, key } = await service.createUser(actor, body, headers['x-admin-secret'])
      return { user: toOwnUser(user), key }
    }),

    route(contract.chat.getOrCreateUser, async ({ actor, body }) => ({
      user: toOwnUser(await service.getOrCreateUser(actor, body)),
    })),

    route(contract.chat.getUser, async ({ actor }) => ({
      user: toOwnUser(await service.getUser(actor)),
    })),

    route(contract.chat.updateUser, async ({ actor, body }) => ({
      user: toOwnUser(await service.updateUser(actor, body)),
    })),

    route(contract.chat.deleteUser, async ({ actor }) => {
      await service.deleteUser(actor)
      return {}
    }),
  ]
}

function conversationRoutes(
  service: ChatService,
  { lastMessagesOf }: Pick<Webchat, 'lastMessagesOf'>,
): Route[] {
  return [
    route(contract.chat.createConversation, async ({ actor, body, once }) =>
      once<ConversationRow>(
        (remember) => service.createConversation(actor, body, remember),
        (made) => ({ conversation: toConversation(made) }),
      ),
    ),

    route(contract.chat.getOrCreateConversation, async ({ actor, body }) => ({
      conversation: toConversation(await service.getOrCreateConversation(actor, body.id)),
    })),

    route(contract.chat.listConversations, async ({ actor, query }) => {
      const page = await service.listConversations(actor, query)
      const last = await lastMessagesOf(actor.chat.botId, page.rows)
      const conversations = page.rows.map((row) => toConversation(row, last.get(row.id)))
      return { conversations, meta: toPageMeta(page) }
    }),

    route(contract.chat.getConversation, async ({ actor, params }) => {
      const row = await service.getConversation(actor, params.id)
      const last = await lastMessagesOf(actor.chat.botId, [row])
      return { conversation: toConversation(row, last.get(row.id)) }
    }),

    route(contract.chat.deleteConversation, async ({ actor, params }) => {
      await service.deleteConversation(actor, params.id)
      return {}
    }),

    route(
      contract.chat.listenConversation,
      async ({ actor, params, query, headers, pageOrigin }) => {
        const header = headers['last-event-id']
        const after = query.lastEventId ?? (header ? Number(header) : undefined)
        return await service.listen(actor, params.id, after, pageOrigin)
      },
    ),
  ]
}

function participantRoutes(service: ChatService): Route[] {
  return [
    route(contract.chat.listParticipants, async ({ actor, params, query }) => {
      const page = await service.listParticipants(actor, params.conversationId, query)
      return { participants: page.rows.map(toUser), meta: toPageMeta(page) }
    }),

    route(contract.chat.addParticipant, async ({ actor, params, body }) => ({
      participant: toUser(await service.addParticipant(actor, params.conversationId, body.userId)),
    })),

    route(contract.chat.getParticipant, async ({ actor, params }) => ({
      participant: toUser(await service.getParticipant(actor, params)),
    })),

    route(contract.chat.removeParticipant, async ({ actor, params }) => {
      await service.removeParticipant(actor, params)
      return {}
    }),
  ]
}

function messageRoutes(service: ChatService): Route[] {
  return [
    route(contract.chat.listMessages, async ({ actor, params, query }) => {
      const page = await service.listMessages(actor, params.conversationId, query)
      return { messages: page.rows.map(toMessage), meta: toPageMeta(page) }
    }),

    route(contract.chat.createMessage, async ({ actor, body, once }) =>
      once<ChatMessageRecord>(
        (remember) => service.createMessage(actor, body, remember),
        (made) => ({ message: toMessage(made) }),
      ),
    ),

    route(contract.chat.getMessage, async ({ actor, params }) => ({
      message: toMessage(await service.getMessage(actor, params.id)),
    })),

    route(contract.chat.deleteMessage, async ({ actor, params }) => {
      await service.deleteMessage(actor, params.id)
      return {}
    }),
  ]
}

function eventRoutes(service: ChatService): Route[] {
  return [
    route(contract.chat.createEvent, async ({ actor, body, once }) =>
      once<ChatEventRecord>(
        (remember) => service.createEvent(actor, body, remember),
        (event) => ({ event }),
      ),
    ),

    route(contract.chat.getEvent, async ({ actor, params }) => ({
      event: await service.getEvent(actor, params.id),
    })),
  ]
}

/** @param describe returns the OpenAPI document; called on the first request */
function referenceRoutes(describe: () => object): Route[] {
  let text: string | undefined
  return [
    route(contract.chat.openApi, async () => {
      text ??= JSON.stringify(describe())
      return toDownload('application/json; charset=utf-8', text)
    }),
    route(contract.chat.reference, async () =>
      toDownload('text/html; charset=utf-8', referencePage),
    ),
  ]
}

function toDownload(contentType: string, text: string) {
  return {
    status: 200,
    headers: { 'content-type': contentType, 'content-length': Buffer.byteLength(text) },
    open: async () => Readable.from([text]),
  }
}

/** A page that links to the rendered reference, at the path where clients look for it. */
const referencePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Chat interface</title>
<meta http-equiv="refresh" content="0; url=/docs">
<p>The chat interface is part of the <a href="/docs">reference</a>; <a href="openapi.json">its description</a> alone is here.</p>
</html>
`
