import { ArrowDown, ArrowUp, Equal, Sparkle } from 'lucide-react'
import { formatNumber } from '../../ui/numbers.js'
import { Empty, ErrorPanel, Skeleton } from '../../ui/states.js'
import { type Found, foundOf, foundOfTarget, whyAbove } from './found.js'
import { PassageCard } from './passage-card.js'
import type { Explanation, useExplanation } from './queries.js'
import { Question } from './question.js'
import styles from './search.module.css'
import { WhyNot } from './why-not.js'

interface ResultsProps {
  /** Name of the column. */
  label: string
  query: ReturnType<typeof useExplanation>
  /** Whether only the passages of the file to explain are shown. */
  isInFile: boolean
  /** The passages of the other column, if there is one. */
  others: readonly Found[] | undefined
}

/** The results of one column of settings. */
export function Results({ label, query, isInFile, others }: ResultsProps) {
  const { data, error, isFetching, isPlaceholderData, refetch } = query
  if (error !== null) return <ErrorPanel error={error} retry={() => void refetch()} />
  if (data === undefined) return isFetching ? <Skeleton lines={8} /> : null
  const found = isInFile && data.target !== undefined ? foundOfTarget(data.target) : foundOf(data)
  return (
    <section className={styles.column} aria-label={label} aria-busy={isPlaceholderData}>
      <p role="status" className={styles.count}>
        {isInFile
          ? `The best ${formatNumber(found.length)} passages of this file`
          : `${formatNumber(found.length)} found of ${formatNumber(data.question.candidates)} compared`}
      </p>
      {data.degraded.map((reason) => (
        <p key={reason} role="note" className={styles.degraded}>
          {degradedTexts[reason] ?? `A part of the search is not available: ${reason}.`}
        </p>
      ))}
      <Question question={data.question} />
      {data.target !== undefined && !isInFile && (
        <WhyNot target={data.target} question={data.question} />
      )}
      {found.length === 0 && <Nothing explanation={data} />}
      {found.map((each, index) => {
        const next = found[index + 1]
        return (
          <PassageCard
            key={each.id}
            found={each}
            weights={data.question.weights}
            above={next === undefined ? undefined : whyAbove(each, next)}
            difference={
              others === undefined ? undefined : <Difference own={each} others={others} />
            }
          />
        )
      })}
    </section>
  )
}

/** The effect of a retriever that is not available, and what to do. */
const degradedTexts: Readonly<Record<string, string>> = {
  'semantic-pending':
    'The meaning of the files is still being computed, so only words were compared. Ask again in a few minutes.',
  'semantic-unavailable':
    'This database cannot compare meanings, so only words were compared. The operator of the server can run “botstead doctor”, which says what is missing.',
  'embeddings-unavailable':
    'The embeddings endpoint does not respond, so only words were compared. Ask again later; the operator of the server can run “botstead doctor”, which tries the endpoint.',
}

/** The position of a passage in the other column. */
function Difference({ own, others }: { own: Found; others: readonly Found[] }) {
  const other =
    others.find(({ id }) => id === own.id) ??
    // One of the settings has one passage per file.
    others.find(
      ({ id, fileId }) => id === own.fileId || (own.id === fileId && fileId === own.fileId),
    )
  if (other === undefined) {
    return (
      <span className={styles.isOnly}>
        <Sparkle size={14} aria-hidden="true" /> only here
      </span>
    )
  }
  const Icon = other.rank === own.rank ? Equal : other.rank > own.rank ? ArrowUp : ArrowDown
  return (
    <span className="muted">
      <Icon size={14} aria-hidden="true" /> there {other.rank}
    </span>
  )
}

/** The reason for which nothing is found. */
function Nothing({ explanation: { question } }: { explanation: Explanation }) {
  if (question.terms.length === 0) {
    return <Empty>The question has no words to look for.</Empty>
  }
  if (question.candidates === 0) {
    return (
      <Empty>
        No passage has anything in common with the question, or no file is searchable: look at the
        status of the files, and at the tags.
      </Empty>
    )
  }
  return (
    <Empty>
      {question.evidence < 0.2
        ? `The best passage hardly fits the question: its evidence is ${question.evidence.toFixed(2)}, and 0.20 is needed.`
        : `No passage has the lowest score of ${question.minimum.toFixed(2)}.`}{' '}
      Choose a file that should have been found to see where it ranks.
    </Empty>
  )
}
