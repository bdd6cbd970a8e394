import { Type } from 'typebox'
import { Id, OneOf, TagFilter, Text, TextOfBytes, Timestamp } from '../../shared.js'
import { maxSearchLimit } from './search.js'

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description })
const count = (description: string) => Type.Integer({ minimum: 0, description })

/** Maximum number of right targets of a case, and of wrong ones. */
const maxEvaluationTargets = 20

/** A named set of cases. */
export const EvaluationSet = Type.Object(
  {
    id: Id('Id of the set.'),
    name: Type.String({ description: 'Name of the set, unique in the bot.' }),
    cases: count('Number of its cases.'),
    createdAt: Timestamp('Time at which the set was created.'),
    updatedAt: Timestamp('Time at which its name last changed.'),
  },
  { title: 'EvaluationSet', description: 'Questions whose right answers are known.' },
)

export const EvaluationSetName = Text(200, 'Name of the set, 1 to 200 characters.', 1)

/** Whether what a target refers to still exists. */
const evaluationTargetStates = ['present', 'moved', 'gone'] as const

const EvaluationTarget = Type.Object(
  {
    fileId: Id('Id of the file.'),
    fileKey: Type.String({ description: 'Key of the file.' }),
    passageId: Type.Optional(
      Type.String({
        description:
          'Id of the passage; absent if any passage of the file is meant. Changes when the file is indexed again.',
      }),
    ),
    text: Type.Optional(
      Type.String({
        description: 'Beginning of the passage as it was judged, at most 200 characters.',
      }),
    ),
    grade: Type.Integer({ minimum: 1, maximum: 3, description: 'Grade of relevance; 3 is best.' }),
    state: OneOf(
      [...evaluationTargetStates],
      '`present`: search finds it; `moved`: the file was indexed differently, and another passage has the text; `gone`: the file or the text does not exist any more, or is not indexed.',
    ),
  },
  { title: 'EvaluationTarget', description: 'A file or a passage that a case names.' },
)

const EvaluationTargetInput = Type.Object(
  {
    fileId: Id('Id of the file.'),
    passageId: Type.Optional(
      Id('Id of a passage of the file. Without it, any passage of the file is meant.'),
    ),
    grade: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3,
        default: 1,
        description: 'Grade of relevance, 1 to 3, 1 by default; ignored for wrong targets.',
      }),
    ),
  },
  { title: 'EvaluationTargetInput', description: 'A file or a passage.' },
)

const targetsInput = (description: string) =>
  Type.Array(EvaluationTargetInput, { maxItems: maxEvaluationTargets, description })

/** A question with what should be found. */
export const EvaluationCase = Type.Object(
  {
    id: Id('Id of the case.'),
    key: Type.Optional(
      Type.String({ description: 'Id that the author of the case chose, unique in its set.' }),
    ),
    question: Type.String({ description: 'The question.' }),
    right: Type.Array(EvaluationTarget, {
      description: 'Targets that should be found. Empty if nothing should be found.',
    }),
    wrong: Type.Array(EvaluationTarget, { description: 'Targets that should not be found.' }),
    note: Type.String({ description: 'Note for people; may be empty.' }),
    createdAt: Timestamp('Time at which the case was created.'),
    updatedAt: Timestamp('Time at which the case last changed.'),
  },
  { title: 'EvaluationCase', description: 'A question, and what a search should find for it.' },
)

/** Members of a new case. */
export const evaluationCaseInput = {
  question: TextOfBytes(2048, 'The question, 1 to 2,048 bytes of UTF-8, not only white space.', 1),
  right: targetsInput(
    'Targets that should be found, at most 20; empty for a question that nothing answers. A file is named either as a whole or by passages.',
  ),
  wrong: targetsInput('Targets that should not be found, at most 20.'),
  note: Text(2000, 'Note for people, at most 2,000 characters.'),
  key: Text(
    200,
    'Id that the author of the case chooses, 1 to 200 characters, unique in its set. An import with this id changes the case.',
    1,
  ),
}

const Parameters = {
  tags: Type.Optional(TagFilter),
  minScore: Type.Optional(share('Omits passages with a lower score, 0 to 1; 0 by default.')),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxSearchLimit,
      default: maxSearchLimit,
      description: `Passages per question, 1 to ${maxSearchLimit}, ${maxSearchLimit} by default: enough for ten files.`,
    }),
  ),
}

/** Parameters of the searches of a run. */
export const EvaluationParameters = Type.Object(Parameters, {
  title: 'EvaluationParameters',
  description: 'Parameters of the searches, as those of `searchFiles`.',
})

const EvaluationMeasures = Type.Object(
  {
    ndcg: share('nDCG@10: how close the order is to the best possible one.'),
    recall: share('Share of the right ones that are among the first ten.'),
    mrr: share(
      'One divided by the rank of the first right one; 0 if it is not among the first ten.',
    ),
  },
  { title: 'EvaluationMeasures', description: 'Quality measures, each from 0 to 1.' },
)

const evaluationRunStates = ['waiting', 'running', 'completed', 'failed'] as const

const EvaluationThreshold = Type.Object(
  {
    minScore: share('The threshold.'),
    kept: share('Share of the answerable cases that keep a result.'),
    refused: share('Share of the unanswerable cases that have no result.'),
  },
  { title: 'EvaluationThreshold', description: 'Effect of a `minScore` on the cases of a run.' },
)

const EvaluationSummary = Type.Object(
  {
    mean: EvaluationMeasures,
    answerable: count('Cases that have a right answer: `mean` is theirs.'),
    misses: count('Answerable cases whose order is not the best possible one.'),
    wrong: count('Cases for which something wrong was among the first ten.'),
    gone: count('Cases with a right target that is gone, which counts as not found.'),
    unanswerable: count('Cases for which nothing should be found.'),
    falseHits: count('Of these, the cases for which something was found.'),
    separation: Type.Optional(
      share(
        'Probability that an answerable question has a higher best score than an unanswerable one; 0.5 is chance. Absent unless the set has both kinds of cases.',
      ),
    ),
    thresholds: Type.Optional(
      Type.Object(
        {
          advised: EvaluationThreshold,
          suggested: EvaluationThreshold,
        },
        {
          title: 'EvaluationThresholds',
          description:
            'The `minScore` that the guide advises, and the one that is best for these cases. Absent unless the set has both kinds of cases, and for runs of a release that did not compute it.',
        },
      ),
    ),
    milliseconds: Type.Object(
      {
        p50: Type.Number({ minimum: 0, description: 'Median.' }),
        p95: Type.Number({ minimum: 0, description: '95th percentile.' }),
      },
      { title: 'EvaluationLatency', description: 'Time of a search in milliseconds.' },
    ),
  },
  { title: 'EvaluationSummary', description: 'Results of all cases.' },
)

/** One run of the cases of a set. */
export const EvaluationRun = Type.Object(
  {
    id: Id('Id of the run.'),
    state: OneOf(
      [...evaluationRunStates],
      '`waiting` for a worker or for another run of the bot, `running`, `completed` or `failed`.',
    ),
    failedReason: Type.Optional(
      Type.String({ description: 'Reason why it failed, and what to do.' }),
    ),
    note: Type.String({ description: 'Note for people; may be empty.' }),
    parameters: EvaluationParameters,
    total: count('Cases of the set when the run began; 0 while it waits.'),
    done: count('Cases that are done.'),
    degraded: Type.Array(Type.String({ description: 'Name, as in `x-search-degraded`.' }), {
      description: 'Retrievers that were not available in some of the searches.',
    }),
    summary: Type.Optional(EvaluationSummary),
    createdAt: Timestamp('Time at which the run was started.'),
    completedAt: Type.Optional(Timestamp('Time at which it was completed or failed.')),
  },
  {
    title: 'EvaluationRun',
    description: 'A run of all cases of a set; `summary` once it is completed.',
  },
)

const FoundUnit = Type.Object(
  {
    rank: Type.Integer({ minimum: 1, description: 'Rank, from 1.' }),
    fileId: Id('Id of the file.'),
    fileKey: Type.String({ description: 'Key of the file.' }),
    passageId: Type.String({ description: 'Id of its best passage.' }),
    text: Type.String({ description: 'Beginning of that passage, at most 200 characters.' }),
    score: share('Score of that passage.'),
    verdict: OneOf(['right', 'wrong', 'unjudged'], 'Judgement of the case.'),
  },
  { title: 'EvaluationFinding', description: 'Something that was found.' },
)

/** The result of one case in a run. */
export const EvaluationResult = Type.Object(
  {
    caseId: Id('Id of the case, which may have been changed or deleted since.'),
    question: Type.String({ description: 'The question.' }),
    measures: Type.Optional(EvaluationMeasures),
    rank: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Rank of the first right one, from 1; absent if it is not among the first ten.',
      }),
    ),
    score: share('Score of the best passage; 0 if nothing was found.'),
    wrong: count('Wrong ones among the first ten.'),
    missing: Type.Array(EvaluationTarget, {
      description: 'Right ones that are not among the first ten.',
    }),
    found: Type.Array(FoundUnit, {
      description:
        'The first ten. A file counts once, with its best passage, unless the case names passages of it.',
    }),
    milliseconds: Type.Number({ minimum: 0, description: 'Time of the search.' }),
  },
  {
    title: 'EvaluationResult',
    description: 'Result of a case; `measures` unless nothing should be found.',
  },
)

const Difference = Type.Object(
  {
    difference: Type.Number({
      minimum: -1,
      maximum: 1,
      description: 'The run minus the baseline, on average over the cases that both have.',
    }),
    pValue: share('Probability that chance alone causes a difference of this size.'),
  },
  { title: 'EvaluationDifference', description: 'Change of a measure.' },
)

const ChangedCase = Type.Object(
  {
    caseId: Id('Id of the case.'),
    question: Type.String({ description: 'The question, as asked in the run.' }),
    before: share('nDCG in the baseline.'),
    after: share('nDCG in the run.'),
    rankBefore: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Rank of the first right one in the baseline.' }),
    ),
    rankAfter: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Rank of the first right one in the run.' }),
    ),
  },
  { title: 'ChangedEvaluationCase', description: 'A case with another result.' },
)

const evaluationDocumentChanges = ['added', 'replaced', 'reindexed', 'removed'] as const

const DocumentChange = Type.Object(
  {
    fileId: Id('Id of the file.'),
    fileKey: Type.String({ description: 'Key of the file.' }),
    change: OneOf(
      [...evaluationDocumentChanges],
      '`added`, `replaced` by another content, `reindexed` with the same content, or `removed`: deleted, expired or not indexed any more.',
    ),
  },
  { title: 'EvaluationDocumentChange', description: 'A document that changed between two runs.' },
)

/** Two runs side by side. */
export const EvaluationComparison = Type.Object(
  {
    run: EvaluationRun,
    baseline: EvaluationRun,
    cases: count('Answerable cases that both runs have.'),
    measures: Type.Object(
      { ndcg: Difference, recall: Difference, mrr: Difference },
      { title: 'EvaluationDifferences', description: 'Change of each measure.' },
    ),
    better: count('Cases with a higher nDCG.'),
    worse: count('Cases with a lower nDCG.'),
    changed: Type.Array(ChangedCase, {
      maxItems: 100,
      description: 'Cases with another nDCG, the greatest losses first; at most 100.',
    }),
    documents: Type.Array(DocumentChange, {
      maxItems: 100,
      description: 'Searchable documents that changed in between, at most 100.',
    }),
    documentsChanged: count('Number of changed documents; counted up to 2,000.'),
  },
  { title: 'EvaluationComparison', description: 'Changes from the baseline to the run.' },
)
