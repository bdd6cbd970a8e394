import { Type } from 'typebox'
import { operation } from '../../operation.js'
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
      description: `That the ${what} is longer than 190,000 characters of JSON: \`beginning\` has its first ones.`,
    }),
  )

const ActionRun = Type.Object(
  {
    timestamp: Timestamp('When it was called.'),
    integrationName: Type.String({ description: 'Name of the integration.' }),
    actionType: Type.String({ description: 'Name of the action, without the alias.' }),
    input: AnyMap('What the action got.'),
    inputTruncated: truncated('input'),
    output: Type.Union([AnyMap('What the action gave.'), Type.Null()], {
      description: 'What the action gave back; `null` if it failed.',
    }),
    outputTruncated: truncated('output'),
    status: OneOf(['SUCCESS', 'FAILURE'], 'Whether it gave an output.'),
    durationMs: Type.Integer({ description: 'Milliseconds until the answer.' }),
    cached: Type.Boolean({ description: 'Whether an earlier answer was used.' }),
    errorMessage: Type.Optional(Type.String({ description: 'Why it failed; absent if not.' })),
  },
  { title: 'ActionRun', description: 'A call of an action of an integration.' },
)

/** What bots, plugins and integrations do when they are asked to. */
export const actions = {
  call: operation({
    id: 'callAction',
    method: 'POST',
    path: '/v1/chat/actions',
    tag: 'Actions',
    summary: 'Call an action of an integration or of the bot',
    description:
      'Waits for the code behind the action and gives its output. `<alias>:<action>` is done by an installed integration, anything else by the bot itself; the actions of its plugins are named `<plugin alias>#<action>`. When the code fails the answer is the error `Runtime` with its message.',
    auth: 'bot',
    body: Type.Object({
      type: Text(401, 'Name of the action, 1 to 401 characters.', 1),
      input: AnyMapInput('What the action gets; must fit the schema that is declared for it.'),
    }),
    answer: {
      kind: 'json',
      schema: Type.Object({
        output: AnyMap('What the action gave back.'),
        meta: Type.Object(
          {
            cached: Type.Boolean({
              description: 'Whether an earlier answer of an action that is `cacheable` was used.',
            }),
          },
          { title: 'ActionMeta', description: 'How the output was come by.' },
        ),
      }),
    },
    status: 200,
    errors: ['ResourceNotFound', 'InvalidDataFormat', 'LimitExceeded', 'Runtime'],
  }),
  listRuns: operation({
    id: 'listActionRuns',
    method: 'GET',
    path: '/v1/admin/bots/{id}/action-runs',
    tag: 'Actions',
    summary: 'See which actions of an integration a bot called',
    description:
      'Newest first. Kept as long as the log of the bot. Actions of the bot itself and of the built-in chat are not written down.',
    auth: 'workspace',
    params: Type.Object({ id: Id('Id of the bot.') }),
    query: Type.Object({
      ...paging,
      integrationName: Text(200, 'Alias of the installation, or name of the integration.', 1),
      timestampFrom: Type.Optional(TimeBound('beginning', 'Only runs from this time on.')),
      timestampUntil: Type.Optional(TimeBound('end', 'Only runs up to this time.')),
    }),
    answer: { kind: 'json', schema: pageOf('data', ActionRun, 'Runs, newest first.') },
    status: 200,
    errors: ['ResourceNotFound'],
  }),
}
