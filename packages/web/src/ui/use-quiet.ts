import { useEffect, useState } from 'react'

/** The value `ms` milliseconds after its last change. */
export const useQuiet = <T>(value: T, ms: number): T => {
  const [quiet, setQuiet] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return quiet
}
