import { useEffect, useEffectEvent, useRef, useState } from 'react'

/** Milliseconds without a key after which a text takes effect. */
const typingPause = 300

/**
 * The text of a field that takes effect when the typing pauses; it follows what changes elsewhere.
 * @param value the text that is in effect
 * @param apply makes a text take effect; resolves when `value` is that text, or something else replaced it
 * @returns the text to show, the function for what is typed, and one that ends the pause
 */
export function useTypedText(value: string, apply: (text: string) => Promise<void>) {
  // An object, because the same text may be typed again while it takes effect.
  const [typed, setTyped] = useState<{ readonly text: string }>()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Not earlier: the field would show the text before it for a moment, and the next key would be added to that.
  if (typed?.text === value) setTyped(undefined)

  const applyNow = () => {
    clearTimeout(timer.current)
    if (typed === undefined) return
    // A text that has not taken effect by then never will, and the field would keep it.
    void apply(typed.text).then(() => setTyped((latest) => (latest === typed ? undefined : latest)))
  }
  const applyLatest = useEffectEvent(applyNow)
  useEffect(() => {
    if (typed === undefined) return
    timer.current = setTimeout(() => applyLatest(), typingPause)
    return () => clearTimeout(timer.current)
  }, [typed])

  return [typed?.text ?? value, (text: string) => setTyped({ text }), applyNow] as const
}
