import type { ReactNode } from 'react'
import type { Mark } from './found.js'
import styles from './search.module.css'

const relations: Record<Mark['relation'], string> = {
  exact: 'the same word as',
  form: 'another form of',
  spelling: 'another spelling of',
  typo: 'a typing error away from',
  compound: 'a compound with',
  part: 'a part of',
  related: 'related to',
  letters: 'similar letters as',
}

/** The relation of a word of the text to one of the question. */
export function describeRelation(relation: Mark['relation'], terms: readonly string[]): string {
  return `${relations[relation]} “${terms.join('”, “')}”`
}

interface MarkedTextProps {
  text: string
  /** In the order of the text, without overlaps. */
  marks: readonly Mark[]
  /** Range of the shown part; all of the text if omitted. */
  from?: number
  to?: number
  /** Returns a part of the text as it is shown; unchanged if omitted. */
  show?: (part: string) => string
}

/** A text with the words marked that match the question. */
export function MarkedText(props: MarkedTextProps) {
  const { text, marks, from = 0, to = text.length, show = (part) => part } = props
  const nodes: ReactNode[] = []
  let at = from
  for (const mark of marks.toSorted((a, b) => a.start - b.start)) {
    const start = Math.max(mark.start, at)
    const end = Math.min(mark.end, to)
    if (start >= end) continue
    nodes.push(
      show(text.slice(at, start)),
      <mark
        key={start}
        className={mark.worth < 0.9 ? styles.weak : styles.strong}
        title={`${describeRelation(mark.relation, mark.terms)}; counts ${Math.round(mark.worth * 100)} %`}
      >
        {show(text.slice(start, end))}
      </mark>,
    )
    at = end
  }
  nodes.push(show(text.slice(at, to)))
  return <>{nodes}</>
}
