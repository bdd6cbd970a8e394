import { describe, expect, test } from 'vitest'
import { toEmbeddingText, toIndexFields } from './index-fields.js'

const PASSAGE = {
  content: '## Reset\n\nOpen [the settings](https://example.org/a_(b) "Title") now.',
  headings: ['Manual', 'Passwords'],
  ownHeadings: ['Reset'],
}

describe('toIndexFields', () => {
  test('separates headings, its own included, from content', () => {
    expect(toIndexFields(PASSAGE)).toEqual({
      headings: 'manual passwords reset',
      body: 'reset open the settings now',
    })
  })

  test('takes as many of the headings above as asked for, the nearest first', () => {
    expect(toIndexFields(PASSAGE, { embeddedContextLevels: 1 }).headings).toBe('passwords reset')
    expect(toIndexFields(PASSAGE, { embeddedContextLevels: 0 }).headings).toBe('reset')
    expect(toIndexFields(PASSAGE, { embeddedContextLevels: 9 }).headings).toBe(
      'manual passwords reset',
    )
  })

  test('takes none of them without breadcrumb', () => {
    expect(toIndexFields(PASSAGE, { embedBreadcrumb: false }).headings).toBe('reset')
  })

  test('an image is found by what it shows, not by where it lies', () => {
    const content = '![a chart](https://example.org/c.png)'
    expect(toIndexFields({ content, headings: [], ownHeadings: [] }).body).toBe('a chart')
  })
})

test('an embedding is made of the headings above and the content', () => {
  expect(toEmbeddingText(PASSAGE)).toBe(`Manual\n\nPasswords\n\n${PASSAGE.content}`)
  expect(toEmbeddingText(PASSAGE, { embedBreadcrumb: false })).toBe(PASSAGE.content)
})
