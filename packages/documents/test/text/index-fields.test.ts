import { describe, expect, test } from 'vitest'
import { toEmbeddingText, toIndexFields } from '../../src/text/index-fields.js'

const samplePassage = {
  content: '## Reset\n\nOpen [the settings](https://example.org/a_(b) "Title") now.',
  headings: ['Manual', 'Passwords'],
  ownHeadings: ['Reset'],
}

describe('toIndexFields', () => {
  test('separates headings, including its own, from content', () => {
    expect(toIndexFields(samplePassage, 'docs/pumpManual_v2.pdf')).toEqual({
      folders: 'docs',
      name: 'pumpmanual v2 pdf pump manual v2 pdf',
      headings: 'manual passwords reset',
      body: 'reset open the settings now',
    })
  })

  test('has as many of the headings above as requested, the nearest first', () => {
    expect(toIndexFields(samplePassage, 'manual.pdf', { embeddedContextLevels: 1 }).headings).toBe(
      'passwords reset',
    )
    expect(toIndexFields(samplePassage, 'manual.pdf', { embeddedContextLevels: 0 }).headings).toBe(
      'reset',
    )
    expect(toIndexFields(samplePassage, 'manual.pdf', { embeddedContextLevels: 9 }).headings).toBe(
      'manual passwords reset',
    )
  })

  test('has no headings above it without breadcrumb', () => {
    expect(toIndexFields(samplePassage, 'manual.pdf', { embedBreadcrumb: false }).headings).toBe(
      'reset',
    )
  })

  test('counts the name of a file once if it is the title', () => {
    const passage = { ...samplePassage, headings: ['pump Manual', 'Passwords'] }
    expect(toIndexFields(passage, 'pumpManual.pdf').headings).toBe('passwords reset')
  })

  test('an image is found by its alternative text, not by its address', () => {
    const content = '![a chart](https://example.org/c.png)'
    expect(toIndexFields({ content, headings: [], ownHeadings: [] }, 'a.md').body).toBe('a chart')
  })
})

test('the text to embed consists of the headings above and the content', () => {
  expect(toEmbeddingText(samplePassage)).toBe(`Manual\n\nPasswords\n\n${samplePassage.content}`)
  expect(toEmbeddingText(samplePassage, { embedBreadcrumb: false })).toBe(samplePassage.content)
})
