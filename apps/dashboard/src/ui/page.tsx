import { Link } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useId } from 'react'
import { useAddressSearch } from '../api/address.js'
import { Name, shownName } from './name.js'
import styles from './page.module.css'
import { useRemembered } from './remembered.js'
import { ScrollBox } from './scroll-box.js'
import { useShortcuts } from './shortcuts.js'

interface PageProps {
  /** Name of the screen or item: in the heading, and in the title of the tab. */
  title: string
  /** Beside the heading. */
  actions?: ReactNode
  children: ReactNode
}

/** A screen: its heading with actions, and its content. */
export function Page({ title, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${shownName(title)} · Botstead`
  }, [title])
  return (
    <section className={styles.page} aria-label={title}>
      <header className={styles.header}>
        <h1>
          <Name>{title}</Name>
        </h1>
        <div className={styles.actions}>{actions}</div>
      </header>
      {children}
    </section>
  )
}

/** The content below the heading and the tabs of a screen without a list: it scrolls by itself. */
export function PageBody({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ScrollBox label={label} className={styles.body}>
      {children}
    </ScrollBox>
  )
}

interface SplitProps {
  list: ReactNode
  /** The open item; undefined if there is none. */
  detail: ReactNode | undefined
}

const narrowest = 320
const steps = { ArrowLeft: -24, ArrowRight: 24 } as Record<string, number>

/** A list with the open item beside it, or over it where the window is narrow. */
export function Split({ list, detail }: SplitProps) {
  const [width, setWidth] = useRemembered('width of lists', 560)
  const resize = (next: number) => setWidth(Math.max(narrowest, Math.min(next, innerWidth - 480)))
  return (
    <div
      className={`${styles.split} ${detail === undefined ? '' : styles.isOpen}`}
      style={{ '--list-width': `${width}px` } as React.CSSProperties}
    >
      <div className={styles.list}>{list}</div>
      {detail !== undefined && (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved */}
          <div
            role="separator"
            aria-orientation="vertical"
            aria-label="Width of the list"
            aria-valuenow={width}
            aria-valuemin={narrowest}
            tabIndex={0}
            className={styles.separator}
            onPointerDown={(event: PointerEvent<HTMLDivElement>) => {
              const { currentTarget, pointerId, clientX } = event
              currentTarget.setPointerCapture(pointerId)
              const move = (moved: globalThis.PointerEvent) =>
                resize(width + moved.clientX - clientX)
              currentTarget.addEventListener('pointermove', move)
              currentTarget.addEventListener(
                'pointerup',
                () => currentTarget.removeEventListener('pointermove', move),
                { once: true },
              )
            }}
            onKeyDown={(event: KeyboardEvent) => {
              const step = steps[event.key]
              if (step !== undefined) resize(width + step)
            }}
          />
          <div className={styles.detail}>{detail}</div>
        </>
      )}
    </div>
  )
}

interface DetailProps {
  title: ReactNode
  /** Path of the list, to which `Esc` and the arrow lead; the filters of the address are kept. */
  back: string
  /** Tab of the list; its first one if omitted. */
  backTab?: string
  actions?: ReactNode
  children: ReactNode
}

/** An open item beside or over its list. */
export function Detail({ title, back, backTab, actions, children }: DetailProps) {
  const [search] = useAddressSearch()
  const kept = { ...search, tab: backTab }
  const id = useId()
  useShortcuts({
    Escape: { label: 'Close the item', run: () => document.getElementById(id)?.click() },
  })
  return (
    <article className={styles.item}>
      <header className={styles.header}>
        <Link
          to={back}
          search={kept}
          id={id}
          aria-label="Back to the list"
          className={styles.back ?? ''}
        >
          <ArrowLeft size={16} aria-hidden="true" />
        </Link>
        <h2 className={styles.itemTitle}>
          {typeof title === 'string' ? <Name>{title}</Name> : title}
        </h2>
        <div className={styles.actions}>{actions}</div>
      </header>
      <div className={styles.body}>{children}</div>
    </article>
  )
}

/** Facts of an item as a list of names and values. */
export function Facts({ facts }: { facts: readonly [name: string, value: ReactNode][] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{shownName(name)}</dt>
          <dd>{typeof value === 'string' ? <Name>{value}</Name> : value}</dd>
        </div>
      ))}
    </dl>
  )
}
