import { Lexer, type Token, type Tokens } from 'marked'
import { Fragment, memo, type ReactNode } from 'react'
import { safeMedia } from './links.js'
import { OutsideLink } from './outside-link.js'

/** Longest text that is parsed as Markdown, in characters: it bounds the time of parsing. */
const maxLength = 20_000
/** Levels of nesting that become elements; deeper ones are shown as they were written. */
const maxDepth = 12

/** Renders Markdown; HTML in it is shown as text. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const tokens = text.length > maxLength ? undefined : lex(text)
  return (
    <div className="markdown">
      {tokens === undefined ? <p className="plain">{text}</p> : <Nodes tokens={tokens} depth={0} />}
    </div>
  )
})

function lex(text: string): Token[] | undefined {
  try {
    return Lexer.lex(text, { gfm: true, breaks: true })
  } catch {
    // The lexer overflows the stack on texts that are nested too deeply.
    return undefined
  }
}

interface Level {
  tokens: readonly Token[] | undefined
  depth: number
}

function Nodes({ tokens = [], depth }: Level): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
  return tokens.map((token, index) => <Node key={index} token={token} depth={depth + 1} />)
}

function Node({ token, depth }: { token: Token; depth: number }): ReactNode {
  if (depth > maxDepth) return token.raw
  const inner = <Nodes tokens={'tokens' in token ? token.tokens : undefined} depth={depth} />
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
      return <List list={token as Tokens.List} depth={depth} />
    case 'table':
      return <Table table={token as Tokens.Table} depth={depth} />
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
      return <OutsideLink url={(token as Tokens.Link).href}>{inner}</OutsideLink>
    case 'image':
      return <Picture image={token as Tokens.Image} />
    case 'text':
      return token.tokens === undefined ? decode((token as Tokens.Text).text) : inner
    case 'escape':
      return (token as Tokens.Escape).text
    default:
      // HTML, and what the lexer of a later version adds: as it was written.
      return token.raw
  }
}

function List({ list, depth }: { list: Tokens.List; depth: number }) {
  const items = list.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
    <li key={index}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      <Nodes tokens={item.tokens.filter(({ type }) => type !== 'checkbox')} depth={depth} />
    </li>
  ))
  return list.ordered ? (
    <ol start={list.start === '' ? 1 : list.start}>{items}</ol>
  ) : (
    <ul>{items}</ul>
  )
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }) {
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td') =>
    row.map(({ tokens }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
      <Cell key={index} {...(Cell === 'th' && { scope: 'col' })}>
        <Nodes tokens={tokens} depth={depth} />
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

function Picture({ image }: { image: Tokens.Image }): ReactNode {
  const source = safeMedia(image.href)
  if (source === undefined) return <Fragment>{image.text}</Fragment>
  return <img src={source} alt={image.text} loading="lazy" referrerPolicy="no-referrer" />
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
