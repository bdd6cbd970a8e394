import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, Text, Timestamp, wrap } from '../../shared.js'

const botId = Type.Object({ id: Id('Id of the bot.') })
const versionId = Type.Object({
  id: Id('Id of the bot.'),
  versionId: Id('Id of the version.'),
})

/** A version of a bot, without its code. */
const BotVersion = Type.Object(
  {
    id: Id('Id of the version.'),
    name: Type.String({ description: 'Name that people gave it.' }),
    description: Type.Optional(
      Type.String({ description: 'Description of the version; absent without one.' }),
    ),
    createdAt: Timestamp('Time at which it was created.'),
    codeSize: Type.Integer({ minimum: 0, description: 'Size of its code in bytes.' }),
    deployed: Type.Boolean({
      description: 'Whether the bot runs this code now; its definition may have changed since.',
    }),
  },
  { title: 'BotVersion', description: 'A version of a bot: its code, and what it declared.' },
)

/** Versions of bots whose code runs here. */
export const botVersions = {
  list: operation({
    id: 'listBotVersions',
    method: 'GET',
    path: '/v1/admin/bots/{id}/versions',
    tag: 'Bots',
    summary: 'List the versions of a bot',
    description: 'All of them, the newest first; `BOTSTEAD_MAX_BOT_VERSIONS` limits their number.',
    auth: 'workspace',
    permission: 'bots:read',
    concerns: 'bots',
    params: botId,
    response: json(
      Type.Object({
        versions: Type.Array(BotVersion, { description: 'Versions, the newest first.' }),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  create: operation({
    id: 'createBotVersion',
    method: 'POST',
    path: '/v1/admin/bots/{id}/versions',
    tag: 'Bots',
    summary: 'Create a version of a bot',
    description:
      'Keeps the code that runs here now and what the bot declares, for `deployBotVersion`. A bot at a `url` has no code here and therefore no versions (`RelationConflict`). Of `BOTSTEAD_MAX_BOT_VERSIONS` versions one has to be deleted before another is created (`LimitExceeded`).',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    body: Type.Object({
      name: Text(200, 'Name of the version, 1 to 200 characters; need not be unique.', 1),
      description: Type.Optional(
        Text(2000, 'Description of the version, at most 2,000 characters.'),
      ),
    }),
    response: json(wrap('version', BotVersion)),
    status: 201,
    errors: ['ResourceNotFound', 'RelationConflict', 'LimitExceeded'],
    idempotent: true,
  }),
  get: operation({
    id: 'getBotVersion',
    method: 'GET',
    path: '/v1/admin/bots/{id}/versions/{versionId}',
    tag: 'Bots',
    summary: 'Get the code of a version of a bot',
    auth: 'workspace',
    permission: 'configuration:read',
    concerns: 'bots',
    params: versionId,
    response: json(
      Type.Object({
        url: Type.String({
          description:
            'URL of the code, one CommonJS file. It is signed: who has it needs no other credential, and it works for one hour.',
        }),
      }),
    ),
    errors: ['ResourceNotFound'],
  }),
  deploy: operation({
    id: 'deployBotVersion',
    method: 'POST',
    path: '/v1/admin/bots/{id}/versions/deploy',
    tag: 'Bots',
    summary: 'Deploy a version of a bot again',
    description:
      'Starts its code as an update with `code` does, and puts it into force with what the version declares: states, events, actions, recurring events, subscriptions, tags of users, conversations and messages, the schema of the configuration, and plugins. The configuration itself, secrets, integrations and all other fields stay as they are. Code that does not start is refused (`Runtime`), and what ran before stays; so does it if a plugin of the version is gone (`ReferenceNotFound`), if its schema no longer allows the configuration of the version (`InvalidDataFormat`), or if the version exceeds a limit that was lowered since (`LimitExceeded`). If another request deployed code of the bot meanwhile, this one is refused and can be repeated (`ResourceLockedConflict`). A `url` of the bot is removed.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'bots',
    params: botId,
    body: Type.Object({ versionId: Id('Id of the version.') }),
    response: json(Empty),
    errors: [
      'ResourceNotFound',
      'ReferenceNotFound',
      'ResourceLockedConflict',
      'InvalidDataFormat',
      'LimitExceeded',
      'Runtime',
    ],
  }),
  remove: operation({
    id: 'deleteBotVersion',
    method: 'DELETE',
    path: '/v1/admin/bots/{id}/versions/{versionId}',
    tag: 'Bots',
    summary: 'Delete a version of a bot',
    description: 'The running code of the bot stays, also if it is this version.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: 'workspace',
    concerns: 'bots',
    params: versionId,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  download: operation({
    id: 'downloadBotVersion',
    method: 'GET',
    path: '/bot-versions/{versionId}/code',
    tag: 'Bots',
    summary: 'Download the code of a version of a bot',
    description: 'The URL is that of `getBotVersion`. HEAD is supported.',
    auth: 'signature',
    params: Type.Object({ versionId: Id('Id of the version.') }),
    query: Type.Object({
      signature: Text(512, 'Proof that the server created the URL, and its expiry.'),
    }),
    response: { kind: 'download', description: 'The code, one CommonJS file in UTF-8.' },
    errors: ['Forbidden', 'ResourceNotFound'],
  }),
}
