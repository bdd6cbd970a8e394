import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkout } from './documents.js'

const documents = [
  ...(await markdownIn('.')),
  ...(await markdownIn('docs')),
  ...(await markdownIn('docs/guides')),
  ...(await markdownIn('docs/decisions')),
]

async function markdownIn(folder: string): Promise<string[]> {
  const names = await readdir(join(checkout, folder))
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name))
}

/** Links of a document to other places of the checkout. */
function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target))
}

/** Names by which the headings of a document are linked to. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe.each(documents)('%s', (document) => {
  it('has links that lead somewhere', async () => {
    const text = await readFile(join(checkout, document), 'utf8')
    for (const link of linksIn(text)) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? document : join(dirname(document), path)
      const found = await stat(join(checkout, target)).catch(() => undefined)
      expect(found, `${link} leads nowhere`).toBeDefined()
      if (anchor === undefined) continue
      expect(anchorsOf(await readFile(join(checkout, target), 'utf8'))).toContain(anchor)
    }
  })
})
