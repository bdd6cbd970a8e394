import { type TProperties, Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, Text, Timestamp, Url, wrap } from '../../shared.js'

/** The person that a personal access token belongs to. */
export const Account = Type.Object(
  {
    id: Id('Id of the account.'),
    email: Type.String({ description: 'Email address of the person.' }),
    displayName: Type.Optional(Type.String({ description: 'Name shown to others.' })),
    emailVerified: Type.Boolean({ description: 'Whether the email address was confirmed.' }),
    profilePicture: Type.Optional(Type.String({ description: 'URL of a picture.' })),
    createdAt: Timestamp('Time at which the account was created.'),
  },
  { title: 'Account', description: 'The person that a personal access token belongs to.' },
)

/** The caller's own account. */
export const accounts = {
  get: operation({
    id: 'getAccount',
    method: 'GET',
    path: '/v1/admin/account/me',
    tag: 'Account',
    summary: 'Get the account of the caller',
    auth: 'account',
    permission: 'account:read',
    response: json(wrap('account', Account)),
  }),
  update: operation({
    id: 'updateAccount',
    method: 'PUT',
    path: '/v1/admin/account/me',
    tag: 'Account',
    summary: 'Update the account of the caller',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({
      displayName: Type.Optional(Text(200, 'Name shown to others, at most 200 characters.')),
      profilePicture: Type.Optional(Url('URL of a picture, at most 65,536 characters.')),
      refresh: Type.Optional(
        Type.Boolean({ description: 'Accepted for existing clients; has no effect.' }),
      ),
    }),
    response: json(wrap('account', Account)),
  }),
}

const note = 'Purpose of the token.'

/** The limits of a personal token, within the rights of its owner. */
const tokenLimits = {
  readOnly: Type.Optional(
    Type.Boolean({ description: 'Whether the token may only read; false if absent.' }),
  ),
  workspaceId: Type.Optional(
    Id(
      'The only workspace of the token; all of its owner if absent. Such a token cannot change the account.',
    ),
  ),
  botId: Type.Optional(Id('The only bot of the token, in that workspace; all bots if absent.')),
  expiresAt: Type.Optional(Timestamp('Time at which the token stops working; never if absent.')),
}

/** A token as lists contain it. */
const listed = <More extends TProperties>(title: string, what: string, more: More) =>
  Type.Object(
    {
      id: Id('Id of the token.'),
      createdAt: Timestamp('Time at which the token was created.'),
      note: Type.String({ description: note }),
      lastUsedAt: Type.Optional(
        Timestamp('Time at which the token was last used; absent if never. Updated with a delay.'),
      ),
      ...more,
    },
    { title, description: `${what} without its value.` },
  )

/** A token as its creation returns it. */
const made = <More extends TProperties>(title: string, what: string, more: More) =>
  Type.Object(
    {
      id: Id('Id of the token.'),
      createdAt: Timestamp('Time at which the token was created.'),
      note: Type.String({ description: note }),
      value: Type.String({
        description: 'The token itself. Returned only here: the server stores a hash of it.',
      }),
      ...more,
    },
    { title, description: `${what} with its value.` },
  )

export const PersonalAccessToken = listed(
  'PersonalAccessToken',
  'A personal access token',
  tokenLimits,
)
export const NewPersonalAccessToken = made(
  'NewPersonalAccessToken',
  'A personal access token',
  tokenLimits,
)
export const BotApiKey = listed('BotApiKey', 'A key of a bot', {})
export const NewBotApiKey = made('NewBotApiKey', 'A key of a bot', {})
export const IntegrationApiKey = listed('IntegrationApiKey', 'A key of an integration', {})
export const NewIntegrationApiKey = made('NewIntegrationApiKey', 'A key of an integration', {})

/** Personal access tokens of the caller, and keys that act for one bot. */
export const tokens = {
  listPersonal: operation({
    id: 'listPersonalAccessTokens',
    method: 'GET',
    path: '/v1/admin/account/pats',
    tag: 'Account',
    summary: 'List the personal access tokens of the caller',
    auth: 'account',
    permission: 'account:read',
    response: json(
      Type.Object({
        pats: Type.Array(PersonalAccessToken, { description: 'All tokens, newest first.' }),
      }),
    ),
  }),
  createPersonal: operation({
    id: 'createPersonalAccessToken',
    method: 'POST',
    path: '/v1/admin/account/pats',
    tag: 'Account',
    summary: 'Create a personal access token',
    description:
      'The token has the rights that its owner has at the time of a call, or fewer. Its value is returned only once.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    body: Type.Object({
      note: Text(500, 'Purpose of the token, at most 500 characters.'),
      readOnly: tokenLimits.readOnly,
      workspaceId: tokenLimits.workspaceId,
      botId: Type.Optional(
        Id(
          'The only bot of the token; `workspaceId` must be its workspace. All bots if absent. Such a token cannot use operations that concern the workspace, such as those on members, the creation of bots, and changes of integrations.',
        ),
      ),
      expiresAt: Type.Optional(
        Timestamp(
          'Time at which the token stops working, in the future; never if absent. Such a token cannot create one that lasts longer.',
        ),
      ),
    }),
    response: json(wrap('pat', NewPersonalAccessToken)),
    status: 201,
    errors: ['ReferenceNotFound'],
    idempotent: true,
  }),
  removePersonal: operation({
    id: 'deletePersonalAccessToken',
    method: 'DELETE',
    path: '/v1/admin/account/pats/{id}',
    tag: 'Account',
    summary: 'Delete a personal access token',
    description:
      'The token stops working at once on this server process, and within five seconds on others.',
    auth: 'account',
    permission: 'account:write',
    audit: 'account',
    params: Type.Object({ id: Id('Id of the token.') }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  introspect: operation({
    id: 'introspect',
    method: 'POST',
    path: '/v1/admin/introspect',
    tag: 'Account',
    summary: 'Introspect the token of the call',
    description:
      'For services that bots, integrations and people call with their tokens. The body names the bot. The header `x-bot-id` is ignored.',
    auth: 'token',
    body: Type.Object({ botId: Id('Id of the bot to check the token against.') }),
    response: json(
      Type.Object({
        workspaceId: Id('Id of the workspace of the bot.'),
        botId: Id('Id of the bot.'),
        userId: Id('Id of the account of a personal access token; for keys, the id of the bot.'),
      }),
    ),
    errors: ['Forbidden', 'ReferenceNotFound'],
  }),
  listBotKeys: operation({
    id: 'listBotApiKeys',
    method: 'GET',
    path: '/v1/admin/bots/baks',
    tag: 'Bots',
    summary: 'List the keys of a bot',
    auth: 'workspace',
    permission: 'keys:read',
    concerns: 'bots',
    query: Type.Object({ botId: Id('Id of the bot.') }),
    response: json(
      Type.Object({
        baks: Type.Array(BotApiKey, { description: 'All keys of the bot, newest first.' }),
      }),
    ),
    errors: ['ReferenceNotFound'],
  }),
  createBotKey: operation({
    id: 'createBotApiKey',
    method: 'POST',
    path: '/v1/admin/bots/baks',
    tag: 'Bots',
    summary: 'Create a key of a bot',
    description: 'The key is valid for this bot only. Its value is returned only once.',
    auth: 'workspace',
    permission: 'keys:write',
    audit: 'workspace',
    concerns: 'bots',
    body: Type.Object({
      botId: Id('Id of the bot.'),
      note: Type.Optional(Text(500, 'Purpose of the key, at most 500 characters.')),
    }),
    response: json(NewBotApiKey),
    status: 201,
    errors: ['ReferenceNotFound'],
    idempotent: true,
  }),
  removeBotKey: operation({
    id: 'deleteBotApiKey',
    method: 'DELETE',
    path: '/v1/admin/bots/baks/{id}',
    tag: 'Bots',
    summary: 'Delete a key of a bot',
    description:
      'The key stops working at once on this server process, and within five seconds on others.',
    auth: 'workspace',
    permission: 'keys:write',
    audit: 'workspace',
    concerns: 'bots',
    params: Type.Object({ id: Id('Id of the key.') }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
  listIntegrationKeys: operation({
    id: 'listIntegrationApiKeys',
    method: 'GET',
    path: '/v1/admin/integrations/iaks',
    tag: 'Integrations',
    summary: 'List the keys of an integration',
    auth: 'workspace',
    permission: 'keys:read',
    concerns: 'workspace',
    query: Type.Object({ integrationId: Id('Id of the integration.') }),
    response: json(
      Type.Object({
        iaks: Type.Array(IntegrationApiKey, {
          description: 'All keys of the integration, newest first.',
        }),
      }),
    ),
    errors: ['ReferenceNotFound'],
  }),
  createIntegrationKey: operation({
    id: 'createIntegrationApiKey',
    method: 'POST',
    path: '/v1/admin/integrations/iaks',
    tag: 'Integrations',
    summary: 'Create a key of an integration',
    description:
      'The key acts for this integration in every bot where it is installed. Its value is returned only once.',
    auth: 'workspace',
    permission: 'keys:write',
    audit: 'workspace',
    concerns: 'workspace',
    body: Type.Object({
      integrationId: Id('Id of the integration.'),
      note: Type.Optional(Text(500, 'Purpose of the key, at most 500 characters.')),
    }),
    response: json(NewIntegrationApiKey),
    status: 201,
    errors: ['ReferenceNotFound'],
    idempotent: true,
  }),
  removeIntegrationKey: operation({
    id: 'deleteIntegrationApiKey',
    method: 'DELETE',
    path: '/v1/admin/integrations/iaks/{id}',
    tag: 'Integrations',
    summary: 'Delete a key of an integration',
    description:
      'The key stops working at once on this server process, and within five seconds on others.',
    auth: 'workspace',
    permission: 'keys:write',
    audit: 'workspace',
    concerns: 'workspace',
    params: Type.Object({ id: Id('Id of the key.') }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
}
