import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { AnyMap, AnyMapInput, Text } from '../../shared.js'

/** Scripts of integrations. */
export const scripts = {
  run: operation({
    id: 'runVrl',
    method: 'POST',
    path: '/v1/admin/helper/vrl',
    tag: 'Integrations',
    summary: 'Run a script in VRL',
    description:
      'Tries a script of an integration, for example the one that generates the address of its setup. A script may run for two seconds, and sees neither files nor the network. After one that ran into a limit, those of the workspace are refused for 15 seconds. At most 50 of a workspace run or wait.',
    auth: 'workspace',
    permission: 'bots:write',
    audit: { none: 'Changes nothing.' },
    concerns: 'bots',
    body: Type.Object({
      data: AnyMapInput('Input of the script, its `.`; at most 1,000 members.'),
      script: Text(20_000, 'The script, at most 20,000 characters.'),
    }),
    response: json(
      Type.Object({
        data: AnyMap('`.` as the script left it; `{}` if it is no object any more.'),
        result: Type.Unknown({ description: 'Value of the last expression; null without one.' }),
      }),
    ),
    errors: ['RateLimited'],
  }),
}
