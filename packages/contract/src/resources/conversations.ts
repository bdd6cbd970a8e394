import { Type } from 'typebox'
import { operation } from '../operation.js'
import {
  Id,
  MapInput,
  MapOf,
  OneOf,
  pageOf,
  paging,
  sortDirection,
  TagEquality,
  Tags,
  TagsInput,
  Text,
  Timestamp,
  wrap,
} from '../shared.js'

/** An exchange of messages on a channel of an integration. */
export const Conversation = Type.Object(
  {
    id: Id('Id of the conversation.'),
    createdAt: Timestamp('When the conversation was made.'),
    updatedAt: Timestamp('When the conversation last changed.'),
    channel: Type.String({ description: 'Name of the channel.' }),
    integration: Type.String({ description: 'Alias of the integration the channel belongs to.' }),
    tags: Tags('Tags of the conversation.'),
    messageCount: Type.Integer({ minimum: 0, description: 'Number of messages in it.' }),
    currentTaskId: Type.Optional(Type.String({ description: 'Deprecated.' })),
    currentWorkflowId: Type.Optional(
      Type.String({ description: 'Id of the workflow that runs in it.' }),
    ),
    properties: Type.Optional(
      MapOf(Type.String({ description: 'Value of the property.' }), {
        description: 'Facts shared between the bot and its integrations.',
      }),
    ),
  },
  { title: 'Conversation', description: 'An exchange of messages on a channel.' },
)

/** Conversations of a bot, as the bot and its tools see them. */
export const conversations = {
  create: operation({
    id: 'createConversation',
    method: 'POST',
    path: '/v1/chat/conversations',
    tag: 'Conversations',
    summary: 'Create a conversation',
    description:
      'It has no participant yet: the first user of the chat address who opens or writes to it becomes its owner.',
    auth: 'bot',
    body: Type.Object({
      channel: Text(200, 'Name of the channel, 1 to 200 characters.', 1),
      tags: TagsInput('Tags of the conversation; may be empty.'),
      integrationName: Type.Optional(
        Text(
          200,
          'Deprecated: alias of the integration it belongs to, the chat by default; need not be installed. At most 200 characters.',
        ),
      ),
      properties: Type.Optional(
        MapInput(
          Text(2000, 'Value of the property, at most 2,000 characters.'),
          'Facts shared between the bot and its integrations.',
        ),
      ),
    }),
    result: wrap('conversation', Conversation),
    status: 201,
    errors: [],
    idempotent: true,
  }),
  get: operation({
    id: 'getConversation',
    method: 'GET',
    path: '/v1/chat/conversations/{id}',
    tag: 'Conversations',
    summary: 'Get a conversation',
    auth: 'bot',
    params: Type.Object({ id: Id('Id of the conversation.') }),
    result: wrap('conversation', Conversation),
    status: 200,
    errors: ['ResourceNotFound'],
  }),
  list: operation({
    id: 'listConversations',
    method: 'GET',
    path: '/v1/chat/conversations',
    tag: 'Conversations',
    summary: 'List the conversations of a bot',
    auth: 'bot',
    query: Type.Object({
      ...paging,
      sortField: Type.Optional(
        OneOf(['createdAt', 'updatedAt'], 'What to sort by; `createdAt` by default.'),
      ),
      sortDirection: sortDirection('Order; `desc`, newest first, by default.'),
      tags: Type.Optional(TagEquality),
      participantIds: Type.Optional(
        Type.Array(Id('Id of a user.'), {
          maxItems: 50,
          description: 'Only conversations in which all of these users take part; at most 50.',
        }),
      ),
      integrationName: Type.Optional(
        Text(200, 'Only conversations of this integration, by name or alias.'),
      ),
      channel: Type.Optional(Text(200, 'Only conversations on this channel.')),
      afterDate: Type.Optional(Timestamp('Only those made at this time or later, in UTC.')),
      beforeDate: Type.Optional(Timestamp('Only those made at this time or earlier, in UTC.')),
      minMessageCount: Type.Optional(
        Type.Integer({ minimum: 0, description: 'Only those with this many messages or more.' }),
      ),
      maxMessageCount: Type.Optional(
        Type.Integer({ minimum: 0, description: 'Only those with this many messages or fewer.' }),
      ),
    }),
    result: pageOf('conversations', Conversation, 'Conversations in the order asked for.'),
    status: 200,
    errors: [],
  }),
}
