import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, pageOf, paging, sorting, TagEquality, Text, wrap } from '../../shared.js'
import { CreateBotBody, UpdateBotBody } from './bot-bodies.js'
import { Bot, BotSummary } from './bot-entity.js'

const botId = Type.Object({ id: Id('Id of the bot.') })

const integrationKeys = Type.Object({
  'x-multiple-integrations': Type.Optional(
    Text(
      10,
      '`true`: `integrations` of the bot is keyed by alias; any other value: by integration id.',
    ),
  ),
})

/** Bots of a workspace. */
export const bots = {
  list: operation({
    id: 'listBots',
    method: 'GET',
    path: '/v1/admin/bots',
    tag: 'Bots',
    summary: 'List the bots of a workspace',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    query: Type.Object({
      ...paging,
      dev: Type.Optional(
        Type.Boolean({
          description: '`true`: only development bots; otherwise only other bots.',
        }),
      ),
      name: Type.Optional(
        Text(200, 'Only bots whose name contains this text, regardless of case.'),
      ),
      ids: Type.Optional(
        Type.Array(Id('Id of a bot.'), {
          maxItems: 100,
          description:
            'Only these bots, at most 100; those in development too, unless `dev` is given. Ids of other workspaces are ignored.',
        }),
      ),
      tags: Type.Optional(TagEquality),
      integrationNames: Type.Optional(
        Type.Array(Text(200, 'Name of an integration.'), {
          maxItems: 30,
          description: 'Only bots in which all of these integrations are installed; at most 30.',
        }),
      ),
      pluginNames: Type.Optional(
        Type.Array(Text(200, 'Name of a plugin.'), {
          maxItems: 30,
          description: 'Only bots in which all of these plugins are installed; at most 30.',
        }),
      ),
      ...sorting,
    }),
    response: json(pageOf('bots', BotSummary, 'Bots in the requested order.')),
  }),
  create: operation({
    id: 'createBot',
    method: 'POST',
    path: '/v1/admin/bots',
    tag: 'Bots',
    summary: 'Create a bot',
    description:
      'Every field is optional. The integration `chat` is installed from the start; add others with `updateBot`.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    headers: integrationKeys,
    body: CreateBotBody,
    response: json(wrap('bot', Bot)),
    status: 201,
    errors: [
      'InvalidJsonSchema',
      'InvalidDataFormat',
      'InvalidIdentifier',
      'LimitExceeded',
      'QuotaExceeded',
    ],
    idempotent: true,
    bodyLimit: 'large',
  }),
  get: operation({
    id: 'getBot',
    method: 'GET',
    path: '/v1/admin/bots/{id}',
    tag: 'Bots',
    summary: 'Get a bot',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: botId,
    headers: integrationKeys,
    response: json(wrap('bot', Bot)),
    errors: ['ResourceNotFound'],
  }),
  update: operation({
    id: 'updateBot',
    method: 'PUT',
    path: '/v1/admin/bots/{id}',
    tag: 'Bots',
    summary: 'Update a bot',
    description:
      'The body is a merge patch: omitted fields keep their value; in maps, a value sets an entry, `null` removes it, and entries that are not mentioned stay.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    headers: integrationKeys,
    body: UpdateBotBody,
    response: json(wrap('bot', Bot)),
    errors: [
      'ResourceNotFound',
      'ReferenceNotFound',
      'InvalidJsonSchema',
      'InvalidDataFormat',
      'InvalidIdentifier',
      'LimitExceeded',
    ],
    bodyLimit: 'large',
  }),
  remove: operation({
    id: 'deleteBot',
    method: 'DELETE',
    path: '/v1/admin/bots/{id}',
    tag: 'Bots',
    summary: 'Delete a bot and everything in it',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  transfer: operation({
    id: 'transferBot',
    method: 'POST',
    path: '/v1/admin/bots/{id}/transfer',
    tag: 'Bots',
    summary: 'Move a bot with everything in it to another workspace',
    description:
      'The caller needs `bots:write` in both workspaces, and in the workspace of the bot also `bots:manage` unless they created it. Tokens that are limited to a workspace or a bot are refused. Conversations, files, keys, versions, deployed code, logs and deliveries move with the bot, and its addresses stay the same. Members of the former workspace lose their access within a second. Keys and signing secrets of the bot stay valid: delete those that former members know. Older lines of its log appear in the logs of the new workspace after 10 seconds or more. Integrations and plugins that the new workspace may not use must be removed from the bot first, or published.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: botId,
    body: Type.Object({
      targetWorkspaceId: Id('Id of another workspace of which the caller is a member.'),
    }),
    response: json(Empty),
    errors: [
      'ResourceNotFound',
      'ReferenceNotFound',
      'ReferenceConstraint',
      'InvalidPayload',
      'QuotaExceeded',
    ],
  }),
  rotateSigningSecrets: operation({
    id: 'rotateBotSigningSecrets',
    method: 'POST',
    path: '/v1/admin/bots/{id}/signing-secrets/rotate',
    tag: 'Bots',
    summary: 'Replace the secret that signs calls to a bot',
    description:
      'For 24 hours, calls are also signed with the previous secret, so that the bot can be updated. Any older secret stops working at once.',
    auth: 'workspace',
    permission: 'keys:write',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    response: json(
      Type.Object({
        newSigningSecret: Type.String({ description: 'The new secret. Returned only here.' }),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
}
