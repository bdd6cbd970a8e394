import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { usePathTo } from '../../api/address.js'
import { Button } from '../../ui/button.js'
import { shownName } from '../../ui/name.js'
import { formatNumber } from '../../ui/numbers.js'
import { Thumbs } from './evaluation/thumbs.js'
import { contributionNames, type Found } from './found.js'
import { describeRelation, MarkedText } from './marked-text.js'
import type { Explanation } from './queries.js'
import { ScoreBar } from './score-bar.js'
import styles from './search.module.css'

interface PassageCardProps {
  found: Found
  /** Share of each retriever; one with 0 took no part. */
  weights: Explanation['question']['weights']
  /** The difference from the other column. */
  difference?: ReactNode
  /** Reason for its rank above the next one. */
  above?: string | undefined
}

/** A passage with its text, its score, and why it has that score. */
export function PassageCard({ found, weights, difference, above }: PassageCardProps) {
  const pathTo = usePathTo()
  const { rank, score, fileId, fileKey, page, position, headings, marks } = found
  const inKey = marks.filter(({ field }) => field === 'fileKey')
  return (
    <article className={styles.card} aria-label={`Passage ${rank}: ${fileKey}`}>
      <header className={styles.cardHead}>
        <strong className={styles.rank}>{rank}</strong>
        <div className={styles.source}>
          <Link
            to={pathTo('files', fileId)}
            search={{ tab: 'passages', passage: String(position) }}
          >
            <bdi>
              <MarkedText text={fileKey} marks={inKey} show={shownName} />
            </bdi>
          </Link>
          <span className="muted">
            {page === undefined ? '' : `page ${page}, `}passage {formatNumber(position + 1)}
          </span>
          {headings.length > 0 && (
            <div className={styles.headings}>
              {headings.map((heading, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the same heading can be there twice
                <span key={index}>
                  {index > 0 && ' › '}
                  <bdi>
                    <MarkedText
                      text={heading}
                      marks={marks.filter(
                        (mark) => mark.field === 'heading' && mark.heading === index,
                      )}
                      show={shownName}
                    />
                  </bdi>
                </span>
              ))}
            </div>
          )}
        </div>
        <div className={styles.side}>
          {difference}
          <Thumbs found={found} />
          <strong className={styles.total} title="Score, from 0 to 1">
            {score.toFixed(2)}
          </strong>
        </div>
      </header>
      <ScoreBar contributions={found.contributions} />
      <Content found={found} />
      <details className={styles.why}>
        <summary>Why this one</summary>
        {above !== undefined && <p>{above}</p>}
        <Reasons found={found} weights={weights} />
      </details>
    </article>
  )
}

/** Characters of a passage beyond which it is cut at first. */
const maxShown = 900

/** The text that matched; its neighbours, and the rest of a long one, on demand. */
function Content({ found: { content, matches, marks } }: { found: Found }) {
  const matched = matches.reduce((sum, { start, end }) => sum + end - start, 0)
  const isMore = matched < content.length || matched > maxShown
  const [isAll, setAll] = useState(false)
  const inContent = marks.filter(({ field }) => field === 'content')
  const partOf = (from: number, to: number, isMatch: boolean) => (
    <span key={`${from} ${isMatch}`} className={isMatch ? undefined : 'muted'}>
      <MarkedText text={content} marks={inContent} from={from} to={to} />
    </span>
  )
  const parts: ReactNode[] = []
  let at = 0
  for (const { start, end } of matches) {
    if (isAll && start > at) parts.push(partOf(at, start, false))
    else if (parts.length > 0) parts.push(' … ')
    parts.push(partOf(Math.max(start, at), end, true))
    at = Math.max(at, end)
  }
  if (isAll && at < content.length) parts.push(partOf(at, content.length, false))
  return (
    <>
      <div className={`${styles.content} ${matched > maxShown && !isAll ? styles.isCut : ''}`}>
        {parts}
      </div>
      {isMore && (
        <div>
          <Button kind="quiet" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? 'Show less' : matched < content.length ? 'With its neighbours' : 'All of it'}
          </Button>
        </div>
      )}
    </>
  )
}

const retrieverNames = ['keyword', 'semantic', 'grams'] as const

/** The findings of each retriever, and the words that matched. */
function Reasons({
  found: { retrievers, terms },
  weights,
}: Pick<PassageCardProps, 'found' | 'weights'>) {
  return (
    <>
      <table className={styles.retrievers}>
        <thead>
          <tr>
            <th scope="col">By</th>
            <th scope="col" className="numeric">
              Rank
            </th>
            <th scope="col" className="numeric">
              Score
            </th>
          </tr>
        </thead>
        <tbody>
          {retrieverNames.map((name) => {
            const finding = retrievers[name]
            return (
              <tr key={name}>
                <th scope="row">{contributionNames[name]}</th>
                <td className="numeric">
                  {finding !== undefined
                    ? (finding.rank ?? 'beyond 1,000')
                    : weights[name] === 0
                      ? 'not compared'
                      : 'not found'}
                </td>
                <td className="numeric">{finding?.score.toFixed(2) ?? '–'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {terms.length === 0 ? (
        <p>None of its words is in the question.</p>
      ) : (
        <ul className={styles.terms}>
          {terms.map(({ term, worth, relation, found }) => (
            <li key={term}>
              <strong>{term}</strong>
              {relation === 'exact'
                ? ' is in it'
                : `: “${found.join('”, “')}” is ${describeRelation(relation, [term])}`}{' '}
              <span className="muted">({Math.round(worth * 100)} %)</span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
