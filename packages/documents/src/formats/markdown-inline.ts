import type { Token } from 'markdown-it'
import type { PhrasingContent } from 'mdast'

interface Cursor {
  tokens: readonly Token[]
  index: number
}

/** The phrases that a list of inline tokens stands for. HTML tags go, the text between them stays. */
export function toPhrasing(tokens: readonly Token[]): PhrasingContent[] {
  return readPhrasing({ tokens, index: 0 })
}

function readPhrasing(cursor: Cursor): PhrasingContent[] {
  const nodes: PhrasingContent[] = []
  while (cursor.index < cursor.tokens.length) {
    const token = cursor.tokens[cursor.index]
    cursor.index += 1
    if (token === undefined || token.nesting === -1) break
    nodes.push(...readPhrase(token, cursor))
  }
  return nodes
}

function readPhrase(token: Token, cursor: Cursor): PhrasingContent[] {
  switch (token.type) {
    case 'softbreak':
      return [{ type: 'text', value: '\n' }]
    case 'hardbreak':
      return [{ type: 'break' }]
    case 'code_inline':
      return [{ type: 'inlineCode', value: token.content }]
    case 'em_open':
      return [{ type: 'emphasis', children: readPhrasing(cursor) }]
    case 'strong_open':
      return [{ type: 'strong', children: readPhrasing(cursor) }]
    case 's_open':
      return [{ type: 'delete', children: readPhrasing(cursor) }]
    case 'link_open':
      return [{ type: 'link', url: attribute(token, 'href'), children: readPhrasing(cursor) }]
    case 'image':
      return [{ type: 'image', url: attribute(token, 'src'), alt: token.content }]
    case 'html_inline':
      return fromTag(token.content)
    default:
      if (token.nesting === 1) return readPhrasing(cursor)
      return token.content === '' ? [] : [{ type: 'text', value: token.content }]
  }
}

/** Of the tags that Markdown may hold inside a line, two carry content of their own. */
function fromTag(tag: string): PhrasingContent[] {
  if (/^<br[\s/>]/i.test(tag)) return [{ type: 'break' }]
  if (!/^<img\s/i.test(tag)) return []
  const alt = /\salt\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(tag)
  const src = /\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(tag)
  return [
    { type: 'image', url: src?.slice(1).find(Boolean) ?? '', alt: alt?.[1] ?? alt?.[2] ?? '' },
  ]
}

function attribute(token: Token, name: string): string {
  return String(token.attrs?.find(([key]) => key === name)?.[1] ?? '')
}
