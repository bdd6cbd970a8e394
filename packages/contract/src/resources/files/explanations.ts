import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, Text } from '../../shared.js'
import { fileStatuses } from './file-entity.js'
import { passageMembers, searchQuery } from './search.js'

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description })
const offset = (description: string) => Type.Integer({ minimum: 0, description })

/** Maximum number of marks of one passage in an explanation. */
const maxMarks = 500
/** Maximum number of passages of a file in the answer to why it was not found. */
const maxTargetPassages = 5
/** Number of the best passages of a retriever among which a rank is determined. */
const rankDepth = 1000

/** Relations of a word of a text to the word of the question that it matches. */
export const wordRelations = [
  'exact',
  'form',
  'spelling',
  'typo',
  'compound',
  'part',
  'related',
  'letters',
] as const

const WordRelation = OneOf(
  [...wordRelations],
  'Relation of the word to that of the question. `exact`: the same, regardless of case and accents; `form`: another inflection; `spelling`: another spelling, such as British and American; `typo`: one or two typing errors apart; `compound`: a longer word that contains it; `part`: a part of it; `related`: derived from the same stem, with the same beginning, or of the same meaning; `letters`: at least half of its runs of four letters.',
)

const RetrieverFinding = Type.Optional(
  Type.Object(
    {
      rank: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: `Rank among all passages that the retriever compared, from 1; absent if it is not among its first ${rankDepth}.`,
        }),
      ),
      score: share('Score by this retriever, from 0 to 1: the same as in `explanation`.'),
      value: share(
        'The same scaled to the range among the candidates, from 0 for the lowest to 1 for the best: what is weighted.',
      ),
    },
    {
      title: 'RetrieverFinding',
      description: 'Result of one retriever; absent if it did not find the passage.',
    },
  ),
)

const Retrievers = Type.Object(
  {
    keyword: RetrieverFinding,
    grams: RetrieverFinding,
    semantic: RetrieverFinding,
  },
  {
    title: 'RetrieverFindings',
    description:
      'Rank and score by each retriever: `keyword` compares words, `grams` their letters, `semantic` the meaning.',
  },
)

const Contributions = Type.Object(
  {
    keyword: share('By its words.'),
    grams: share('By the letters of its words.'),
    semantic: share('By its meaning.'),
    fileName: share('By the words of the question in the name of its file.'),
    literal: share(
      'By quoted words and codes of the question that it contains exactly as written.',
    ),
  },
  {
    title: 'ScoreContributions',
    description: 'Contribution of each to `score`, from 0 to 1; the sum is `score`.',
  },
)

const MatchedTerm = Type.Object(
  {
    term: Type.String({ description: 'Word or literal phrase of the question, normalised.' }),
    worth: share('Share of the term that counts as matched, from 0 to 1.'),
    relation: WordRelation,
    found: Type.Array(Type.String({ description: 'As written in the text.' }), {
      description: 'Words that matched the term, at most 5 different ones.',
    }),
  },
  { title: 'MatchedTerm', description: 'A term of the question that the passage matches.' },
)

const Mark = Type.Object(
  {
    field: OneOf(
      ['content', 'heading', 'fileKey'],
      'The text in which the offsets count: `content`, one of `headings`, or the key of the file.',
    ),
    heading: Type.Optional(offset('With `heading`: its position in `headings`, from 0.')),
    start: offset('Start, in UTF-16 units from 0.'),
    end: offset('End: the first unit after it.'),
    terms: Type.Array(Type.String({ description: 'Term of the question.' }), {
      description: 'Terms that it matches, the best match first.',
    }),
    relation: WordRelation,
    worth: share('Share of the first term that counts as matched, from 0 to 1.'),
  },
  { title: 'Mark', description: 'A place in a text that matches the question.' },
)

const matchMembers = {
  passageId: Type.String({ description: 'Id of the passage, a UUID.' }),
  position: offset('Position of the passage in its file, from 0.'),
  headings: Type.Array(Type.String({ description: 'Heading.' }), {
    description: 'Headings above the passage, the title first; they count as its text.',
  }),
  retrievers: Retrievers,
  contributions: Contributions,
  terms: Type.Array(MatchedTerm, {
    description: 'Terms of the question that the passage matches, the most significant first.',
  }),
  marks: Type.Array(Mark, {
    maxItems: maxMarks,
    description: `Positions of the matches, in order for each field; they do not overlap. At most ${maxMarks}.`,
  }),
}

const Match = Type.Object(
  {
    ...matchMembers,
    rank: Type.Integer({ minimum: 1, description: 'Rank among all candidates, from 1.' }),
    score: share('Score of the passage, from 0 to 1.'),
    start: offset('Start of the passage in `content`, in UTF-16 units.'),
    end: offset('End of the passage in `content`.'),
  },
  {
    title: 'PassageMatch',
    description:
      'Explanation of the match of a passage. Marks in `content` count from the beginning of `content`.',
  },
)

const ExplainedPassage = Type.Object(
  {
    ...passageMembers,
    matches: Type.Array(Match, {
      description: 'The match; with `consolidate`, every match of the file in reading order.',
    }),
  },
  {
    title: 'ExplainedPassage',
    description: 'A passage as `searchFiles` returns it, and why it was found.',
  },
)

const Question = Type.Object(
  {
    terms: Type.Array(
      Type.Object(
        {
          term: Type.String({ description: 'Word or literal phrase, normalised.' }),
          weight: share('Its share of the question, from 0 to 1; rare words weigh most.'),
          passages: offset('Number of passages of the bot that contain it; estimated if common.'),
          substitutes: Type.Array(
            Type.Object(
              {
                word: Type.String({ description: 'Word of the passages.' }),
                relation: WordRelation,
                worth: share('Weight of a match by this word, from 0 to 1.'),
              },
              { title: 'Substitute', description: 'A word that is searched instead of the term.' },
            ),
            { description: 'Words that were searched as well, best first; at most 60.' },
          ),
        },
        { title: 'QuestionTerm', description: 'A term of the question.' },
      ),
      { description: 'Topic of the question: its words without function words; at most 120.' },
    ),
    isVague: Type.Boolean({
      description:
        'Whether it consists only of words that occur everywhere: scores are then at most 0.2.',
    }),
    evidence: share(
      'Evidence in the best candidate, from 0 to 1: the level of all scores. Below 0.2 nothing is found.',
    ),
    minimum: share('The lowest score that is returned: `minScore`, and at least 0.1.'),
    candidates: offset('Number of passages that were compared in full.'),
    weights: Type.Object(
      {
        keyword: share('Of words.'),
        grams: share('Of letters.'),
        semantic: share('Of meaning.'),
      },
      {
        title: 'RetrieverShares',
        description:
          'Share of each retriever in this question, from 0 to 1: less for one that is not reliable for it, 0 for one that found nothing.',
      },
    ),
  },
  { title: 'ExplainedQuestion', description: 'Interpretation of the question.' },
)

/** Outcomes of a file or a passage in a search. */
export const searchOutcomes = [
  'found',
  'beyond_limit',
  'below_minimum',
  'no_evidence',
  'not_a_candidate',
  'excluded_by_tags',
  'replaced',
  'not_shared',
  'not_indexed',
  'indexing_pending',
  'indexing_failed',
  'without_passages',
] as const

const Outcome = OneOf(
  [...searchOutcomes],
  '`found`: it is among the passages; `beyond_limit`: `limit` better ones are; `below_minimum`: its score is below `question.minimum`; `no_evidence`: even the best candidate has too little evidence, so nothing was found; `not_a_candidate`: no retriever proposed it; `excluded_by_tags`: the tags of its file do not match; `replaced`: the passage is of a former or coming content of its file; `not_shared`: it was indexed before the file was shared with integrations; `not_indexed`: the file was uploaded without `index`; `indexing_pending`: its content has not been uploaded or indexed yet; `indexing_failed`: see `failedStatusReason`; `without_passages`: the file has no text.',
)

const Target = Type.Object(
  {
    outcome: Outcome,
    file: Type.Object(
      {
        id: Id('Id of the file.'),
        key: Type.String({ description: 'Key of the file.' }),
        status: OneOf(
          [...fileStatuses],
          'Status of the file. While new content is indexed, the passages of the former one are found.',
        ),
        failedStatusReason: Type.Optional(
          Type.String({ description: 'Reason why the upload or the indexing failed.' }),
        ),
      },
      { title: 'TargetFile', description: 'The file.' },
    ),
    passages: Type.Array(
      Type.Object(
        {
          ...matchMembers,
          outcome: Outcome,
          content: Type.String({ description: 'Text of the passage.' }),
          isCandidate: Type.Boolean({
            description:
              'Whether a retriever proposed it. If not, ranks, scores and contributions are those that it would have as one more candidate.',
          }),
          rank: Type.Integer({ minimum: 1, description: 'Rank among all candidates, from 1.' }),
          score: share('Score, from 0 to 1, also if it is too low to be returned.'),
        },
        { title: 'TargetPassage', description: 'A passage, and where it fell.' },
      ),
      {
        maxItems: maxTargetPassages,
        description: `The passage, or the best passages of the file, at most ${maxTargetPassages}; best first. Empty if the file has none that could be found.`,
      },
    ),
  },
  { title: 'SearchTarget', description: 'Outcome for the given file or passage.' },
)

/** Explanations of searches. */
export const explanations = {
  search: operation({
    id: 'explainSearch',
    method: 'GET',
    path: '/v1/files/search/explain',
    tag: 'Search',
    summary: 'Explain a search',
    description:
      'Returns the same passages in the same order and with the same scores as `searchFiles` with the same parameters, and why: how the question was understood, the rank and score of each passage by each retriever, what each contributes to its score, and the matching words with their offsets. With `fileId`, also where that file, or one passage of it, fell, whether it was found or not. Takes longer than a search, and counts towards the same limits.',
    auth: 'bot',
    permission: 'files:read',
    query: Type.Object({
      ...searchQuery,
      fileId: Type.Optional(
        Text(1024, 'Id or key of a file that should have been found: explains where it fell.', 1),
      ),
      passageId: Type.Optional(
        Id('Id of a passage of this file: explains where the passage fell. Only with `fileId`.'),
      ),
    }),
    response: json(
      Type.Object({
        passages: Type.Array(ExplainedPassage, { description: 'Passages, best match first.' }),
        question: Question,
        target: Type.Optional(Target),
        degraded: Type.Array(Type.String({ description: 'Name, as in `x-search-degraded`.' }), {
          description: 'Retrievers that were not available; empty if all were used.',
        }),
      }),
    ),
    errors: ['ReferenceNotFound', 'InvalidQuery'],
  }),
}
