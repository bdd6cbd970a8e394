import { useEffect, useState } from 'react'

const codeOfAddress = () => location.hash.slice(1)

/**
 * The code behind the `#` of a link; empty if there is none. It works once, and is taken out of the address, in which people
 * share it, and out of the history of the page.
 */
export function useCodeOfAddress(): string {
  const [code, setCode] = useState(codeOfAddress)
  useEffect(() => {
    const take = () => {
      const found = codeOfAddress()
      if (found === '') return
      history.replaceState(null, '', location.pathname)
      setCode(found)
    }
    take()
    // A link that is pasted while this page is open changes the address alone: nothing is loaded.
    addEventListener('hashchange', take)
    return () => removeEventListener('hashchange', take)
  }, [])
  return code
}
