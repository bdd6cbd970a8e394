import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, OneOf, Text, wrap } from '../../shared.js'
import { fileStatuses } from './file-entity.js'

/** Kinds of what reading a content leaves out. */
const omissionKinds = [
  'picture_without_text',
  'scanned_page',
  'unreadable_font',
  'unknown_part',
  'missing_part',
  'embedded_file',
  'formula_without_value',
  'other_direction',
  'encoding_in_doubt',
  'hidden_sheet',
  'hidden_text',
  'unknown_symbol',
  'text_cut',
] as const

const count = (description: string) => Type.Integer({ minimum: 0, description })
const number = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, description: `${description}, from 1.` }))

const OmissionPlace = Type.Object(
  {
    page: number('Page'),
    slide: number('Slide'),
    sheet: Type.Optional(Type.String({ description: 'Name of the sheet.' })),
    part: Type.Optional(
      Type.String({
        description: 'Name of the part: a file inside of the document, an attachment, a chapter.',
      }),
    ),
    line: number('Line of the text'),
  },
  { title: 'OmissionPlace', description: 'A place in the document.' },
)

const Omission = Type.Object(
  {
    kind: OneOf(
      [...omissionKinds],
      '`picture_without_text`: pictures without a description; `scanned_page`: pages that are pictures of text; `unreadable_font`: text whose characters are not defined; `unknown_part`: parts of a type that is not read; `missing_part`: parts that are not in the file; `embedded_file`: files inside of the document; `formula_without_value`: formulas without a result; `other_direction`: text across the page, such as a watermark; `encoding_in_doubt`: text that was read in a guessed encoding; `hidden_sheet`, `hidden_text`: what the document hides from its readers; `unknown_symbol`: characters of symbol fonts that are not known; `text_cut`: text beyond a limit.',
    ),
    count: Type.Integer({ minimum: 1, description: 'How often it occurs.' }),
    summary: Type.String({
      description: 'What, how many and where in words, such as `3 scanned pages: pages 2 to 4`.',
    }),
    why: Type.String({ description: 'Why it was not read.' }),
    advice: Type.String({ description: 'What the author of the file can do.' }),
    places: Type.Array(OmissionPlace, {
      description: 'Where it occurs: the first places, each once, at most 20.',
    }),
    detail: Type.Optional(
      Type.String({
        description: 'More on its first occurrence, such as the encoding that was guessed.',
      }),
    ),
  },
  { title: 'Omission', description: 'One kind of what was not read.' },
)

const IndexingReport = Type.Object(
  {
    fileId: Id('Id of the file.'),
    status: OneOf([...fileStatuses], 'Status of the file.'),
    failedStatusReason: Type.Optional(
      Type.String({ description: 'Why the upload or the indexing failed; only after a failure.' }),
    ),
    outcome: OneOf(
      ['all_read', 'partly_read', 'unknown'],
      '`all_read`: nothing was left out that is read in this format; `partly_read`: see `omissions`; `unknown`: the content was not read, or by an earlier release (index the file again), or the passages are from a caller.',
    ),
    count: count('How many things were left out: the sum over `omissions`.'),
    omissions: Type.Array(Omission, { description: 'What was left out, one item for each kind.' }),
    parts: Type.Optional(
      Type.Object(
        {
          count: count('How many the document has.'),
          unread: count('Of how many nothing could be read.'),
        },
        {
          description:
            'Pages, slides, sheets or chapters of a document of which something was left out.',
        },
      ),
    ),
  },
  { title: 'IndexingReport', description: 'What was left out when a file was last indexed.' },
)

/** What indexing left out. */
export const indexingReports = {
  get: operation({
    id: 'getFileIndexingReport',
    method: 'GET',
    path: '/v1/files/{id}/indexing-report',
    tag: 'Search',
    summary: 'Get what was not read of a file',
    description:
      'What was left out when the file was last indexed, where, why, and what its author can do. While a new content is being indexed, that of the former one, whose passages search still finds.',
    auth: 'bot',
    params: Type.Object({
      id: Text(1024, 'Id or key of the file; a `/` in a key is percent-encoded.', 1),
    }),
    response: json(wrap('report', IndexingReport)),
    errors: ['ResourceNotFound'],
  }),
}
