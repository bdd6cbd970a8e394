import { useEffect, useRef } from 'react'
import { useAddressSearch } from '../../api/address.js'
import { useFurtherPages } from '../../api/queries.js'
import { formatNumber } from '../../ui/numbers.js'
import { ShowMore } from '../../ui/show-more.js'
import { Empty, ErrorPanel, Skeleton } from '../../ui/states.js'
import styles from './files.module.css'
import { type File, usePassages } from './queries.js'

/** The passages of a file that search finds, in reading order. */
export function Passages({ file }: { file: File }) {
  const [{ passage: wanted }] = useAddressSearch()
  const { query, passages } = usePassages(file)
  const position = wanted === undefined ? -1 : Number(wanted)
  const isMissing = wanted !== undefined && !passages.some(({ meta }) => meta.position === position)
  // Positions have no page of their own: the pages before are read.
  useFurtherPages(query, isMissing)
  const marked = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!isMissing && wanted !== undefined) marked.current?.scrollIntoView({ block: 'center' })
  }, [isMissing, wanted])

  if (query.error !== null && passages.length === 0) {
    return <ErrorPanel error={query.error} retry={() => void query.refetch()} />
  }
  if (query.isPending) return <Skeleton />
  if (passages.length === 0) {
    return (
      <Empty>
        {file.status === 'upload_completed'
          ? 'The file is not indexed, so it has no passages.'
          : 'Search finds nothing in this file.'}
      </Empty>
    )
  }
  return (
    <div className={styles.passages}>
      <p className="muted">
        {formatNumber(passages.length)}
        {query.hasNextPage ? ', more below' : ''} in reading order. Search finds and returns these
        texts.
      </p>
      <ol>
        {passages.map(({ id, content, meta }) => {
          const isMarked = meta.position === position
          return (
            <li
              key={id}
              ref={isMarked ? marked : undefined}
              aria-current={isMarked ? 'true' : undefined}
            >
              <header>
                <span>Passage {formatNumber((meta.position ?? 0) + 1)}</span>
                {meta.pageNumber !== undefined && <span>page {meta.pageNumber}</span>}
                {meta.subtype !== undefined && <span>{meta.subtype}</span>}
              </header>
              <pre>{content}</pre>
            </li>
          )
        })}
      </ol>
      <ShowMore query={query} />
    </div>
  )
}
