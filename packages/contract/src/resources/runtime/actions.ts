import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  AnyMap,
  AnyMapInput,
  Id,
  OneOf,
  pageOf,
  paging,
  Text,
  TimeBound,
  Timestamp,
} from '../../shared.js'

const truncated = (what: string) =>
  Type.Optional(
    Type.Boolean({
      description: `True if the ${what} is longer than 190,000 characters of JSON: \`beginning\` contains the first ones.`,
    }),
  )

const ActionRun = Type.Object(
  {
    timestamp: Timestamp('Time at which the action was called.'),
    integrationName: Type.String({ description: 'Name of the integration.' }),
    actionType: Type.String({ description: 'Name of the action, without the alias.' }),
    input: AnyMap('Input of the action.'),
    inputTruncated: truncated('input'),
    output: Type.Union([AnyMap('Output of the action.'), Type.Null()], {
      description: 'Output of the action; `null` if it failed.',
    }),
    outputTruncated: truncated('output'),
    status: OneOf(['SUCCESS', 'FAILURE'], 'Whether the action returned an output.'),
    durationMs: Type.Integer({ description: 'Milliseconds until the response.' }),
    cached: Type.Boolean({ description: 'Whether an earlier result was reused.' }),
    errorMessage: Type.Optional(
      Type.String({ description: 'Reason why the action failed; absent if it succeeded.' }),
    ),
  },
  { title: 'ActionRun', description: 'A call of an action of an integration.' },
)

/** Functions that bots, plugins and integrations perform on request. */
export const actions = {
  call: operation({
    id: 'callAction',
    method: 'POST',
    path: '/v1/chat/actions',
    tag: 'Actions',
    summary: 'Call an action of an integration or of the bot',
    description:
      'Waits for the code of the action and returns its output. An installed integration handles `<alias>:<action>`, the bot itself any other name; the actions of its plugins are named `<plugin alias>#<action>`. If the code fails, the call returns the error `Runtime` with its message.',
    auth: 'bot',
    permission: 'actions:call',
    body: Type.Object({
      type: Text(401, 'Name of the action, 1 to 401 characters.', 1),
      input: AnyMapInput('Input of the action; must match the schema declared for it.'),
    }),
    response: json(
      Type.Object({
        output: AnyMap('Output of the action.'),
        meta: Type.Object(
          {
            cached: Type.Boolean({
              description: 'Whether an earlier result of a `cacheable` action was reused.',
            }),
          },
          { title: 'ActionMeta', description: 'Origin of the output.' },
        ),
      }),
    ),
    errors: ['ResourceNotFound', 'InvalidDataFormat', 'LimitExceeded', 'Runtime'],
  }),
  listRuns: operation({
    id: 'listActionRuns',
    method: 'GET',
    path: '/v1/admin/bots/{id}/action-runs',
    tag: 'Actions',
    summary: 'List the calls of the actions of an integration',
    description:
      'Newest first. Kept as long as the log of the bot. Actions of the bot itself and of the built-in chat are not recorded.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    params: Type.Object({ id: Id('Id of the bot.') }),
    query: Type.Object({
      ...paging,
      integrationName: Text(200, 'Alias of the installation, or name of the integration.', 1),
      timestampFrom: Type.Optional(TimeBound('beginning', 'Only runs from this time on.')),
      timestampUntil: Type.Optional(TimeBound('end', 'Only runs up to this time.')),
    }),
    response: json(pageOf('data', ActionRun, 'Runs, newest first.')),
    errors: ['ResourceNotFound'],
  }),
}
