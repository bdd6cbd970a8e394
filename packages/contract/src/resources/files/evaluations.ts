import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, Id, OneOf, pageOf, paging, Text, wrap } from '../../shared.js'
import {
  EvaluationCase,
  EvaluationComparison,
  EvaluationParameters,
  EvaluationResult,
  EvaluationRun,
  EvaluationSet,
  EvaluationSetName,
  evaluationCaseInput,
} from './evaluation-entities.js'

const setParams = Type.Object({ id: Id('Id of the set.') })
const caseParams = Type.Object({ id: Id('Id of the set.'), caseId: Id('Id of the case.') })
const runParams = Type.Object({ id: Id('Id of the set.'), runId: Id('Id of the run.') })

/** Maximum length of an import, in characters. */
const importLength = 5_000_000

/** Sets of questions whose right answers are known. */
export const evaluationSets = {
  create: operation({
    id: 'createEvaluationSet',
    method: 'POST',
    path: '/v1/evaluation-sets',
    tag: 'Search',
    summary: 'Create an evaluation set',
    description:
      'A named set of questions whose right answers are known. Runs of it measure how well search answers them. Sets belong to the bot: its integrations have no access.',
    auth: 'bot',
    permission: 'files:write',
    body: Type.Object({ name: EvaluationSetName }),
    response: json(wrap('evaluationSet', EvaluationSet)),
    status: 201,
    errors: ['AlreadyExists', 'QuotaExceeded', 'Forbidden'],
    idempotent: true,
  }),
  list: operation({
    id: 'listEvaluationSets',
    method: 'GET',
    path: '/v1/evaluation-sets',
    tag: 'Search',
    summary: 'List the evaluation sets of a bot',
    description: 'Newest first.',
    auth: 'bot',
    permission: 'files:read',
    query: Type.Object(paging),
    response: json(pageOf('evaluationSets', EvaluationSet, 'Sets, newest first.')),
    errors: ['Forbidden'],
  }),
  get: operation({
    id: 'getEvaluationSet',
    method: 'GET',
    path: '/v1/evaluation-sets/{id}',
    tag: 'Search',
    summary: 'Get an evaluation set',
    auth: 'bot',
    permission: 'files:read',
    params: setParams,
    response: json(wrap('evaluationSet', EvaluationSet)),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
  update: operation({
    id: 'updateEvaluationSet',
    method: 'PUT',
    path: '/v1/evaluation-sets/{id}',
    tag: 'Search',
    summary: 'Rename an evaluation set',
    auth: 'bot',
    permission: 'files:write',
    params: setParams,
    body: Type.Object({ name: EvaluationSetName }),
    response: json(wrap('evaluationSet', EvaluationSet)),
    errors: ['ResourceNotFound', 'AlreadyExists', 'Forbidden'],
  }),
  remove: operation({
    id: 'deleteEvaluationSet',
    method: 'DELETE',
    path: '/v1/evaluation-sets/{id}',
    tag: 'Search',
    summary: 'Delete an evaluation set',
    description: 'With its cases and runs.',
    auth: 'bot',
    permission: 'files:write',
    params: setParams,
    response: json(Empty),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
  export: operation({
    id: 'exportEvaluationSet',
    method: 'GET',
    path: '/v1/evaluation-sets/{id}/export',
    tag: 'Search',
    summary: 'Export the cases of an evaluation set',
    description:
      'As JSON lines in the order of creation, one page after the other. A line is like one of `queries.jsonl` of `botstead eval`, with the right answers: `_id`, `text`, `relevant` (grades by the keys of files), and, where there are any, `passages` (the right passages with their texts), `wrong` and `note`.',
    auth: 'bot',
    permission: 'files:read',
    params: setParams,
    query: Type.Object(paging),
    response: json(
      Type.Object({
        lines: Type.String({ description: 'JSON lines, each with a line break at its end.' }),
        meta: Type.Object(
          {
            nextToken: Type.Optional(
              Type.String({ description: 'Token of the next page; absent on the last one.' }),
            ),
          },
          { description: 'Position in the export.' },
        ),
      }),
    ),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
  import: operation({
    id: 'importEvaluationCases',
    method: 'POST',
    path: '/v1/evaluation-sets/{id}/import',
    tag: 'Search',
    summary: 'Import cases into an evaluation set',
    description:
      'Accepts what `exportEvaluationSet` returns, and lines of `queries.jsonl`. A line whose `_id` is the key or the id of a case changes that case; others become new cases with `_id` as their key. `relevant` names files by key, or by the id of a document that `botstead eval` uploaded. All lines are imported or none.',
    auth: 'bot',
    permission: 'files:write',
    params: setParams,
    bodyLimit: 'large',
    body: Type.Object({
      lines: Text(
        importLength,
        'JSON lines, at most 5,000,000 characters; empty lines are skipped.',
        1,
      ),
    }),
    response: json(
      Type.Object({
        created: Type.Integer({ minimum: 0, description: 'Number of new cases.' }),
        updated: Type.Integer({ minimum: 0, description: 'Number of changed cases.' }),
      }),
    ),
    errors: ['ResourceNotFound', 'ReferenceNotFound', 'QuotaExceeded', 'Forbidden'],
  }),
}

/** Cases of a set. */
export const evaluationCases = {
  create: operation({
    id: 'createEvaluationCase',
    method: 'POST',
    path: '/v1/evaluation-sets/{id}/cases',
    tag: 'Search',
    summary: 'Add a case to an evaluation set',
    description:
      'A passage is remembered by its text, so that the case remains valid when its file is indexed again.',
    auth: 'bot',
    permission: 'files:write',
    params: setParams,
    body: Type.Object({
      question: evaluationCaseInput.question,
      right: evaluationCaseInput.right,
      wrong: Type.Optional(evaluationCaseInput.wrong),
      note: Type.Optional(evaluationCaseInput.note),
      key: Type.Optional(evaluationCaseInput.key),
    }),
    response: json(wrap('evaluationCase', EvaluationCase)),
    status: 201,
    errors: [
      'ResourceNotFound',
      'ReferenceNotFound',
      'AlreadyExists',
      'QuotaExceeded',
      'Forbidden',
    ],
    idempotent: true,
  }),
  list: operation({
    id: 'listEvaluationCases',
    method: 'GET',
    path: '/v1/evaluation-sets/{id}/cases',
    tag: 'Search',
    summary: 'List the cases of an evaluation set',
    description: 'In the order of creation, with the state of what they refer to.',
    auth: 'bot',
    permission: 'files:read',
    params: setParams,
    query: Type.Object(paging),
    response: json(pageOf('evaluationCases', EvaluationCase, 'Cases in the order of creation.')),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
  update: operation({
    id: 'updateEvaluationCase',
    method: 'PUT',
    path: '/v1/evaluation-sets/{id}/cases/{caseId}',
    tag: 'Search',
    summary: 'Update a case of an evaluation set',
    description:
      'Only given members change. `right` and `wrong` replace the former lists; a target that the case has already keeps its text, also if it is gone.',
    auth: 'bot',
    permission: 'files:write',
    params: caseParams,
    body: Type.Object({
      question: Type.Optional(evaluationCaseInput.question),
      right: Type.Optional(evaluationCaseInput.right),
      wrong: Type.Optional(evaluationCaseInput.wrong),
      note: Type.Optional(evaluationCaseInput.note),
    }),
    response: json(wrap('evaluationCase', EvaluationCase)),
    errors: ['ResourceNotFound', 'ReferenceNotFound', 'Forbidden'],
  }),
  remove: operation({
    id: 'deleteEvaluationCase',
    method: 'DELETE',
    path: '/v1/evaluation-sets/{id}/cases/{caseId}',
    tag: 'Search',
    summary: 'Delete a case of an evaluation set',
    description: 'Its results in earlier runs stay.',
    auth: 'bot',
    permission: 'files:write',
    params: caseParams,
    response: json(Empty),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
}

/** Runs of a set. */
export const evaluationRuns = {
  start: operation({
    id: 'startEvaluationRun',
    method: 'POST',
    path: '/v1/evaluation-sets/{id}/runs',
    tag: 'Search',
    summary: 'Start a run of an evaluation set',
    description:
      'Searches for every question in the background, one after the other, and gives way to other searches. Runs of one bot follow each other. The newest 100 runs of a set are kept.',
    auth: 'bot',
    permission: 'files:write',
    params: setParams,
    body: Type.Object({
      parameters: Type.Optional(EvaluationParameters),
      note: Type.Optional(Text(2000, 'Note for people, at most 2,000 characters.')),
    }),
    response: json(wrap('evaluationRun', EvaluationRun)),
    status: 201,
    errors: ['ResourceNotFound', 'QuotaExceeded', 'Forbidden'],
    idempotent: true,
  }),
  list: operation({
    id: 'listEvaluationRuns',
    method: 'GET',
    path: '/v1/evaluation-sets/{id}/runs',
    tag: 'Search',
    summary: 'List the runs of an evaluation set',
    description: 'Newest first.',
    auth: 'bot',
    permission: 'files:read',
    params: setParams,
    query: Type.Object(paging),
    response: json(pageOf('evaluationRuns', EvaluationRun, 'Runs, newest first.')),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
  get: operation({
    id: 'getEvaluationRun',
    method: 'GET',
    path: '/v1/evaluation-sets/{id}/runs/{runId}',
    tag: 'Search',
    summary: 'Get a run of an evaluation set',
    auth: 'bot',
    permission: 'files:read',
    params: runParams,
    response: json(wrap('evaluationRun', EvaluationRun)),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
  remove: operation({
    id: 'deleteEvaluationRun',
    method: 'DELETE',
    path: '/v1/evaluation-sets/{id}/runs/{runId}',
    tag: 'Search',
    summary: 'Delete a run of an evaluation set',
    description: 'With its results. A run that waits or is running ends.',
    auth: 'bot',
    permission: 'files:write',
    params: runParams,
    response: json(Empty),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
  listResults: operation({
    id: 'listEvaluationResults',
    method: 'GET',
    path: '/v1/evaluation-sets/{id}/runs/{runId}/results',
    tag: 'Search',
    summary: 'List the results of a run',
    description: 'One per case, the worst first: by nDCG, and then in the order of the cases.',
    auth: 'bot',
    permission: 'files:read',
    params: runParams,
    query: Type.Object({
      ...paging,
      only: Type.Optional(
        OneOf(
          ['misses', 'wrong'],
          '`misses`: cases that are not perfect, those for which something was found in spite of having no right answer included; `wrong`: cases for which something wrong was found.',
        ),
      ),
    }),
    response: json(pageOf('evaluationResults', EvaluationResult, 'Results, worst first.')),
    errors: ['ResourceNotFound', 'Forbidden'],
  }),
  compare: operation({
    id: 'compareEvaluationRuns',
    method: 'GET',
    path: '/v1/evaluation-sets/{id}/runs/{runId}/comparison',
    tag: 'Search',
    summary: 'Compare a run with an earlier one',
    description:
      'Improvements and regressions, whether chance explains them, and documents that changed in between. Both runs must be completed.',
    auth: 'bot',
    permission: 'files:read',
    params: runParams,
    query: Type.Object({
      baselineId: Type.Optional(
        Id('Id of the run to compare with, of the same set; the completed one before by default.'),
      ),
    }),
    response: json(wrap('comparison', EvaluationComparison)),
    errors: ['ResourceNotFound', 'ReferenceNotFound', 'RelationConflict', 'Forbidden'],
  }),
}
