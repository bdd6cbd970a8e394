import { ChevronLeft, ChevronRight, ZoomIn, ZoomOut } from 'lucide-react'
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../../../ui/button.js'
import { formatNumber } from '../../../ui/numbers.js'
import { useShortcuts } from '../../../ui/shortcuts.js'
import { Skeleton } from '../../../ui/states.js'
import { openPdf, type PdfDocument } from './document.js'
import styles from './pdf.module.css'

/** Sizes of a page, of which 1 fits the width of the pane. */
const zooms = [0.5, 0.75, 1, 1.5, 2, 3]
/** Maximum width of a page that fits, in CSS pixels. */
const maxFit = 1000
/** The space beside a page, in CSS pixels. */
const margin = 32

interface PdfProps {
  content: Blob
  label: string
  /** Shows something else instead of a document that cannot be shown, with the reason as a sentence. */
  onFailure: (reason: string) => void
}

/** A PDF, page by page. */
export function Pdf({ content, label, onFailure }: PdfProps) {
  const [opened, setOpened] = useState<PdfDocument>()
  const fail = useRef(onFailure)
  fail.current = onFailure
  useEffect(() => {
    let isShown = true
    let closing: PdfDocument | undefined
    openPdf(content).then(
      (next) => {
        closing = next
        if (isShown) setOpened(next)
        else next.close()
      },
      (error) => isShown && fail.current(sentenceOf(error)),
    )
    return () => {
      isShown = false
      closing?.close()
      setOpened(undefined)
    }
  }, [content])
  if (opened === undefined) return <Skeleton />
  return <Pages opened={opened} label={label} onFailure={onFailure} />
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

interface PagesProps extends Omit<PdfProps, 'content'> {
  opened: PdfDocument
}

function Pages({ opened, label, onFailure }: PagesProps) {
  const { pageCount } = opened
  const [number, setNumber] = useState(1)
  const [zoom, setZoom] = useState(1)
  const view = useRef<HTMLElement>(null)
  const turn = (to: number) => {
    const next = Math.min(Math.max(to, 1), pageCount)
    if (next === number) return
    setNumber(next)
    view.current?.scrollTo({ top: 0 })
  }
  const zoomBy = (steps: number) => setZoom(zooms[zooms.indexOf(zoom) + steps] ?? zoom)
  useShortcuts({
    ArrowLeft: { label: 'Previous page of a document', run: () => turn(number - 1) },
    ArrowRight: { label: 'Next page of a document', run: () => turn(number + 1) },
  })
  /** The keys that scroll a page turn it at its end. */
  const turnAtEnd = (event: KeyboardEvent<HTMLElement>) => {
    const { scrollTop, clientHeight, scrollHeight } = event.currentTarget
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 1
    if (event.key === 'PageDown' && isAtEnd) turn(number + 1)
    else if (event.key === 'PageUp' && scrollTop <= 0) turn(number - 1)
    else return
    event.preventDefault()
  }
  return (
    <div className={styles.document}>
      <div role="toolbar" aria-label="Pages" className={styles.bar}>
        <Button
          kind="quiet"
          icon={<ChevronLeft size={16} />}
          aria-label="Previous page"
          title="Previous page (←)"
          disabled={number === 1}
          onClick={() => turn(number - 1)}
        />
        <PageNumber key={number} number={number} pageCount={pageCount} onChange={turn} />
        <Button
          kind="quiet"
          icon={<ChevronRight size={16} />}
          aria-label="Next page"
          title="Next page (→)"
          disabled={number === pageCount}
          onClick={() => turn(number + 1)}
        />
        <Button
          kind="quiet"
          icon={<ZoomOut size={16} />}
          aria-label="Zoom out"
          title="Zoom out"
          disabled={zoom === zooms[0]}
          onClick={() => zoomBy(-1)}
        />
        <Button
          kind="quiet"
          icon={<ZoomIn size={16} />}
          aria-label="Zoom in"
          title="Zoom in"
          disabled={zoom === zooms.at(-1)}
          onClick={() => zoomBy(1)}
        />
      </div>
      <section
        ref={view}
        aria-label={`${label}, page ${number} of ${pageCount}`}
        className={styles.view}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, keys cannot scroll
        tabIndex={0}
        onKeyDown={turnAtEnd}
      >
        <Sheet opened={opened} number={number} zoom={zoom} onFailure={onFailure} />
      </section>
    </div>
  )
}

interface PageNumberProps {
  number: number
  pageCount: number
  onChange: (number: number) => void
}

/** The number of the page, which can be typed. */
function PageNumber({ number, pageCount, onChange }: PageNumberProps) {
  const [text, setText] = useState(String(number))
  return (
    <form
      className={styles.number}
      onSubmit={(event) => {
        event.preventDefault()
        const typed = Math.round(Number(text))
        if (typed >= 1) onChange(typed)
        setText(String(number))
      }}
    >
      <input
        inputMode="numeric"
        autoComplete="off"
        aria-label="Page"
        value={text}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => setText(String(number))}
      />
      <span>of {formatNumber(pageCount)}</span>
    </form>
  )
}

interface SheetProps extends Omit<PagesProps, 'label'> {
  number: number
  zoom: number
}

/** One page; the one before stays until the next is drawn. */
function Sheet({ opened, number, zoom, onFailure }: SheetProps) {
  const place = useRef<HTMLDivElement>(null)
  const [space, setSpace] = useState(0)
  const [isBusy, setBusy] = useState(true)
  const fail = useRef(onFailure)
  fail.current = onFailure
  useLayoutEffect(() => {
    const parent = place.current?.parentElement
    if (!parent) return
    const observer = new ResizeObserver(() => setSpace(parent.clientWidth))
    observer.observe(parent)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    if (space === 0) return
    const controller = new AbortController()
    const { signal } = controller
    setBusy(true)
    opened.draw(number, Math.max(Math.min(space - margin, maxFit), 1) * zoom, signal).then(
      (sheet) => {
        if (signal.aborted) return
        place.current?.replaceChildren(sheet)
        setBusy(false)
      },
      (error) => signal.aborted || fail.current(sentenceOf(error)),
    )
    return () => controller.abort()
  }, [opened, number, zoom, space])
  return <div ref={place} className={styles.sheet} aria-busy={isBusy} />
}
