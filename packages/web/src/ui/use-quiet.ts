import { useEffect, useState } from 'react'

/** The text `ms` milliseconds after its last change. */
export const useQuiet = (text: string, ms: number): string => {
  const [quiet, setQuiet] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(text), ms)
    return () => clearTimeout(timer)
  }, [text, ms])
  return quiet
}
