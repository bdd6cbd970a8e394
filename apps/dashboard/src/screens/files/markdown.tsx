import MarkdownIt, { type Token } from 'markdown-it'
import { Fragment, type ReactNode, useMemo } from 'react'
import styles from '../../ui/markdown.module.css'
import { OutsideLink } from '../../ui/outside-link.js'
import { ScrollBox } from '../../ui/scroll-box.js'

// HTML in the text stays text; long nesting ends, as the parser limits it.
const parser = new MarkdownIt({ html: false, linkify: false })

/**
 * A document in Markdown as elements, never as HTML. Images are links: nothing is loaded from elsewhere. Loaded
 * when first needed. Messages have a renderer of their own (`@botstead/chat-view`), which is smaller, but too slow
 * for long documents.
 */
export function MarkdownDocument({ text }: { text: string }) {
  const nodes = useMemo(() => toNodes(parser.parse(text, {})), [text])
  return <div className={styles.markdown}>{nodes}</div>
}

interface Open {
  token: Token | undefined
  children: ReactNode[]
}

/** Builds elements from the flat list of the parser, in which elements are opened and closed. */
function toNodes(tokens: readonly Token[]): ReactNode[] {
  const stack: Open[] = [{ token: undefined, children: [] }]
  const add = (node: ReactNode) => {
    const parent = stack.at(-1)
    parent?.children.push(<Fragment key={parent.children.length}>{node}</Fragment>)
  }
  for (const token of tokens) {
    if (token.nesting === 1) {
      stack.push({ token, children: [] })
    } else if (token.nesting === -1) {
      const closed = stack.pop()
      if (closed?.token !== undefined) add(toElement(closed.token, closed.children))
    } else {
      add(toLeaf(token))
    }
  }
  return stack.flatMap(({ children }) => children)
}

/** Elements without a choice of their own. */
const plain: Readonly<
  Record<string, 'ul' | 'li' | 'blockquote' | 'em' | 'strong' | 's' | 'thead' | 'tbody' | 'tr'>
> = {
  bullet_list_open: 'ul',
  list_item_open: 'li',
  blockquote_open: 'blockquote',
  em_open: 'em',
  strong_open: 'strong',
  s_open: 's',
  thead_open: 'thead',
  tbody_open: 'tbody',
  tr_open: 'tr',
}

function toElement(token: Token, children: ReactNode[]): ReactNode {
  const Plain = plain[token.type]
  if (Plain !== undefined) return <Plain>{children}</Plain>
  switch (token.type) {
    case 'paragraph_open':
      return token.hidden ? children : <p>{children}</p>
    case 'heading_open':
      // Not a heading of the page, whose outline is its own.
      return <p className="heading">{children}</p>
    case 'ordered_list_open':
      return <ol start={Number(token.attrGet('start') ?? 1)}>{children}</ol>
    case 'link_open':
      return <OutsideLink url={String(token.attrGet('href') ?? '')}>{children}</OutsideLink>
    case 'table_open':
      return (
        <ScrollBox label="Table" className="table">
          <table>{children}</table>
        </ScrollBox>
      )
    case 'th_open':
      return <th scope="col">{children}</th>
    case 'td_open':
      return <td>{children}</td>
    default:
      return children
  }
}

function toLeaf(token: Token): ReactNode {
  switch (token.type) {
    case 'inline':
      return toNodes(token.children ?? [])
    case 'code_inline':
      return <code>{token.content}</code>
    case 'fence':
    case 'code_block':
      return <pre>{token.content}</pre>
    case 'softbreak':
      return '\n'
    case 'hardbreak':
      return <br />
    case 'hr':
      return <hr />
    case 'image':
      return (
        <OutsideLink url={String(token.attrGet('src') ?? '')}>
          Image{token.content === '' ? '' : `: ${token.content}`}
        </OutsideLink>
      )
    default:
      return token.content
  }
}
