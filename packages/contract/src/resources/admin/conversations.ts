import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, paging, TagEquality, Text, TimeBound, Timestamp, wrap } from '../../shared.js'
import { Conversation } from '../runtime/conversations.js'
import { Person } from './conversation-people.js'

const LastMessage = Type.Object(
  {
    id: Id('Id of the message.'),
    createdAt: Timestamp('Time at which the message was stored.'),
    type: Type.String({ description: 'Type of the message.' }),
    direction: OneOf(['incoming', 'outgoing'], '`incoming` messages go to the bot.'),
    author: Person,
    text: Type.String({
      description: 'Text that people read in it, at most 200 characters; empty if it has none.',
    }),
  },
  { title: 'LastMessage', description: 'The newest message of a conversation, shortened.' },
)

/** A conversation as a list for people shows it. */
const ConversationSummary = Type.Object(
  {
    ...Conversation.properties,
    botId: Id('Id of the bot.'),
    lastActivityAt: Timestamp(
      'Time at which a message was last written in it, or its tags or properties last changed.',
    ),
    lastMessage: Type.Optional(LastMessage),
    participants: Type.Array(Person, {
      description: 'Participants in the order of their ids, at most 5.',
    }),
    hasMoreParticipants: Type.Boolean({
      description: 'Whether there are more participants than these.',
    }),
    hasFailedDelivery: Type.Boolean({
      description: 'Whether a delivery about it failed and was not replayed.',
    }),
    hasPendingDelivery: Type.Boolean({
      description: 'Whether a delivery about it waits or is being sent.',
    }),
  },
  { title: 'ConversationSummary', description: 'A conversation as a list for people shows it.' },
)

const ListMeta = Type.Object(
  {
    nextToken: Type.Optional(
      Type.String({
        description:
          'Pass it as `nextToken` to get the conversations after this page; absent at the end.',
      }),
    ),
    previousToken: Type.Optional(
      Type.String({
        description:
          'Pass it as `previousToken` to get those before this page, with what has become active since; absent on an empty page.',
      }),
    ),
    total: Type.Optional(
      Type.Object(
        {
          count: Type.Integer({ minimum: 0, description: 'Number of conversations that match.' }),
          accuracy: OneOf(
            ['exact', 'about', 'atLeast'],
            '`exact`; `about`: estimated from the most recently active ones; `atLeast`: counting ended at 100,000, or some messages are not indexed by their words yet.',
          ),
        },
        { title: 'ConversationTotal', description: 'Number of conversations that match.' },
      ),
    ),
  },
  {
    title: 'ConversationListMeta',
    description: 'Position in the list; `total` on its first page.',
  },
)

const filters = {
  botId: Type.Optional(Id('Only conversations of this bot; of all bots if omitted.')),
  integration: Type.Optional(
    Text(200, 'Only conversations of the installation with this alias.', 1),
  ),
  channel: Type.Optional(Text(200, 'Only conversations on this channel.', 1)),
  tags: Type.Optional(TagEquality),
  userId: Type.Optional(Id('Only conversations in which the user with this id takes part.')),
  text: Type.Optional(
    Text(
      500,
      'Only conversations in which one message has all of these words, at most 500 characters; words in quotes must follow each other.',
      1,
    ),
  ),
  since: Type.Optional(TimeBound('beginning', 'Only those last active at or after this time.')),
  until: Type.Optional(TimeBound('end', 'Only those last active at or before this time.')),
  hasFailedDelivery: Type.Optional(
    Type.Boolean({
      description: 'Only conversations with a failed delivery (`true`), or without one (`false`).',
    }),
  ),
}

/** Conversations of a workspace, for people who look at them. */
export const inspection = {
  list: operation({
    id: 'listWorkspaceConversations',
    method: 'GET',
    path: '/v1/admin/conversations',
    tag: 'Conversations',
    summary: 'List the conversations of all bots of a workspace',
    description:
      'Most recently active first. All given filters must match. The work of one call is bounded: with filters that few conversations match, a page may have fewer than `pageSize` of them, or none, and still a `nextToken`. At most one of `nextToken`, `previousToken`, `afterId` and `beforeId` may be given.',
    auth: 'workspace',
    permission: 'conversations:read',
    concerns: 'bots',
    query: Type.Object({
      ...filters,
      ...paging,
      previousToken: Type.Optional(
        Text(4096, 'Pagination token: `meta.previousToken` of the following page.'),
      ),
      afterId: Type.Optional(
        Id('Begins after the conversation with this id: the first one is the next that matches.'),
      ),
      beforeId: Type.Optional(
        Id('Ends before the conversation with this id: the last one is the previous that matches.'),
      ),
    }),
    response: json(
      Type.Object({
        conversations: Type.Array(ConversationSummary, {
          description: 'Conversations, most recently active first.',
        }),
        meta: ListMeta,
      }),
    ),
    errors: ['ReferenceNotFound'],
  }),
  export: operation({
    id: 'exportWorkspaceConversations',
    method: 'GET',
    path: '/v1/admin/conversations/export',
    tag: 'Conversations',
    summary: 'Export conversations as JSON lines',
    description:
      'Least recently active first. The last line, of the kind `end`, says that the export is complete. A conversation that becomes active during the export can appear twice; the later line is current.',
    auth: 'workspace',
    permission: 'conversations:read',
    concerns: 'bots',
    query: Type.Object({
      ...filters,
      messages: Type.Optional(
        Type.Boolean({
          description:
            'Whether the messages of each conversation follow it, oldest first; not by default.',
        }),
      ),
    }),
    response: {
      kind: 'download',
      description:
        'Lines of JSON: `{"kind":"conversation","conversation":{...}}` as `listWorkspaceConversations` returns them, `{"kind":"message","message":{...}}`, and `{"kind":"end","conversations":<number>}`.',
    },
    errors: ['ReferenceNotFound', 'RateLimited'],
  }),
  get: operation({
    id: 'getWorkspaceConversation',
    method: 'GET',
    path: '/v1/admin/conversations/{id}',
    tag: 'Conversations',
    summary: 'Get a conversation of any bot of a workspace',
    auth: 'workspace',
    permission: 'conversations:read',
    concerns: 'bots',
    params: Type.Object({ id: Id('Id of the conversation.') }),
    response: json(wrap('conversation', ConversationSummary)),
    errors: ['ResourceNotFound'],
  }),
  stream: operation({
    id: 'streamWorkspaceConversation',
    method: 'GET',
    path: '/v1/admin/conversations/{id}/stream',
    tag: 'Conversations',
    summary: 'Follow a conversation of any bot of a workspace',
    description:
      'Server-sent events, or WebSocket if the request asks for it: the signals that those who chat receive, without taking part. The id of an event is its position in the conversation: given an id, the stream sends every event after it and then continues live, without gaps or duplicates. Without an id, the stream begins with the last half second. An idle stream sends `ping` every 30 seconds. It ends when the conversation is deleted, when the caller may no longer read it, and when the server stops: the response to the next request tells which.',
    auth: 'workspace',
    permission: 'conversations:read',
    concerns: 'bots',
    params: Type.Object({ id: Id('Id of the conversation.') }),
    query: Type.Object({
      lastEventId: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'Id of the last event that was received; takes precedence over `Last-Event-ID`.',
        }),
      ),
    }),
    headers: Type.Object({
      'last-event-id': Type.Optional(
        Type.String({
          maxLength: 20,
          pattern: '^[0-9]*$',
          description: 'Id of the last event that was received, as browsers send it.',
        }),
      ),
    }),
    response: {
      kind: 'stream',
      description:
        'Signals of the conversation, each `{ type, data }`, as events named `message`; ids of users and of the conversation are those of the chat.',
    },
    errors: ['ResourceNotFound', 'RateLimited'],
  }),
}
