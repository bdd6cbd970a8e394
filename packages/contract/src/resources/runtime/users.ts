import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  DiscriminateByTags,
  Empty,
  Id,
  OneOf,
  Properties,
  PropertiesInput,
  PropertiesPatch,
  pageOf,
  paging,
  sorting,
  TagEquality,
  Tags,
  TagsInput,
  TagsPatch,
  TagsWanted,
  Text,
  Timestamp,
  timeRange,
  Url,
  wrap,
  wrapFound,
} from '../../shared.js'

/** A person or program that participates in conversations. */
export const User = Type.Object(
  {
    id: Id('Id of the user; the bot itself is the user with the id of the bot.'),
    createdAt: Timestamp('Time at which the user was created.'),
    updatedAt: Timestamp('Time at which the user last changed.'),
    tags: Tags('Tags of the user.'),
    name: Type.Optional(Type.String({ description: 'Name shown to others.' })),
    pictureUrl: Type.Optional(Type.String({ description: 'URL of a picture.' })),
    properties: Type.Optional(
      Properties('Properties shared between the bot and its integrations.'),
    ),
    attributes: Type.Optional(Properties('Deprecated alias of `properties`.')),
    banned: Type.Optional(
      Type.Boolean({
        description: 'True while the user is banned from the chat, absent otherwise.',
      }),
    ),
  },
  { title: 'User', description: 'A person or program that participates in conversations.' },
)

const profile = {
  integrationName: Type.Optional(
    Text(
      200,
      'Deprecated: alias of the integration that the user belongs to, when a bot calls. At most 200 characters.',
    ),
  ),
  name: Type.Optional(Text(1000, 'Name shown to others, at most 1,000 characters.')),
  pictureUrl: Type.Optional(Url('URL of a picture, at most 65,536 characters.')),
}

/** Input of a get-or-create of a user. */
export const userWanted = {
  ...profile,
  tags: TagsWanted('user'),
  properties: Type.Optional(
    PropertiesPatch('Properties shared between the bot and its integrations.'),
  ),
  attributes: Type.Optional(PropertiesPatch('Deprecated alias of `properties`.')),
}

const userId = Type.Object({ id: Id('Id of the user.') })

/** Users of a bot, as the bot and its integrations see them. */
export const users = {
  create: operation({
    id: 'createUser',
    method: 'POST',
    path: '/v1/chat/users',
    tag: 'Users',
    summary: 'Create a user',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      ...profile,
      tags: TagsInput('Tags of the user; may be empty.'),
      properties: Type.Optional(
        PropertiesInput('Properties shared between the bot and its integrations.'),
      ),
      attributes: Type.Optional(PropertiesInput('Deprecated alias of `properties`.')),
    }),
    response: json(wrap('user', User)),
    status: 201,
    errors: ['LimitExceeded'],
    idempotent: true,
  }),
  get: operation({
    id: 'getUser',
    method: 'GET',
    path: '/v1/chat/users/{id}',
    tag: 'Users',
    summary: 'Get a user',
    auth: 'bot',
    permission: 'conversations:read',
    params: userId,
    response: json(wrap('user', User)),
    errors: ['ResourceNotFound'],
  }),
  list: operation({
    id: 'listUsers',
    method: 'GET',
    path: '/v1/chat/users',
    tag: 'Users',
    summary: 'List the users of a bot',
    description: 'The list does not contain the bot itself.',
    auth: 'bot',
    permission: 'conversations:read',
    query: Type.Object({
      ...paging,
      conversationId: Type.Optional(Id('Only participants of this conversation.')),
      tags: Type.Optional(TagEquality),
      ...timeRange('users created or updated (see `rangeField`)'),
      rangeField: Type.Optional(
        OneOf(
          ['createdAt', 'updatedAt'],
          'Time that `afterDate` and `beforeDate` apply to; `createdAt` by default.',
        ),
      ),
      ...sorting,
    }),
    response: json(pageOf('users', User, 'Users in the requested order.')),
    errors: ['ReferenceNotFound'],
  }),
  getOrCreate: operation({
    id: 'getOrCreateUser',
    method: 'POST',
    path: '/v1/chat/users/get-or-create',
    tag: 'Users',
    summary: 'Get or create a user by its tags',
    description: 'If several calls request the same user at the same time, one creates it.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      ...userWanted,
      discriminateByTags: Type.Optional(DiscriminateByTags('user')),
    }),
    response: json(wrapFound('user', User)),
    errors: ['LimitExceeded'],
  }),
  update: operation({
    id: 'updateUser',
    method: 'PUT',
    path: '/v1/chat/users/{id}',
    tag: 'Users',
    summary: 'Update a user',
    description: 'Omitted fields keep their value; maps are merged.',
    auth: 'bot',
    permission: 'conversations:write',
    params: userId,
    body: Type.Object({
      tags: Type.Optional(TagsPatch('Tags of the user.')),
      name: Type.Optional(
        Type.Union([Type.String({ maxLength: 1000 }), Type.Null()], {
          description: 'Name shown to others, at most 1,000 characters; `null` removes it.',
        }),
      ),
      pictureUrl: Type.Optional(
        Type.Union([Type.String({ maxLength: 65_536 }), Type.Null()], {
          description: 'URL of a picture, at most 65,536 characters; `null` removes it.',
        }),
      ),
      properties: Type.Optional(
        PropertiesPatch('Properties shared between the bot and its integrations.'),
      ),
      attributes: Type.Optional(PropertiesPatch('Deprecated alias of `properties`.')),
    }),
    response: json(wrap('user', User)),
    errors: ['ResourceNotFound', 'LimitExceeded'],
  }),
  remove: operation({
    id: 'deleteUser',
    method: 'DELETE',
    path: '/v1/chat/users/{id}',
    tag: 'Users',
    summary: 'Delete a user',
    description:
      'Removes the user from every conversation. Its messages stay. Its user keys are refused from then on, and its open streams end.',
    auth: 'bot',
    permission: 'conversations:write',
    params: userId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
  revokeKeys: operation({
    id: 'revokeUserKeys',
    method: 'DELETE',
    path: '/v1/chat/users/{id}/keys',
    tag: 'Users',
    summary: 'Revoke the user keys of a user',
    description:
      'Refuses every key issued before this call, and ends the open streams of the user. A key that an app signs later is accepted if its `iat` is after this call. A key without `iat` is refused.',
    auth: 'bot',
    permission: 'conversations:write',
    params: userId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
  ban: operation({
    id: 'banUser',
    method: 'POST',
    path: '/v1/chat/users/{id}/ban',
    tag: 'Users',
    summary: 'Ban a user from the chat',
    description:
      'Refuses all keys of the user with `Forbidden` and ends its open streams. Nobody else can take its id, even after the user is deleted. Its messages stay.',
    auth: 'bot',
    permission: 'conversations:write',
    params: userId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
  unban: operation({
    id: 'unbanUser',
    method: 'DELETE',
    path: '/v1/chat/users/{id}/ban',
    tag: 'Users',
    summary: 'Lift the ban of a user',
    description: 'Keys that were not revoked are accepted again.',
    auth: 'bot',
    permission: 'conversations:write',
    params: userId,
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceConstraint'],
  }),
}
