import { Type } from 'typebox'
import { operation } from '../operation.js'
import { AnyMap, AnyMapInput, Text } from '../shared.js'

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
    result: Type.Object({
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
    status: 200,
    errors: ['ResourceNotFound', 'InvalidDataFormat', 'LimitExceeded', 'Runtime'],
  }),
}
