import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import {
  AnyMap,
  AnyMapInput,
  DiscriminateByTags,
  Empty,
  Id,
  OneOf,
  pageOf,
  paging,
  TagEquality,
  Tags,
  TagsInput,
  TagsPatch,
  Text,
  Timestamp,
  wrap,
  wrapFound,
} from '../../shared.js'

/** All statuses of workflows. */
const workflowStatuses = [
  'pending',
  'in_progress',
  'failed',
  'completed',
  'listening',
  'paused',
  'timedout',
  'cancelled',
] as const

/** Tasks of a bot that take longer than one event. */
export const Workflow = Type.Object(
  {
    id: Id('Id of the workflow.'),
    name: Type.String({ description: 'Name of the workflow.' }),
    status: OneOf([...workflowStatuses], 'Status of the workflow.'),
    input: AnyMap('Input of the workflow.'),
    output: AnyMap('Output of the workflow.'),
    parentWorkflowId: Type.Optional(Id('Id of the parent workflow.')),
    conversationId: Type.Optional(Id('Id of the conversation that the workflow is about.')),
    userId: Type.Optional(Id('Id of the user that the workflow is about.')),
    createdAt: Timestamp('Time at which the workflow was created.'),
    updatedAt: Timestamp('Time at which the workflow last changed.'),
    completedAt: Type.Optional(Timestamp('Time at which the workflow ended.')),
    failureReason: Type.Optional(Type.String({ description: 'Reason why the workflow failed.' })),
    timeoutAt: Timestamp('Time at which the workflow times out unless it ends before.'),
    tags: Tags('Tags of the workflow.'),
  },
  { title: 'Workflow', description: 'Tasks of a bot that take longer than one event.' },
)

const creation = {
  name: Text(200, 'Name of the workflow, 1 to 200 characters.', 1),
  status: OneOf(
    ['pending', 'in_progress', 'listening'],
    'Initial status: with `pending`, the bot starts the workflow; `in_progress` means that it has started.',
  ),
  input: Type.Optional(AnyMapInput('Input of the workflow, at most 128 KiB of JSON.')),
  parentWorkflowId: Type.Optional(Id('Id of the parent workflow.')),
  conversationId: Type.Optional(Id('Id of the conversation that the workflow is about.')),
  userId: Type.Optional(Id('Id of the user that the workflow is about.')),
  timeoutAt: Type.Optional(
    Timestamp(
      'Time at which the workflow times out, at most one year from now; one day from now if omitted.',
    ),
  ),
  eventId: Type.Optional(
    Id('Id of the event in which the workflow starts; required with `in_progress`.'),
  ),
}

const workflowId = Type.Object({ id: Id('Id of the workflow.') })

/** Workflows of a bot. */
export const workflows = {
  create: operation({
    id: 'createWorkflow',
    method: 'POST',
    path: '/v1/chat/workflows',
    tag: 'Workflows',
    summary: 'Create a workflow',
    description: 'The bot is notified of a pending workflow by the event `workflow_update`.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      ...creation,
      tags: Type.Optional(TagsInput('Tags of the workflow.')),
    }),
    response: json(wrap('workflow', Workflow)),
    status: 201,
    errors: ['ReferenceNotFound', 'LimitExceeded'],
    idempotent: true,
  }),
  get: operation({
    id: 'getWorkflow',
    method: 'GET',
    path: '/v1/chat/workflows/{id}',
    tag: 'Workflows',
    summary: 'Get a workflow',
    auth: 'bot',
    permission: 'conversations:read',
    params: workflowId,
    response: json(wrap('workflow', Workflow)),
    errors: ['ResourceNotFound'],
  }),
  list: operation({
    id: 'listWorkflows',
    method: 'GET',
    path: '/v1/chat/workflows',
    tag: 'Workflows',
    summary: 'List the workflows of a bot',
    auth: 'bot',
    permission: 'conversations:read',
    query: Type.Object({
      ...paging,
      tags: Type.Optional(TagEquality),
      conversationId: Type.Optional(Id('Only workflows about this conversation.')),
      userId: Type.Optional(Id('Only workflows about this user.')),
      parentWorkflowId: Type.Optional(Id('Only child workflows of this workflow.')),
      statuses: Type.Optional(
        Type.Array(OneOf([...workflowStatuses], 'A status.'), {
          maxItems: workflowStatuses.length,
          description: 'Only workflows with one of these statuses.',
        }),
      ),
      name: Type.Optional(Text(200, 'Only workflows with this name.')),
    }),
    response: json(pageOf('workflows', Workflow, 'Workflows, newest first.')),
    errors: ['ReferenceNotFound'],
  }),
  getOrCreate: operation({
    id: 'getOrCreateWorkflow',
    method: 'POST',
    path: '/v1/chat/workflows/get-or-create',
    tag: 'Workflows',
    summary: 'Get or create a workflow by its tags',
    description:
      'Searches the workflows with its name. If several calls request the same workflow at the same time, one creates it.',
    auth: 'bot',
    permission: 'conversations:write',
    body: Type.Object({
      ...creation,
      tags: Type.Optional(
        TagsInput(
          'Tags of the workflow. Those that `discriminateByTags` names, or all of them without it, identify an existing workflow.',
        ),
      ),
      discriminateByTags: Type.Optional(DiscriminateByTags('workflow')),
      discriminateByStatusGroup: Type.Optional(
        OneOf(
          ['active', 'finished'],
          'Only workflows that still run, or only those that completed, failed, timed out or were cancelled.',
        ),
      ),
    }),
    response: json(wrapFound('workflow', Workflow)),
    errors: ['ReferenceNotFound', 'LimitExceeded'],
  }),
  update: operation({
    id: 'updateWorkflow',
    method: 'PUT',
    path: '/v1/chat/workflows/{id}',
    tag: 'Workflows',
    summary: 'Update a workflow',
    description:
      'The bot is notified when a workflow continues after listening or a pause, and the parent workflow when a child workflow ends. A workflow that has ended keeps its status.',
    auth: 'bot',
    permission: 'conversations:write',
    params: workflowId,
    body: Type.Object({
      output: Type.Optional(AnyMapInput('Output of the workflow, at most 128 KiB of JSON.')),
      timeoutAt: Type.Optional(
        Timestamp(
          'Time at which the workflow times out; in the future, at most one year from now.',
        ),
      ),
      status: Type.Optional(
        OneOf(
          ['completed', 'cancelled', 'listening', 'paused', 'failed', 'in_progress'],
          'Status of the workflow.',
        ),
      ),
      failureReason: Type.Optional(
        Text(2000, 'Reason why the workflow failed, at most 2,000 characters.'),
      ),
      tags: Type.Optional(TagsPatch('Tags of the workflow.')),
      userId: Type.Optional(Id('Id of the user that the workflow is about.')),
      eventId: Type.Optional(
        Id('Id of the event in which the workflow runs; required with `in_progress`.'),
      ),
    }),
    response: json(wrap('workflow', Workflow)),
    errors: ['ResourceNotFound', 'ReferenceNotFound', 'RelationConflict', 'LimitExceeded'],
  }),
  remove: operation({
    id: 'deleteWorkflow',
    method: 'DELETE',
    path: '/v1/chat/workflows/{id}',
    tag: 'Workflows',
    summary: 'Delete a workflow',
    description: 'Its child workflows stay. The parent workflow is notified.',
    auth: 'bot',
    permission: 'conversations:write',
    params: workflowId,
    response: json(Empty),
    errors: ['ResourceNotFound'],
  }),
}
