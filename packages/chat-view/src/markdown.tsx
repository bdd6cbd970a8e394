import { Lexer, type Token, type Tokens } from 'marked'
import { type ComponentType, Fragment, memo, type ReactNode } from 'react'

/** Maximum length of a text that is parsed as Markdown, in characters: it bounds the time of parsing. */
const maxLength = 20_000
/** Levels of nesting that become elements; deeper ones are shown as they were written. */
const maxDepth = 12

/** Elements that each app shows in its own way; they get addresses as the bot wrote them, unchecked. */
export interface MarkdownElements {
  Link: ComponentType<{ url: string; children: ReactNode }>
  Image: ComponentType<{ url: string; text: string }>
}

interface MarkdownProps {
  text: string
  elements: MarkdownElements
}

/**
 * Renders the Markdown of a message. Lines end where they end in the text, and HTML in it is shown as text. The app
 * provides the element around it, and styles for the classes `heading`, `plain` and `table`.
 */
export const Markdown = memo(function Markdown({ text, elements }: MarkdownProps) {
  const tokens = text.length > maxLength ? undefined : lex(text)
  return tokens === undefined ? <p className="plain">{text}</p> : toNodes(tokens, elements, 1)
})

function lex(text: string): Token[] | undefined {
  try {
    return Lexer.lex(text, { gfm: true, breaks: true })
  } catch {
    // The lexer overflows the stack on texts that are nested too deeply.
    return undefined
  }
}

function toNodes(
  tokens: readonly Token[] | undefined = [],
  elements: MarkdownElements,
  depth: number,
): ReactNode {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
    <Fragment key={index}>{toNode(token, elements, depth)}</Fragment>
  ))
}

function toNode(token: Token, elements: MarkdownElements, depth: number): ReactNode {
  if (depth > maxDepth) return token.raw
  const inner = toNodes('tokens' in token ? token.tokens : undefined, elements, depth + 1)
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'paragraph':
      return <p>{inner}</p>
    case 'heading':
      // Not a heading element, which would change the outline of the page.
      return <p className="heading">{inner}</p>
    case 'blockquote':
      return <blockquote>{inner}</blockquote>
    case 'list':
      return toList(token as Tokens.List, elements, depth + 1)
    case 'table':
      return toTable(token as Tokens.Table, elements, depth + 1)
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keys
        <pre tabIndex={0}>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      )
    case 'codespan':
      return <code>{decode((token as Tokens.Codespan).text)}</code>
    case 'strong':
      return <strong>{inner}</strong>
    case 'em':
      return <em>{inner}</em>
    case 'del':
      return <del>{inner}</del>
    case 'br':
      return <br />
    case 'hr':
      return <hr />
    case 'link':
      return <elements.Link url={(token as Tokens.Link).href}>{inner}</elements.Link>
    case 'image': {
      const { href, text } = token as Tokens.Image
      return <elements.Image url={href} text={text} />
    }
    case 'text':
      return token.tokens === undefined ? decode((token as Tokens.Text).text) : inner
    case 'escape':
      return (token as Tokens.Escape).text
    default:
      // HTML, and what the lexer of a later version adds: as it was written.
      return token.raw
  }
}

function toList(list: Tokens.List, elements: MarkdownElements, depth: number) {
  const items = list.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
    <li key={index}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      {toNodes(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        elements,
        depth,
      )}
    </li>
  ))
  return list.ordered ? (
    <ol start={list.start === '' ? 1 : list.start}>{items}</ol>
  ) : (
    <ul>{items}</ul>
  )
}

function toTable(table: Tokens.Table, elements: MarkdownElements, depth: number) {
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map(({ tokens }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
      <Cell key={index} {...(Cell === 'th' && { scope: 'col' })}>
        {toNodes(tokens, elements, depth)}
      </Cell>
    ))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled by keys
    <div className="table" tabIndex={0}>
      <table>
        <thead>
          <tr>{cells(table.header, 'th')}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
            <tr key={index}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
}

/** Decodes character references, which the lexer leaves to an HTML parser. */
function decode(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,6})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi,
    (all, decimal, hex, name) => {
      if (name !== undefined) return entities[name] ?? all
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
    },
  )
}
