import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button.js'
import styles from './copy.module.css'
import { Name } from './name.js'

/** Copies a text. Without https, browsers allow it only by a selection. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

interface CopyButtonProps {
  text: string
  /** Name of the copied text in the name of the button, such as `id`. */
  what: string
  /** Text on the button; an icon alone if omitted. */
  children?: string
}

/** Copies a text and says that it did. */
export function CopyButton({ text, what, children }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <>
      <Button
        kind={children === undefined ? 'quiet' : 'plain'}
        icon={isCopied ? <Check size={14} /> : <Copy size={14} />}
        aria-label={children === undefined ? `Copy ${what}` : undefined}
        title={`Copy ${what}`}
        onClick={(event) => {
          event.stopPropagation()
          void copyText(text).then(() => setCopied(true))
        }}
      >
        {children}
      </Button>
      <span className="visually-hidden" role="status">
        {isCopied ? `Copied ${what}` : ''}
      </span>
    </>
  )
}

/** An id in full, to be copied. */
export function Id({ id, what = 'id' }: { id: string; what?: string }) {
  return (
    <span className={styles.id}>
      <code>
        <Name>{id}</Name>
      </code>
      <CopyButton text={id} what={what} />
    </span>
  )
}
