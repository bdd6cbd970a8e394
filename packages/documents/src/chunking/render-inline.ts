import type { Image, Nodes, PhrasingContent } from 'mdast'

/**
 * Phrases as Markdown for reading, in prompts and on screens: marks and links are kept, nothing is
 * escaped, so that `ERR_TLS_1042` stays what one would search for.
 */
export function renderInline(nodes: readonly Nodes[]): string {
  return nodes.map(renderPhrase).join('')
}

/** Phrases in one line: for headings and the cells of tables. */
export function renderLine(nodes: readonly Nodes[]): string {
  return renderInline(nodes).replace(/\s+/g, ' ').trim()
}

/** Whether a paragraph is nothing but images, linked or not. */
export function isImagesOnly(nodes: readonly PhrasingContent[]): boolean {
  let images = 0
  const onlyImages = (node: PhrasingContent): boolean => {
    if (node.type === 'image') images += 1
    if (node.type === 'link') return node.children.every(onlyImages)
    return node.type === 'image' || node.type === 'break' || isBlank(node)
  }
  return nodes.every(onlyImages) && images > 0
}

function renderPhrase(node: Nodes): string {
  switch (node.type) {
    case 'text':
      return node.value
    case 'inlineCode':
      return renderCode(node.value)
    case 'break':
      return '\n'
    case 'emphasis':
      return surround('*', renderInline(node.children))
    case 'strong':
      return surround('**', renderInline(node.children))
    case 'delete':
      return surround('~~', renderInline(node.children))
    case 'link':
      return renderLink(node.url, renderInline(node.children))
    case 'image':
      return renderImage(node)
    case 'footnoteReference':
      return `[^${node.identifier}]`
    case 'html':
      return ''
    default:
      return renderOther(node)
  }
}

/** Blocks that HTML may hold where Markdown has a line, such as a list in the cell of a table. */
function renderOther(node: Nodes): string {
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(renderPhrase).join(' ') : ''
}

function renderCode(value: string): string {
  const fence = '`'.repeat(longestRun(value, /`+/g) + 1)
  const padding = value.startsWith('`') || value.endsWith('`') ? ' ' : ''
  return `${fence}${padding}${value}${padding}${fence}`
}

/** Spaces go outside of the marks: `** bold**` would not be read as bold. */
function surround(mark: string, inner: string): string {
  const text = inner.trim()
  if (text === '') return inner
  const start = inner.indexOf(text)
  return `${inner.slice(0, start)}${mark}${text}${mark}${inner.slice(start + text.length)}`
}

function renderLink(url: string, text: string): string {
  if (text.trim() === '' || text === url || url === `mailto:${text}`) return text
  // A link inside the document leads nowhere from a passage.
  return url === '' || url.startsWith('#') || isEmbedded(url) ? text : `[${text}](${url})`
}

function renderImage(image: Image): string {
  return `![${image.alt ?? ''}](${isEmbedded(image.url) ? '' : image.url})`
}

/** Addresses that are the content itself, which no reader can use, or a script. */
function isEmbedded(url: string): boolean {
  return /^\s*(?:data|javascript|vbscript|blob):/i.test(url)
}

/** Length of the longest match: a fence must be longer than any inside it. */
export function longestRun(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((longest, [run]) => Math.max(longest, run.length), 0)
}

function isBlank(node: PhrasingContent): boolean {
  return node.type === 'text' && node.value.trim() === ''
}
