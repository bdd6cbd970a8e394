import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Timeline } from '../../api/timeline.js'
import { Button } from '../button.js'
import { useShortcuts } from '../shortcuts.js'
import { Entry } from './entry.js'
import styles from './transcript.module.css'

interface TranscriptProps {
  timeline: Timeline
  botId: string
  isRaw: boolean
  /** Whether messages are one line each, for beside a chat that shows them. */
  isBrief?: boolean
  /** Whether the deliveries about entries are shown. */
  hasDeliveries?: boolean
  /** Id of the message to scroll to and to mark. */
  marked?: string | undefined
  replay: (deliveryId: string) => Promise<unknown>
  /** Leaves the middle of the conversation for its end. */
  toEnd: () => void
}

/** Pixels from an end at which more is loaded. */
const loadAhead = 600
/** Pixels from the end at which it counts as shown. */
const endThreshold = 40

/**
 * A conversation as it went on, oldest first. Only what is scrolled to is made, so that it stays fast. New entries
 * are followed if the end was shown; otherwise what is read does not move.
 */
export function Transcript(props: TranscriptProps) {
  const {
    timeline,
    botId,
    isRaw,
    isBrief = false,
    hasDeliveries = true,
    marked,
    replay,
    toEnd,
  } = props
  const { window, loading, loadEarlier, loadLater } = timeline
  const entries = window?.entries ?? []
  const scroller = useRef<HTMLDivElement>(null)
  const [rawIds, toggleRaw] = useToggled()
  const [openIds, toggleOpen] = useToggled()
  const [isAtEnd, setAtEnd] = useState(true)
  const [seenId, setSeenId] = useState<string>()
  const lastId = entries.at(-1)?.id

  const virtualizer = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => entries[index]?.id ?? index,
    estimateSize: () => 84,
    overscan: 8,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: endThreshold,
  })

  // Begins at the marked message, or at the end. The message is held there until the reader moves: what is loaded
  // before it must not carry it away.
  const shownMark = useRef<string>(undefined)
  const isHeld = useRef(false)
  const release = () => {
    isHeld.current = false
  }
  useEffect(() => {
    if (entries.length === 0) return
    const place = marked ?? 'end'
    if (shownMark.current === place && !isHeld.current) return
    shownMark.current = place
    const index = entries.findIndex(({ id }) => id === marked)
    isHeld.current = index >= 0
    if (index >= 0) virtualizer.scrollToIndex(index, { align: 'center' })
    else virtualizer.scrollToEnd()
  }, [marked, entries, virtualizer])

  const look = useCallback(() => {
    const element = scroller.current
    if (element === null || shownMark.current === undefined) return
    const isEnd = virtualizer.isAtEnd(endThreshold)
    setAtEnd(isEnd)
    if (element.scrollTop < loadAhead) void loadEarlier()
    if (virtualizer.getDistanceFromEnd() < loadAhead) void loadLater()
  }, [virtualizer, loadEarlier, loadLater])
  // A page that does not fill the screen has nothing to scroll.
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again with each page
  useEffect(() => {
    const element = scroller.current
    if (element !== null && element.scrollHeight <= element.clientHeight) look()
  }, [entries.length])
  useEffect(() => {
    if (isAtEnd) setSeenId(lastId)
  }, [isAtEnd, lastId])

  useReplayKey(scroller)
  const seenAt = entries.findLastIndex(({ id }) => id === seenId)
  const news = isAtEnd || seenAt < 0 ? 0 : entries.length - 1 - seenAt
  const isMiddle = window?.nextToken !== undefined
  const isWhole = window?.previousToken === undefined
  return (
    <div className={styles.frame}>
      {loading === 'earlier' && (
        <p className={styles.loading} role="status">
          Loading earlier entries
        </p>
      )}
      <section
        ref={scroller}
        className={styles.scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to
        tabIndex={0}
        aria-label="Transcript"
        onScroll={look}
        onWheel={release}
        onTouchMove={release}
        onPointerDown={release}
        onKeyDown={release}
      >
        <ol className={styles.entries} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ key, index, start }) => {
            const entry = entries[index]
            if (entry === undefined) return null
            return (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                data-entry={entry.id}
                aria-current={entry.id === marked ? 'true' : undefined}
                className={styles.entry}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Entry
                  entry={entry}
                  before={entries[index - 1]}
                  isFirst={index === 0 && isWhole}
                  botId={botId}
                  isRaw={isRaw !== rawIds.has(entry.id)}
                  isBrief={isBrief}
                  hasDeliveries={hasDeliveries}
                  toggleRaw={toggleRaw}
                  openIds={openIds}
                  toggleOpen={toggleOpen}
                  replay={replay}
                />
              </li>
            )
          })}
        </ol>
      </section>
      {(news > 0 || isMiddle) && (
        <div className={styles.jump} role="status">
          <Button
            icon={<ArrowDown size={14} />}
            onClick={() => (isMiddle ? toEnd() : virtualizer.scrollToEnd())}
          >
            {isMiddle ? 'To the end' : `${news} new`}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Ids that were switched on, and what switches one. */
function useToggled(): [ReadonlySet<string>, (id: string) => void] {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback((id: string) => {
    setIds((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }, [])
  return [ids, toggle]
}

/** `r` replays the failed delivery at the focus, or the first one that is shown. */
function useReplayKey(scroller: React.RefObject<HTMLDivElement | null>): void {
  useShortcuts({
    r: {
      label: 'Replay the failed delivery',
      run: () => {
        const place = document.activeElement?.closest('[data-entry]') ?? scroller.current
        place?.querySelector<HTMLElement>('[data-replay]')?.click()
      },
    },
  })
}
