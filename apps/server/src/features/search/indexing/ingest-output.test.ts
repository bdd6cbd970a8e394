import { expect, test } from 'vitest'
import { requireOutput, requirePiece } from './ingest-output.js'
import type { IngestedPassage, IngestOutput } from './ingest-task.js'

const omission = { kind: 'scanned_page', count: 2, places: [{ page: 2 }, { page: 4 }] }
const reading = { omissions: [omission], parts: { count: 4, unread: 2 } }
const places = Array.from({ length: 21 }, (_, at) => ({ page: at + 1 }))

test.each<[unknown, RegExp | undefined]>([
  [{}, undefined],
  [{ title: 'Pump', pages: 4, reading }, undefined],
  [{ failure: 'mostly_unread', message: 'Of no use.', reading }, undefined],
  [{ title: 3 }, /title/],
  [{ failure: 'invented', message: 'a' }, /failure/],
  [{ failure: 'damaged' }, /message/],
  [{ reading: { omissions: [{ ...omission, kind: 'constructor' }] } }, /kind/],
  [{ reading: { omissions: [{ ...omission, count: 0.5 }] } }, /count/],
  [{ reading: { omissions: [{ ...omission, places }] } }, /places/],
  [{ reading: { omissions: [{ ...omission, places: [{ part: {} }] }] } }, /part/],
  [{ reading: { ...reading, parts: { count: -1, unread: 0 } } }, /count/],
  [{ reading: { omissions: Array.from({ length: 1000 }, () => omission) } }, /omissions/],
])('the output %j of a reader is judged', (output, fault) => {
  const judge = () => requireOutput(output as IngestOutput)
  if (fault === undefined) judge()
  else expect(judge).toThrow(fault)
})

test('parts of an output are judged', () => {
  const passage: IngestedPassage = {
    content: 'Keep it dry.',
    type: 'chunk',
    subtype: 'paragraph',
    position: 0,
    headings: [],
    ownHeadings: [],
    start: 0,
    end: 12,
    fields: { folders: '', name: 'a', headings: '', body: 'keep it dry' },
    words: [{ word: 'keep', reversed: 'peek' }],
  }
  requirePiece({ passages: [passage, { ...passage, pageNumber: 1 }] })
  requirePiece({ words: [{ fields: passage.fields, words: passage.words }] })
  expect(() => requirePiece({ passages: [{ ...passage, pageNumber: 0 }] })).toThrow(/pageNumber/)
  expect(() => requirePiece({ passages: [{ ...passage, start: -1 }] })).toThrow(/start/)
})
