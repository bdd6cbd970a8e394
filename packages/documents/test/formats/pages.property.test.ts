import fc from 'fast-check'
import { expect, test } from 'vitest'
import { epub } from '../office.js'
import { blocksOf } from '../outline.js'

/** A part of a document. `null` stands for a word. */
type Node = { name: string; children: (Node | null)[] }

const phrase = (names: readonly string[], tie: () => fc.Arbitrary<Node | null>) =>
  fc.record({
    name: fc.constantFrom(...names),
    children: fc.array(tie(), { minLength: 1, maxLength: 3 }),
  })
const word = fc.constant(null)
const { block } = fc.letrec<{ inline: Node | null; block: Node }>((tie) => ({
  inline: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    word,
    phrase(['b', 'i', 'a', 'button', 'label', 'code', 'sup', 'br', 'note'], () => tie('inline')),
  ),
  block: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    phrase(['p', 'h2', 'h3'], () => tie('inline')),
    phrase(
      ['div', 'section', 'blockquote', 'ul', 'ol', 'dl', 'details', 'table', 'ltable', 'merged'],
      () => fc.oneof(tie('block'), tie('inline')),
    ),
  ),
}))
const blocks = fc.array(block, { minLength: 1, maxLength: 4 })

/** Writes trees of words that are all different. */
function createPrinter() {
  let count = 0
  const words: string[] = []

  const next = () => {
    count += 1
    const text = `w${count}w`
    words.push(text)
    return text
  }
  const wrap = (tag: string, inner: string) => `<${tag}>${inner}</${tag.split(' ')[0]}>`

  function html(node: Node | null): string {
    if (node === null) return ` ${next()} `
    const parts = () => node.children.map(html)
    switch (node.name) {
      case 'a':
        return wrap('a href="https://a.example/"', parts().join(''))
      // Beside each other, without blanks: only their kinds keep their words apart.
      case 'button':
        return wrap('button', parts().join('').trim())
      case 'ul':
      case 'ol':
        return wrap(
          node.name,
          parts()
            .map((part) => wrap('li', part.trim()))
            .join(''),
        )
      case 'dl':
        return wrap(
          'dl',
          parts()
            .map((part, at) => wrap(at % 2 === 0 ? 'dt' : 'dd', part.trim()))
            .join(''),
        )
      case 'details':
        return wrap(
          'details',
          parts()
            .map((part, at) => (at === 0 ? wrap('summary', part.trim()) : part))
            .join(''),
        )
      case 'table': {
        const head = wrap('tr', `${wrap('th', next())}${wrap('th', next())}`)
        const rows = node.children.map((child) => {
          return wrap('tr', `${wrap('td', next())}${wrap('td', html(child).trim())}`)
        })
        return wrap('table', `${head}${rows.join('')}`)
      }
      case 'ltable':
        return wrap(
          'table role="presentation"',
          wrap(
            'tr',
            parts()
              .map((part) => wrap('td', part.trim()))
              .join(''),
          ),
        )
      case 'br':
        return parts()
          .map((part) => `<br>${part.trim()}<br>`)
          .join('')
      case 'note':
        return `${parts().join('').trimEnd()}<sup id="n${words.length}">${words.length}</sup>`
      case 'merged': {
        // The first cell has two rows, the header two columns, one of them a heading.
        const head = `<tr><th colspan="2"><h3>${next()}</h3></th><th>${next()}</th></tr>`
        const rows = node.children.map((child) => {
          const first = `<td rowspan="2">${next()}</td><td colspan="2">${html(child).trim()}</td>`
          return `<tr>${first}</tr><tr><td>${next()}</td><td>${next()}</td></tr>`
        })
        return wrap('table', `${head}${rows.join('')}`)
      }
      case 'b':
      case 'i':
      case 'label':
      case 'code':
      case 'sup':
        return wrap(node.name, parts().join(''))
      default:
        return wrap(node.name, parts().join('').trim())
    }
  }
  return { html, words }
}

/** The words of a file in the order in which they are read. */
async function wordsOf(
  key: string,
  content: string | Uint8Array,
  nodes: readonly Node[],
): Promise<string[]> {
  const text = (await blocksOf(key, content)).join('\n')
  const words = text.match(/\w+/g)?.filter((found) => /w\d+w/.test(found)) ?? []
  // A merged cell is read in every row and column that it covers.
  return nodes.some(isMerged) ? [...new Set(words)] : words
}

function isMerged(node: Node | null): boolean {
  return node !== null && (node.name === 'merged' || node.children.some(isMerged))
}

test.each([
  ['HTML', 'a.html', (body: string) => `<!doctype html><main>${body}</main>`],
  [
    'XHTML',
    'a.xhtml',
    (body: string) =>
      `<html xmlns="http://www.w3.org/1999/xhtml"><body><main>${body}</main></body></html>`,
  ],
  ['an e-book', 'a.epub', (body: string) => epub([body])],
  ['HTML in Markdown', 'a.md', (body: string) => `<div>${body}</div>`],
  [
    'broken XHTML',
    'a.xhtml',
    (body: string) =>
      `<html xmlns="http://www.w3.org/1999/xhtml"><body><br><main>${body}</main></body></html>`,
  ],
])('%s loses no word, glues none and keeps their order', async (_, key, write) => {
  await fc.assert(
    fc.asyncProperty(blocks, async (nodes) => {
      const printer = createPrinter()
      const content = write(nodes.map(printer.html).join(''))
      expect(await wordsOf(key, content, nodes)).toEqual(printer.words)
    }),
    { numRuns: 80 },
  )
})

test('Markdown loses no word, glues none and keeps their order', async () => {
  const markdown = (nodes: readonly Node[]) => {
    const printer = createPrinter()
    const line = (node: Node | null): string => printer.html(node).trim()
    const write = (node: Node | null, indent: string): string => {
      if (
        node === null ||
        !/^(?:p|h2|h3|div|section|blockquote|ul|ol|dl|details|table|ltable|merged)$/.test(node.name)
      ) {
        return `${indent}${line(node)}`
      }
      const parts = (inner: string) => node.children.map((child) => write(child, inner))
      switch (node.name) {
        case 'p':
          return `${indent}${node.children.map(line).join(' ')}`
        case 'h2':
          return `${indent}## ${node.children.map(line).join(' ')}`
        case 'blockquote':
          return parts(`${indent}> `).join(`\n${indent}>\n`)
        case 'ul':
          return parts(`${indent}  `)
            .map((part) => `${indent}- ${part.slice(indent.length + 2)}`)
            .join('\n')
        default:
          return parts(indent).join(`\n${indent.trimEnd()}\n`)
      }
    }
    const text = nodes.map((node) => write(node, '')).join('\n\n')
    return { text, words: printer.words }
  }
  await fc.assert(
    fc.asyncProperty(blocks, async (nodes) => {
      const { text, words } = markdown(nodes)
      expect(await wordsOf('a.md', text, nodes)).toEqual(words)
    }),
    { numRuns: 200 },
  )
})
