import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, OneOf, Timestamp } from '../../shared.js'

const Count = (description: string) =>
  Type.Integer({ minimum: 0, description: `${description} At most 1,000: more are not counted.` })

const Target = Type.Object(
  {
    type: OneOf(
      ['bot', 'installation', 'delivery', 'file', 'log', 'job'],
      'Type of the target; a `log` is a line of `listLogs`.',
    ),
    id: Id('Id of the target; of an installation, its alias.'),
    botId: Type.Optional(Id('Id of the bot that it belongs to.')),
  },
  { title: 'OverviewTarget', description: 'Page of the dashboard about it.' },
)

const reasonKinds = [
  'receiver_paused',
  'receiver_failing',
  'no_address',
  'blocked',
  'registration_failed',
  'deliveries_failed',
  'files_failed',
  'log_errors',
] as const

const Reason = Type.Object(
  {
    kind: OneOf([...reasonKinds], 'Problem.'),
    message: Type.String({ description: 'Problem, in words.' }),
    action: Type.String({ description: 'Remedy.' }),
    since: Type.Optional(Timestamp('Since when, where it is known.')),
    target: Target,
  },
  { title: 'OverviewReason', description: 'Reason why a bot does not work as it should.' },
)

const BotHealth = Type.Object(
  {
    id: Id('Id of the bot.'),
    name: Type.String({ description: 'Name of the bot.' }),
    status: OneOf(
      ['ok', 'attention', 'off'],
      '`attention`: something is wrong; `off`: the bot is blocked, or has no address and nobody writes to it.',
    ),
    reasons: Type.Array(Reason, { description: 'All reasons for the status; none if it is `ok`.' }),
    past: Type.Array(Reason, {
      description:
        'Failures of the last 24 hours before a later attempt at a delivery to the same receiver succeeded: deliveries that can be replayed, and errors of logs. No reason for the status.',
    }),
  },
  { title: 'BotHealth', description: 'Whether a bot works.' },
)

const errorId = Id(
  'Id of the group: the same as long as what its errors have in common is the same.',
)

const ErrorGroup = Type.Object(
  {
    id: errorId,
    kind: OneOf(
      ['delivery', 'file', 'log', 'job'],
      'Failed deliveries, files that could not be stored or indexed, lines with the level `error`, or jobs that were given up.',
    ),
    message: Type.String({
      description: 'The newest one, in words, at most 300 characters.',
    }),
    pattern: Type.String({
      description:
        'Common part of the errors of the group; `#` stands for numbers and ids that differ.',
    }),
    botId: Type.Optional(Id('Id of the bot, if all of them belong to one.')),
    integrationAlias: Type.Optional(
      Type.String({ description: 'Alias of the installation whose deliveries failed.' }),
    ),
    integrationId: Type.Optional(Id('Id of the integration whose log has the lines.')),
    count: Type.Integer({ minimum: 1, description: 'Number of errors.' }),
    lastAt: Timestamp('Time of the newest one.'),
    hours: Type.Array(Type.Integer({ minimum: 0, description: 'Number of errors in the hour.' }), {
      minItems: 24,
      maxItems: 24,
      description: 'Number of errors in each of the last 24 hours, the oldest hour first.',
    }),
    target: Target,
  },
  { title: 'ErrorGroup', description: 'Errors of the last 24 hours with the same cause.' },
)

/** The overview of a workspace. */
export const overview = {
  get: operation({
    id: 'getOverview',
    method: 'GET',
    path: '/v1/admin/overview',
    tag: 'Workspaces',
    summary: 'Get the state of a workspace: what works, what waits and what fails',
    description:
      'One call for a page that shows whether everything is all right. It may be up to five seconds old. It reads a bounded number of rows: `errors.isComplete` says whether that was all.',
    auth: 'workspace',
    permission: 'logs:read',
    concerns: 'bots',
    query: Type.Object({
      botId: Type.Optional(
        Id(
          'Id of a bot: only its state, deliveries, files, conversations and errors are returned, and `operator` is absent. It may be a bot that is not among those looked at without it.',
        ),
      ),
    }),
    response: json(
      Type.Object({
        status: OneOf(
          ['ok', 'attention', 'empty'],
          '`attention`: at least one bot needs it, or, for the operator, the server; `empty`: there is no bot.',
        ),
        asOf: Timestamp('Time at which this was determined.'),
        bots: Type.Array(BotHealth, {
          description:
            'Bots, those that need attention first, then by name; at most 200, and of the 1,000 newest ones.',
        }),
        counts: Type.Object(
          {
            bots: Count('Bots of the workspace.'),
            botsNeedingAttention: Count('Bots that need attention.'),
            integrations: Count('Integrations of the workspace.'),
            files: Count('Files of its bots.'),
            conversations: Count('Conversations of its bots.'),
          },
          {
            title: 'OverviewCounts',
            description: 'Existing objects, which determine the first steps.',
          },
        ),
        deliveries: Type.Object(
          {
            waiting: Count('Deliveries that are pending.'),
            oldest: Type.Optional(
              Type.Object(
                {
                  id: Id('Id of the delivery.'),
                  botId: Id('Id of the bot.'),
                  integrationAlias: Type.Optional(
                    Type.String({ description: 'Alias of the installation; absent for the bot.' }),
                  ),
                  createdAt: Timestamp('Since when it waits.'),
                },
                { title: 'OldestDelivery', description: 'The delivery that has waited longest.' },
              ),
            ),
          },
          { title: 'WaitingDeliveries', description: 'Deliveries that are not finished.' },
        ),
        files: Type.Object(
          {
            waiting: Count('Files that wait for their upload or for indexing.'),
            failed: Count('Files whose upload or indexing failed.'),
          },
          { title: 'UnfinishedFiles', description: 'Files that are not finished.' },
        ),
        errors: Type.Object(
          {
            groups: Type.Array(ErrorGroup, {
              description: 'Groups of errors, the most frequent first, at most 50.',
            }),
            since: Timestamp('Start of the first hour.'),
            isComplete: Type.Boolean({
              description: 'Whether all errors of the last 24 hours are counted.',
            }),
          },
          { title: 'RecentErrors', description: 'Errors of the last 24 hours, grouped.' },
        ),
        operator: Type.Optional(
          Type.Object(
            {
              deadJobs: Count('Jobs that were given up.'),
              disks: Type.Array(
                Type.Object(
                  {
                    of: OneOf(['database', 'contents'], 'Data on the disk.'),
                    freeBytes: Type.Integer({ minimum: 0, description: 'Free space in bytes.' }),
                    totalBytes: Type.Integer({ minimum: 0, description: 'Size in bytes.' }),
                    isLow: Type.Boolean({ description: 'Whether less than 5 % or 1 GB is free.' }),
                  },
                  {
                    title: 'Disk',
                    description: 'A disk of this machine that the server writes to.',
                  },
                ),
                { description: 'Disks of this machine that the server writes to.' },
              ),
            },
            {
              title: 'OperatorOverview',
              description: 'The server itself; only for its operator, the first account.',
            },
          ),
        ),
      }),
    ),
    errors: ['ReferenceNotFound'],
  }),
  resolveErrors: operation({
    id: 'resolveErrors',
    method: 'POST',
    path: '/v1/admin/overview/errors/{errorId}/resolve',
    tag: 'Workspaces',
    summary: 'Resolve a group of errors',
    description:
      'Its errors so far are no longer shown in `getOverview`, and no longer a reason for the status of a bot. The next error of the same kind opens the group again, without those that were resolved. What is stored, such as deliveries, files and log lines, is not changed. Jobs cannot be resolved: run them again, or drop them.',
    auth: 'workspace',
    permission: 'logs:write',
    audit: 'workspace',
    concerns: 'bots',
    params: Type.Object({ errorId }),
    body: Type.Object({
      lastAt: Type.Optional(
        Timestamp(
          'Time of the newest error that the caller has seen: later ones are not resolved. Default: the newest one.',
        ),
      ),
      botId: Type.Optional(
        Id(
          'Bot whose errors they are, as the group says: finds groups that `getOverview` returns for it alone.',
        ),
      ),
    }),
    response: json(Empty),
    errors: ['ResourceNotFound', 'ReferenceNotFound'],
  }),
  reopenErrors: operation({
    id: 'reopenErrors',
    method: 'POST',
    path: '/v1/admin/overview/errors/{errorId}/reopen',
    tag: 'Workspaces',
    summary: 'Reopen a group of errors that was resolved',
    description: 'Its errors are shown in `getOverview` again.',
    auth: 'workspace',
    permission: 'logs:write',
    audit: 'workspace',
    concerns: 'bots',
    params: Type.Object({ errorId }),
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
}
