import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMap, AnyMapInput, Id, OneOf, Text, Timestamp, wrap } from '../../shared.js'

const types = ['conversation', 'user', 'bot', 'integration', 'workflow'] as const

/** A stored value for a conversation, user, bot, integration or workflow. */
export const State = Type.Object(
  {
    id: Id('Id of the state.'),
    createdAt: Timestamp('Time at which the state was first set.'),
    updatedAt: Timestamp('Time at which the state last changed.'),
    botId: Id('Id of the bot.'),
    conversationId: Type.Optional(Id('Id of the conversation that the state belongs to.')),
    userId: Type.Optional(Id('Id of the user that the state belongs to.')),
    name: Type.String({ description: 'Name of the state.' }),
    type: OneOf([...types], 'Type of the object that the state belongs to.'),
    payload: AnyMap('Value of the state.'),
    expiry: Type.Optional(
      Type.Integer({ description: 'Milliseconds without a change after which the state expires.' }),
    ),
    expiresAt: Type.Optional(
      Timestamp('Time at which the state expires unless it changes before.'),
    ),
  },
  {
    title: 'State',
    description: 'A stored value for a conversation, user, bot, integration or workflow.',
  },
)

const stateParams = Type.Object({
  type: OneOf([...types], 'Type of the object that the state belongs to.'),
  id: Id(
    'Id of the conversation, user, integration or workflow, or of the bot itself. Plugins use their alias with the type `bot`.',
  ),
  name: Text(
    200,
    'Name of the state: 2 to 100 letters and digits, starting with a lowercase letter. States of plugins have the prefix `<plugin alias>#`.',
    1,
  ),
})

const path = '/v1/chat/states/{type}/{id}/{name}'
const payload = AnyMapInput('Value of the state, at most 128 KiB of JSON.')
const milliseconds = { minimum: 1, maximum: 2_592_000_000 }
const expiry = Type.Optional(
  Type.Union([Type.Integer(milliseconds), Type.Null()], {
    description:
      'Milliseconds without a change after which the state expires, 1 to 2,592,000,000 (30 days), and the bot gets the event `state_expired`; `null` for never. If omitted, as the bot declares it.',
  }),
)
const cached = Type.Object({
  state: State,
  meta: Type.Object(
    { cached: Type.Boolean({ description: 'Always false: states are read from the database.' }) },
    { title: 'StateMeta', description: 'Origin of the state: found or created.' },
  ),
})

const common = { tag: 'States', auth: 'bot', params: stateParams } as const

/** States of a bot and its integrations. Each has states of its own under the same names. */
export const states = {
  get: operation({
    ...common,
    id: 'getState',
    permission: 'conversations:read',
    method: 'GET',
    path,
    summary: 'Get a state',
    response: json(cached),
    errors: ['ResourceNotFound'],
  }),
  set: operation({
    ...common,
    id: 'setState',
    permission: 'conversations:write',
    method: 'POST',
    path,
    summary: 'Set or remove a state',
    body: Type.Object({
      payload: Type.Union([payload, Type.Null()], {
        description: 'Value of the state, at most 128 KiB of JSON; `null` removes the state.',
      }),
      expiry,
    }),
    response: json(wrap('state', State)),
    errors: ['ResourceNotFound', 'InvalidIdentifier', 'InvalidDataFormat', 'LimitExceeded'],
  }),
  getOrSet: operation({
    ...common,
    id: 'getOrSetState',
    permission: 'conversations:write',
    method: 'POST',
    path: `${path}/get-or-set`,
    summary: 'Get a state, or set it if there is none',
    description: 'If several calls find none at the same time, one sets it.',
    body: Type.Object({ payload, expiry }),
    response: json(cached),
    errors: ['ResourceNotFound', 'InvalidIdentifier', 'InvalidDataFormat', 'LimitExceeded'],
  }),
  patch: operation({
    ...common,
    id: 'patchState',
    permission: 'conversations:write',
    method: 'PATCH',
    path,
    summary: 'Update fields of a state',
    description: 'The given fields replace those with the same name; the others stay.',
    body: Type.Object({ payload, expiry }),
    response: json(wrap('state', State)),
    errors: ['ResourceNotFound', 'InvalidDataFormat', 'LimitExceeded'],
  }),
  setExpiry: operation({
    ...common,
    id: 'setStateExpiry',
    permission: 'conversations:write',
    method: 'POST',
    path: `${path}/expiry`,
    summary: 'Set the expiry of a state',
    body: Type.Object({
      expiry: Type.Union([Type.Integer(milliseconds), Type.Null()], {
        description:
          'Milliseconds without a change after which the state expires, 1 to 2,592,000,000 (30 days); `null` for never.',
      }),
    }),
    response: json(wrap('state', State)),
    errors: ['ResourceNotFound'],
  }),
}
