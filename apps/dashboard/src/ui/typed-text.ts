import { useEffect, useEffectEvent, useRef, useState } from 'react'

/** Milliseconds without a key after which a text takes effect. */
const typingPause = 300

/**
 * The text of a field that takes effect when the typing pauses; it follows what changes elsewhere.
 * @param value the text that is in effect
 * @param apply makes a text take effect, at some time after the call
 * @returns the text to show, the function for what is typed, and one that ends the pause
 */
export function useTypedText(value: string, apply: (text: string) => void) {
  const [typed, setTyped] = useState<string>()
  const applyLatest = useEffectEvent(apply)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Not earlier: the field would show the text before it for a moment, and the next key would be added to that.
  if (typed === value) setTyped(undefined)
  useEffect(() => {
    if (typed === undefined) return
    timer.current = setTimeout(() => applyLatest(typed), typingPause)
    return () => clearTimeout(timer.current)
  }, [typed])
  const applyNow = () => {
    clearTimeout(timer.current)
    if (typed !== undefined) apply(typed)
  }
  return [typed ?? value, setTyped, applyNow] as const
}
